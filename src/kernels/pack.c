#include "kernels/pack.h"

/* Four columns, contiguous in k, by 4×4 transposes; returns how far in k that went. */
static size_t pack_four_columns(const float *source, size_t column_stride, size_t k, float *panel) {
  size_t p = 0;
  for (; p + HW_LANES <= k; p += HW_LANES) {
    hw_f32x4 rows[4];
#pragma GCC unroll 4
    for (size_t c = 0; c < HW_LANES; c++) {
      rows[c] = hw_load(source + c * column_stride + p);
    }
    hw_transpose_4x4(rows);
#pragma GCC unroll 4
    for (size_t i = 0; i < HW_LANES; i++) {
      hw_store(panel + (p + i) * HW_TILE_COLUMNS, rows[i]);
    }
  }
  return p;
}

static __attribute__((noinline)) void pack_any(const float *source, size_t column_stride, size_t k_stride,
                                               size_t columns, size_t k, float *panel) {
  for (size_t p = 0; p < k; p++) {
    hw_fill(panel + p * HW_TILE_COLUMNS, HW_TILE_COLUMNS, hw_splat(0.0F));
#pragma GCC unroll 1
    for (size_t c = 0; c < columns; c++) {
      panel[p * HW_TILE_COLUMNS + c] = source[c * column_stride + p * k_stride];
    }
  }
}

/* Columns contiguous in k. */
static __attribute__((noinline)) void pack_columns(const float *source, size_t column_stride, size_t columns, size_t k,
                                                   float *panel) {
  size_t packed = 0;
  if (columns == HW_TILE_COLUMNS) {
    pack_four_columns(source, column_stride, k, panel);
    packed = pack_four_columns(source + HW_LANES * column_stride, column_stride, k, panel + HW_LANES);
  }
  pack_any(source + packed, column_stride, 1, columns, k - packed, panel + packed * HW_TILE_COLUMNS);
}

/* Columns next to each other. */
static __attribute__((noinline)) void pack_rows(const float *source, size_t k_stride, size_t columns, size_t k,
                                                float *panel) {
  if (columns == HW_TILE_COLUMNS) {
    for (size_t p = 0; p < k; p++) {
      hw_store(panel + p * HW_TILE_COLUMNS, hw_load(source + p * k_stride));
      hw_store(panel + p * HW_TILE_COLUMNS + HW_LANES, hw_load(source + p * k_stride + HW_LANES));
    }
  } else if (columns > HW_LANES) {
    for (size_t p = 0; p < k; p++) {
      hw_store(panel + p * HW_TILE_COLUMNS, hw_load(source + p * k_stride));
      hw_store(panel + p * HW_TILE_COLUMNS + HW_LANES,
               hw_load_lanes(source + p * k_stride + HW_LANES, columns - HW_LANES));
    }
  } else {
    for (size_t p = 0; p < k; p++) {
      hw_store(panel + p * HW_TILE_COLUMNS, hw_load_lanes_inline(source + p * k_stride, columns));
      hw_store(panel + p * HW_TILE_COLUMNS + HW_LANES, hw_splat(0.0F));
    }
  }
}

void hw_pack_panels(const float *source, size_t column_stride, size_t k_stride, size_t columns, size_t k, float *panels,
                    size_t panel_stride) {
  for (size_t column = 0; column < columns; column += HW_TILE_COLUMNS) {
    const float *first = source + column * column_stride;
    float *panel = panels + column / HW_TILE_COLUMNS * panel_stride;
    const size_t width = hw_min(columns - column, HW_TILE_COLUMNS);
    if (k_stride == 1) {
      pack_columns(first, column_stride, width, k, panel);
    } else if (column_stride == 1) {
      pack_rows(first, k_stride, width, k, panel);
    } else {
      pack_any(first, column_stride, k_stride, width, k, panel);
    }
  }
}

static void load_scaled(const float *source, size_t row_stride, size_t rows, hw_f32x4 factor, hw_f32x4 vectors[4]) {
#pragma GCC unroll 4
  for (size_t r = 0; r < HW_LANES; r++) {
    vectors[r] = hw_multiply(hw_load(source + hw_min(r, rows - 1) * row_stride), factor);
  }
}

/* Four columns of whole tiles: the first four rows, then the others with some lanes too many, which the next column
 * overwrites. */
static void interleave_four(const float *source, size_t row_stride, hw_f32x4 factor, float *packed) {
  hw_f32x4 first[4];
  hw_f32x4 others[4];
  load_scaled(source, row_stride, HW_LANES, factor, first);
  load_scaled(source + HW_LANES * row_stride, row_stride, HW_TILE_ROWS - HW_LANES, factor, others);
  hw_transpose_4x4(first);
  hw_transpose_4x4(others);
#pragma GCC unroll 4
  for (size_t i = 0; i < HW_LANES; i++) {
    hw_store(packed + i * HW_TILE_ROWS, first[i]);
    hw_store(packed + i * HW_TILE_ROWS + HW_LANES, others[i]);
  }
}

/* One column. */
HW_INLINE void interleave_one(const float *source, size_t row_stride, size_t rows, float factor, float *packed) {
#pragma GCC unroll 8
  for (size_t r = 0; r < HW_TILE_ROWS; r++) {
    packed[r] = r < rows ? source[r * row_stride] * factor : 0.0F;
  }
}

void hw_pack_rows(const float *source, size_t row_stride, size_t rows, size_t k, float factor, float *packed) {
  if (rows < HW_TILE_ROWS) {
#pragma GCC unroll 1
    for (size_t p = 0; p < k; p++) {
      interleave_one(source + p, row_stride, rows, factor, packed + p * HW_TILE_ROWS);
    }
    return;
  }
  const hw_f32x4 factors = hw_splat(factor);
  for (size_t p = 0; p + HW_LANES <= k; p += HW_LANES) {
    interleave_four(source + p, row_stride, factors, packed + p * HW_TILE_ROWS);
  }
  const size_t done = k / HW_LANES * HW_LANES;
  source += done;
  packed += done * HW_TILE_ROWS;
#pragma GCC unroll 1
  for (size_t p = 0; p < k % HW_LANES; p++) {
    interleave_one(source + p, row_stride, HW_TILE_ROWS, factor, packed + p * HW_TILE_ROWS);
  }
}
