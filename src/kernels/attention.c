#include "kernels/attention.h"

#include <math.h>

#include "core/tile.h"
#include "kernels/finite.h"
#include "kernels/micro_tile.h"
#include "kernels/online_softmax.h"
#include "kernels/pack.h"
#include "kernels/row_attention.h"
#include "kernels/row_panels.h"
#include "kernels/softmax.h"

typedef struct hw_stream {
  const hw_attention_head *head;
  hw_score_source source;
  float *queries;     /* hw_pack_queries */
  size_t query_strip; /* floats of a strip's */
  float *context;     /* [HW_QUERY_BLOCK, context_stride], not yet divided by the sums */
  size_t context_stride;
  hw_strip strip; /* scores, then weights */
} hw_stream;

/* The queries of a strip: `row` counts from the head's first, `block_row` from the block's. */
typedef struct strip_rows {
  size_t row;
  size_t block_row;
  size_t count;
} strip_rows;

size_t hw_attention_scratch_bytes(size_t key_width, size_t value_width) {
  size_t bytes = hw_arena_size(hw_packed_queries_floats(HW_QUERY_BLOCK, key_width), sizeof(float));
  bytes =
      hw_size_add(bytes, hw_arena_size(hw_size_multiply(HW_QUERY_BLOCK, hw_whole_panels(value_width)), sizeof(float)));
  return hw_size_add(bytes, hw_arena_size((size_t)HW_TILE_ROWS * HW_STRIP_STRIDE, sizeof(float)));
}

/* Field by field: what a strip finds need not be cleared first. */
static void start_strip(hw_strip *strip, float *scores) {
  strip->scores = scores;
  strip->stride = HW_STRIP_STRIDE;
  strip->run_count = 0;
}

static void start_stream(hw_stream *stream, const hw_attention_head *head, unsigned char *scratch) {
  float *scores = (float *)scratch;
  stream->head = head;
  stream->source = hw_attention_source(head);
  stream->context = scores + (size_t)HW_TILE_ROWS * HW_STRIP_STRIDE;
  stream->context_stride = hw_whole_panels(head->panels.value_width);
  stream->queries = stream->context + HW_QUERY_BLOCK * stream->context_stride;
  stream->query_strip = hw_packed_rows_floats(head->panels.key_width);
  start_strip(&stream->strip, scores);
}

/* Turns the strip's scores into weights relative to the rows' maxima so far, and brings what was summed before to the
 * same maxima where those have risen. */
static void weigh_strip(const hw_stream *stream, const strip_rows *rows, size_t key_start, size_t visible) {
  const hw_attention_head *head = stream->head;
  const hw_strip *strip = &stream->strip;
  for (size_t r = 0; r < rows->count; r++) {
    const float factor = hw_raise_maximum(head, rows->row + r, strip->maximum[r]);
    if (factor != 1.0F) {
      float *context = stream->context + (rows->block_row + r) * stream->context_stride;
      hw_row_scale(context, context, stream->context_stride, factor);
    }
  }
  for (size_t i = 0; i < strip->run_count; i++) {
    const hw_key_range run = strip->runs[i];
    const hw_scored_keys keys = {key_start + run.start, run.end - run.start, hw_min(run.end, visible) - run.start};
    hw_weigh_scores(head, rows->row, rows->count, &keys, strip->scores + run.start, head->row_sum + rows->row);
  }
}

static __attribute__((noinline)) void context_tile(const float *weights, const float *panel, size_t keys,
                                                   float *context, size_t stride) {
  hw_tile tile;
  hw_tile_load(tile, context, stride);
  hw_tile_multiply_add(tile, weights, HW_STRIP_STRIDE, 1, panel, keys);
  hw_tile_store(tile, context, stride);
}

/* One row of the context plus weight times one token's values, rounded as context_tile rounds. */
static void add_value(const hw_key_value_panels *panels, size_t token, float weight, float *context, size_t width) {
  const hw_f32x4 weights = hw_splat(weight);
  for (size_t c = 0; c < width; c += HW_LANES) {
    const float *panel = panels->values + c / HW_TILE_COLUMNS * HW_TILE_COLUMNS * panels->capacity;
    const hw_f32x4 values = hw_load(panel + token * HW_TILE_COLUMNS + c % HW_TILE_COLUMNS);
    hw_store(context + c, hw_multiply_add(weights, values, hw_load(context + c)));
  }
}

/* 0 · NaN is NaN: where values are not all finite, keys of weight 0 must be left out, not multiplied. */
static __attribute__((noinline)) void add_visible_values(const hw_stream *stream, const float *weights, size_t rows,
                                                         size_t token, size_t keys, float *context) {
  for (size_t r = 0; r < rows; r++) {
    for (size_t j = 0; j < keys; j++) {
      const float weight = weights[r * HW_STRIP_STRIDE + j];
      if (weight != 0.0F) {
        add_value(&stream->head->panels, token + j, weight, context + r * stream->context_stride,
                  stream->context_stride);
      }
    }
  }
}

