#include "kernels/broadcast.h"

#include "core/simd.h"

static inline hw_f32x4 vector_of(const float *x, size_t stride, size_t i) {
  return stride == 0 ? hw_splat(x[0]) : hw_load(x + i);
}

static inline hw_f32x4 combine(hw_binary_operation operation, hw_f32x4 a, hw_f32x4 b) {
  if (operation == HW_BINARY_ADD) {
    return hw_add(a, b);
  }
  return operation == HW_BINARY_SUBTRACT ? hw_subtract(a, b) : hw_multiply(a, b);
}

void hw_row_binary(hw_binary_operation operation, const float *a, size_t a_stride, const float *b, size_t b_stride,
                   float *y, size_t count) {
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    hw_store(y + i, combine(operation, vector_of(a, a_stride, i), vector_of(b, b_stride, i)));
  }
  for (; i < count; i++) {
    const float left = a[i * a_stride];
    const float right = b[i * b_stride];
    y[i] = operation == HW_BINARY_ADD ? left + right : operation == HW_BINARY_SUBTRACT ? left - right : left * right;
  }
}

void hw_row_accumulate(const float *x, double *sums, size_t count) {
  for (size_t i = 0; i < count; i++) {
    sums[i] += (double)x[i];
  }
}

double hw_row_sum(const float *x, size_t count) {
  double sums[HW_LANES] = {0.0};
  size_t i = 0;
  for (; i + HW_LANES <= count; i += HW_LANES) {
    hw_row_accumulate(x + i, sums, HW_LANES);
  }
  hw_row_accumulate(x + i, sums, count - i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
