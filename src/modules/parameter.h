/* Parameters: what a module learns, under the names and in the shapes of torch's state dict. */
#ifndef HW_MODULES_PARAMETER_H
#define HW_MODULES_PARAMETER_H

#include "core/context.h"
#include "ops/matrix.h"

/* What a new module draws. */
typedef enum hw_drawn {
  HW_DRAWN_NOT = 0,
  HW_DRAWN_UNIFORM, /* in [from, to) */
  HW_DRAWN_NORMAL,
} hw_drawn;

/* The value is rows of a matrix, or else an array of floats in row-major order. */
typedef struct hw_parameter {
  size_t rank;
  size_t rows; /* shape [rows, columns]; of rank 1 columns are 1 */
  size_t columns;
  hw_matrix *matrix;
  size_t first_row;   /* of the matrix */
  bool is_transposed; /* the matrix's rows are the parameter's columns */
  float *array;
  hw_drawn drawn;
  float from;
  float to;
} hw_parameter;

/* Copies rows [row, row + rows) in or out. */
void hw_parameter_load(const hw_parameter *parameter, size_t row, size_t rows, const float *source);
void hw_parameter_store(const hw_parameter *parameter, size_t row, size_t rows, float *target);

/* Draws the value in row-major order, as torch does. */
void hw_parameter_draw(const hw_parameter *parameter, hw_generator *generator);

#endif
