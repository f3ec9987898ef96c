/* Layer normalisation of rows. */
#ifndef HW_KERNELS_LAYER_NORM_H
#define HW_KERNELS_LAYER_NORM_H

#include <stddef.h>

/* y = (x - mean)/√(variance + eps)·weight + bias for one row; the variance is the biased one. weight and bias [count], or
 * NULL for ones and zeros. y may be x.
 *
 * Mean, variance and differences are doubles: sums of equal floats are exact, so that a constant row gives exactly the
 * bias, and neither an offset nor the size of the numbers costs digits. */
void hw_layer_norm_row(const float *x, const float *weight, const float *bias, double eps, float *y, size_t count);

#endif
