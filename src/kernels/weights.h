/* Weights as a file or a caller has them, on their way into panels: blocks of floats in between. */
#ifndef HW_KERNELS_WEIGHTS_H
#define HW_KERNELS_WEIGHTS_H

#include <stddef.h>

#include "core/tile.h"
#include "headwise.h"

/* Element (i, j) lies at i · row_stride + j · column_stride; one of the strides is 1. Not int8. */
typedef struct hw_weights {
  hw_matrix_type type;
  const void *data;
  size_t row_stride;
  size_t column_stride;
} hw_weights;

/* Bytes of an element that is not int8. */
static inline size_t hw_element_bytes(hw_matrix_type type) { return type == HW_MATRIX_FLOAT32 ? 4 : 2; }

/* Elements that lie one after another, as floats. */
void hw_floats_of(hw_matrix_type type, const void *source, size_t count, float *floats);

/* block [columns][8]: at most HW_LOAD_COLUMNS columns of up to eight rows, as a panel has them; missing rows are zeros. */
void hw_read_block(const hw_weights *source, size_t row, size_t rows, size_t column, size_t columns, float *block);

/* Of eight rows: the largest magnitude, and 0, or NaN if an element is not finite. */
typedef struct hw_rows_range {
  float largest[HW_TILE_COLUMNS];
  float zero[HW_TILE_COLUMNS];
} hw_rows_range;

/* Adds what a block has. */
void hw_widen_range(const float *block, size_t columns, hw_rows_range *range);

#endif
