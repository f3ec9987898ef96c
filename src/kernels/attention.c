#include "kernels/attention.h"

#include <math.h>

#include "core/tile.h"
#include "kernels/elementwise.h"
#include "kernels/micro_tile.h"
#include "kernels/online_softmax.h"
#include "kernels/pack.h"
#include "kernels/row_attention.h"
#include "kernels/row_panels.h"

typedef struct hw_stream {
  const hw_attention_head *head;
  hw_key_value_panels panels; /* of the block of keys, as floats */
  hw_score_source source;
  float *queries;     /* hw_pack_queries */
  size_t query_strip; /* floats of a strip's */
  float *weighted;    /* [HW_QUERY_BLOCK, weighted_stride], not yet divided by the sums */
  size_t weighted_stride;
  float share;    /* what weights are multiplied by before they meet values: 1 but in attend_again */
  hw_strip strip; /* scores, then weights */
} hw_stream;

/* The queries of a strip: `row` counts from the head's first, `block_row` from the block's. */
typedef struct strip_rows {
  size_t row;
  size_t block_row;
  size_t count;
} strip_rows;

/* Where an array of so many floats lies in a scratch that is measured. */
static size_t place_floats(hw_arena *measuring, size_t count) {
  const size_t at = measuring->used;
  hw_arena_take_floats(measuring, count);
  return at;
}

hw_attention_scratch hw_attention_scratch_of(hw_matrix_type dtype, size_t key_width, size_t value_width) {
  hw_arena arena = {.measures = true};
  place_floats(&arena, (size_t)HW_TILE_ROWS * HW_STRIP_STRIDE);
  hw_attention_scratch scratch;
  scratch.weighted_at = place_floats(&arena, hw_size_multiply(HW_QUERY_BLOCK, hw_whole_panels(value_width)));
  scratch.queries_at = place_floats(&arena, hw_packed_queries_floats(HW_QUERY_BLOCK, key_width));
  scratch.room_at = place_floats(&arena, hw_float_panels_room(dtype, key_width, value_width));
  scratch.bytes = arena.used;
  return scratch;
}

/* Field by field: what a strip finds need not be cleared first. */
static void start_strip(hw_strip *strip, float *scores, float *room) {
  strip->room = room;
  strip->scores = scores;
  strip->stride = HW_STRIP_STRIDE;
  strip->range_count = 0;
}

static void start_stream(hw_stream *stream, const hw_attention_head *head, const hw_attention_scratch *scratch,
                         unsigned char *memory) {
  stream->head = head;
  stream->weighted = (float *)(memory + scratch->weighted_at);
  stream->weighted_stride = hw_whole_panels(head->panels.value_width);
  stream->queries = (float *)(memory + scratch->queries_at);
  stream->query_strip = hw_packed_rows_floats(head->panels.key_width);
  stream->share = 1.0F;
  start_strip(&stream->strip, (float *)memory, (float *)(memory + scratch->room_at));
}

/* Turns the strip's scores into weights relative to the rows' maxima so far, and brings what was summed before to the
 * same maxima where those have risen. */
static void weigh_strip(const hw_stream *stream, const strip_rows *rows, size_t key_start) {
  const hw_attention_head *head = stream->head;
  const hw_strip *strip = &stream->strip;
  for (size_t r = 0; r < rows->count; r++) {
    const float factor = hw_raise_maximum(head, rows->row + r, strip->maximum[r]);
    if (factor != 1.0F) {
      float *weighted = stream->weighted + (rows->block_row + r) * stream->weighted_stride;
      hw_row_scale(weighted, weighted, stream->weighted_stride, factor);
    }
  }
  for (size_t i = 0; i < strip->range_count; i++) {
    const hw_key_range range = strip->ranges[i];
    const hw_scored_keys keys = {key_start + range.start, range.end - range.start,
                                 hw_min(range.end, strip->visible) - range.start};
    hw_weigh_scores(head, rows->row, rows->count, &keys, strip->scores + range.start, head->row_sum + rows->row);
    if (stream->share != 1.0F) {
      hw_row_scale(strip->scores + range.start, strip->scores + range.start, keys.scored, stream->share);
    }
  }
}

