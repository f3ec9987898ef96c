#include "kernels/scores.h"

#include <math.h>

#include "core/memory.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"
#include "kernels/micro_tile.h"
#include "kernels/pack.h"
#include "kernels/row_panels.h"
#include "kernels/softcap.h"

size_t hw_packed_queries_floats(size_t rows, size_t key_width) {
  return hw_size_multiply(hw_ceil_divide(rows, HW_TILE_ROWS), hw_packed_rows_floats(key_width));
}

void hw_pack_queries(const float *query, size_t token_stride, size_t rows, size_t key_width, float scale,
                     float *packed) {
  for (size_t row = 0; row < rows; row += HW_TILE_ROWS) {
    const float *source = query + row * token_stride;
    float *strip = packed + row / HW_TILE_ROWS * hw_packed_rows_floats(key_width);
    if (rows - row == 1) {
      hw_row_scale(source, strip, key_width, scale);
    } else {
      hw_pack_rows(source, token_stride, hw_min(rows - row, HW_TILE_ROWS), key_width, scale, strip);
    }
  }
}

/* Raises HW_LANES maxima to a row's scores in a tile. */
HW_INLINE void raise_maxima(const float *scores, float *maxima) {
  const hw_f32x4 larger = hw_larger(hw_load(scores), hw_load(scores + HW_LANES));
  hw_store(maxima, hw_larger(hw_load(maxima), larger));
}

/* Raises maxima [HW_TILE_ROWS · HW_LANES] to the scores', if it is not NULL. */
static __attribute__((noinline)) void score_tile(const float *queries, const float *panel, size_t key_width,
                                                 float *scores, size_t stride, float *maxima) {
  const hw_f32x4 zero = hw_splat(0.0F);
  hw_tile tile;
  hw_tile_fill(tile, zero, zero);
  hw_tile_multiply_add(tile, queries, 1, HW_TILE_ROWS, panel, key_width);
  hw_tile_store(tile, scores, stride);
  /* Read back: a second use of the sums would make older V8 keep less of the loop in registers. */
  hw_order_barrier();
#pragma GCC unroll 8
  for (size_t r = 0; r < HW_TILE_ROWS && maxima != NULL; r++) {
    raise_maxima(scores + r * stride, maxima + r * HW_LANES);
  }
}

/* A group of tiles in which the queries see everything, or in which each has to be looked at. */
typedef struct tile_group {
  size_t key;
  size_t end;
  hw_tile_visibility visibility;
} tile_group;

static tile_group group_at(const hw_sight *sight, size_t key, size_t end) {
  tile_group group = {key, key + HW_TILE_COLUMNS, hw_see_tile(sight, key)};
  if (sight->visible->mask_kind == HW_MASK_NONE && group.visibility == HW_TILE_VISIBLE) {
    group.end = hw_min(end, sight->all.end / HW_TILE_COLUMNS * HW_TILE_COLUMNS);
  } else {
    while (group.end < end && hw_see_tile(sight, group.end) == group.visibility) {
      group.end += HW_TILE_COLUMNS;
    }
  }
  return group;
}

static void add_range(hw_strip *strip, size_t start, size_t end) {
  if (strip->range_count > 0 && strip->ranges[strip->range_count - 1].end == start) {
    strip->ranges[strip->range_count - 1].end = end;
  } else {
    strip->ranges[strip->range_count++] = (hw_key_range){start, end};
  }
}

/* The panel of a key and those after it. */
static const float *panel_of(const hw_score_source *source, size_t key) {
  return source->key_panels + (key - source->first_key) * source->key_width;
}

/* A single query, at the speed of memory. */
static void score_row(const hw_score_source *source, const float *query, const tile_group *group, float *scores,
                      float *maxima) {
  const size_t keys = group->end - group->key;
  const hw_row_product product = {
      .a = query,
      .k = source->key_width,
      .panels = panel_of(source, group->key),
      .panel_stride = source->key_width * HW_TILE_COLUMNS,
      .count = keys / HW_TILE_COLUMNS,
      .start = hw_gemm_zeros,
      .y = scores,
  };
  hw_row_times_panels(&product);
  if (maxima == NULL) {
    return;
  }
  hw_f32x4 largest = hw_load(maxima);
  for (size_t i = 0; i < keys; i += HW_TILE_COLUMNS) {
    largest = hw_larger(largest, hw_larger(hw_load(scores + i), hw_load(scores + i + HW_LANES)));
  }
  hw_store(maxima, largest);
}

static void score_group(const hw_score_source *source, const float *queries, size_t rows, const tile_group *group,
                        float *scores, size_t stride, float *maxima) {
  if (rows == 1) {
    score_row(source, queries, group, scores, maxima);
    return;
  }
  for (size_t key = group->key; key < group->end; key += HW_TILE_COLUMNS) {
    score_tile(queries, panel_of(source, key), source->key_width, scores + (key - group->key), stride, maxima);
  }
}

/* Scores that are capped, masked or both. */
static void score_changed_group(const hw_score_source *source, const float *queries, const hw_sight *sight,
                                const tile_group *group, float *scores, size_t stride, float *maxima) {
  const size_t rows = sight->rows;
  score_group(source, queries, rows, group, scores, stride, NULL);
  for (size_t r = 0; source->softcap != 0.0F && r < rows; r++) {
    hw_row_softcap(scores + r * stride, group->end - group->key, source->softcap);
  }
  for (size_t key = group->key; key < group->end; key += HW_TILE_COLUMNS) {
    float *tile = scores + (key - group->key);
    if (group->visibility == HW_TILE_PARTIAL) {
      hw_mask_tile(sight, key, tile, stride);
    }
    for (size_t r = 0; r < rows; r++) {
      raise_maxima(tile + r * stride, maxima + r * HW_LANES);
    }
  }
}

void hw_score_strip(const hw_score_source *source, const float *packed_queries, size_t row, size_t rows,
                    size_t key_start, size_t key_end, hw_strip *strip) {
  float maxima[HW_TILE_ROWS * HW_LANES];
  hw_fill(maxima, (size_t)HW_TILE_ROWS * HW_LANES, hw_splat(-INFINITY));
  strip->range_count = 0;
  const hw_sight sight = hw_sight_of(source->visible, row, rows);
  strip->visible = sight.any.end - key_start;
  const size_t end = hw_min(sight.any.end, key_end);
  size_t key = sight.any.start > key_start ? sight.any.start / HW_TILE_COLUMNS * HW_TILE_COLUMNS : key_start;
  while (key < end) {
    const tile_group group = group_at(&sight, key, end);
    float *scores = strip->scores + (key - key_start);
    if (group.visibility == HW_TILE_VISIBLE && source->softcap == 0.0F) {
      score_group(source, packed_queries, rows, &group, scores, strip->stride, maxima);
    } else if (group.visibility != HW_TILE_HIDDEN) {
      score_changed_group(source, packed_queries, &sight, &group, scores, strip->stride, maxima);
    }
    if (group.visibility != HW_TILE_HIDDEN) {
      add_range(strip, key - key_start, group.end - key_start);
    }
    key = group.end;
  }
  for (size_t r = 0; r < HW_TILE_ROWS; r++) {
    strip->maximum[r] = hw_largest_lane(hw_load(maxima + r * HW_LANES));
  }
}
