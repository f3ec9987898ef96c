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

typedef struct hw_exp2_constants {
  hw_f32x4 lowest;
  hw_f32x4 magic;
  hw_f32x4 coefficients[6]; /* the highest power's first */
} hw_exp2_constants;

/* Loaded, not written as literals: V8 makes a literal anew in every round of a loop. That needs a table whose contents
 * the compiler cannot know. */
extern float hw_exp2_table[8];

HW_INLINE hw_exp2_constants hw_load_exp2_constants(void) {
  hw_exp2_constants constants = {hw_load_splat(hw_exp2_table), hw_load_splat(hw_exp2_table + 1), {hw_splat(0.0F)}};
#pragma GCC unroll 8
  for (int i = 0; i < 6; i++) {
    constants.coefficients[i] = hw_load_splat(hw_exp2_table + 2 + i);
  }
  return constants;
}

HW_INLINE hw_f32x4 hw_exp2(const hw_exp2_constants *constants, hw_f32x4 x) {
  const hw_f32x4 clamped = hw_larger(x, constants->lowest);
  const hw_f32x4 rounded = hw_add(clamped, constants->magic);
  const hw_f32x4 f = hw_subtract(clamped, hw_subtract(rounded, constants->magic));
  hw_f32x4 y = constants->coefficients[0];
#pragma GCC unroll 8
  for (int i = 1; i < 6; i++) {
    y = hw_multiply_add(y, f, constants->coefficients[i]);
  }
  return hw_multiply(y, hw_exponent_to_power(rounded));
}

float hw_exp2_scalar(float x);

static const float hw_log2_e = 1.44269504F;
static const float hw_ln_2 = 0.693147181F;

#endif
