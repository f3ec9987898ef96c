#include "kernels/softmax.h"

#include <float.h>
#include <math.h>

#include "kernels/elementwise.h"
#include "kernels/exp2.h"

/* Calls of a row are long: none is inlined into another. */
__attribute__((noinline)) float hw_row_maximum(const float *x, size_t count) {
  return hw_row_maximum_from(-INFINITY, x, count);
}

__attribute__((noinline)) double hw_row_exp(const float *x, float *y, size_t count, float shift) {
  const hw_f32x4 shifts = hw_splat(shift);
  const hw_exp2_constants constants = hw_load_exp2_constants();
  hw_f64x2 sums = hw_splat_double(0.0);
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    const hw_f32x4 power = hw_exp(&constants, hw_subtract(hw_load(x + i), shifts));
    hw_store(y + i, power);
    sums = hw_add_doubles(sums, hw_add_doubles(hw_low_doubles(power), hw_high_doubles(power)));
  }
  double sum = hw_sum_doubles(sums);
  if (i < count) {
    const hw_f32x4 power = hw_exp(&constants, hw_subtract(hw_load_lanes(x + i, count - i), shifts));
    hw_store_lanes(y + i, power, count - i);
    for (; i < count; i++) {
      sum += (double)y[i];
    }
  }
  return sum;
}

HW_INLINE hw_f32x4 exp_of_four(const hw_exp2_constants *constants, float *x, hw_f32x4 shift) {
  const hw_f32x4 power = hw_exp(constants, hw_subtract(hw_load(x), shift));
  hw_store(x, power);
  /* Two at once would take more registers than there are. */
  hw_order_barrier();
  return power;
}

HW_INLINE float exp_of_row(const hw_exp2_constants *constants, float *x, size_t count, hw_f32x4 shift) {
  hw_f32x4 low_sums = hw_splat(0.0F);
  hw_f32x4 high_sums = low_sums;
  size_t i = 0;
  do {
    low_sums = hw_add(low_sums, exp_of_four(constants, x + i, shift));
    high_sums = hw_add(high_sums, exp_of_four(constants, x + i + HW_LANES, shift));
    i += (size_t)2 * HW_LANES;
  } while (i < count);
  return hw_sum_lanes(hw_add(low_sums, high_sums));
}

void hw_rows_exp(float *x, size_t stride, size_t rows, size_t count, const float *maxima, float *sums) {
  const hw_exp2_constants constants = hw_load_exp2_constants();
  for (size_t r = 0; r < rows; r++) {
    /* Below a maximum of -inf there is only -inf, which gives 0, and NaN, which stays; -inf less -inf would be NaN. */
    const hw_f32x4 shift = hw_larger(hw_load_splat(maxima + r), hw_splat(-FLT_MAX));
    sums[r] += exp_of_row(&constants, x + r * stride, count, shift);
  }
}

void hw_softmax_row(const float *x, float *y, size_t count) {
  const float maximum = hw_row_maximum(x, count);
  /* Without a finite or +inf value there is nothing to shift by: -inf gives 0, NaN stays. */
  const double sum = hw_row_exp(x, y, count, maximum == -INFINITY ? 0.0F : maximum);
  hw_row_scale(y, y, count, sum == 0.0 ? 0.0F : (float)(1.0 / sum));
}

void hw_softmax_row_backward(const float *y, const float *dy, float *dx, size_t count) {
  const float mean = hw_row_dot(y, dy, count);
  const hw_f32x4 means = hw_splat(mean);
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    hw_store(dx + i, hw_multiply(hw_load(y + i), hw_subtract(hw_load(dy + i), means)));
  }
  for (; i < count; i++) {
    dx[i] = y[i] * (dy[i] - mean);
  }
}
