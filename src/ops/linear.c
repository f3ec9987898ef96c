#include "ops/linear.h"

#include "kernels/pack.h"

size_t hw_linear_bias_count(const hw_linear *linear) { return hw_whole_panels(linear->weight.rows); }

hw_status hw_linear_init(hw_matrix_type type, size_t in_features, size_t out_features, bool bias, hw_linear *linear) {
  HW_TRY(hw_matrix_create(type, out_features, in_features, &linear->weight));
  if (bias) {
    linear->bias = hw_allocate_zeroed(hw_linear_bias_count(linear) * sizeof(float));
    return linear->bias == NULL ? HW_ERROR_MEMORY : HW_OK;
  }
  return HW_OK;
}

void hw_linear_release(hw_linear *linear) {
  hw_matrix_release(&linear->weight);
  hw_release(linear->bias);
  hw_gradient_release(&linear->weight_gradient);
  hw_gradient_release(&linear->bias_gradient);
}

void hw_linear_backward(const hw_run *run, const hw_linear *linear, const hw_linear_gradient *gradient,
                        const hw_rows *x, const hw_rows *dy, bool adds, float *dx) {
  if (gradient != NULL) {
    hw_matrix_add_gradient(run, gradient->weight, x, dy, gradient->bias);
  }
  if (dx != NULL || hw_run_measures(run)) {
    hw_matrix_multiply_transposed(run, &linear->weight, dy, adds, dx);
  }
}