static __attribute__((noinline)) void weighted_tile(const float *weights, const float *panel, size_t keys,
                                                    float *weighted, size_t stride) {
  hw_tile tile;
  hw_tile_load(tile, weighted, stride);
  hw_tile_multiply_add(tile, weights, HW_STRIP_STRIDE, 1, panel, keys);
  hw_tile_store(tile, weighted, stride);
}

/* One row of the weighted values plus weight times one token's values, rounded as weighted_tile rounds. */
static void add_value(const hw_key_value_panels *panels, size_t token, float weight, float *weighted, size_t width) {
  const hw_f32x4 weights = hw_splat(weight);
  for (size_t c = 0; c < width; c += HW_LANES) {
    const float *panel = (const float *)panels->values + c / HW_TILE_COLUMNS * HW_TILE_COLUMNS * panels->capacity;
    const hw_f32x4 values = hw_load(panel + (token - panels->first) * HW_TILE_COLUMNS + c % HW_TILE_COLUMNS);
    hw_store(weighted + c, hw_multiply_add(weights, values, hw_load(weighted + c)));
  }
}

/* 0 · NaN is NaN: where values are not all finite, keys of weight 0 must be left out, not multiplied. */
static __attribute__((noinline)) void add_visible_values(const hw_stream *stream, const float *weights, size_t rows,
                                                         size_t token, size_t keys, float *weighted) {
  for (size_t r = 0; r < rows; r++) {
    for (size_t j = 0; j < keys; j++) {
      const float weight = weights[r * HW_STRIP_STRIDE + j];
      if (weight != 0.0F) {
        add_value(&stream->panels, token + j, weight, weighted + r * stream->weighted_stride, stream->weighted_stride);
      }
    }
  }
}

/* The values of `keys` tokens from `token` on, by the strip's weights, onto the weighted values of its rows. */
static void add_values(const hw_stream *stream, const float *weights, size_t rows, size_t token, size_t keys,
                       float *weighted) {
  const hw_key_value_panels *panels = &stream->panels;
  const float *values = (const float *)panels->values + (token - panels->first) * HW_TILE_COLUMNS;
  if (!hw_values_are_finite(panels, token, token + keys)) {
    add_visible_values(stream, weights, rows, token, keys, weighted);
  } else if (rows == 1) {
    hw_row_times_panels(&(hw_row_product){
        .a = weights,
        .k = keys,
        .panels = values,
        .panel_stride = panels->capacity * HW_TILE_COLUMNS,
        .count = stream->weighted_stride / HW_TILE_COLUMNS,
        .start = weighted,
        .start_stride = HW_TILE_COLUMNS,
        .y = weighted,
    });
  } else {
    for (size_t column = 0; column < stream->weighted_stride; column += HW_TILE_COLUMNS) {
      weighted_tile(weights, values + column * panels->capacity, keys, weighted + column, stream->weighted_stride);
    }
  }
}

/* One strip of queries against one block of keys. */
static void stream_strip(hw_stream *stream, const strip_rows *rows, size_t key_start) {
  hw_strip *strip = &stream->strip;
  const float *queries = stream->queries + rows->block_row / HW_TILE_ROWS * stream->query_strip;
  hw_score_strip(&stream->source, queries, rows->row, rows->count, key_start, key_start + HW_KEY_BLOCK, strip);
  if (strip->range_count == 0) {
    return;
  }
  weigh_strip(stream, rows, key_start);
  float *weighted = stream->weighted + rows->block_row * stream->weighted_stride;
  for (size_t i = 0; i < strip->range_count; i++) {
    const hw_key_range range = strip->ranges[i];
    add_values(stream, strip->scores + range.start, rows->count, key_start + range.start,
               hw_min(range.end, strip->visible) - range.start, weighted);
  }
}

static __attribute__((noinline)) void stream_rows(hw_stream *stream, size_t row, size_t rows, hw_key_range keys) {
  const hw_attention_head *head = stream->head;
  for (size_t key = keys.start; key < keys.end; key += HW_KEY_BLOCK) {
    hw_float_panels(&head->panels, key, keys.end, true, stream->strip.room, &stream->panels);
    stream->source = hw_attention_source(head, &stream->panels);
    for (size_t r = 0; r < rows; r += HW_TILE_ROWS) {
      stream_strip(stream, &(strip_rows){row + r, r, hw_min(rows - r, HW_TILE_ROWS)}, key);
    }
  }
}

