#include "kernels/layer_norm.h"

#include <float.h>
#include <math.h>

#include "core/memory.h"
#include "core/simd.h"
#include "kernels/elementwise.h"

/* Of differences from a number: their sum, and that of their squares. */
typedef struct row_sums {
  double plain;
  double squares;
} row_sums;

/* Floats add up few squares, doubles the sums of those. */
static row_sums sums_about(float shift, const float *x, size_t count) {
  enum { BLOCK = 64 };
  const hw_f32x4 shifts = hw_splat(shift);
  hw_f64x2 low = hw_splat_double(0.0);
  hw_f64x2 high = low;
  double sum_of_squares = 0.0;
  size_t i = 0;
  while (i + HW_LANES <= count) {
    const size_t end = i + hw_min(count - i, BLOCK);
    hw_f32x4 squares = hw_splat(0.0F);
    for (; i + HW_LANES <= end; i += HW_LANES) {
      const hw_f32x4 d = hw_subtract(hw_load(x + i), shifts);
      low = hw_add_doubles(low, hw_low_doubles(d));
      high = hw_add_doubles(high, hw_high_doubles(d));
      squares = hw_multiply_add(d, d, squares);
    }
    sum_of_squares += (double)hw_sum_lanes(squares);
  }
  row_sums sums = {hw_sum_doubles(hw_add_doubles(low, high)), sum_of_squares};
  for (; i < count; i++) {
    const float d = x[i] - shift;
    sums.plain += (double)d;
    sums.squares += (double)(d * d);
  }
  return sums;
}

/* About the mean: a float cannot hold all of it, and what it lacks is taken off. */
static double variance_about(double mean, const float *x, size_t count) {
  const float about = (float)mean;
  const double missed = mean - (double)about;
  return sums_about(about, x, count).squares / (double)count - missed * missed;
}

/* The variance; and the mean, 0 if the row is not centered. Squares about 0 say little of it where the mean is large, and
 * nothing where they are infinite. */
static double variance_of(const hw_norm_settings *settings, const float *x, double *mean) {
  const double count = (double)settings->count;
  const row_sums sums = sums_about(0.0F, x, settings->count);
  *mean = settings->is_centered ? sums.plain / count : 0.0;
  const double square = sums.squares / count;
  const double variance = square - *mean * *mean;
  return variance - 0.5 * square >= 0.0 ? variance : variance_about(*mean, x, settings->count);
}

/* x times the gains, of lanes from i on. Settings are passed by value from here on: no store can change them then, so that they
 * stay in registers. */
HW_INLINE hw_f32x4 times_gains(hw_f32x4 x, hw_gains gains, size_t i, size_t lanes) {
  return gains.weight == NULL ? x
                              : hw_multiply(x, hw_add(hw_load_lanes(gains.weight + i, lanes), hw_splat(gains.offset)));
}

/* x times the gains, plus the bias, of lanes from i on. */
HW_INLINE hw_f32x4 scaled(hw_norm_settings settings, hw_f32x4 x, size_t i, size_t lanes) {
  const hw_f32x4 product = times_gains(x, settings.gains, i, lanes);
  return settings.bias == NULL ? product : hw_add(product, hw_load_lanes(settings.bias + i, lanes));
}

void hw_scale_normalized_row(const hw_norm_settings *settings, const float *normalized, float *y) {
  const hw_norm_settings copied = *settings;
  const size_t whole = copied.count / HW_LANES * HW_LANES;
  const size_t rest = copied.count - whole;
  for (size_t i = 0; i < whole; i += HW_LANES) {
    hw_store(y + i, scaled(copied, hw_load(normalized + i), i, HW_LANES));
  }
  if (rest > 0) {
    hw_store_few(y + whole, scaled(copied, hw_load_few(normalized + whole, rest), whole, rest), rest);
  }
}

/* A power of two: the numbers times that have squares that are floats. Of differences so small that theirs are not, the
 * numbers are small too, or all the same; and next to a large eps they do not matter. */
static double scale_for(double variance, double mean, double eps) {
  if (variance >= 0x1p-100 && variance < 0x1p100) {
    return 1.0;
  }
  return !(variance < 1.0) ? 0x1p-70 : fabs(mean) < 1.0 && eps < 1.0 ? 0x1p100 : 1.0;
}

/* The largest float stands for what is larger, so that it times 0 is 0; an eps of 0 leaves an infinity. */
static float float_of_factor(double factor) {
  return factor > (double)FLT_MAX && !isinf(factor) ? FLT_MAX : (float)factor;
}

/* y = (x - mean)·factor, with the mean in two floats: what an element differs by from it is as exact as a float can be. */
static void change_row(const float *x, double mean, float factor, float *y, size_t count) {
  const float upper = (float)mean;
  const float lower = (float)(mean - (double)upper);
  const hw_f32x4 uppers = hw_splat(upper);
  const hw_f32x4 lowers = hw_splat(lower);
  const hw_f32x4 factors = hw_splat(factor);
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    hw_store(y + i, hw_multiply(hw_subtract(hw_subtract(hw_load(x + i), uppers), lowers), factors));
  }
  for (; i < count; i++) {
    y[i] = (x[i] - upper - lower) * factor;
  }
}

double hw_normalize_row(const hw_norm_settings *settings, const float *x, float *normalized, float *y) {
  const size_t count = settings->count;
  float *target = normalized == NULL ? y : normalized;
  double mean;
  double variance = variance_of(settings, x, &mean);
  const double scale = scale_for(variance, mean, settings->eps);
  if (scale != 1.0) {
    hw_row_scale(x, target, count, (float)scale);
    x = target;
    mean *= scale;
    variance = variance_about(mean, x, count);
  }
  const double factor = 1.0 / sqrt(variance + settings->eps * scale * scale);
  change_row(x, mean, float_of_factor(factor), target, count);
  if (y != NULL) {
    hw_scale_normalized_row(settings, target, y);
  }
  return factor * scale;
}

