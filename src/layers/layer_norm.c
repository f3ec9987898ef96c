#include "layers/layer_norm.h"

#include "layers/pointwise.h"

struct hw_layer_norm {
  size_t dim;
  double eps;
  float *weight; /* and behind it the bias */
};

hw_status hw_layer_norm_create(size_t dim, double eps, hw_layer_norm **module) {
  *module = NULL;
  if (dim == 0) {
    return HW_ERROR_SHAPE;
  }
  if (!hw_eps_is_valid(eps)) {
    return HW_ERROR_VALUE;
  }
  hw_layer_norm *created = hw_allocate(sizeof(hw_layer_norm));
  float *weight = hw_allocate_zeroed(hw_size_multiply(dim, 2 * sizeof(float)));
  if (created == NULL || weight == NULL) {
    hw_release(created);
    hw_release(weight);
    return HW_ERROR_MEMORY;
  }
  for (size_t i = 0; i < dim; i++) {
    weight[i] = 1.0F;
  }
  *created = (hw_layer_norm){dim, eps, weight};
  *module = created;
  return HW_OK;
}

void hw_layer_norm_destroy(hw_layer_norm *module) {
  if (module != NULL) {
    hw_release(module->weight);
    hw_release(module);
  }
}

float *hw_layer_norm_weight(hw_layer_norm *module) { return module->weight; }

float *hw_layer_norm_bias(hw_layer_norm *module) { return module->weight + module->dim; }

void hw_layer_norm_run(const hw_context *context, const hw_layer_norm *module, const float *x, size_t rows, float *y) {
  const hw_normalization normalization = {module->weight, module->weight + module->dim, module->eps, module->dim};
  hw_normalization_run(context, &normalization, x, rows, y);
}

hw_status hw_layer_norm_forward(hw_context *context, const hw_layer_norm *module, const float *x, size_t rows,
                                float *y) {
  if (rows == 0) {
    return HW_ERROR_SHAPE;
  }
  hw_layer_norm_run(context, module, x, rows, y);
  return HW_OK;
}
