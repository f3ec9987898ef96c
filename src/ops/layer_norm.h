/* Layer and root mean square normalisation of rows, shared among threads, and their gradients. */
#ifndef HW_OPS_LAYER_NORM_H
#define HW_OPS_LAYER_NORM_H

#include "ops/run.h"

/* Settings of a normalization of rows of `columns` floats. weight and bias may be NULL. */
typedef struct hw_normalization {
  const float *weight;
  const float *bias;
  float gain_offset; /* added to the weight */
  double eps;
  size_t columns;
  bool is_rms; /* the mean is not subtracted, and the root mean square stands for the deviation */
} hw_normalization;

/* Gradients to add to; NULL skips one. */
typedef struct hw_normalization_gradient {
  float *weight;
  float *bias;
} hw_normalization_gradient;

/* y may be x. */
void hw_normalization_forward(const hw_run *run, const hw_normalization *normalization, const float *x, size_t rows,
                              float *y);

/* The same, and what a backward needs: the rows without weight and bias, and what each was multiplied by, 1/√(variance + eps).
 * y and normalized may be x; y NULL: not wanted. */
void hw_normalization_normalize(const hw_run *run, const hw_normalization *normalization, const float *x, size_t rows,
                                float *normalized, float *factors, float *y);

/* y again, to the same bits; it may be the normalized rows. */
void hw_normalization_scale(const hw_run *run, const hw_normalization *normalization, const float *normalized,
                            size_t rows, float *y);

/* dx [rows, columns], or dx plus that if `adds`, from dy and what hw_normalization_normalize left; dx may be dy if it
 * does not add. Gradients of weight and bias are added; gradient NULL: neither of both. dx NULL: not wanted. */
void hw_normalization_backward(const hw_run *run, const hw_normalization *normalization,
                               const hw_normalization_gradient *gradient, const float *normalized, const float *factors,
                               const float *dy, size_t rows, bool adds, float *dx);

/* Whether eps is finite and not negative. */
bool hw_eps_is_valid(double eps);

#endif
