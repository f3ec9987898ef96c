/*
 * 2^x for x <= 0, four at a time.
 *
 * x = n + f with n an integer and |f| <= 1/2; 2^f by a polynomial of degree 5 whose constant is pinned to 1
 * (minimax relative error 9.2e-8), times 2^n made from bits. At most 2.3 ULP for x >= -126; below that 0 or a
 * denormal within 2^-126 of the truth. 0 gives exactly 1, -inf exactly 0, NaN stays NaN.
 */
#ifndef HW_KERNELS_EXP2_H
#define HW_KERNELS_EXP2_H

#include "core/simd.h"

HW_INLINE hw_f32x4 hw_exp2(hw_f32x4 x) {
  const hw_f32x4 magic = hw_splat(12582912.0F + 127.0F);
  const hw_f32x4 clamped = hw_larger(x, hw_splat(-127.0F));
  const hw_f32x4 rounded = hw_add(clamped, magic);
  const hw_f32x4 f = hw_subtract(clamped, hw_subtract(rounded, magic));
  hw_f32x4 y = hw_splat(0x1.5bba2ep-10F);
  y = hw_multiply_add(y, f, hw_splat(0x1.3cea92p-7F));
  y = hw_multiply_add(y, f, hw_splat(0x1.c6b752p-5F));
  y = hw_multiply_add(y, f, hw_splat(0x1.ebf9bcp-3F));
  y = hw_multiply_add(y, f, hw_splat(0x1.62e42ap-1F));
  y = hw_multiply_add(y, f, hw_splat(1.0F));
  return hw_multiply(y, hw_exponent_to_power(rounded));
}

HW_INLINE float hw_exp2_scalar(float x) { return hw_first_lane(hw_exp2(hw_splat(x))); }

static const float hw_log2_e = 1.44269504F;
static const float hw_ln_2 = 0.693147181F;

#endif
