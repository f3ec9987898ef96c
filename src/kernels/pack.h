/*
 * Panels: the layout in which the right-hand side of a product is read.
 *
 *   columns 0…7            columns 8…15
 *   | k=0: c0 … c7 |       | k=0: c8 … c15 |
 *   | k=1: c0 … c7 |       | k=1: c8 … c15 |       … each panel k × 8 floats, missing columns zero
 */
#ifndef HW_KERNELS_PACK_H
#define HW_KERNELS_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "core/memory.h"
#include "core/tile.h"

/* Panels in `columns` columns. */
static inline size_t hw_panel_count(size_t columns) { return hw_ceil_divide(columns, HW_TILE_COLUMNS); }

/* Columns of whole panels; SIZE_MAX if that does not fit. */
static inline size_t hw_whole_panels(size_t columns) {
  const size_t whole = (columns + HW_TILE_COLUMNS - 1) / HW_TILE_COLUMNS * HW_TILE_COLUMNS;
  return whole < columns ? SIZE_MAX : whole;
}

/* Writes columns × k elements, element (column, p) read at source[column·column_stride + p·k_stride], into panels that
 * lie panel_stride floats apart. One of the two strides is 1 where it should be fast. */
void hw_pack_panels(const float *source, size_t column_stride, size_t k_stride, size_t columns, size_t k, float *panels,
                    size_t panel_stride);

/* Floats that hw_pack_rows needs room for; SIZE_MAX if that does not fit. The last store reaches beyond the last row. */
static inline size_t hw_packed_rows_floats(size_t k) {
  return hw_size_add(hw_size_multiply(k, HW_TILE_ROWS), HW_LANES);
}

/* Interleaves up to HW_TILE_ROWS rows of k elements, times factor, as a tile reads them; missing rows are zero:
 *   | p=0: r0 r1 … | p=1: r0 r1 … | … */
void hw_pack_rows(const float *source, size_t row_stride, size_t rows, size_t k, float factor, float *packed);

#endif
