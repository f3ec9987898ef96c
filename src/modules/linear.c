#include "modules/gradients.h"
#include "modules/modules.h"

typedef struct linear_module {
  hw_module base;
  hw_linear_config config;
  hw_linear linear;
} linear_module;

static hw_status create(hw_module *module) {
  linear_module *m = (linear_module *)module;
  return hw_linear_init(HW_MATRIX_FLOAT32, m->config.in_features, m->config.out_features, m->config.bias, &m->linear);
}

static void release(hw_module *module) { hw_linear_release(&((linear_module *)module)->linear); }

static void visit(hw_module *module, hw_visit *visit) {
  linear_module *m = (linear_module *)module;
  hw_visit_linear(visit, "", &m->linear);
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const linear_module *m = (const linear_module *)module;
  const hw_rows x = {input->x, m->config.in_features, hw_input_rows(input)};
  hw_linear_forward(run, &m->linear, &x, y);
}

static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  linear_module *m = (linear_module *)module;
  const size_t rows = hw_input_rows(input);
  const hw_rows x = {input->x, m->config.in_features, rows};
  const hw_rows dy_rows = {dy, m->config.out_features, rows};
  hw_gradients_of_linear(run, &m->linear, &x, &dy_rows, false, dx);
}

const hw_module_type hw_linear_type = {HW_MODULE_TYPE(linear_module), .backward = backward};

HW_MODULE_CREATE(linear)
