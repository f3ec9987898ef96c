#include "kernels/row_panels.h"

#include "core/tile.h"

void hw_row_start(const float *start, size_t start_stride, size_t count, float *y) {
  for (; count != 0; count--) {
    hw_store(y, hw_load(start));
    hw_store(y + HW_LANES, hw_load(start + HW_LANES));
    start += start_stride;
    y += HW_TILE_COLUMNS;
  }
}

/* The panels first, first + apart, … `width` of them; a constant where this is called, so that the sums live in
 * registers. */
HW_INLINE void row_times(size_t width, const hw_row_product *product, size_t first, size_t apart) {
  const float *a = product->a;
  const float *row = product->panels + first * product->panel_stride;
  const size_t stride = apart * product->panel_stride;
  hw_f32x4 sums[HW_ROW_PANELS][HW_TILE_VECTORS];
#pragma GCC unroll 4
  for (size_t i = 0; i < width; i++) {
    const float *start = product->start + (first + i * apart) * product->start_stride;
    sums[i][0] = hw_load(start);
    sums[i][1] = hw_load(start + HW_LANES);
  }
  for (size_t k = product->k; k != 0; k--) {
    const hw_f32x4 element = hw_load_splat(a);
#pragma GCC unroll 4
    for (size_t i = 0; i < width; i++) {
      sums[i][0] = hw_multiply_add(element, hw_load(row + i * stride), sums[i][0]);
      sums[i][1] = hw_multiply_add(element, hw_load(row + i * stride + HW_LANES), sums[i][1]);
    }
    a += 1;
    row += HW_TILE_COLUMNS;
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < width; i++) {
    float *y = product->y + (first + i * apart) * HW_TILE_COLUMNS;
    hw_store(y, sums[i][0]);
    hw_store(y + HW_LANES, sums[i][1]);
  }
}

static __attribute__((noinline)) void row_times_many(const hw_row_product *product, size_t first, size_t apart) {
  row_times(HW_ROW_PANELS, product, first, apart);
}

static __attribute__((noinline)) void row_times_one(const hw_row_product *product, size_t first) {
  row_times(1, product, first, 0);
}

/* Panels that are multiplied together lie far apart, so that each of four streams of memory is long: panels side by side would
 * begin four new ones each time, faster than the hardware learns to fetch ahead. A single stream is slower too on some
 * processors: half as fast on Intel's. */
void hw_row_times_panels(const hw_row_product *product) {
  const size_t apart = product->count / HW_ROW_PANELS;
  for (size_t panel = 0; panel < apart; panel++) {
    row_times_many(product, panel, apart);
  }
  for (size_t panel = apart * HW_ROW_PANELS; panel < product->count; panel++) {
    row_times_one(product, panel);
  }
}
