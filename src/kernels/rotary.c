#include "kernels/rotary.h"

#include "core/simd.h"

void hw_rotate_row(const float *x, const float *cos, const float *sin, size_t pairs, float sign, float *y) {
  const hw_f32x4 signs = hw_splat(sign);
  for (size_t i = 0; i < pairs; i += HW_LANES) {
    const size_t lanes = pairs - i < HW_LANES ? pairs - i : HW_LANES;
    const hw_f32x4 low = hw_load_lanes(x + i, lanes);
    const hw_f32x4 high = hw_load_lanes(x + pairs + i, lanes);
    const hw_f32x4 c = hw_load_lanes(cos + i, lanes);
    const hw_f32x4 s = hw_multiply(hw_load_lanes(sin + i, lanes), signs);
    hw_store_lanes(y + i, hw_subtract(hw_multiply(low, c), hw_multiply(high, s)), lanes);
    hw_store_lanes(y + pairs + i, hw_add(hw_multiply(high, c), hw_multiply(low, s)), lanes);
  }
}
