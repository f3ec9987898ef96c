#include "kernels/attention.h"

#include <math.h>
#include <string.h>

#include "core/tile.h"
#include "kernels/exp2.h"
#include "kernels/micro_tile.h"
#include "kernels/pack.h"
#include "kernels/softmax.h"

/* Packed values: per key block, per 8 columns of the value, the block's keys × 8. */
typedef struct hw_packed_values {
  float *panels;
  size_t block_floats;
  bool finite;
} hw_packed_values;

typedef struct hw_stream {
  const hw_attention_head *head;
  hw_score_source source;
  hw_packed_values values;
  float *queries; /* [HW_QUERY_BLOCK, key_width], scaled */
  float *context; /* [HW_QUERY_BLOCK, padded value width], not yet divided by the sums */
  size_t context_stride;
  float *strip; /* [HW_TILE_ROWS, HW_KEY_BLOCK]: scores, then weights */
} hw_stream;

/* Up to whole panels; SIZE_MAX if that does not fit. */
static size_t padded(size_t width) { return hw_size_multiply(hw_ceil_divide(width, HW_TILE_COLUMNS), HW_TILE_COLUMNS); }

size_t hw_pack_keys_scratch(size_t key_tokens, size_t key_width) {
  return hw_arena_size(hw_size_multiply(padded(key_tokens), key_width), sizeof(float));
}

const float *hw_pack_keys(hw_arena *arena, const hw_attention_head *head) {
  float *panels = hw_arena_take_floats(arena, padded(head->key_tokens) * head->key_width);
  hw_pack_panels(head->key, head->key_stride, 1, head->key_tokens, head->key_width, panels,
                 head->key_width * HW_TILE_COLUMNS);
  return panels;
}

static size_t packed_values_floats(size_t key_tokens, size_t value_width) {
  const size_t keys = hw_size_multiply(hw_ceil_divide(key_tokens, HW_KEY_BLOCK), HW_KEY_BLOCK);
  return hw_size_multiply(keys, padded(value_width));
}

size_t hw_attention_stream_scratch(size_t key_tokens, size_t key_width, size_t value_width) {
  size_t bytes = hw_arena_size(packed_values_floats(key_tokens, value_width), sizeof(float));
  bytes = hw_size_add(bytes, hw_arena_size(hw_size_multiply(HW_QUERY_BLOCK, key_width), sizeof(float)));
  bytes = hw_size_add(bytes, hw_arena_size(hw_size_multiply(HW_QUERY_BLOCK, padded(value_width)), sizeof(float)));
  return hw_size_add(bytes, hw_arena_size((size_t)HW_TILE_ROWS * HW_KEY_BLOCK, sizeof(float)));
}

/* x·0 is 0 for every finite x and NaN for the others, and NaN spreads through sums. */
static bool all_finite(const float *x, size_t stride, size_t rows, size_t columns) {
  float sum = 0.0F;
  for (size_t r = 0; r < rows; r++) {
    for (size_t c = 0; c < columns; c++) {
      sum += x[r * stride + c] * 0.0F;
    }
  }
  return sum == 0.0F;
}

static hw_packed_values pack_values(hw_arena *arena, const hw_attention_head *head) {
  hw_packed_values values = {
      .panels = hw_arena_take_floats(arena, packed_values_floats(head->key_tokens, head->value_width)),
      .block_floats = HW_KEY_BLOCK * padded(head->value_width),
      .finite = all_finite(head->value, head->value_stride, head->key_tokens, head->value_width),
  };
  for (size_t key = 0; key < head->key_tokens; key += HW_KEY_BLOCK) {
    hw_pack_panels(head->value + key * head->value_stride, 1, head->value_stride, head->value_width,
                   hw_min(head->key_tokens - key, HW_KEY_BLOCK),
                   values.panels + key / HW_KEY_BLOCK * values.block_floats, (size_t)HW_KEY_BLOCK * HW_TILE_COLUMNS);
  }
  return values;
}

static void apply_keep(const hw_keep *keep, size_t row, size_t key_start, float *weights, size_t count) {
  if (keep->bits == NULL) {
    return;
  }
  const uint32_t *bits = keep->bits + row * keep->words_per_row;
  for (size_t j = 0; j < count; j++) {
    const size_t key = key_start + j;
    const bool kept = (bits[key / 32] >> (key % 32) & 1u) != 0;
    weights[j] = kept ? weights[j] * keep->scale : 0.0F;
  }
}

