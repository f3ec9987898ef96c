#include "kernels/gemm.h"

#include <assert.h>
#include <string.h>

#include "core/memory.h"
#include "kernels/micro_tile.h"
#include "kernels/pack.h"
#include "kernels/row_panels.h"

size_t hw_gemm_panel_stride(size_t k) { return (k + 1) * HW_TILE_COLUMNS; }

size_t hw_gemm_packed_floats(size_t columns, size_t k) {
  const size_t panel = hw_size_multiply(hw_size_add(k, 1), HW_TILE_COLUMNS);
  return hw_size_multiply(hw_panel_count(columns), panel);
}

void hw_gemm_pack(const float *source, size_t column_stride, size_t k_stride, size_t columns, size_t k, float *packed) {
  const size_t stride = hw_gemm_panel_stride(k);
  hw_pack_panels(source, column_stride, k_stride, columns, k, packed + HW_TILE_COLUMNS, stride);
  for (size_t panel = 0; panel < hw_panel_count(columns); panel++) {
    memset(packed + panel * stride, 0, HW_TILE_COLUMNS * sizeof(float));
  }
}

static __attribute__((noinline)) void gemm_tile(const float *packed_rows, const float *panel, size_t k, float *c,
                                                size_t c_stride) {
  hw_tile tile;
  hw_tile_fill(tile, hw_load(panel), hw_load(panel + HW_LANES));
  hw_tile_multiply_add(tile, packed_rows, 1, HW_TILE_ROWS, panel + HW_TILE_COLUMNS, k);
  hw_tile_store(tile, c, c_stride);
}

/* Up to HW_TILE_COLUMNS of one row. */
static void store_columns(float *c, const float *row, size_t columns) {
  hw_store_lanes(c, hw_load(row), hw_min(columns, HW_LANES));
  if (columns > HW_LANES) {
    hw_store_lanes(c + HW_LANES, hw_load(row + HW_LANES), columns - HW_LANES);
  }
}

/* The last panel's missing columns are computed into a tile aside and left there. */
static void gemm_narrow_tile(const float *packed_rows, const float *panel, size_t k, float *c, size_t c_stride,
                             size_t columns) {
  float whole[HW_TILE_ROWS * HW_TILE_COLUMNS];
  gemm_tile(packed_rows, panel, k, whole, HW_TILE_COLUMNS);
#pragma GCC unroll 1
  for (size_t r = 0; r < HW_TILE_ROWS; r++) {
    store_columns(c + r * c_stride, whole + r * HW_TILE_COLUMNS, columns);
  }
}

typedef struct column_range {
  size_t start; /* a multiple of HW_TILE_COLUMNS */
  size_t end;
} column_range;

static const float *panel_of(const hw_gemm_product *g, size_t column) {
  return g->packed + column / HW_TILE_COLUMNS * hw_gemm_panel_stride(g->k);
}

/* HW_TILE_ROWS rows. */
static void gemm_strip(const hw_gemm_product *g, size_t row, column_range range, const float *packed_rows) {
  float *c = g->c + row * g->c_stride;
  size_t column = range.start;
  for (; column + HW_TILE_COLUMNS <= range.end; column += HW_TILE_COLUMNS) {
    gemm_tile(packed_rows, panel_of(g, column), g->k, c + column, g->c_stride);
  }
  if (column < range.end) {
    gemm_narrow_tile(packed_rows, panel_of(g, column), g->k, c + column, g->c_stride, range.end - column);
  }
}

/* What remains below the last strip: one row. Sums run in the same order as a tile's, so the numbers are the same. */
static void gemm_row(const hw_gemm_product *g, size_t row, column_range range) {
  const size_t stride = hw_gemm_panel_stride(g->k);
  const size_t whole = (range.end - range.start) / HW_TILE_COLUMNS;
  const float *panels = panel_of(g, range.start);
  float *c = g->c + row * g->c_stride + range.start;
  hw_row_product product = {
      .a = g->a + row * g->a_stride,
      .k = g->k,
      .panels = panels + HW_TILE_COLUMNS,
      .panel_stride = stride,
      .count = whole,
      .start = panels,
      .start_stride = stride,
      .y = c,
  };
  hw_row_times_panels(&product);
  const size_t column = whole * HW_TILE_COLUMNS;
  if (range.start + column < range.end) {
    float last[HW_TILE_COLUMNS];
    product.panels += whole * stride;
    product.start += whole * stride;
    product.count = 1;
    product.y = last;
    hw_row_times_panels(&product);
    store_columns(c + column, last, range.end - range.start - column);
  }
}

