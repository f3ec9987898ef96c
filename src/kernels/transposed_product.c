#include "kernels/transposed_product.h"

#include <stdbool.h>

#include "core/memory.h"
#include "kernels/micro_tile.h"
#include "kernels/pack.h"

/* `rows` is a constant where this is used. */
HW_INLINE void add_tile(size_t rows, const hw_transposed_product *product, const float *a, const float *panel,
                        float *c) {
  const size_t a_stride = product->a_stride;
  const size_t b_stride = product->b_stride;
  const size_t c_stride = product->c_stride;
  hw_tile tile;
#pragma GCC unroll 8
  for (size_t r = 0; r < rows; r++) {
    tile[r][0] = hw_load(c + r * c_stride);
    tile[r][1] = hw_load(c + r * c_stride + HW_LANES);
  }
  for (size_t k = product->k; k != 0; k--) {
    const hw_f32x4 low = hw_load(panel);
    const hw_f32x4 high = hw_load(panel + HW_LANES);
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++) {
      hw_order_barrier();
      const hw_f32x4 element = hw_load_splat(a + r);
      tile[r][0] = hw_multiply_add(element, low, tile[r][0]);
      tile[r][1] = hw_multiply_add(element, high, tile[r][1]);
    }
    a += a_stride;
    panel += b_stride;
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < rows; r++) {
    hw_store(c + r * c_stride, tile[r][0]);
    hw_store(c + r * c_stride + HW_LANES, tile[r][1]);
  }
}

static __attribute__((noinline)) void add_whole_tile(const hw_transposed_product *product, const float *a,
                                                     const float *panel, float *c) {
  add_tile(HW_TILE_ROWS, product, a, panel, c);
}

static __attribute__((noinline)) void add_four_rows(const hw_transposed_product *product, const float *a,
                                                    const float *panel, float *c) {
  add_tile(4, product, a, panel, c);
}

static __attribute__((noinline)) void add_two_rows(const hw_transposed_product *product, const float *a,
                                                   const float *panel, float *c) {
  add_tile(2, product, a, panel, c);
}

static __attribute__((noinline)) void add_one_row(const hw_transposed_product *product, const float *a,
                                                  const float *panel, float *c) {
  add_tile(1, product, a, panel, c);
}

/* The rows of the next strip, of so many that are left. */
static size_t strip_rows(size_t left) {
  return left >= HW_TILE_ROWS ? HW_TILE_ROWS : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

void hw_add_transposed_product(const hw_transposed_product *product) {
  for (size_t row = 0, rows = 0; row < product->rows; row += rows) {
    rows = strip_rows(product->rows - row);
    const float *panel = product->panels;
    float *c = product->c + row * product->c_stride;
    for (size_t j = 0; j < product->count; j++) {
      switch (rows) {
        case HW_TILE_ROWS:
          add_whole_tile(product, product->a + row, panel, c);
          break;
        case 4:
          add_four_rows(product, product->a + row, panel, c);
          break;
        case 2:
          add_two_rows(product, product->a + row, panel, c);
          break;
        default:
          add_one_row(product, product->a + row, panel, c);
      }
      panel += product->panel_stride;
      c += product->c_panel_stride;
    }
  }
}

void hw_pack_column_strips(const float *a, size_t a_stride, size_t k, size_t columns, float *strips) {
  for (size_t p = 0; p < k; p++) {
    float *strip = strips + p * HW_TILE_ROWS;
    for (size_t column = 0; column + HW_TILE_ROWS <= columns; column += HW_TILE_ROWS) {
      /* The two overlap. */
      const hw_f32x4 first = hw_load(a + column);
      const hw_f32x4 last = hw_load(a + column + HW_TILE_ROWS - HW_LANES);
      hw_store(strip, first);
      hw_store(strip + HW_TILE_ROWS - HW_LANES, last);
      strip += k * HW_TILE_ROWS;
    }
    a += a_stride;
  }
}

/* Eight columns. The panel may be where they are. */
static void pack_summed_panel(const float *source, size_t stride, size_t k, float *panel, float *sums) {
  hw_f32x4 low = hw_load(sums);
  hw_f32x4 high = hw_load(sums + HW_LANES);
  for (size_t p = 0; p < k; p++) {
    const hw_f32x4 first = hw_load(source + p * stride);
    const hw_f32x4 last = hw_load(source + p * stride + HW_LANES);
    hw_store(panel + p * HW_TILE_COLUMNS, first);
    hw_store(panel + p * HW_TILE_COLUMNS + HW_LANES, last);
    low = hw_add(low, first);
    high = hw_add(high, last);
  }
  hw_store(sums, low);
  hw_store(sums + HW_LANES, high);
}

void hw_pack_summed_panels(const float *source, size_t stride, size_t columns, size_t k, float *panels, float *sums) {
  const size_t whole = sums == NULL ? 0 : columns / HW_TILE_COLUMNS * HW_TILE_COLUMNS;
  for (size_t column = 0; column < whole; column += HW_TILE_COLUMNS) {
    pack_summed_panel(source + column, stride, k, panels + column * k, sums + column);
  }
  float *rest = panels + whole * k;
  hw_pack_panels(source + whole, 1, stride, columns - whole, k, rest, k * HW_TILE_COLUMNS);
  if (sums != NULL && whole < columns) {
    pack_summed_panel(rest, HW_TILE_COLUMNS, k, rest, sums + whole);
  }
}
