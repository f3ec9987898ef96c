#include "core/simd.h"

hw_f32x4 hw_load_few(const float *p, size_t count) {
  if (count == 1) {
    return hw_load_lane(p);
  }
  const hw_f32x4 half = hw_load_half(p);
  return count == 2 ? half : hw_load_third_lane(p + 2, half);
}

void hw_store_few(float *p, hw_f32x4 x, size_t count) {
  if (count == 1) {
    hw_store_lane(p, x);
    return;
  }
  hw_store_half(p, x);
  if (count == 3) {
    hw_store_third_lane(p + 2, x);
  }
}
