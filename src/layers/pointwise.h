/* Loops over activations that need no product, spread over the context's threads. */
#ifndef HW_LAYERS_POINTWISE_H
#define HW_LAYERS_POINTWISE_H

#include "core/context.h"

/* y may be x, a or b. */
void hw_gelu_run(const hw_context *context, hw_gelu_approximation approximate, const float *x, float *y, size_t count);
void hw_add_run(const hw_context *context, const float *a, const float *b, float *y, size_t count);

/* How rows of `columns` floats are normalised; weight and bias may be NULL. */
typedef struct hw_normalization {
  const float *weight;
  const float *bias;
  double eps;
  size_t columns;
} hw_normalization;

/* y may be x. */
void hw_normalization_run(const hw_context *context, const hw_normalization *normalization, const float *x, size_t rows,
                          float *y);

/* Whether there is such an approximation. */
static inline bool hw_gelu_is_known(hw_gelu_approximation approximate) {
  return approximate == HW_GELU_NONE || approximate == HW_GELU_TANH;
}

/* Whether eps is finite and not negative. */
bool hw_eps_is_valid(double eps);

#endif
