/* Operations of ops/matrix.h on matrices of 16 and 8 bits. */
#ifndef HW_OPS_SMALL_MATRIX_H
#define HW_OPS_SMALL_MATRIX_H

#include "kernels/weights.h"
#include "ops/matrix.h"

/* SIZE_MAX if they do not fit. */
size_t hw_small_matrix_bytes(hw_matrix_type type, size_t rows, size_t columns);
void hw_small_matrix_init(hw_matrix *matrix);
/* Before all columns of lanes [from, to) of a panel are written: nothing of what was there counts any more. */
void hw_small_matrix_begin(hw_matrix *matrix, size_t panel, size_t from, size_t to);
/* Writes a block [count][8] of columns [first, first + count), what lanes [from, to) of a panel hold: whole panels if these are
 * all rows that it has. range: of int8, that of all columns. */
void hw_small_matrix_write(hw_matrix *matrix, size_t panel, size_t from, size_t to, size_t first, size_t count,
                           const float *block, const hw_rows_range *range);
float hw_small_matrix_get(const hw_matrix *matrix, size_t row, size_t column);

/* As hw_matrix_multiply. Few rows read the panels as they are; for many, panels of 16 bits become floats in scratch,
 * block by block, and rows become integers for panels of 8 bits. */
void hw_small_matrix_multiply(const hw_run *run, const hw_matrix *matrix, const hw_rows *x, const float *bias,
                              float *y);

#endif
