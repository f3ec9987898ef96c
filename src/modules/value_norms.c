/* How much of each key's value a head writes to its output: what weights alone do not tell. */
#include <math.h>

#include "modules/module.h"

/* Keys whose values are projected at a time. */
enum { KEYS = 64 };

typedef struct value_norms {
  const hw_trace *trace;
  const hw_matrix *out_proj; /* NULL: values are the output */
  size_t batch;
  size_t head;
  size_t rows;
  float *out; /* [rows, key_tokens]: weights, which are multiplied by the norms */
} value_norms;

static float norm_of(const float *x, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) {
    sum += (double)x[i] * (double)x[i];
  }
  return (float)sqrt(sum);
}

/* The norm of every projected value. */
static void measure_values(hw_run *run, const value_norms *n, size_t keys, float *norms) {
  const size_t width = hw_trace_value_width(n->trace);
  const size_t wide = n->out_proj == NULL ? 0 : n->out_proj->rows;
  float *values = hw_run_take_floats(run, keys, width);
  float *projected = hw_run_take_floats(run, KEYS, wide);
  hw_matrix part = {0};
  if (wide > 0) {
    part = hw_matrix_copy(run, n->out_proj, &(hw_matrix_part){0, wide, n->head * width, width});
  }
  if (!hw_run_measures(run)) {
    hw_trace_values(n->trace, n->batch, n->head, values);
  }
  for (size_t key = 0; key < keys; key += KEYS) {
    const hw_rows x = {hw_const_floats_from(values, key * width), width, hw_min(keys - key, KEYS)};
    if (wide > 0) {
      hw_matrix_multiply(run, &part, &x, NULL, projected);
    }
    const hw_rows measured = wide > 0 ? (hw_rows){projected, wide, x.count} : x;
    for (size_t i = 0; measured.data != NULL && i < measured.count; i++) {
      norms[key + i] = norm_of(measured.data + i * measured.stride, measured.stride);
    }
  }
}

static void forward(hw_run *run, const void *call) {
  const value_norms *n = call;
  const size_t keys = hw_trace_get_shape(n->trace).key_tokens;
  float *norms = hw_run_take_floats(run, keys, 1);
  measure_values(run, n, keys, norms);
  for (size_t i = 0; !hw_run_measures(run) && i < n->rows * keys; i++) {
    /* A key that a query does not see counts for nothing, whatever its value is. */
    n->out[i] = n->out[i] == 0.0F ? 0.0F : n->out[i] * norms[i % keys];
  }
}

hw_status hw_module_value_norms(hw_context *context, const hw_module *module, size_t layer, const hw_trace *trace,
                                size_t batch, size_t head, size_t row_start, size_t row_end, float *out) {
  if (module == NULL || layer >= module->layers || hw_trace_get_shape(trace).heads != module->heads) {
    return HW_ERROR_VALUE;
  }
  const hw_linear *out_proj = module->type->out_proj == NULL ? NULL : module->type->out_proj(module, layer);
  const hw_matrix *weight = out_proj == NULL ? NULL : &out_proj->weight;
  if (weight != NULL && weight->columns != module->heads * hw_trace_value_width(trace)) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(hw_trace_weights(context, trace, batch, head, row_start, row_end, out));
  const value_norms norms = {trace, weight, batch, head, row_end - row_start, out};
  return hw_run_forward(context, NULL, NULL, forward, &norms);
}
