#include "ops/layer_norm.h"

#include "modules/modules.h"

typedef struct layer_norm {
  hw_module base;
  hw_layer_norm_config config;
  float *weight; /* and behind it the bias */
  hw_gradient gradient;
} layer_norm;

static hw_status create(hw_module *module) {
  layer_norm *m = (layer_norm *)module;
  const size_t dim = m->config.dim;
  if (dim == 0) {
    return HW_ERROR_SHAPE;
  }
  if (!hw_eps_is_valid(m->config.eps)) {
    return HW_ERROR_VALUE;
  }
  m->weight = hw_allocate_zeroed(hw_size_multiply(dim, 2 * sizeof(float)));
  for (size_t i = 0; m->weight != NULL && i < dim; i++) {
    m->weight[i] = 1.0F;
  }
  return m->weight == NULL ? HW_ERROR_MEMORY : HW_OK;
}

static void release(hw_module *module) {
  layer_norm *m = (layer_norm *)module;
  hw_release(m->weight);
  hw_gradient_release(&m->gradient);
}

static void visit(hw_module *module, hw_visit *visit) {
  layer_norm *m = (layer_norm *)module;
  const size_t dim = m->config.dim;
  hw_parameter parameter = {
      .rank = 1,
      .rows = dim,
      .columns = 1,
      .array = m->weight,
      .array_count = 2 * dim,
      .gradient = &m->gradient,
      .part = 1,
  };
  hw_visit_parameter(visit, "weight", &parameter);
  parameter.first_row = dim;
  parameter.part = 2;
  hw_visit_parameter(visit, "bias", &parameter);
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const layer_norm *m = (const layer_norm *)module;
  const size_t dim = m->config.dim;
  const hw_normalization normalization = {
      .weight = m->weight, .bias = m->weight + dim, .eps = m->config.eps, .columns = dim};
  hw_normalization_forward(run, &normalization, input->x, hw_size_multiply(input->batch, input->tokens), y);
}

const hw_module_type hw_layer_norm_type = {HW_MODULE_TYPE(layer_norm)};

hw_status hw_layer_norm_create(hw_context *context, const hw_layer_norm_config *config, hw_module **module) {
  return hw_module_create(context, &hw_layer_norm_type, config, module);
}
