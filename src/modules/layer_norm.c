#include "modules/layer_norm.h"

#include <math.h>

#include "modules/modules.h"
#include "ops/layer_norm.h"

typedef struct layer_norm {
  hw_module base;
  hw_norm_config config;
  float *weight; /* and after it the bias, if there is one */
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
  if (!hw_eps_is_valid(m->config.base.eps) || !isfinite((float)m->config.gain_offset)) {
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
  hw_normalization_forward(run, &normalization, input->x, hw_input_rows(input), y);
}

const float *hw_layer_norm_bias(const hw_module *module) { return normalization_of((const layer_norm *)module).bias; }

float hw_layer_norm_gain(const hw_module *module, size_t column) {
  const layer_norm *m = (const layer_norm *)module;
  return m->weight[column] + (float)m->config.gain_offset;
}

static void scale_row(const hw_module *module, float *row, size_t columns, bool centres, float factor) {
  double mean = 0.0;
  for (size_t i = 0; centres && i < columns; i++) {
    mean += (double)row[i] / (double)columns;
  }
  for (size_t i = 0; i < columns; i++) {
    row[i] = (float)(((double)row[i] - mean) * (double)factor * (double)hw_layer_norm_gain(module, i));
  }
}

void hw_layer_norm_linear(const hw_run *run, const hw_module *module, const float *x, float *rows, size_t count) {
  const hw_normalization n = normalization_of((const layer_norm *)module);
  const size_t mark = run->arena->used;
  float *normalized = hw_run_take_floats(run, 1, n.columns);
  float *factor = hw_run_take_floats(run, 1, 1);
  hw_normalization_normalize(run, &n, x, 1, normalized, factor, NULL);
  for (size_t i = 0; !hw_run_measures(run) && i < count; i++) {
    scale_row(module, rows + i * n.columns, n.columns, !n.is_rms, *factor);
  }
  run->arena->used = mark;
}

void hw_layer_norm_push(hw_run *run, const hw_module *module, const float *x, size_t rows, float *y) {
  if (!hw_run_records(run)) {
    hw_module_run(run, module, &(hw_input){.x = x, .batch = 1, .tokens = rows}, y);
    return;
  }
  const hw_normalization normalization = normalization_of((const layer_norm *)module);
  float *normalized = hw_tape_push_floats(run, rows, normalization.columns);
  float *factors = hw_tape_push_floats(run, rows, 1);
  hw_normalization_normalize(run, &normalization, x, rows, normalized, factors, y);
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
  const size_t rows = hw_input_rows(input);
  const hw_normalized normalized = {hw_run_take_floats(run, rows, normalization.columns),
                                    hw_run_take_floats(run, rows, 1)};
  hw_normalization_normalize(run, &normalization, input->x, rows, normalized.rows, normalized.factors, NULL);
  hw_layer_norm_pull(run, module, &normalized, dy, rows, false, dx);
  run->arena->used = mark;
}

const hw_module_type hw_norm_type = {HW_MODULE_TYPE(layer_norm), .backward = backward};

const hw_module_type hw_layer_norm_type = {HW_PLAIN_MODULE_TYPE(layer_norm), .backward = backward};

HW_MODULE_CREATE(layer_norm)
