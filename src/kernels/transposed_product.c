#include "kernels/transposed_product.h"

#include <stdbool.h>

#include "core/memory.h"
#include "kernels/micro_tile.h"

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
  for (size_t column = 0; column + HW_TILE_ROWS <= columns; column += HW_TILE_ROWS) {
    for (size_t p = 0; p < k; p++) {
      const float *source = a + p * a_stride + column;
      /* The two overlap. */
      const hw_f32x4 first = hw_load(source);
      const hw_f32x4 last = hw_load(source + HW_TILE_ROWS - HW_LANES);
      hw_store(strips, first);
      hw_store(strips + HW_TILE_ROWS - HW_LANES, last);
      strips += HW_TILE_ROWS;
    }
  }
}

/* Rows of a, or of a·b where b is not NULL. */
typedef struct summed_rows {
  const float *a;
  const float *b;
  size_t stride;
} summed_rows;

/* So many rows at a time, so that sums are read and written once for all of them. `rows`, and whether there is a b, are
 * constants where it is used. */
HW_INLINE void add_rows(const summed_rows *x, bool has_b, size_t rows, size_t columns, float *sums) {
  size_t column = 0;
  for (; column + HW_LANES <= columns; column += HW_LANES) {
    hw_f32x4 sum = hw_load(sums + column);
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++) {
      const size_t at = r * x->stride + column;
      sum = has_b ? hw_multiply_add(hw_load(x->a + at), hw_load(x->b + at), sum) : hw_add(sum, hw_load(x->a + at));
    }
    hw_store(sums + column, sum);
  }
  for (; column < columns; column++) {
    for (size_t r = 0; r < rows; r++) {
      const size_t at = r * x->stride + column;
      sums[column] += has_b ? x->a[at] * x->b[at] : x->a[at];
    }
  }
}

HW_INLINE void add_all_rows(summed_rows x, bool has_b, size_t rows, size_t columns, float *sums) {
  enum { ROWS = 4 };
  for (size_t row = 0; row + ROWS <= rows; row += ROWS) {
    add_rows(&x, has_b, ROWS, columns, sums);
    x.a += ROWS * x.stride;
    x.b = has_b ? x.b + ROWS * x.stride : NULL;
  }
  for (size_t row = rows / ROWS * ROWS; row < rows; row++) {
    add_rows(&x, has_b, 1, columns, sums);
    x.a += x.stride;
    x.b = has_b ? x.b + x.stride : NULL;
  }
}

void hw_add_column_sums(const float *x, size_t stride, size_t rows, size_t columns, float *sums) {
  add_all_rows((summed_rows){x, NULL, stride}, false, rows, columns, sums);
}

void hw_add_column_products(const float *a, const float *b, size_t stride, size_t rows, size_t columns, float *sums) {
  add_all_rows((summed_rows){a, b, stride}, true, rows, columns, sums);
}
