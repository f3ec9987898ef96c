#include "modules/layer_norm.h"

#include <math.h>

#include "modules/modules.h"
#include "ops/layer_norm.h"

typedef struct layer_norm {
  hw_module base;
  hw_norm_config config;
  float *weight; /* and behind it the bias, if there is one */
  hw_gradient gradient;
} layer_norm;

static size_t dim_of(const layer_norm *m) { return m->config.base.dim; }

/* Floats of weight and bias. */
static size_t count_of(const layer_norm *m) { return hw_size_multiply(dim_of(m), m->config.is_rms ? 1 : 2); }

static hw_status create(hw_module *module) {
  layer_norm *m = (layer_norm *)module;
  const size_t dim = dim_of(m);
  if (dim == 0) {
    return HW_ERROR_SHAPE;
  }
  if (!hw_eps_is_valid(m->config.base.eps) || !isfinite(m->config.gain_offset)) {
    return HW_ERROR_VALUE;
  }
  m->weight = hw_allocate_zeroed(hw_size_multiply(count_of(m), sizeof(float)));
  for (size_t i = 0; m->weight != NULL && i < dim; i++) {
    m->weight[i] = (float)(1.0 - m->config.gain_offset);
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
  const size_t dim = dim_of(m);
  hw_parameter parameter = {
      .rank = 1,
      .rows = dim,
      .columns = 1,
      .array = m->weight,
      .array_count = count_of(m),
      .gradient = &m->gradient,
      .part = 1,
  };
  hw_visit_parameter(visit, "weight", &parameter);
  if (!m->config.is_rms) {
    parameter.first_row = dim;
    parameter.part = 2;
    hw_visit_parameter(visit, "bias", &parameter);
  }
}

static hw_normalization normalization_of(const layer_norm *m) {
  const hw_norm_config *config = &m->config;
  return (hw_normalization){
      .weight = m->weight,
      .bias = config->is_rms ? NULL : m->weight + dim_of(m),
      .gain_offset = (float)config->gain_offset,
      .eps = config->base.eps,
      .columns = dim_of(m),
      .is_rms = config->is_rms,
  };
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const hw_normalization normalization = normalization_of((const layer_norm *)module);
  hw_normalization_forward(run, &normalization, input->x, hw_size_multiply(input->batch, input->tokens), y);
}

double hw_layer_norm_direction(const hw_module *module, const float *x, double *d) {
  const hw_normalization n = normalization_of((const layer_norm *)module);
  const double count = (double)n.columns;
  double mean = 0.0;
  double variance = 0.0;
  double bias = 0.0;
  double sum = 0.0;
  for (size_t i = 0; !n.is_rms && i < n.columns; i++) {
    mean += (double)x[i] / count;
  }
  for (size_t i = 0; i < n.columns; i++) {
    variance += ((double)x[i] - mean) * ((double)x[i] - mean) / count;
  }
  const double scale = 1.0 / sqrt(variance + n.eps);
  for (size_t i = 0; i < n.columns; i++) {
    bias += n.is_rms ? 0.0 : d[i] * (double)n.bias[i];
    d[i] *= scale * ((double)n.weight[i] + (double)n.gain_offset);
    sum += d[i];
  }
  for (size_t i = 0; !n.is_rms && i < n.columns; i++) {
    d[i] -= sum / count;
  }
  return bias;
}

void hw_layer_norm_push(hw_run *run, const hw_module *module, const float *x, size_t rows, float *y) {
  if (!hw_run_records(run)) {
    hw_module_run(run, module, &(hw_input){.x = x, .batch = 1, .tokens = rows}, y);
    return;
  }
  const hw_normalization normalization = normalization_of((const layer_norm *)module);
  float *normalized = hw_tape_push_floats(run, rows, normalization.columns);
  float *factors = hw_tape_push_floats(run, rows, 1);
  hw_normalization_normalize(run, &normalization, x, rows, normalized, factors);
  hw_normalization_scale(run, &normalization, normalized, rows, y);
}

hw_normalized hw_layer_norm_pop(const hw_run *run, const hw_module *module, size_t rows) {
  hw_normalized normalized;
  normalized.factors = hw_tape_pop_floats(run, rows, 1);
  normalized.rows = hw_tape_pop_floats(run, rows, dim_of((const layer_norm *)module));
  return normalized;
}

void hw_layer_norm_restore(const hw_run *run, const hw_module *module, const hw_normalized *normalized, size_t rows,
                           float *y) {
  const hw_normalization normalization = normalization_of((const layer_norm *)module);
  hw_normalization_scale(run, &normalization, normalized->rows, rows, y);
}

void hw_layer_norm_pull(const hw_run *run, hw_module *module, const hw_normalized *normalized, const float *dy,
                        size_t rows, bool adds, float *dx) {
  layer_norm *m = (layer_norm *)module;
  const hw_normalization normalization = normalization_of(m);
  const hw_normalization_gradient gradient = {m->gradient.values,
                                              m->config.is_rms ? NULL : m->gradient.values + dim_of(m)};
  hw_normalization_backward(run, &normalization, &gradient, normalized->rows, normalized->factors, dy, rows, adds, dx);
}

/* The caller has kept x, so that nothing is on the tape. */
static void backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  const hw_normalization normalization = normalization_of((const layer_norm *)module);
  const size_t mark = run->arena->used;
  const size_t rows = hw_size_multiply(input->batch, input->tokens);
  const hw_normalized normalized = {hw_run_take_floats(run, rows, normalization.columns),
                                    hw_run_take_floats(run, rows, 1)};
  hw_normalization_normalize(run, &normalization, input->x, rows, normalized.rows, normalized.factors);
  hw_layer_norm_pull(run, module, &normalized, dy, rows, false, dx);
  run->arena->used = mark;
}

const hw_module_type hw_norm_type = {HW_MODULE_TYPE(layer_norm), .backward = backward};

const hw_module_type hw_layer_norm_type = {HW_PLAIN_MODULE_TYPE(layer_norm), .backward = backward};

hw_status hw_layer_norm_create(hw_context *context, const hw_layer_norm_config *config, hw_module **module) {
  return hw_module_create(context, &hw_layer_norm_type, config, module);
}
