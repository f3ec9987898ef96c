/* Layer normalisation of rows (Ba et al. 2016), and root mean square normalisation (Zhang & Sennrich 2019). */
#ifndef HW_KERNELS_LAYER_NORM_H
#define HW_KERNELS_LAYER_NORM_H

#include <stdbool.h>
#include <stddef.h>

/* What a normalized row is multiplied by: weight [count] plus an offset. weight NULL: ones, and no offset. */
typedef struct hw_gains {
  const float *weight;
  float offset;
} hw_gains;

/* Of rows of `count` floats. */
typedef struct hw_norm_settings {
  hw_gains gains;
  const float *bias; /* [count], or NULL for zeros */
  double eps;
  bool is_centered; /* the mean is subtracted; of root mean square normalisation it is not */
  size_t count;
} hw_norm_settings;

/* normalized = (x - mean)·factor, with factor = 1/√(variance + eps), which it returns, and y = normalized·gains + bias. The
 * variance is the biased one; the mean is 0 if not centered. One of normalized and y may be NULL, and one may be x.
 *
 * The mean is a double: sums of equal floats are exact, so that a constant row gives exact zeros, and neither an offset nor
 * the size of the numbers costs digits. */
double hw_normalize_row(const hw_norm_settings *settings, const float *x, float *normalized, float *y);

/* y = normalized·gains + bias, to the bits of hw_normalize_row; y may be the normalized row. */
void hw_scale_normalized_row(const hw_norm_settings *settings, const float *normalized, float *y);

/* Of y = normalized·gains, given dy, normalized and its factor as above: dx = factor·(g - mean(g) - normalized·mean(g·normalized))
 * with g = dy·gains, without mean(g) if not centered; or dx plus that. dx may be dy if it does not add. */
typedef struct hw_normalized_row {
  const hw_norm_settings *settings;
  const float *normalized;
  float factor;
} hw_normalized_row;

void hw_normalize_row_backward(const hw_normalized_row *row, const float *dy, bool adds, float *dx);

/* The gradients of the gains and the bias, of rows at stride that have so many columns from the first on: to products is added
 * dy·normalized, to sums dy, both in the order of the rows. */
void hw_add_norm_gradients(const float *dy, const float *normalized, size_t stride, size_t rows, size_t columns,
                           float *products, float *sums);

#endif
