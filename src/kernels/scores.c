#include "kernels/scores.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernels/exp2.h"
#include "kernels/micro_tile.h"
#include "kernels/softmax.h"

void hw_pack_queries(const float *query, size_t token_stride, size_t rows, size_t key_width, float scale,
                     float *packed) {
  const float factor = scale * hw_log2_e;
  for (size_t r = 0; r < rows; r++) {
    hw_row_scale(query + r * token_stride, packed + r * key_width, key_width, factor);
  }
  const size_t whole = hw_ceil_divide(rows, HW_TILE_ROWS) * HW_TILE_ROWS;
  memset(packed + rows * key_width, 0, (whole - rows) * key_width * sizeof(float));
}

static size_t causal_end(const hw_visibility *visible, size_t row, size_t key_tokens) {
  if (!visible->is_causal) {
    return key_tokens;
  }
  const int64_t end = (int64_t)row + visible->causal_offset + 1;
  return end <= 0 ? 0 : hw_min((size_t)end, key_tokens);
}

size_t hw_visible_keys(const hw_score_source *source, size_t row, size_t rows) {
  return causal_end(&source->visible, row + rows - 1, source->key_tokens);
}

static __attribute__((noinline)) void score_tile(const float *queries, const float *panel, size_t key_width,
                                                 float *scores, size_t stride) {
  hw_tile tile;
  const float zeros[HW_TILE_COLUMNS] = {0};
  hw_tile_fill(tile, zeros);
  hw_tile_multiply_add(tile, HW_TILE_ROWS, queries, key_width, panel, key_width);
  hw_tile_store(tile, HW_TILE_ROWS, scores, stride);
}

static void mask_bool_row(const uint8_t *mask, size_t key_stride, float *scores, size_t count) {
  for (size_t j = 0; j < count; j++) {
    scores[j] = mask[j * key_stride] != 0 ? scores[j] : -INFINITY;
  }
}

static void mask_float_row(const float *mask, size_t key_stride, float *scores, size_t count) {
  for (size_t j = 0; j < count; j++) {
    const float added = mask[j * key_stride];
    /* Chosen, not added: -inf forbids whatever the score is. */
    scores[j] = added == -INFINITY ? -INFINITY : scores[j] + added * hw_log2_e;
  }
}

static void mask_row(const hw_visibility *visible, size_t row, size_t key_start, float *scores, size_t count) {
  const size_t first = row * visible->query_stride + key_start * visible->key_stride;
  if (visible->mask_kind == HW_MASK_BOOL) {
    mask_bool_row((const uint8_t *)visible->mask + first, visible->key_stride, scores, count);
  } else if (visible->mask_kind == HW_MASK_FLOAT) {
    mask_float_row((const float *)visible->mask + first, visible->key_stride, scores, count);
  }
}

void hw_score_strip(const hw_score_source *source, const float *packed_queries, size_t row, size_t rows,
                    size_t key_start, size_t key_end, float *strip, size_t strip_stride) {
  const size_t width = hw_ceil_divide(key_end - key_start, HW_TILE_COLUMNS) * HW_TILE_COLUMNS;
  const float *panel = source->key_panels + key_start * source->key_width;
  for (size_t column = 0; column < width; column += HW_TILE_COLUMNS) {
    score_tile(packed_queries, panel + column * source->key_width, source->key_width, strip + column, strip_stride);
  }
  for (size_t r = 0; r < rows; r++) {
    float *scores = strip + r * strip_stride;
    const size_t end = hw_min(causal_end(&source->visible, row + r, source->key_tokens), key_end);
    const size_t visible_count = end > key_start ? end - key_start : 0;
    mask_row(&source->visible, row + r, key_start, scores, visible_count);
    for (size_t j = visible_count; j < width; j++) {
      scores[j] = -INFINITY;
    }
  }
}