/* Sets the weighted values of so many rows to zero; returns the keys that any of them sees, from a whole panel on. */
static hw_key_range start_weighted(const hw_stream *stream, size_t row, size_t rows) {
  const size_t whole = rows == 1 ? 1 : hw_ceil_divide(rows, HW_TILE_ROWS) * HW_TILE_ROWS;
  hw_fill(stream->weighted, whole * stream->weighted_stride, hw_splat(0.0F));
  hw_key_range keys = hw_keys_of_any(&stream->head->visible, row, rows);
  keys.start = keys.start / HW_TILE_COLUMNS * HW_TILE_COLUMNS;
  return keys;
}

static void attend(hw_stream *stream, size_t row, size_t rows) {
  const hw_attention_head *head = stream->head;
  const hw_key_range keys = start_weighted(stream, row, rows);
  const bool are_floats = head->panels.dtype == HW_MATRIX_FLOAT32;
  if (rows == 1 && are_floats && hw_values_are_finite(&head->panels, keys.start, keys.end)) {
    hw_row_attention(head, row, stream->queries, keys, &stream->strip, stream->weighted);
  } else {
    stream_rows(stream, row, rows, keys);
  }
}

/* From no keys on. */
static void start_rows(const hw_attention_head *head, size_t row, size_t rows) {
  float *maximum = head->row_maximum + row;
  float *sum = head->row_sum + row;
  for (size_t r = 0; r < rows; r++) {
    maximum[r] = -INFINITY;
    sum[r] = 0.0F;
  }
}

/* Values near the largest float overflow when they are added up before the division by the sum, or under weights that
 * later keys make small. Now that the maximum and the sum are known, the weights are divided first: they add up to 1. What
 * dropout multiplies them by comes last. */
static void attend_again(const hw_stream *stream, size_t row, float *weighted) {
  const hw_attention_head *head = stream->head;
  const float sum = head->row_sum[row];
  hw_stream alone = *stream;
  alone.weighted = weighted;
  alone.share = hw_inverse_sum(head, row) / head->kept.scale;
  hw_pack_queries(head->query + row * head->query_stride, head->query_stride, 1, head->panels.key_width, head->scale,
                  alone.queries);
  stream_rows(&alone, row, 1, start_weighted(&alone, row, 1));
  head->row_sum[row] = sum;
}

/* Rows of weighted values are whole vectors; those of the output end with the last value. */
static void store_row(const float *weighted, float factor, float *output, size_t width) {
  const hw_f32x4 factors = hw_splat(factor);
  for (size_t c = 0; c < width; c += HW_LANES) {
    const hw_f32x4 values = hw_multiply(hw_load(weighted + c), factors);
    hw_store_lanes_inline(output + c, values, hw_min(width - c, HW_LANES));
  }
}

/* The last row first: the output may be where the queries were, and those before are still needed. */
static void finish_rows(const hw_stream *stream, size_t row, size_t rows) {
  const hw_attention_head *head = stream->head;
  const bool is_finite = hw_all_finite(stream->weighted, rows * stream->weighted_stride);
  for (size_t r = rows; r-- > 0;) {
    float *weighted = stream->weighted + r * stream->weighted_stride;
    float factor = hw_inverse_sum(head, row + r);
    /* With a sum of NaN the row is NaN, whatever the values are. */
    if (!is_finite && !hw_all_finite(weighted, stream->weighted_stride) && head->row_sum[row + r] >= 1.0F) {
      attend_again(stream, row + r, weighted);
      factor = head->kept.scale;
    }
    store_row(weighted, factor, head->output + (row + r) * head->output_stride, head->panels.value_width);
  }
}

void hw_attention_block(const hw_attention_head *head, size_t row, size_t rows, const hw_attention_scratch *scratch,
                        unsigned char *memory) {
  hw_stream stream;
  start_stream(&stream, head, scratch, memory);
  hw_pack_queries(head->query + row * head->query_stride, head->query_stride, rows, head->panels.key_width, head->scale,
                  stream.queries);
  start_rows(head, row, rows);
  attend(&stream, row, rows);
  finish_rows(&stream, row, rows);
}
