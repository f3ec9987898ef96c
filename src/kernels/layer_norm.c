#include "kernels/layer_norm.h"

#include <math.h>

#include "core/simd.h"

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

double hw_normalize_row(const float *x, bool is_centered, double eps, float *y, size_t count) {
  const double mean = is_centered ? mean_of(x, count) : 0.0;
  const double factor = 1.0 / sqrt(variance_of(x, mean, count) + eps);
  normalize(x, mean, factor, y, count);
  return factor;
}

/* x times the gains, of lanes from i on. */
HW_INLINE hw_f32x4 times_gains(hw_f32x4 x, hw_gains gains, size_t i, size_t lanes) {
  return gains.weight == NULL ? x
                              : hw_multiply(x, hw_add(hw_load_lanes(gains.weight + i, lanes), hw_splat(gains.offset)));
}

/* x times the gains, plus the bias, of lanes from i on. */
HW_INLINE hw_f32x4 scaled(const float *x, hw_gains gains, const float *bias, size_t i, size_t lanes) {
  const hw_f32x4 product = times_gains(hw_load_lanes(x + i, lanes), gains, i, lanes);
  return bias == NULL ? product : hw_add(product, hw_load_lanes(bias + i, lanes));
}

void hw_scale_normalized_row(const float *normalized, hw_gains gains, const float *bias, float *y, size_t count) {
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    hw_store(y + i, scaled(normalized, gains, bias, i, HW_LANES));
  }
  if (i < count) {
    hw_store_few(y + i, scaled(normalized, gains, bias, i, count - i), count - i);
  }
}

/* dy times the gains, of lanes from i on. */
HW_INLINE hw_f32x4 scaled_gradient(const hw_normalized_row *row, const float *dy, size_t i, size_t lanes) {
  return times_gains(hw_load_lanes(dy + i, lanes), row->gains, i, lanes);
}

/* Sums of g, and of g times the normalized row. */
typedef struct gradient_sums {
  hw_f32x4 plain;
  hw_f32x4 products;
} gradient_sums;

HW_INLINE void add_lanes(gradient_sums *sums, const hw_normalized_row *row, const float *dy, size_t i, size_t lanes) {
  const hw_f32x4 g = scaled_gradient(row, dy, i, lanes);
  sums->plain = hw_add(sums->plain, g);
  sums->products = hw_multiply_add(g, hw_load_lanes(row->normalized + i, lanes), sums->products);
}

/* What each lane of g becomes: (g - mean + normalized·slope)·factor. */
typedef struct gradient_change {
  hw_f32x4 mean;
  hw_f32x4 slope;
  hw_f32x4 factor;
} gradient_change;

HW_INLINE void change_lanes(const gradient_change *change, const hw_normalized_row *row, const float *dy, size_t i,
                            size_t lanes, bool adds, float *dx) {
  const hw_f32x4 g = hw_subtract(scaled_gradient(row, dy, i, lanes), change->mean);
  const hw_f32x4 turned = hw_multiply_add(hw_load_lanes(row->normalized + i, lanes), change->slope, g);
  const hw_f32x4 result = hw_multiply(turned, change->factor);
  hw_store_lanes(dx + i, adds ? hw_add(hw_load_lanes(dx + i, lanes), result) : result, lanes);
}

void hw_normalize_row_backward(const hw_normalized_row *row, const float *dy, bool adds, float *dx) {
  const size_t count = row->count;
  const size_t whole = count / HW_LANES * HW_LANES;
  gradient_sums sums = {hw_splat(0.0F), hw_splat(0.0F)};
  for (size_t i = 0; i < whole; i += HW_LANES) {
    add_lanes(&sums, row, dy, i, HW_LANES);
  }
  if (whole < count) {
    add_lanes(&sums, row, dy, whole, count - whole);
  }
  const gradient_change change = {
      hw_splat(row->is_centered ? hw_sum_lanes(sums.plain) / (float)count : 0.0F),
      hw_splat(-hw_sum_lanes(sums.products) / (float)count),
      hw_splat(row->factor),
  };
  for (size_t i = 0; i < whole; i += HW_LANES) {
    change_lanes(&change, row, dy, i, HW_LANES, adds, dx);
  }
  if (whole < count) {
    change_lanes(&change, row, dy, whole, count - whole, adds, dx);
  }
}
