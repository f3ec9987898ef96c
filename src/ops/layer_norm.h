/* Layer normalisation of rows, shared among threads. */
#ifndef HW_OPS_LAYER_NORM_H
#define HW_OPS_LAYER_NORM_H

#include "ops/run.h"

/* How rows of `columns` floats are normalised; weight and bias may be NULL. */
typedef struct hw_normalization {
  const float *weight;
  const float *bias;
  double eps;
  size_t columns;
} hw_normalization;

/* y may be x. */
void hw_normalization_forward(const hw_run *run, const hw_normalization *normalization, const float *x, size_t rows,
                              float *y);

/* Whether eps is finite and not negative. */
bool hw_eps_is_valid(double eps);

#endif