/* What scores are shifted by. While nothing but -inf (or NaN) was seen it is 0, so that -inf gives 0 and NaN stays. */
static float shift_of(float maximum) { return maximum == -INFINITY ? 0.0F : maximum; }

/* Turns one row of scores into weights relative to the row's maximum so far, and brings what was summed before to the
 * same maximum when that has risen. */
static void update_row(const hw_stream *stream, size_t row, size_t block_row, size_t key_start, float *scores,
                       size_t count) {
  const hw_attention_head *head = stream->head;
  float *maximum = head->row_maximum + row;
  float *sum = head->row_sum + row;
  const float largest = hw_row_maximum(scores, count);
  if (largest > *maximum) {
    const float factor = hw_exp2_scalar(*maximum - largest);
    float *context = stream->context + block_row * stream->context_stride;
    hw_row_scale(context, context, stream->context_stride, factor);
    *sum *= factor;
    *maximum = largest;
  }
  *sum += hw_row_exp2(scores, scores, count, shift_of(*maximum), 1.0F);
  apply_keep(&head->keep, row, key_start, scores, count);
}

static __attribute__((noinline)) void context_tile(const float *weights, const float *panel, size_t keys,
                                                   float *context, size_t stride) {
  hw_tile tile;
  hw_tile_load(tile, HW_TILE_ROWS, context, stride);
  hw_tile_multiply_add(tile, HW_TILE_ROWS, weights, HW_KEY_BLOCK, panel, keys);
  hw_tile_store(tile, HW_TILE_ROWS, context, stride);
}

/* One row of the context plus weight times one key's values, rounded as context_tile rounds. */
static void add_value(const float *block, size_t key, float weight, float *context, size_t width) {
  const hw_f32x4 weights = hw_splat(weight);
  for (size_t c = 0; c < width; c += HW_LANES) {
    const float *panel = block + c / HW_TILE_COLUMNS * HW_KEY_BLOCK * HW_TILE_COLUMNS;
    const hw_f32x4 values = hw_load(panel + key * HW_TILE_COLUMNS + c % HW_TILE_COLUMNS);
    hw_store(context + c, hw_multiply_add(weights, values, hw_load(context + c)));
  }
}

/* 0 · NaN is NaN: where values are not all finite, keys of weight 0 must be left out, not multiplied. */
static void add_visible_values(const hw_stream *stream, const float *block, size_t rows, size_t keys, float *context) {
  for (size_t r = 0; r < rows; r++) {
    for (size_t key = 0; key < keys; key++) {
      const float weight = stream->strip[r * HW_KEY_BLOCK + key];
      if (weight != 0.0F) {
        add_value(block, key, weight, context + r * stream->context_stride, stream->context_stride);
      }
    }
  }
}

static void add_values(const hw_stream *stream, size_t key_start, size_t rows, size_t keys, float *context) {
  const float *block = stream->values.panels + key_start / HW_KEY_BLOCK * stream->values.block_floats;
  if (!stream->values.finite) {
    add_visible_values(stream, block, rows, keys, context);
    return;
  }
  for (size_t column = 0; column < stream->context_stride; column += HW_TILE_COLUMNS) {
    context_tile(stream->strip, block + column * HW_KEY_BLOCK, keys, context + column, stream->context_stride);
  }
}

/* Up to HW_TILE_ROWS queries against one block of keys. */
static void stream_strip(const hw_stream *stream, size_t row, size_t block_row, size_t rows, size_t key_start) {
  const size_t key_end = hw_min(hw_visible_keys(&stream->source, row, rows), key_start + HW_KEY_BLOCK);
  if (key_end <= key_start) {
    return;
  }
  const size_t count = padded(key_end - key_start);
  hw_score_strip(&stream->source, stream->queries + block_row * stream->head->key_width, row, rows, key_start, key_end,
                 stream->strip, HW_KEY_BLOCK);
  for (size_t r = 0; r < rows; r++) {
    update_row(stream, row + r, block_row + r, key_start, stream->strip + r * HW_KEY_BLOCK, count);
  }
  add_values(stream, key_start, rows, key_end - key_start, stream->context + block_row * stream->context_stride);
}