/* Rows that are packed at a time: whole items, as many as stay in the last-level cache. */
static size_t rows_at_a_time(size_t rows, size_t k) {
  if (rows <= HW_GEMM_ROWS) {
    return HW_GEMM_ROWS;
  }
  const size_t item_bytes = hw_size_multiply(HW_GEMM_ROWS / HW_TILE_ROWS * sizeof(float), hw_packed_rows_floats(k));
  const size_t items = hw_min(hw_ceil_divide(rows, HW_GEMM_ROWS), HW_GEMM_BYTES / item_bytes);
  return (items > 0 ? items : 1) * HW_GEMM_ROWS;
}

size_t hw_gemm_scratch_bytes(size_t rows, size_t k) {
  const size_t strips = hw_min(rows, rows_at_a_time(rows, k)) / HW_TILE_ROWS;
  return hw_arena_size(hw_size_multiply(strips, hw_packed_rows_floats(k)), sizeof(float));
}

static float *packed_strip(const hw_gemm_product *g, size_t row) {
  return g->scratch + row / HW_TILE_ROWS * hw_packed_rows_floats(g->k);
}

/* The whole strips of HW_GEMM_ROWS rows. */
static void pack_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const hw_gemm_product *g = job;
  const size_t end = hw_min(g->rows, (item + 1) * HW_GEMM_ROWS);
  for (size_t row = item * HW_GEMM_ROWS; row + HW_TILE_ROWS <= end; row += HW_TILE_ROWS) {
    hw_pack_rows(g->a + row * g->a_stride, g->a_stride, HW_TILE_ROWS, g->k, 1.0F, packed_strip(g, row));
  }
}

/* Columns change slowest, so that their panels stay in the cache while the rows pass by. */
static void gemm_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const hw_gemm_product *g = job;
  const size_t row_blocks = hw_ceil_divide(g->rows, HW_GEMM_ROWS);
  const size_t column_block = hw_quotient(item, row_blocks);
  const size_t column = column_block * HW_GEMM_COLUMNS;
  const column_range range = {column, hw_min(g->columns, column + HW_GEMM_COLUMNS)};
  size_t row = (item - column_block * row_blocks) * HW_GEMM_ROWS;
  const size_t row_end = hw_min(g->rows, row + HW_GEMM_ROWS);
  for (; row + HW_TILE_ROWS <= row_end; row += HW_TILE_ROWS) {
    gemm_strip(g, row, range, packed_strip(g, row));
  }
  for (; row < row_end; row++) {
    gemm_row(g, row, range);
  }
}

static void gemm_part(hw_team *team, const hw_gemm_product *part) {
  const size_t row_blocks = hw_ceil_divide(part->rows, HW_GEMM_ROWS);
  hw_parallel_for(team, row_blocks, pack_item, part);
  hw_parallel_for(team, row_blocks * hw_ceil_divide(part->columns, HW_GEMM_COLUMNS), gemm_item, part);
}

void hw_gemm(hw_team *team, const hw_gemm_product *product) {
  assert(product->rows > 0 && product->k > 0 && product->columns > 0);
  const size_t step = rows_at_a_time(product->rows, product->k);
  if (product->rows <= step) {
    gemm_part(team, product);
    return;
  }
  for (size_t row = 0; row < product->rows; row += step) {
    hw_gemm_product part = *product;
    part.a += row * part.a_stride;
    part.c += row * part.c_stride;
    part.rows = hw_min(product->rows - row, step);
    gemm_part(team, &part);
  }
}
