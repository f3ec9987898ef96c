/* Operations on every element alone, shared among threads. */
#ifndef HW_OPS_POINTWISE_H
#define HW_OPS_POINTWISE_H

#include "ops/run.h"

/* y may be x, a or b. */
void hw_gelu_forward(const hw_run *run, hw_gelu_approximation approximate, const float *x, float *y, size_t count);
void hw_add_forward(const hw_run *run, const float *a, const float *b, float *y, size_t count);

/* In place; 0 draws nothing. An element that is dropped is multiplied by 0, so that NaN stays. */
void hw_dropout_forward(const hw_run *run, double dropout, float *x, size_t count);

/* Whether there is such an approximation. */
static inline bool hw_gelu_is_known(hw_gelu_approximation approximate) {
  return approximate == HW_GELU_NONE || approximate == HW_GELU_TANH;
}

#endif
