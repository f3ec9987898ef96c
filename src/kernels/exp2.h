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
  hw_f32x4 coefficients[5]; /* the highest power's first */
  hw_f32x4 log2_e;
} hw_exp2_constants;

/* Loaded, not written as literals: V8 makes a literal anew in every round of a loop. That needs a table whose contents
 * the compiler cannot know. */
extern float hw_exp2_table[8];

HW_INLINE hw_exp2_constants hw_load_exp2_constants(void) {
  hw_exp2_constants constants;
  constants.lowest = hw_load_splat(hw_exp2_table);
  constants.magic = hw_load_splat(hw_exp2_table + 1);
  constants.log2_e = hw_load_splat(hw_exp2_table + 7);
#pragma GCC unroll 8
  for (int i = 0; i < 5; i++) {
    constants.coefficients[i] = hw_load_splat(hw_exp2_table + 2 + i);
  }
  return constants;
}

/* 2^(n + f), given f and n + magic. */
HW_INLINE hw_f32x4 hw_exp2_of_parts(const hw_exp2_constants *constants, hw_f32x4 rounded, hw_f32x4 f) {
  hw_f32x4 y = constants->coefficients[0];
#pragma GCC unroll 8
  for (int i = 1; i < 5; i++) {
    y = hw_multiply_add(y, f, constants->coefficients[i]);
  }
  /* (y·f + 1)·2^n without a register for the 1. */
  const hw_f32x4 power = hw_exponent_to_power(rounded);
  return hw_multiply_add(hw_multiply(y, f), power, power);
}

HW_INLINE hw_f32x4 hw_exp2(const hw_exp2_constants *constants, hw_f32x4 x) {
  const hw_f32x4 clamped = hw_larger(x, constants->lowest);
  const hw_f32x4 rounded = hw_add(clamped, constants->magic);
  const hw_f32x4 f = hw_subtract(clamped, hw_subtract(rounded, constants->magic));
  return hw_exp2_of_parts(constants, rounded, f);
}

/* e^x for x <= 0, as exactly as x · log2 e can be written. Take differences before: what is lost here grows with x. */
HW_INLINE hw_f32x4 hw_exp(const hw_exp2_constants *constants, hw_f32x4 x) {
  return hw_exp2(constants, hw_multiply(x, constants->log2_e));
}

float hw_exp_scalar(float x);

#endif
