/* The functions of headwise.h that treat every element alone. */
#include "ops/pointwise.h"

typedef struct activation_call {
  hw_activation activation;
  const float *x;
  const float *dy; /* NULL: forward */
  float *y;
  size_t count;
} activation_call;

static void activate(hw_run *run, const void *call) {
  const activation_call *f = call;
  if (f->dy == NULL) {
    hw_activation_forward(run, f->activation, f->x, f->y, f->count);
  } else {
    hw_activation_backward_of(run, f->activation, f->x, f->dy, f->y, NULL, f->count);
  }
}

hw_status hw_activate(hw_context *context, hw_activation activation, const float *x, float *y, size_t count) {
  if (!hw_activation_is_known(activation) || (count > 0 && (x == NULL || y == NULL))) {
    return HW_ERROR_VALUE;
  }
  return hw_run_forward(context, NULL, NULL, activate, &(activation_call){activation, x, NULL, y, count});
}

hw_status hw_activation_backward(hw_context *context, hw_activation activation, const float *x, const float *dy,
                                 float *dx, size_t count) {
  if (!hw_activation_is_known(activation) || (count > 0 && (x == NULL || dy == NULL || dx == NULL))) {
    return HW_ERROR_VALUE;
  }
  return hw_run_forward(context, NULL, NULL, activate, &(activation_call){activation, x, dy, dx, count});
}

hw_status hw_gelu(hw_context *context, const float *x, float *y, size_t count, hw_gelu_approximation approximate) {
  if (!hw_gelu_is_known(approximate)) {
    return HW_ERROR_VALUE;
  }
  return hw_activate(context, approximate == HW_GELU_TANH ? HW_ACTIVATION_GELU_TANH : HW_ACTIVATION_GELU, x, y, count);
}
