/* Layer normalisation of rows (Ba et al. 2016), and root mean square normalisation (Zhang & Sennrich 2019). */
#ifndef HW_KERNELS_LAYER_NORM_H
#define HW_KERNELS_LAYER_NORM_H

#include <stdbool.h>
#include <stddef.h>

/* y = (x - mean)·factor, with factor = 1/√(variance + eps), which it returns; of root mean square normalisation, which is not
 * centered, the mean is 0. The variance is the biased one. y may be x.
 *
 * Mean, variance and differences are doubles: sums of equal floats are exact, so that a constant row gives exact zeros, and
 * neither an offset nor the size of the numbers costs digits. */
double hw_normalize_row(const float *x, bool is_centered, double eps, float *y, size_t count);

/* What a normalized row is multiplied by: weight [count] plus an offset. weight NULL: ones, and no offset. */
typedef struct hw_gains {
  const float *weight;
  float offset;
} hw_gains;

/* y = normalized·gains + bias; bias [count], or NULL for zeros. y may be the normalized row. */
void hw_scale_normalized_row(const float *normalized, hw_gains gains, const float *bias, float *y, size_t count);

/* Of y = normalized·gains, given dy, normalized and its factor as above: dx = factor·(g - mean(g) - normalized·mean(g·normalized))
 * with g = dy·gains, without mean(g) if not centered; or dx plus that. dx may be dy if it does not add. */
typedef struct hw_normalized_row {
  const float *normalized;
  hw_gains gains;
  float factor;
  bool is_centered;
  size_t count;
} hw_normalized_row;

void hw_normalize_row_backward(const hw_normalized_row *row, const float *dy, bool adds, float *dx);

#endif
