/* Gradients of a module's parameters. */
#ifndef HW_MODULES_GRADIENTS_H
#define HW_MODULES_GRADIENTS_H

#include "modules/module.h"

/* HW_ERROR_VALUE: a parameter is not of 32-bit floats, and so has no gradient. HW_ERROR_MEMORY: no room for their list. */
hw_status hw_gradients_check(hw_module *module);

/* Makes room for the gradients that a backward of this input adds to, zeros where they are not there. NULL: all.
 * HW_ERROR_MEMORY: what was there still is. */
hw_status hw_gradients_prepare(hw_module *module, const hw_input *input);

/* A matrix's gradient, which is there, as a matrix. */
static inline hw_matrix hw_gradient_matrix(const hw_gradient *gradient, const hw_matrix *matrix) {
  return hw_matrix_of_floats(matrix->rows, matrix->columns, gradient->values);
}

/* hw_linear_backward into the layer's own gradients, which are there. */
void hw_gradients_of_linear(const hw_run *run, hw_linear *linear, const hw_rows *x, const hw_rows *dy, bool adds,
                            float *dx);

/* From now on they are there. After hw_gradients_prepare. */
void hw_gradients_finish(hw_module *module, const hw_input *input);

static inline bool hw_parameter_has_gradient(const hw_parameter *parameter) {
  return (parameter->gradient->present & parameter->part) != 0;
}

#endif
