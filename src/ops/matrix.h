/*
 * A matrix of weights [rows, columns] in the layout of the kernels. Only this file and the kernels depend on its type
 * and layout.
 *
 *   panel 0: rows 0…7      panel 1: rows 8…15
 *   | column 0: r0 … r7 |  | column 0: r8 … r15 |
 *   | column 1: r0 … r7 |  | column 1: r8 … r15 |     … missing rows of the last panel are zero
 */
#ifndef HW_OPS_MATRIX_H
#define HW_OPS_MATRIX_H

#include "kernels/weights.h"
#include "ops/rows.h"
#include "ops/run.h"

/* The panels of 16 and 8 bits: kernels/small_panels.h. */
typedef struct hw_matrix {
  hw_matrix_type type;
  size_t rows;
  size_t columns;
  float *panels;                 /* or smaller ones; NULL before hw_matrix_create */
  const struct hw_int8_way *way; /* of int8: how it is kept and multiplied */
} hw_matrix;

/* Of floats, in panels that are there. */
static inline hw_matrix hw_matrix_of_floats(size_t rows, size_t columns, float *panels) {
  return (hw_matrix){HW_MATRIX_FLOAT32, rows, columns, panels, NULL};
}

/* Rows [row, row + rows) and columns [column, column + columns). */
typedef struct hw_matrix_part {
  size_t row;
  size_t rows;
  size_t column;
  size_t columns;
} hw_matrix_part;

/* Bytes of a matrix; SIZE_MAX if they do not fit. */
size_t hw_matrix_bytes(hw_matrix_type type, size_t rows, size_t columns);

/* Zeros. HW_ERROR_SHAPE: a size is zero. HW_ERROR_MEMORY. */
hw_status hw_matrix_create(hw_matrix_type type, size_t rows, size_t columns, hw_matrix *matrix);
void hw_matrix_release(hw_matrix *matrix);

/* Copies a part in: converts and packs it in one pass, shared by the team. int8 is no source; and a part of int8 has whole
 * rows, whose scales follow from all of their elements. */
void hw_matrix_load_weights(hw_team *team, hw_matrix *matrix, const hw_matrix_part *part, const hw_weights *source);

/* Copies a part out; element (i, j) of it is outside at i·row_stride + j·column_stride, one of which is 1. */
void hw_matrix_store(const hw_matrix *matrix, const hw_matrix_part *part, float *target, size_t row_stride,
                     size_t column_stride);

/* out [columns] = one row, or out plus the row. */
void hw_matrix_row(const hw_matrix *matrix, size_t row, bool adds, float *out);

/* Columns [column, column + columns) of one row += values. */
void hw_matrix_add_to_row(hw_matrix *matrix, size_t row, size_t column, size_t columns, const float *values);

/* Whether products round what they multiply by. */
static inline bool hw_matrix_rounds(const hw_matrix *matrix) { return matrix->type == HW_MATRIX_INT8; }

/* y [x.count, rows] = x·Wᵀ + bias; bias has floats for whole panels of 8 rows, NULL: zeros. */
void hw_matrix_multiply(const hw_run *run, const hw_matrix *matrix, const hw_rows *x, const float *bias, float *y);

/* The transpose, in room that the run's arena lends: for several products with it. Its panels are NULL while the run is
 * measured. */
hw_matrix hw_matrix_transpose(const hw_run *run, const hw_matrix *matrix);

/* A part as a matrix of floats, in room that the run's arena lends; its panels are NULL while the run is measured. */
hw_matrix hw_matrix_copy(const hw_run *run, const hw_matrix *matrix, const hw_matrix_part *part);

/* dx [dy.count, columns] = dy·W, or dx plus that: the gradient of x, for dy [dy.count, rows]. */
void hw_matrix_multiply_transposed(const hw_run *run, const hw_matrix *matrix, const hw_rows *dy, bool adds, float *dx);

/* gradient += dyᵀ·x, for x [x.count, columns] and dy [x.count, rows]: the gradient of a matrix of the same sizes,
 * summed in the order of the rows. sums [rows] in whole panels: NULL, or to which dy's rows
 * are added, the gradient of a bias. */
void hw_matrix_add_gradient(const hw_run *run, hw_matrix *gradient, const hw_rows *x, const hw_rows *dy, float *sums);

#endif
