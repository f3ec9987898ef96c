#include "modules/turned_heads.h"

/* Nothing is turned, but moved. */
static hw_rotary without_angles(const hw_turned_heads *heads) {
  hw_rotary still = heads->rotary;
  still.angles = (hw_angles){0};
  return still;
}

static hw_strides dense_strides(const hw_turned_heads *heads) {
  const hw_rotary *r = &heads->rotary;
  return (hw_strides){.batch = r->tokens * r->heads * r->width, .head = r->width, .token = r->heads * r->width};
}

/* Norms need one head's row after another. */
void hw_turned_heads_forward(hw_run *run, const hw_turned_heads *heads, float *qkv) {
  float *x = hw_floats_from(qkv, heads->start);
  if (heads->norm == NULL) {
    if (heads->rotary.angles.pairs > 0) {
      hw_rotary_forward(run, &heads->rotary, x, &heads->strides, x, &heads->strides);
    }
    return;
  }
  const size_t mark = run->arena->used;
  const hw_rotary still = without_angles(heads);
  const hw_strides dense = dense_strides(heads);
  float *rows = hw_run_take_floats(run, heads->rows, heads->rotary.width);
  hw_rotary_forward(run, &still, x, &heads->strides, rows, &dense);
  hw_layer_norm_push(run, heads->norm, rows, heads->rows, rows);
  hw_rotary_forward(run, &heads->rotary, rows, &dense, x, &heads->strides);
  run->arena->used = mark;
}

void hw_turned_heads_backward(hw_run *run, const hw_turned_heads *heads, const hw_normalized *normalized,
                              float *d_qkv) {
  float *d = hw_floats_from(d_qkv, heads->start);
  if (heads->norm == NULL) {
    if (heads->rotary.angles.pairs > 0) {
      hw_rotary_backward(run, &heads->rotary, d, &heads->strides, d, &heads->strides);
    }
    return;
  }
  const size_t mark = run->arena->used;
  const hw_rotary still = without_angles(heads);
  const hw_strides dense = dense_strides(heads);
  float *rows = hw_run_take_floats(run, heads->rows, heads->rotary.width);
  hw_rotary_backward(run, &heads->rotary, d, &heads->strides, rows, &dense);
  hw_layer_norm_pull(run, heads->norm, normalized, rows, heads->rows, false, rows);
  hw_rotary_forward(run, &still, rows, &dense, d, &heads->strides);
  run->arena->used = mark;
}
