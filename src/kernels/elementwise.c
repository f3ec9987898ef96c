#include "kernels/elementwise.h"

#include "core/simd.h"

void hw_row_add(const float *a, const float *b, float *y, size_t count) {
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    hw_store(y + i, hw_add(hw_load(a + i), hw_load(b + i)));
  }
  for (; i < count; i++) {
    y[i] = a[i] + b[i];
  }
}

void hw_row_multiply(const float *a, const float *b, float *y, size_t count) {
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    hw_store(y + i, hw_multiply(hw_load(a + i), hw_load(b + i)));
  }
  for (; i < count; i++) {
    y[i] = a[i] * b[i];
  }
}

HW_INLINE void scale_row(const float *x, float *y, size_t count, float factor) {
  const hw_f32x4 factors = hw_splat(factor);
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    hw_store(y + i, hw_multiply(hw_load(x + i), factors));
  }
  if (i < count) {
    hw_store_lanes(y + i, hw_multiply(hw_load_lanes(x + i, count - i), factors), count - i);
  }
}

void hw_row_scale(const float *x, float *y, size_t count, float factor) { scale_row(x, y, count, factor); }

void hw_rows_scale(const hw_float_rows *x, float factor, float *y, size_t y_stride) {
  const float *row = x->data;
  for (size_t r = x->rows; r > 0; r--) {
    scale_row(row, y, x->columns, factor);
    row += x->stride;
    y += y_stride;
  }
}

float hw_row_dot(const float *a, const float *b, size_t count) {
  hw_f32x4 sums = hw_splat(0.0F);
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    sums = hw_multiply_add(hw_load(a + i), hw_load(b + i), sums);
  }
  float sum = hw_sum_lanes(sums);
  for (; i < count; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

/* x·0 is 0 for every finite x and NaN for the others, and NaN spreads through sums. */
bool hw_all_finite(const float *x, size_t count) {
  const hw_f32x4 zero = hw_splat(0.0F);
  hw_f32x4 low = zero;
  hw_f32x4 high = zero;
  for (size_t i = 0; i < count; i += (size_t)2 * HW_LANES) {
    low = hw_add(low, hw_multiply(hw_load(x + i), zero));
    high = hw_add(high, hw_multiply(hw_load(x + i + HW_LANES), zero));
  }
  return hw_all_true(hw_equal(hw_add(low, high), zero));
}

void hw_row_keep(const float *x, const uint32_t *kept, float factor, float *y, size_t count) {
  enum { WORD = 32 };
  const hw_f32x4 factors = hw_splat(factor);
  const hw_f32x4 zero = hw_splat(0.0F);
  for (size_t i = 0; i < count; i += HW_LANES) {
    const size_t lanes = count - i < HW_LANES ? count - i : HW_LANES;
    const hw_f32x4 by = hw_choose_bits(kept[i / WORD] >> (i % WORD), factors, zero);
    hw_store_lanes(y + i, hw_multiply(hw_load_lanes(x + i, lanes), by), lanes);
  }
}