/* The values of `keys` tokens from `token` on, by the strip's weights, onto the context of its rows. */
static void add_values(const hw_stream *stream, const float *weights, size_t rows, size_t token, size_t keys,
                       float *context) {
  const hw_key_value_panels *panels = &stream->head->panels;
  const float *values = panels->values + token * HW_TILE_COLUMNS;
  if (!hw_values_are_finite(panels, token, token + keys)) {
    add_visible_values(stream, weights, rows, token, keys, context);
  } else if (rows == 1) {
    hw_row_times_panels(&(hw_row_product){
        .a = weights,
        .k = keys,
        .panels = values,
        .panel_stride = panels->capacity * HW_TILE_COLUMNS,
        .count = stream->context_stride / HW_TILE_COLUMNS,
        .start = context,
        .start_stride = HW_TILE_COLUMNS,
        .y = context,
    });
  } else {
    for (size_t column = 0; column < stream->context_stride; column += HW_TILE_COLUMNS) {
      context_tile(weights, values + column * panels->capacity, keys, context + column, stream->context_stride);
    }
  }
}

/* One strip of queries against one block of keys. */
static void stream_strip(hw_stream *stream, const strip_rows *rows, size_t key_start) {
  const hw_attention_head *head = stream->head;
  hw_strip *strip = &stream->strip;
  const float *queries = stream->queries + rows->block_row / HW_TILE_ROWS * stream->query_strip;
  hw_score_strip(&stream->source, queries, rows->row, rows->count, key_start, key_start + HW_KEY_BLOCK, strip);
  if (strip->run_count == 0) {
    return;
  }
  const size_t visible = hw_keys_of_any(&head->visible, rows->row, rows->count).end - key_start;
  weigh_strip(stream, rows, key_start, visible);
  float *context = stream->context + rows->block_row * stream->context_stride;
  for (size_t i = 0; i < strip->run_count; i++) {
    const hw_key_range run = strip->runs[i];
    add_values(stream, strip->scores + run.start, rows->count, key_start + run.start,
               hw_min(run.end, visible) - run.start, context);
  }
}

static void stream_rows(hw_stream *stream, size_t row, size_t rows, hw_key_range keys) {
  for (size_t key = keys.start; key < keys.end; key += HW_KEY_BLOCK) {
    for (size_t r = 0; r < rows; r += HW_TILE_ROWS) {
      stream_strip(stream, &(strip_rows){row + r, r, hw_min(rows - r, HW_TILE_ROWS)}, key);
    }
  }
}

/* Onto a context of zeros. */
static void attend(hw_stream *stream, size_t row, size_t rows) {
  const hw_attention_head *head = stream->head;
  const size_t whole = rows == 1 ? 1 : hw_ceil_divide(rows, HW_TILE_ROWS) * HW_TILE_ROWS;
  hw_fill(stream->context, whole * stream->context_stride, hw_splat(0.0F));
  hw_key_range keys = hw_keys_of_any(&head->visible, row, rows);
  keys.start = keys.start / HW_TILE_COLUMNS * HW_TILE_COLUMNS;
  if (rows == 1 && hw_values_are_finite(&head->panels, keys.start, keys.end)) {
    hw_row_attention(head, row, stream->queries, keys, &stream->strip, stream->context);
  } else {
    stream_rows(stream, row, rows, keys);
  }
}

/* From no keys on. */
static void start_rows(const hw_attention_head *head, size_t row, size_t rows, float maximum) {
  for (size_t r = row; r < row + rows; r++) {
    head->row_maximum[r] = maximum;
    head->row_sum[r] = 0.0F;
  }
}

/* Values near the largest float overflow when they are added up before the division by the sum. From the log-sum-exp
 * on, in the maximum's place, a row's weights add up to 1. */
static void attend_again(const hw_stream *stream, size_t row, float *context) {
  const hw_attention_head *head = stream->head;
  hw_stream alone = *stream;
  alone.context = context;
  hw_pack_queries(head->query + row * head->query_stride, head->query_stride, 1, head->panels.key_width, head->scale,
                  alone.queries);
  start_rows(head, row, 1, head->row_maximum[row] + (float)log1p((double)head->row_sum[row] - 1.0));
  attend(&alone, row, 1);
}

/* The last row first: the output may be where the queries were, and those before are still needed. */
static void finish_rows(const hw_stream *stream, size_t row, size_t rows) {
  const hw_attention_head *head = stream->head;
  for (size_t r = rows; r-- > 0;) {
    float *context = stream->context + r * stream->context_stride;
    if (!hw_all_finite(context, stream->context_stride) && head->row_sum[row + r] > 1.0F) {
      attend_again(stream, row + r, context);
    }
    hw_row_scale(context, head->output + (row + r) * head->output_stride, head->panels.value_width,
                 hw_inverse_sum(head, row + r));
  }
}

void hw_attention_block(const hw_attention_head *head, size_t row, size_t rows, unsigned char *scratch) {
  hw_stream stream;
  start_stream(&stream, head, scratch);
  hw_pack_queries(head->query + row * head->query_stride, head->query_stride, rows, head->panels.key_width, head->scale,
                  stream.queries);
  start_rows(head, row, rows, -INFINITY);
  attend(&stream, row, rows);
  finish_rows(&stream, row, rows);
}
