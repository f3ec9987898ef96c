#include "ops/pointwise.h"

typedef struct dropout_call {
  const float *x;
  size_t count;
  double dropout;
  float *y;
} dropout_call;

static void dropout_forward(hw_run *run, const void *call) {
  const dropout_call *f = call;
  for (size_t i = 0; i < f->count && !hw_run_measures(run); i++) {
    f->y[i] = f->x[i];
  }
  hw_dropout_forward(run, f->dropout, NULL, f->y, f->count);
}

hw_status hw_dropout(hw_context *context, const float *x, size_t count, double dropout, float *y) {
  if (!hw_dropout_is_valid(dropout) || (count > 0 && (x == NULL || y == NULL))) {
    return HW_ERROR_VALUE;
  }
  return hw_run_forward(context, NULL, NULL, dropout_forward, &(dropout_call){x, count, dropout, y});
}
