/* Parameters: what a module learns, under the names and in the shapes of torch's state dict. */
#ifndef HW_MODULES_PARAMETER_H
#define HW_MODULES_PARAMETER_H

#include "core/context.h"
#include "ops/gradient.h"
#include "ops/matrix.h"

/* What a new module draws. */
typedef enum hw_drawn {
  HW_DRAWN_NOT = 0,
  HW_DRAWN_UNIFORM, /* in [from, to) */
  HW_DRAWN_NORMAL,
} hw_drawn;

/* Of a module that takes rows as well as ids: which backward reaches a parameter. */
typedef enum hw_reach {
  HW_REACHED_BY_BOTH = 0,
  HW_REACHED_BY_IDS,
  HW_REACHED_BY_ROWS,
} hw_reach;

/* The value is rows of a matrix, or else a part of an array of floats in row-major order. Several parameters may be parts of
 * one matrix or array, which then have one gradient. */
typedef struct hw_parameter {
  size_t rank;
  size_t rows; /* shape [rows, columns]; of rank 1 columns are 1 */
  size_t columns;
  hw_matrix *matrix;
  float *array;       /* all of it */
  size_t array_count; /* floats of all of it */
  size_t first_row;   /* of the matrix or the array */
  bool is_transposed; /* the matrix's rows are the parameter's columns */
  hw_gradient *gradient;
  uint32_t part;  /* this parameter's bit of the gradient's `present` */
  hw_reach reach; /* its visit sets it */
  hw_drawn drawn;
  float from;
  float to;
} hw_parameter;

/* Copies rows [row, row + rows) in or out. */
void hw_parameter_load(const hw_parameter *parameter, size_t row, size_t rows, const float *source);
void hw_parameter_load_as(hw_team *team, const hw_parameter *parameter, size_t row, size_t rows, hw_matrix_type type,
                          const void *source);
void hw_parameter_store(const hw_parameter *parameter, size_t row, size_t rows, float *target);

/* Whether all rows have to be loaded at once: they are columns of an int8 matrix. */
static inline bool hw_parameter_loads_whole(const hw_parameter *parameter) {
  return parameter->is_transposed && parameter->matrix->type == HW_MATRIX_INT8;
}

/* The same shape and place with another value: a gradient, or what an optimizer remembers, in the value's layout. The matrix
 * is set up for it. */
hw_parameter hw_parameter_with(const hw_parameter *parameter, float *values, hw_matrix *matrix);

/* Bytes of all that the parameter is a part of. */
size_t hw_parameter_bytes(const hw_parameter *parameter);

/* Zeros in place of the value. */
void hw_parameter_clear(const hw_parameter *parameter);

/* Draws the value in row-major order, as torch does. */
void hw_parameter_draw(const hw_parameter *parameter, hw_generator *generator);

#endif
