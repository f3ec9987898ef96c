#include "kernels/attention_map.h"

#include <math.h>
#include <string.h>

#include "kernels/attention_weights.h"
#include "kernels/elementwise.h"
#include "kernels/pack.h"
#include "kernels/softmax.h"

/* A strip of queries on its way into the map. exp rises with its argument, so the largest score of a row in a cell is
 * looked for first, and only that becomes a weight. */
typedef struct map_strip {
  const hw_attention_head *head;
  size_t size;
  size_t stride; /* floats of a row of cells, in whole vectors */
  float *queries;
  float *cells; /* [HW_TILE_ROWS, stride]: largest scores, then weights */
  float *row;   /* [stride]: the map's row in the making */
  hw_strip scores;
} map_strip;

/* A strip's scratch, in the order in which it is taken. */
static void take_scratch(hw_arena *arena, hw_matrix_type dtype, size_t key_width, size_t size, map_strip *strip) {
  strip->stride = hw_whole_panels(size);
  strip->queries = hw_take_strip(arena, dtype, key_width, &strip->scores);
  strip->cells = hw_arena_take_floats(arena, hw_size_multiply(HW_TILE_ROWS, strip->stride));
  strip->row = hw_arena_take_floats(arena, strip->stride);
}

size_t hw_attention_map_scratch_bytes(hw_matrix_type dtype, size_t key_width, size_t size) {
  hw_arena arena = {.measures = true};
  map_strip strip;
  take_scratch(&arena, dtype, key_width, size, &strip);
  return arena.peak;
}

static void start(map_strip *strip, const hw_attention_head *head, size_t size, unsigned char *scratch) {
  hw_arena arena = {.memory = scratch, .capacity = SIZE_MAX};
  take_scratch(&arena, head->panels.dtype, head->panels.key_width, size, strip);
  strip->head = head;
  strip->size = size;
}

/* Cell `index` of `size` covers [start, end) of n tokens, at least one. */
static size_t cell_start(size_t index, size_t size, size_t n) { return (size_t)((uint64_t)index * n / size); }

static size_t cell_end(size_t index, size_t size, size_t n) {
  const size_t end = cell_start(index + 1, size, n);
  const size_t start = cell_start(index, size, n);
  return end > start ? end : start + 1;
}

/* The first cell that reaches beyond a key. */
static size_t cell_of(size_t key, size_t size, size_t keys) {
  return size <= keys ? (size_t)((((uint64_t)key + 1) * size - 1) / keys)
                      : (size_t)(((uint64_t)key * size + keys - 1) / keys);
}

/* Raises the cells that keys [key, key + count) lie in to these keys' scores. */
static void pool_scores(const map_strip *strip, const float *scores, size_t rows, size_t key, size_t count) {
  const size_t size = strip->size;
  const size_t keys = strip->head->key_tokens;
  const size_t end = key + count;
  for (size_t c = cell_of(key, size, keys); c < size && cell_start(c, size, keys) < end; c++) {
    const size_t from = cell_start(c, size, keys);
    const size_t first = from > key ? from : key;
    const size_t covered = hw_min(cell_end(c, size, keys), end) - first;
    for (size_t r = 0; r < rows; r++) {
      float *cell = strip->cells + r * strip->stride + c;
      *cell = hw_row_maximum_from(*cell, scores + r * HW_STRIP_STRIDE + (first - key), covered);
    }
  }
}

/* A weight that dropout leaves out is 0. */
static void drop_scores(const hw_kept *kept, size_t row, size_t key, size_t count, float *scores) {
  for (size_t j = 0; j < count; j++) {
    if (!hw_is_kept(kept, row, key + j)) {
      scores[j] = -INFINITY;
    }
  }
}

static void pool_block(map_strip *strip, size_t row, size_t rows, size_t key, size_t end) {
  const hw_attention_head *head = strip->head;
  hw_key_value_panels floats;
  hw_float_panels(&head->panels, key, end, false, strip->scores.room, &floats);
  const hw_score_source source = hw_attention_source(head, &floats);
  hw_score_strip(&source, strip->queries, row, rows, key, key + HW_KEY_BLOCK, &strip->scores);
  for (size_t i = 0; i < strip->scores.range_count; i++) {
    const hw_key_range range = strip->scores.ranges[i];
    const size_t first = key + range.start;
    const size_t count = hw_min(key + range.end, head->visible.key_tokens) - first;
    float *scores = strip->scores.scores + range.start;
    for (size_t r = 0; head->kept.bits != NULL && r < rows; r++) {
      drop_scores(&head->kept, row + r, first, count, scores + r * HW_STRIP_STRIDE);
    }
    pool_scores(strip, scores, rows, first, count);
  }
}

/* The weights of a row: NaN if one of its scores is, since then its sum is. */
static void weigh_cells(const map_strip *strip, size_t row, float *cells) {
  const hw_attention_head *head = strip->head;
  float unused = 0.0F;
  hw_rows_exp(cells, strip->stride, 1, strip->stride, head->row_maximum + row, &unused);
  if (head->kept.bits != NULL) {
    hw_row_scale(cells, cells, strip->stride, head->kept.scale);
  }
  hw_row_scale(cells, cells, strip->stride, hw_inverse_sum(head, row));
}

static void weigh_strip(map_strip *strip, size_t row, size_t rows) {
  const hw_attention_head *head = strip->head;
  const hw_key_range keys = hw_keys_of_any(&head->visible, row, rows);
  hw_fill(strip->cells, HW_TILE_ROWS * strip->stride, hw_splat(-INFINITY));
  hw_pack_queries(head->query + row * head->query_stride, head->query_stride, rows, head->panels.key_width, head->scale,
                  strip->queries);
  for (size_t key = keys.start / HW_TILE_COLUMNS * HW_TILE_COLUMNS; key < keys.end; key += HW_KEY_BLOCK) {
    pool_block(strip, row, rows, key, keys.end);
  }
  for (size_t r = 0; r < rows; r++) {
    weigh_cells(strip, row + r, strip->cells + r * strip->stride);
  }
}

/* A NaN stays whatever comes: a softmax is NaN as a whole. */
static void raise_row(const map_strip *strip, const float *weights) {
  for (size_t c = 0; c < strip->stride; c += HW_LANES) {
    const hw_f32x4 weight = hw_load(weights + c);
    const hw_f32x4 raised = hw_larger(hw_load(strip->row + c), weight);
    hw_store(strip->row + c, hw_choose(hw_equal(weight, weight), raised, weight));
  }
}

void hw_attention_map_rows(const hw_attention_head *head, size_t size, size_t first, size_t end, float *map,
                           unsigned char *scratch) {
  const size_t tokens = head->query_tokens;
  const size_t last = cell_end(end - 1, size, tokens);
  map_strip strip;
  start(&strip, head, size, scratch);
  size_t row = 0; /* the strip holds [row, row_end) */
  size_t row_end = 0;
  for (size_t r = first; r < end; r++) {
    hw_fill(strip.row, strip.stride, hw_splat(0.0F));
    /* Without queries a cell has none. */
    for (size_t i = cell_start(r, size, tokens); i < hw_min(cell_end(r, size, tokens), tokens); i++) {
      if (i >= row_end) {
        row = i;
        row_end = hw_min(i + HW_TILE_ROWS, last);
        weigh_strip(&strip, row, row_end - row);
      }
      raise_row(&strip, strip.cells + (i - row) * strip.stride);
    }
    memcpy(map + r * size, strip.row, size * sizeof(float));
  }
}