static void finish_rows(const hw_stream *stream, size_t block, size_t rows) {
  const hw_attention_head *head = stream->head;
  for (size_t r = 0; r < rows; r++) {
    const float sum = head->row_sum[block + r];
    hw_row_scale(stream->context + r * stream->context_stride, head->output + (block + r) * head->output_stride,
                 head->value_width, sum == 0.0F ? 0.0F : 1.0F / sum);
  }
}

static void stream_block(const hw_stream *stream, size_t block, size_t rows) {
  const hw_attention_head *head = stream->head;
  hw_pack_queries(head->query + block * head->query_stride, head->query_stride, rows, head->key_width, head->scale,
                  stream->queries);
  memset(stream->context, 0, HW_QUERY_BLOCK * stream->context_stride * sizeof(float));
  for (size_t r = 0; r < rows; r++) {
    head->row_maximum[block + r] = -INFINITY;
    head->row_sum[block + r] = 0.0F;
  }
  const size_t keys = hw_visible_keys(&stream->source, block, rows);
  for (size_t key_start = 0; key_start < keys; key_start += HW_KEY_BLOCK) {
    for (size_t r = 0; r < rows; r += HW_TILE_ROWS) {
      stream_strip(stream, block + r, r, hw_min(rows - r, HW_TILE_ROWS), key_start);
    }
  }
  finish_rows(stream, block, rows);
}

void hw_attention_stream(hw_arena *arena, const hw_attention_head *head, const float *key_panels) {
  const size_t mark = arena->used;
  const size_t value_width = padded(head->value_width);
  const hw_stream stream = {
      .head = head,
      .source = {key_panels, head->key_tokens, head->key_width, head->visible},
      .values = pack_values(arena, head),
      .queries = hw_arena_take_floats(arena, HW_QUERY_BLOCK * head->key_width),
      .context = hw_arena_take_floats(arena, HW_QUERY_BLOCK * value_width),
      .context_stride = value_width,
      .strip = hw_arena_take_floats(arena, (size_t)HW_TILE_ROWS * HW_KEY_BLOCK),
  };
  for (size_t block = 0; block < head->query_tokens; block += HW_QUERY_BLOCK) {
    stream_block(&stream, block, hw_min(head->query_tokens - block, HW_QUERY_BLOCK));
  }
  arena->used = mark;
}

size_t hw_attention_weights_scratch(size_t key_tokens, size_t key_width) {
  const size_t queries = hw_arena_size(hw_size_multiply(HW_TILE_ROWS, key_width), sizeof(float));
  return hw_size_add(queries, hw_arena_size(hw_size_multiply(HW_TILE_ROWS, padded(key_tokens)), sizeof(float)));
}

static void weights_row(const hw_attention_head *head, size_t row, float *scores, size_t keys, float *out) {
  const float sum = head->row_sum[row];
  hw_row_exp2(scores, scores, padded(keys), shift_of(head->row_maximum[row]), 1.0F);
  apply_keep(&head->keep, row, 0, scores, keys);
  const float inverse = sum == 0.0F ? 0.0F : 1.0F / sum;
  hw_row_scale(scores, out, keys, inverse);
  for (size_t j = keys; j < head->key_tokens; j++) {
    /* 0, or NaN where the row's sum is: a softmax is NaN as a whole. */
    out[j] = 0.0F * inverse;
  }
}

void hw_attention_weights(hw_arena *arena, const hw_attention_head *head, const float *key_panels, size_t row_start,
                          size_t row_end, float *out) {
  const size_t mark = arena->used;
  const hw_score_source source = {key_panels, head->key_tokens, head->key_width, head->visible};
  const size_t stride = padded(head->key_tokens);
  float *queries = hw_arena_take_floats(arena, HW_TILE_ROWS * head->key_width);
  float *strip = hw_arena_take_floats(arena, HW_TILE_ROWS * stride);
  for (size_t row = row_start; row < row_end; row += HW_TILE_ROWS) {
    const size_t rows = hw_min(row_end - row, HW_TILE_ROWS);
    const size_t keys = hw_visible_keys(&source, row, rows);
    hw_pack_queries(head->query + row * head->query_stride, head->query_stride, rows, head->key_width, head->scale,
                    queries);
    hw_score_strip(&source, queries, row, rows, 0, keys, strip, stride);
    for (size_t r = 0; r < rows; r++) {
      weights_row(head, row + r, strip + r * stride, keys, out + (row - row_start + r) * head->key_tokens);
    }
  }
  arena->used = mark;
}
