#include "kernels/cross_entropy.h"

#include <math.h>

#include "core/simd.h"
#include "kernels/softmax.h"

/* Differences from the largest: none is lost where all are large. */
static double mean_below(const float *x, size_t count, float largest) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) {
    sum += (double)x[i] - (double)largest;
  }
  return sum / (double)count;
}

/* y[i] = y[i]·factor - less */
static void scale_less(float *y, size_t count, float factor, float less) {
  const hw_f32x4 factors = hw_splat(factor);
  const hw_f32x4 lesses = hw_splat(less);
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    hw_store(y + i, hw_subtract(hw_multiply(hw_load(y + i), factors), lesses));
  }
  for (; i < count; i++) {
    y[i] = y[i] * factor - less;
  }
}

double hw_cross_entropy_row(const float *x, size_t count, size_t target, float smoothing, float scale,
                            float *gradient) {
  const float largest = hw_row_maximum(x, count);
  const double at_target = (double)x[target] - (double)largest;
  /* 0 · -inf would be NaN. */
  const double mean = smoothing == 0.0F ? 0.0 : (double)smoothing * mean_below(x, count, largest);
  const double share = 1.0 - (double)smoothing;
  const double sum = hw_row_exp(x, gradient, count, largest);
  scale_less(gradient, count, (float)((double)scale / sum), (float)((double)scale * (double)smoothing / (double)count));
  gradient[target] -= (float)((double)scale * share);
  return log1p(sum - 1.0) - (share == 0.0 ? 0.0 : share * at_target) - mean;
}
