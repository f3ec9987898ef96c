#include "modules/gradients.h"

#include <string.h>

static hw_parameter gradient_of(const hw_parameter *parameter, hw_matrix *matrix) {
  return hw_parameter_with(parameter, parameter->gradient->values, matrix);
}

static bool can_learn(const hw_parameter *parameter) {
  return parameter->matrix == NULL || parameter->matrix->type == HW_MATRIX_FLOAT32;
}

hw_status hw_gradients_check(hw_module *module) {
  const hw_named_parameter *parameter;
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    HW_TRY(hw_module_named_parameter(module, i, &parameter));
    if (!can_learn(&parameter->value)) {
      return HW_ERROR_VALUE;
    }
  }
  return HW_OK;
}

/* Room for the gradient, and zeros where it is not there. */
static hw_status prepare(const hw_parameter *parameter) {
  hw_gradient *gradient = parameter->gradient;
  if (!can_learn(parameter)) {
    return HW_ERROR_VALUE;
  }
  const size_t bytes = hw_parameter_bytes(parameter);
  hw_matrix matrix;
  if (gradient->values == NULL) {
    gradient->values = hw_allocate_zeroed(bytes);
    return gradient->values == NULL ? HW_ERROR_MEMORY : HW_OK;
  }
  if (gradient->present == 0) {
    memset(gradient->values, 0, bytes);
  } else if (!hw_parameter_has_gradient(parameter)) {
    const hw_parameter part = gradient_of(parameter, &matrix);
    hw_parameter_clear(&part);
  }
  return HW_OK;
}

/* Whether a backward adds to the gradient of a parameter. */
static bool reaches(const hw_module *module, const hw_input *input, const hw_parameter *parameter) {
  if (input == NULL || parameter->reach == HW_REACHED_BY_BOTH) {
    return true;
  }
  return hw_module_takes_ids(module, input) == (parameter->reach == HW_REACHED_BY_IDS);
}

hw_status hw_gradients_prepare(hw_module *module, const hw_input *input) {
  const hw_named_parameter *parameter;
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    HW_TRY(hw_module_named_parameter(module, i, &parameter));
    HW_TRY(reaches(module, input, &parameter->value) ? prepare(&parameter->value) : HW_OK);
  }
  return HW_OK;
}

void hw_gradients_of_linear(const hw_run *run, hw_linear *linear, const hw_rows *x, const hw_rows *dy, bool adds,
                            float *dx) {
  hw_matrix weight = hw_gradient_matrix(&linear->weight_gradient, &linear->weight);
  hw_linear_backward(run, linear, &(hw_linear_gradient){&weight, linear->bias_gradient.values}, x, dy, adds, dx);
}

void hw_gradients_finish(hw_module *module, const hw_input *input) {
  for (size_t i = 0; i < module->parameter_count; i++) {
    const hw_parameter *parameter = &module->parameters[i].value;
    parameter->gradient->present |= reaches(module, input, parameter) ? parameter->part : 0;
  }
}

bool hw_module_has_gradient(hw_module *module, size_t index) {
  const hw_named_parameter *parameter;
  return hw_module_named_parameter(module, index, &parameter) == HW_OK && hw_parameter_has_gradient(&parameter->value);
}

hw_status hw_module_load_gradient(hw_module *module, size_t index, size_t first_row, size_t rows, const float *source) {
  const hw_named_parameter *parameter;
  hw_matrix matrix;
  HW_TRY(hw_module_parameter_rows(module, index, first_row, rows, source, &parameter));
  HW_TRY(prepare(&parameter->value));
  const hw_parameter gradient = gradient_of(&parameter->value, &matrix);
  hw_parameter_load(&gradient, first_row, rows, source);
  gradient.gradient->present |= gradient.part;
  return HW_OK;
}

hw_status hw_module_store_gradient(hw_module *module, size_t index, size_t first_row, size_t rows, float *target) {
  const hw_named_parameter *parameter;
  hw_matrix matrix;
  HW_TRY(hw_module_parameter_rows(module, index, first_row, rows, target, &parameter));
  if (!hw_parameter_has_gradient(&parameter->value)) {
    return HW_ERROR_VALUE;
  }
  const hw_parameter gradient = gradient_of(&parameter->value, &matrix);
  hw_parameter_store(&gradient, first_row, rows, target);
  return HW_OK;
}

hw_status hw_module_clear_gradient(hw_module *module, size_t index) {
  const hw_named_parameter *parameter;
  HW_TRY(hw_module_named_parameter(module, index, &parameter));
  parameter->value.gradient->present &= ~parameter->value.part;
  return HW_OK;
}
