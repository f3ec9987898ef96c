/* A weight and a bias: the parameters of a projection. */
#ifndef HW_OPS_LINEAR_H
#define HW_OPS_LINEAR_H

#include "ops/gradient.h"
#include "ops/matrix.h"

typedef struct hw_linear {
  hw_matrix weight; /* [out_features, in_features] */
  float *bias;      /* [out_features] in whole panels; NULL: none */
  hw_gradient weight_gradient;
  hw_gradient bias_gradient;
} hw_linear;

/* Zeros; type: the weight's. HW_ERROR_SHAPE: a size is zero. HW_ERROR_MEMORY; hw_linear_release frees what was made. */
hw_status hw_linear_init(hw_matrix_type type, size_t in_features, size_t out_features, bool bias, hw_linear *linear);
void hw_linear_release(hw_linear *linear);

/* Floats of a bias: whole panels. */
size_t hw_linear_bias_count(const hw_linear *linear);

/* y = x·Wᵀ + b */
static inline void hw_linear_forward(const hw_run *run, const hw_linear *linear, const hw_rows *x, float *y) {
  hw_matrix_multiply(run, &linear->weight, x, linear->bias, y);
}

/* Gradients to add to. bias NULL: not wanted. */
typedef struct hw_linear_gradient {
  hw_matrix *weight; /* [out_features, in_features] */
  float *bias;       /* [out_features] in whole panels */
} hw_linear_gradient;

/* Of y = x·Wᵀ + b, given dy [x.count, out_features]: dx [x.count, in_features] = dy·W, or dx plus that if
 * `adds`; the gradients of weight and bias are added. dx NULL: not wanted. gradient NULL: neither of both. */
void hw_linear_backward(const hw_run *run, const hw_linear *linear, const hw_linear_gradient *gradient,
                        const hw_rows *x, const hw_rows *dy, bool adds, float *dx);

#endif
