#include "kernels/layer_norm.h"

#include <math.h>

#include "core/simd.h"
#include "kernels/elementwise.h"

static double mean_of(const float *x, size_t count) {
  hw_f64x2 low = hw_splat_double(0.0);
  hw_f64x2 high = low;
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    const hw_f32x4 values = hw_load(x + i);
    low = hw_add_doubles(low, hw_low_doubles(values));
    high = hw_add_doubles(high, hw_high_doubles(values));
  }
  double sum = hw_sum_doubles(hw_add_doubles(low, high));
  for (; i < count; i++) {
    sum += (double)x[i];
  }
  return sum / (double)count;
}

static double variance_of(const float *x, double mean, size_t count) {
  const hw_f64x2 means = hw_splat_double(mean);
  hw_f64x2 sums = hw_splat_double(0.0);
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    const hw_f32x4 values = hw_load(x + i);
    const hw_f64x2 low = hw_subtract_doubles(hw_low_doubles(values), means);
    const hw_f64x2 high = hw_subtract_doubles(hw_high_doubles(values), means);
    sums = hw_add_doubles(sums, hw_add_doubles(hw_multiply_doubles(low, low), hw_multiply_doubles(high, high)));
  }
  double sum = hw_sum_doubles(sums);
  for (; i < count; i++) {
    const double difference = (double)x[i] - mean;
    sum += difference * difference;
  }
  return sum / (double)count;
}

static void normalize(const float *x, double mean, double factor, float *y, size_t count) {
  const hw_f64x2 means = hw_splat_double(mean);
  const hw_f64x2 factors = hw_splat_double(factor);
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    const hw_f32x4 values = hw_load(x + i);
    const hw_f64x2 low = hw_multiply_doubles(hw_subtract_doubles(hw_low_doubles(values), means), factors);
    const hw_f64x2 high = hw_multiply_doubles(hw_subtract_doubles(hw_high_doubles(values), means), factors);
    hw_store(y + i, hw_to_floats(low, high));
  }
  for (; i < count; i++) {
    y[i] = (float)(((double)x[i] - mean) * factor);
  }
}

void hw_layer_norm_row(const float *x, const float *weight, const float *bias, double eps, float *y, size_t count) {
  const double mean = mean_of(x, count);
  normalize(x, mean, 1.0 / sqrt(variance_of(x, mean, count) + eps), y, count);
  if (weight != NULL) {
    hw_row_multiply(y, weight, y, count);
  }
  if (bias != NULL) {
    hw_row_add(y, bias, y, count);
  }
}
