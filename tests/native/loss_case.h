/* The gradients of a model's loss, against differences of what the engine itself computes. */
#ifndef HW_TESTS_LOSS_CASE_H
#define HW_TESTS_LOSS_CASE_H

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "gradient_case.h"
#include "headwise.h"

/* The loss with other values in a row of a parameter. From the same seed, dropout drops the same each time. */
static inline double moved_loss(hw_context *context, hw_module *module, const hw_loss_input *input, size_t index,
                                size_t row, const float *values) {
  float loss = 0.0F;
  CHECK(hw_module_load(module, index, row, 1, values) == HW_OK, "load");
  hw_manual_seed(context, 5);
  CHECK(hw_model_loss(context, module, input, &loss, NULL) == HW_OK, "loss");
  return (double)loss;
}

/* Compares the gradient of a parameter's middle row, which the module holds, within so much of each value. */
static inline void check_loss_differences(hw_context *context, hw_module *module, const hw_loss_input *input,
                                          size_t index, double tolerance) {
  hw_parameter_info info;
  CHECK(hw_module_parameter(module, index, &info) == HW_OK, "parameter");
  const size_t row = info.shape[0] / 2;
  float *values = check_floats(info.shape[1]);
  float *gradient = check_floats(info.shape[1]);
  CHECK_STATUS(hw_module_store(module, index, row, 1, values), HW_OK);
  CHECK_STATUS(hw_module_store_gradient(module, index, row, 1, gradient), HW_OK);
  for (size_t i = 0; i < info.shape[1]; i++) {
    static const float at[4] = {0x1p-6F, 0x1p-7F, -0x1p-7F, -0x1p-6F};
    const float before = values[i];
    double losses[4];
    for (size_t p = 0; p < 4; p++) {
      values[i] = before + at[p];
      losses[p] = moved_loss(context, module, input, index, row, values);
    }
    values[i] = before;
    moved_loss(context, module, input, index, row, values);
    const double expected = gradient_of_differences(losses, 0x1p-7);
    CHECK(fabs((double)gradient[i] - expected) <= tolerance * fmax(fabs(expected), 0.1), "%s, %zu: %g, expected %g",
          info.name, i, (double)gradient[i], expected);
    check_case();
  }
  free(values);
  free(gradient);
}

#endif
