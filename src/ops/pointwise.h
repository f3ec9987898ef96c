/* Elementwise operations, shared among threads. */
#ifndef HW_OPS_POINTWISE_H
#define HW_OPS_POINTWISE_H

#include "ops/run.h"

/* y may be x, a or b. */
void hw_add_forward(const hw_run *run, const float *a, const float *b, float *y, size_t count);
void hw_activation_forward(const hw_run *run, hw_activation activation, const float *x, float *y, size_t count);

/* dx = dy·f'(x), x being what the activation was of; dx may be x or dy. y, if it is not NULL, is f(x) again, which costs
 * little there; it is none of the others. */
void hw_activation_backward_of(const hw_run *run, hw_activation activation, const float *x, const float *dy, float *dx,
                               float *y, size_t count);

/* y = f(gate)·x, as in gated feed-forwards (Shazeer 2020); y may be gate or x. */
void hw_gated_forward(const hw_run *run, hw_activation activation, const float *gate, const float *x, float *y,
                      size_t count);

/* Its gradients, and y again; dx may be x or dy, and d_gate gate, but no other of them the same. */
void hw_gated_backward(const hw_run *run, hw_activation activation, const float *gate, const float *x, const float *dy,
                       float *d_gate, float *dx, float *y, size_t count);

/* Dropout in place; 0 draws nothing. kept: NULL, or hw_kept_words(count) words that receive which elements are kept. Those are
 * multiplied by 1/(1 - dropout), the others by 0, so that NaN stays. */
void hw_dropout_forward(const hw_run *run, double dropout, uint32_t *kept, float *x, size_t count);

/* y = x with the same elements dropped, as in the gradient; y may be x. */
void hw_dropout_apply(const hw_run *run, double dropout, const uint32_t *kept, const float *x, float *y, size_t count);

/* Whether the approximation is known. */
static inline bool hw_gelu_is_known(hw_gelu_approximation approximate) {
  return approximate == HW_GELU_NONE || approximate == HW_GELU_TANH;
}

static inline bool hw_activation_is_known(hw_activation activation) {
  return activation >= HW_ACTIVATION_GELU && activation <= HW_ACTIVATION_TANH;
}

#endif
