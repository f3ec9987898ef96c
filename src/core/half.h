/* 16-bit floats: bfloat16 (the upper half of a float) and IEEE 754's float16. Conversions round to nearest, ties to
 * even. NaN stays NaN. */
#ifndef HW_CORE_HALF_H
#define HW_CORE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t hw_float_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float hw_float_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint16_t hw_bfloat16_of(float x) {
  const uint32_t bits = hw_float_bits(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return (uint16_t)(bits >> 16 | 0x40U);
  }
  return (uint16_t)((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

static inline float hw_float_of_bfloat16(uint16_t half) { return hw_float_of_bits((uint32_t)half << 16); }

static inline uint16_t hw_float16_of(float x) {
  const uint32_t sign = hw_float_bits(x) >> 16 & 0x8000U;
  const uint32_t bits = hw_float_bits(x) & 0x7fffffffU;
  if (bits >= 0x477ff000U) { /* 65,520 and more round to infinity */
    return (uint16_t)(sign | (bits > 0x7f800000U ? 0x7e00U : 0x7c00U));
  }
  if (bits < 0x38800000U) {
    /* Below 2^-14 numbers are multiples of 2^-24: those are the last bits of floats from 0.5 on. */
    return (uint16_t)(sign | (hw_float_bits(hw_float_of_bits(bits) + 0.5F) - 0x3f000000U));
  }
  return (uint16_t)(sign | ((bits - (112U << 23) + 0xfffU + (bits >> 13 & 1U)) >> 13));
}

static inline float hw_float_of_float16(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000U) << 16;
  const uint32_t rest = (uint32_t)(half & 0x7fffU) << 13;
  if (rest >= 0x1fU << 23) {
    return hw_float_of_bits(sign | 0x7f800000U | (rest & 0x7fffffU));
  }
  /* The exponent's bias is 15, not 127; a product, so that numbers without a leading one get theirs. */
  return hw_float_of_bits(sign | hw_float_bits(hw_float_of_bits(rest) * 0x1p112F));
}

#endif
