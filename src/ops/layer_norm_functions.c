/* The functions of headwise.h that normalise rows. */
#include "ops/layer_norm.h"

typedef struct normalization_call {
  hw_normalization normalization;
  const float *x;
  size_t rows;
  float *y;
} normalization_call;

static hw_status check(const normalization_call *call) {
  if (call->normalization.columns == 0) {
    return HW_ERROR_SHAPE;
  }
  return hw_eps_is_valid(call->normalization.eps) && call->x != NULL ? HW_OK : HW_ERROR_VALUE;
}

static void forward(hw_run *run, const void *call) {
  const normalization_call *f = call;
  hw_normalization_forward(run, &f->normalization, f->x, f->rows, f->y);
}

static hw_status run_forward(hw_context *context, const normalization_call *call) {
  HW_TRY(check(call));
  return call->y == NULL ? HW_ERROR_VALUE : hw_run_forward(context, NULL, NULL, forward, call);
}

hw_status hw_layer_normalization(hw_context *context, const float *x, size_t rows, size_t columns, const float *weight,
                                 const float *bias, double eps, float *y) {
  const hw_normalization n = {.weight = weight, .bias = bias, .eps = eps, .columns = columns};
  return run_forward(context, &(normalization_call){n, x, rows, y});
}

hw_status hw_rms_normalization(hw_context *context, const float *x, size_t rows, size_t columns, const float *weight,
                               double eps, float *y) {
  const hw_normalization n = {.weight = weight, .eps = eps, .columns = columns, .is_rms = true};
  return run_forward(context, &(normalization_call){n, x, rows, y});
}

typedef struct backward_call {
  normalization_call forward; /* without y */
  hw_normalization_gradient gradient;
  const float *dy;
  float *dx;
} backward_call;

static void backward(hw_run *run, const void *call) {
  const backward_call *f = call;
  const hw_normalization *n = &f->forward.normalization;
  const size_t rows = f->forward.rows;
  float *normalized = hw_run_take_floats(run, rows, n->columns);
  float *factors = hw_run_take_floats(run, rows, 1);
  hw_normalization_normalize(run, n, f->forward.x, rows, normalized, factors, NULL);
  hw_normalization_backward(run, n, &f->gradient, normalized, factors, f->dy, rows, false, f->dx);
}

static hw_status run_backward(hw_context *context, const backward_call *call) {
  HW_TRY(check(&call->forward));
  return call->dy == NULL ? HW_ERROR_VALUE : hw_run_forward(context, NULL, NULL, backward, call);
}

hw_status hw_layer_normalization_backward(hw_context *context, const float *x, size_t rows, size_t columns,
                                          const float *weight, double eps, const float *dy, float *dx, float *d_weight,
                                          float *d_bias) {
  const hw_normalization n = {.weight = weight, .eps = eps, .columns = columns};
  return run_backward(context, &(backward_call){{n, x, rows, NULL}, {d_weight, d_bias}, dy, dx});
}

hw_status hw_rms_normalization_backward(hw_context *context, const float *x, size_t rows, size_t columns,
                                        const float *weight, double eps, const float *dy, float *dx, float *d_weight) {
  const hw_normalization n = {.weight = weight, .eps = eps, .columns = columns, .is_rms = true};
  return run_backward(context, &(backward_call){{n, x, rows, NULL}, {d_weight, NULL}, dy, dx});
}