/* What the gradient of a row is made of. */
typedef struct row_gradient {
  hw_gains gains;
  const float *normalized;
  const float *dy;
} row_gradient;

/* dy times the gains, of lanes from i on. */
HW_INLINE hw_f32x4 scaled_gradient(row_gradient row, size_t i, size_t lanes) {
  return times_gains(hw_load_lanes(row.dy + i, lanes), row.gains, i, lanes);
}

/* Sums of g, and of g times the normalized row. */
typedef struct gradient_sums {
  hw_f32x4 plain;
  hw_f32x4 products;
} gradient_sums;

HW_INLINE gradient_sums add_lanes(gradient_sums sums, row_gradient row, size_t i, size_t lanes) {
  const hw_f32x4 g = scaled_gradient(row, i, lanes);
  const hw_f32x4 normalized = hw_load_lanes(row.normalized + i, lanes);
  return (gradient_sums){hw_add(sums.plain, g), hw_multiply_add(g, normalized, sums.products)};
}

static gradient_sums sums_of(row_gradient row, size_t count) {
  gradient_sums low = {hw_splat(0.0F), hw_splat(0.0F)};
  gradient_sums high = low;
  size_t i = 0;
  for (; i + (size_t)2 * HW_LANES <= count; i += (size_t)2 * HW_LANES) {
    low = add_lanes(low, row, i, HW_LANES);
    high = add_lanes(high, row, i + HW_LANES, HW_LANES);
  }
  for (; i < count; i += HW_LANES) {
    low = add_lanes(low, row, i, hw_min(count - i, HW_LANES));
  }
  return (gradient_sums){hw_add(low.plain, high.plain), hw_add(low.products, high.products)};
}

/* What each lane of g becomes: (g - mean + normalized·slope)·factor. */
typedef struct gradient_change {
  hw_f32x4 mean;
  hw_f32x4 slope;
  hw_f32x4 factor;
} gradient_change;

HW_INLINE void change_lanes(gradient_change change, row_gradient row, size_t i, size_t lanes, bool adds, float *dx) {
  const hw_f32x4 g = hw_subtract(scaled_gradient(row, i, lanes), change.mean);
  const hw_f32x4 turned = hw_multiply_add(hw_load_lanes(row.normalized + i, lanes), change.slope, g);
  const hw_f32x4 result = hw_multiply(turned, change.factor);
  hw_store_lanes(dx + i, adds ? hw_add(hw_load_lanes(dx + i, lanes), result) : result, lanes);
}

void hw_normalize_row_backward(const hw_normalized_row *row, const float *dy, bool adds, float *dx) {
  const size_t count = row->settings->count;
  const size_t whole = count / HW_LANES * HW_LANES;
  const row_gradient gradient = {row->settings->gains, row->normalized, dy};
  const gradient_sums sums = sums_of(gradient, count);
  const gradient_change change = {
      hw_splat(row->settings->is_centered ? hw_sum_lanes(sums.plain) / (float)count : 0.0F),
      hw_splat(-hw_sum_lanes(sums.products) / (float)count),
      hw_splat(row->factor),
  };
  for (size_t i = 0; i < whole; i += HW_LANES) {
    change_lanes(change, gradient, i, HW_LANES, adds, dx);
  }
  if (whole < count) {
    change_lanes(change, gradient, whole, count - whole, adds, dx);
  }
}

/* Rows, and where their sums are. */
typedef struct gradient_rows {
  const float *dy;
  const float *normalized;
  size_t stride;
  size_t count;
  float *products;
  float *sums;
} gradient_rows;

enum { VECTORS = 2 };

/* Of so many vectors from column i on, a constant where this is used, so that their sums live in registers. */
HW_INLINE void add_columns(gradient_rows of, size_t vectors, size_t i, size_t lanes) {
  hw_f32x4 products[VECTORS];
  hw_f32x4 sums[VECTORS];
#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; v++) {
    products[v] = hw_load_lanes(of.products + i + v * HW_LANES, lanes);
    sums[v] = hw_load_lanes(of.sums + i + v * HW_LANES, lanes);
  }
  for (size_t at = i; of.count > 0; of.count--) {
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++) {
      const hw_f32x4 g = hw_load_lanes(of.dy + at + v * HW_LANES, lanes);
      products[v] = hw_multiply_add(g, hw_load_lanes(of.normalized + at + v * HW_LANES, lanes), products[v]);
      sums[v] = hw_add(sums[v], g);
    }
    at += of.stride;
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; v++) {
    hw_store_lanes(of.products + i + v * HW_LANES, products[v], lanes);
    hw_store_lanes(of.sums + i + v * HW_LANES, sums[v], lanes);
  }
}

void hw_add_norm_gradients(const float *dy, const float *normalized, size_t stride, size_t rows, size_t columns,
                           float *products, float *sums) {
  const gradient_rows of = {dy, normalized, stride, rows, products, sums};
  size_t i = 0;
  for (; i + (size_t)VECTORS * HW_LANES <= columns; i += (size_t)VECTORS * HW_LANES) {
    add_columns(of, VECTORS, i, HW_LANES);
  }
  for (; i < columns; i += HW_LANES) {
    add_columns(of, 1, i, hw_min(columns - i, HW_LANES));
  }
}
