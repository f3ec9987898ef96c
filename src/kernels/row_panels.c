#include "kernels/row_panels.h"

#include "core/tile.h"

/* `width` is a constant where this is called, so that the sums live in registers. */
HW_INLINE void row_times(size_t width, const float *a, size_t k, const float *panels, size_t panel_stride, float *y) {
  hw_f32x4 sums[HW_ROW_PANELS][HW_TILE_VECTORS];
#pragma GCC unroll 4
  for (size_t i = 0; i < width; i++) {
    sums[i][0] = hw_load(y + i * HW_TILE_COLUMNS);
    sums[i][1] = hw_load(y + i * HW_TILE_COLUMNS + HW_LANES);
  }
  for (size_t p = 0; p < k; p++) {
    const hw_f32x4 element = hw_load_splat(a + p);
    const float *row = panels + p * HW_TILE_COLUMNS;
#pragma GCC unroll 4
    for (size_t i = 0; i < width; i++) {
      sums[i][0] = hw_multiply_add(element, hw_load(row + i * panel_stride), sums[i][0]);
      sums[i][1] = hw_multiply_add(element, hw_load(row + i * panel_stride + HW_LANES), sums[i][1]);
    }
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < width; i++) {
    hw_store(y + i * HW_TILE_COLUMNS, sums[i][0]);
    hw_store(y + i * HW_TILE_COLUMNS + HW_LANES, sums[i][1]);
  }
}

static __attribute__((noinline)) void row_times_many(const float *a, size_t k, const float *panels, size_t panel_stride,
                                                     float *y) {
  row_times(HW_ROW_PANELS, a, k, panels, panel_stride, y);
}

static __attribute__((noinline)) void row_times_one(const float *a, size_t k, const float *panel, float *y) {
  row_times(1, a, k, panel, 0, y);
}

void hw_row_times_panels(const float *a, size_t k, const float *panels, size_t panel_stride, size_t count, float *y) {
  size_t panel = 0;
  for (; panel + HW_ROW_PANELS <= count; panel += HW_ROW_PANELS) {
    row_times_many(a, k, panels + panel * panel_stride, panel_stride, y + panel * HW_TILE_COLUMNS);
  }
  for (; panel < count; panel++) {
    row_times_one(a, k, panels + panel * panel_stride, y + panel * HW_TILE_COLUMNS);
  }
}
