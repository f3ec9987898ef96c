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
