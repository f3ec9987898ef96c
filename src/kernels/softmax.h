/* Softmax over rows. */
#ifndef HW_KERNELS_SOFTMAX_H
#define HW_KERNELS_SOFTMAX_H

#include <stddef.h>

#include "core/simd.h"

/* y = softmax(x) for one row; y may be x. All -inf gives zeros; NaN or +inf gives NaN. */
void hw_softmax_row(const float *x, float *y, size_t count);

/* Largest of `largest` and count values, NaN passed over. */
HW_INLINE float hw_row_maximum_from(float largest, const float *x, size_t count) {
  hw_f32x4 lanes = hw_splat(largest);
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    lanes = hw_larger(lanes, hw_load(x + i));
  }
  largest = hw_largest_lane(lanes);
  for (; i < count; i++) {
    largest = largest < x[i] ? x[i] : largest;
  }
  return largest;
}

/* Largest of count values (-inf if none), NaN passed over. */
float hw_row_maximum(const float *x, size_t count);

/* y[i] = exp(x[i] - shift), y may be x; returns the sum, to which the smallest count beside the largest. No x[i] exceeds
 * shift. */
double hw_row_exp(const float *x, float *y, size_t count, float shift);

/* For each of `rows` rows of x, `stride` apart: x[i] = exp(x[i] - maximum), and the sum is added to the row's. count is a
 * multiple of 8 and not 0; no x[i] exceeds its row's maximum, which may be -inf. */
void hw_rows_exp(float *x, size_t stride, size_t rows, size_t count, const float *maxima, float *sums);

/* dx = y·(dy - sum of y·dy) for one row y of softmax; dx may be dy or y. */
void hw_softmax_row_backward(const float *y, const float *dy, float *dx, size_t count);

#endif
