/*
 * The register tile that every product is made of: rows of a by one panel of eight columns.
 *
 *   panel: k rows of 8          a: element (r, p) at a[r·row_step + p·k_step]
 *     p=0 | b0 … b7 |
 *     p=1 | b0 … b7 |           accumulator[r][v] += a(r, p) · panel[p][4v … 4v+3]
 *      …
 *
 * The steps are constants where these are used: one address serves all rows, and no instruction computes another.
 * k is never a constant where these are used: Node 20's V8 would unroll the loop and run out of registers.
 */
#ifndef HW_KERNELS_MICRO_TILE_H
#define HW_KERNELS_MICRO_TILE_H

#include <stddef.h>

#include "core/tile.h"

typedef hw_f32x4 hw_tile[HW_TILE_ROWS][HW_TILE_VECTORS];

HW_INLINE void hw_tile_fill(hw_tile tile, hw_f32x4 low, hw_f32x4 high) {
#pragma GCC unroll 8
  for (size_t r = 0; r < HW_TILE_ROWS; r++) {
    tile[r][0] = low;
    tile[r][1] = high;
  }
}

HW_INLINE void hw_tile_load(hw_tile tile, const float *source, size_t stride) {
#pragma GCC unroll 8
  for (size_t r = 0; r < HW_TILE_ROWS; r++) {
    tile[r][0] = hw_load(source + r * stride);
    tile[r][1] = hw_load(source + r * stride + HW_LANES);
  }
}

HW_INLINE void hw_tile_store(hw_tile tile, float *target, size_t stride) {
#pragma GCC unroll 8
  for (size_t r = 0; r < HW_TILE_ROWS; r++) {
    hw_store(target + r * stride, tile[r][0]);
    hw_store(target + r * stride + HW_LANES, tile[r][1]);
  }
}

HW_INLINE void hw_tile_multiply_add(hw_tile tile, const float *a, size_t row_step, size_t k_step, const float *panel,
                                    size_t k) {
  if (k == 0) {
    return;
  }
  /* Tested at the end: where the compiler saves bytes it would not turn the loop around. */
  do {
    const hw_f32x4 low = hw_load(panel);
    const hw_f32x4 high = hw_load(panel + HW_LANES);
#pragma GCC unroll 8
    for (size_t r = 0; r < HW_TILE_ROWS; r++) {
      hw_order_barrier();
      const hw_f32x4 element = hw_load_splat(a + r * row_step);
      tile[r][0] = hw_multiply_add(element, low, tile[r][0]);
      tile[r][1] = hw_multiply_add(element, high, tile[r][1]);
    }
    a += k_step;
    panel += HW_TILE_COLUMNS;
  } while (--k != 0);
}

#endif
