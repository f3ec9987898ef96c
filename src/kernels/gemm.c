#include "kernels/gemm.h"

#include <assert.h>

#include "core/memory.h"
#include "kernels/micro_tile.h"
#include "kernels/pack.h"
#include "kernels/row_panels.h"

const float hw_gemm_zeros[HW_TILE_COLUMNS];

/* start: where all rows' sums begin; NULL: what c holds. */
HW_INLINE void start_tile(hw_tile tile, const float *start, const float *c, size_t c_stride) {
  if (start == NULL) {
    hw_tile_load(tile, c, c_stride);
  } else {
    hw_tile_fill(tile, hw_load(start), hw_load(start + HW_LANES));
  }
}

/* No more arguments than V8 passes in registers. */
static __attribute__((noinline)) void packed_tile(const float *strip, const float *panel, const float *start, size_t k,
                                                  float *c, size_t c_stride) {
  hw_tile tile;
  start_tile(tile, start, c, c_stride);
  hw_tile_multiply_add(tile, strip, 1, HW_TILE_ROWS, panel, k);
  hw_tile_store(tile, c, c_stride);
}

__attribute__((noinline)) void hw_gemm_tile(const float *a, size_t a_stride, const float *panel, const float *start,
                                            size_t k, float *c, size_t c_stride) {
  hw_tile tile;
  start_tile(tile, start, c, c_stride);
  hw_tile_multiply_add(tile, a, a_stride, 1, panel, k);
  hw_tile_store(tile, c, c_stride);
}

static float *strip_of(const hw_gemm_product *g, size_t row) {
  return g->strips + row / HW_TILE_ROWS * hw_packed_rows_floats(g->k);
}

static void any_tile(const hw_gemm_product *g, size_t row, const float *panel, const float *start, float *c,
                     size_t c_stride) {
  if (g->strips == NULL) {
    hw_gemm_tile(g->a + row * g->a_stride, g->a_stride, panel, start, g->k, c, c_stride);
  } else {
    packed_tile(strip_of(g, row), panel, start, g->k, c, c_stride);
  }
}

/* Fewer than HW_TILE_COLUMNS of one row. */
static void copy_columns(const float *from, float *to, size_t columns) {
#pragma GCC unroll 1
  for (size_t i = 0; i < columns; i++) {
    /* Or it would become a call of memcpy, which takes longer for a few. */
    hw_order_barrier();
    to[i] = from[i];
  }
}

/* The last panel's missing columns are computed into a tile aside and left there. */
static void gemm_narrow_tile(const hw_gemm_product *g, size_t row, const float *panel, const float *start, float *c,
                             size_t columns) {
  float whole[HW_TILE_ROWS * HW_TILE_COLUMNS];
  if (start == NULL) {
    hw_fill(whole, (size_t)HW_TILE_ROWS * HW_TILE_COLUMNS, hw_splat(0.0F));
#pragma GCC unroll 1
    for (size_t r = 0; r < HW_TILE_ROWS; r++) {
      copy_columns(c + r * g->c_stride, whole + r * HW_TILE_COLUMNS, columns);
    }
  }
  any_tile(g, row, panel, start, whole, HW_TILE_COLUMNS);
#pragma GCC unroll 1
  for (size_t r = 0; r < HW_TILE_ROWS; r++) {
    copy_columns(whole + r * HW_TILE_COLUMNS, c + r * g->c_stride, columns);
  }
}

static size_t panel_floats(const hw_gemm_product *g) { return g->k * HW_TILE_COLUMNS; }

/* Where the sums of c's columns from a panel's first on begin; NULL: in c. */
static const float *start_of(const hw_gemm_product *g, size_t column) {
  return g->adds ? NULL : g->start + column / HW_TILE_COLUMNS * g->start_stride;
}

/* HW_TILE_ROWS rows. */
static void gemm_strip(const hw_gemm_product *g, size_t row, size_t column, size_t column_end) {
  const float *panel = g->panels + column / HW_TILE_COLUMNS * panel_floats(g);
  const float *start = start_of(g, column);
  float *c = g->c + row * g->c_stride;
  for (; column + HW_TILE_COLUMNS <= column_end; column += HW_TILE_COLUMNS) {
    any_tile(g, row, panel, start, c + column, g->c_stride);
    panel += panel_floats(g);
    start = hw_const_floats_from(start, g->start_stride);
  }
  if (column < column_end) {
    gemm_narrow_tile(g, row, panel, start, c + column, column_end - column);
  }
}

/* What remains below the last strip: one row. Sums run in the same order as a tile's, so the numbers are the same. */
static void gemm_row(const hw_gemm_product *g, size_t row, size_t column, size_t column_end) {
  const size_t whole = (column_end - column) / HW_TILE_COLUMNS;
  const size_t left = (column_end - column) % HW_TILE_COLUMNS;
  float *c = g->c + row * g->c_stride + column;
  if (!g->adds) {
    hw_row_start(start_of(g, column), g->start_stride, whole, c);
  }
  hw_row_product product = {
      .a = g->a + row * g->a_stride,
      .k = g->k,
      .panels = g->panels + column / HW_TILE_COLUMNS * panel_floats(g),
      .panel_stride = panel_floats(g),
      .count = whole,
      .start = c,
      .start_stride = HW_TILE_COLUMNS,
      .y = c,
  };
  hw_row_times_panels(&product);
  if (left > 0) {
    float last[HW_TILE_COLUMNS] = {0.0F};
    product.panels += whole * product.panel_stride;
    product.start = start_of(g, column + whole * HW_TILE_COLUMNS);
    product.count = 1;
    product.y = last;
    if (g->adds) {
      copy_columns(c + whole * HW_TILE_COLUMNS, last, left);
      product.start = last;
    }
    hw_row_times_panels(&product);
    copy_columns(last, c + whole * HW_TILE_COLUMNS, left);
  }
}

size_t hw_gemm_strips_floats(size_t rows, size_t k) {
  return hw_size_multiply(rows / HW_TILE_ROWS, hw_packed_rows_floats(k));
}

void hw_gemm_pack_strips(const hw_gemm_product *g, size_t row, size_t end) {
  for (; row + HW_TILE_ROWS <= end; row += HW_TILE_ROWS) {
    hw_pack_rows(g->a + row * g->a_stride, g->a_stride, HW_TILE_ROWS, g->k, 1.0F, strip_of(g, row));
  }
}

void hw_gemm_block(const hw_gemm_product *g, size_t row, size_t row_end, size_t column, size_t column_end) {
  assert(row % HW_TILE_ROWS == 0 && column % HW_TILE_COLUMNS == 0 && column_end <= g->columns);
  for (; row + HW_TILE_ROWS <= row_end; row += HW_TILE_ROWS) {
    gemm_strip(g, row, column, column_end);
  }
  for (; row < row_end; row++) {
    gemm_row(g, row, column, column_end);
  }
}
