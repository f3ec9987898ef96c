/*
 * The SIMD vocabulary: four floats at a time. The only file that names wasm intrinsics; natively they come
 * from SIMDe, so that the same kernels run under sanitizers. HW_FUSED tells whether hw_multiply_add rounds
 * once (relaxed SIMD) or twice (SIMD128 and native).
 */
#ifndef HW_CORE_SIMD_H
#define HW_CORE_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* hw_exp2 rounds by adding a large number, and much looks for NaN. gcc always defines the second macro. */
#if defined __FAST_MATH__ || (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__ > 0)
#error "Headwise computes wrong numbers with -ffast-math and -ffinite-math-only: compile it without them"
#endif

#ifdef __wasm__
#include <wasm_simd128.h>
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/wasm/simd128.h>
#endif

#ifdef __wasm_relaxed_simd__
#define HW_FUSED 1
#else
#define HW_FUSED 0
#endif

/* Whether there are dots of bytes: relaxed SIMD's, and natively the same by other means, so that they are tested. */
#if HW_FUSED || !defined(__wasm__)
#define HW_DOTS 1
#else
#define HW_DOTS 0
#endif

#define HW_INLINE static inline __attribute__((always_inline))

enum { HW_LANES = 4 };

typedef v128_t hw_f32x4;

/* Floats, or what else a vector holds: bytes, integers. */
HW_INLINE hw_f32x4 hw_load(const void *p) { return wasm_v128_load(p); }
HW_INLINE hw_f32x4 hw_load_splat(const void *p) { return wasm_v128_load32_splat(p); }
HW_INLINE void hw_store(void *p, hw_f32x4 x) { wasm_v128_store(p, x); }

HW_INLINE hw_f32x4 hw_load_lane(const float *p) { return wasm_v128_load32_zero(p); }
HW_INLINE hw_f32x4 hw_load_half(const float *p) { return wasm_v128_load64_zero(p); }
HW_INLINE hw_f32x4 hw_load_third_lane(const float *p, hw_f32x4 x) { return wasm_v128_load32_lane(p, x, 2); }
HW_INLINE void hw_store_lane(float *p, hw_f32x4 x) { wasm_v128_store32_lane(p, x, 0); }
HW_INLINE void hw_store_half(float *p, hw_f32x4 x) { wasm_v128_store64_lane(p, x, 0); }
HW_INLINE void hw_store_third_lane(float *p, hw_f32x4 x) { wasm_v128_store32_lane(p, x, 2); }

/* The first `count` lanes, 1 to HW_LANES; nothing else is read, and the other lanes are 0. */
HW_INLINE hw_f32x4 hw_load_lanes_inline(const float *p, size_t count) {
  if (count == HW_LANES) {
    return hw_load(p);
  }
  if (count == 1) {
    return hw_load_lane(p);
  }
  const hw_f32x4 half = hw_load_half(p);
  return count == 2 ? half : hw_load_third_lane(p + 2, half);
}

/* The same for a store. */
HW_INLINE void hw_store_lanes_inline(float *p, hw_f32x4 x, size_t count) {
  if (count == HW_LANES) {
    hw_store(p, x);
  } else if (count == 1) {
    hw_store_lane(p, x);
  } else {
    hw_store_half(p, x);
    if (count == 3) {
      hw_store_third_lane(p + 2, x);
    }
  }
}

/* Fewer lanes than all, 1 to HW_LANES - 1. */
hw_f32x4 hw_load_few(const float *p, size_t count);
void hw_store_few(float *p, hw_f32x4 x, size_t count);

/* As hw_load_lanes_inline and hw_store_lanes_inline, in fewer bytes: where fewer lanes than all are rare. */
HW_INLINE hw_f32x4 hw_load_lanes(const float *p, size_t count) {
  return count < HW_LANES ? hw_load_few(p, count) : hw_load(p);
}

HW_INLINE void hw_store_lanes(float *p, hw_f32x4 x, size_t count) {
  if (count < HW_LANES) {
    hw_store_few(p, x, count);
  } else {
    hw_store(p, x);
  }
}

HW_INLINE hw_f32x4 hw_splat(float x) { return wasm_f32x4_splat(x); }
HW_INLINE hw_f32x4 hw_add(hw_f32x4 a, hw_f32x4 b) { return wasm_f32x4_add(a, b); }
HW_INLINE hw_f32x4 hw_subtract(hw_f32x4 a, hw_f32x4 b) { return wasm_f32x4_sub(a, b); }
HW_INLINE hw_f32x4 hw_multiply(hw_f32x4 a, hw_f32x4 b) { return wasm_f32x4_mul(a, b); }
HW_INLINE hw_f32x4 hw_divide(hw_f32x4 a, hw_f32x4 b) { return wasm_f32x4_div(a, b); }
HW_INLINE hw_f32x4 hw_square_root(hw_f32x4 x) { return wasm_f32x4_sqrt(x); }
HW_INLINE hw_f32x4 hw_absolute(hw_f32x4 x) { return wasm_f32x4_abs(x); }

/* a·b + c */
HW_INLINE hw_f32x4 hw_multiply_add(hw_f32x4 a, hw_f32x4 b, hw_f32x4 c) {
#if HW_FUSED
  return wasm_f32x4_relaxed_madd(a, b, c);
#else
  return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
#endif
}

/* a < b ? b : a, so a NaN in a stays and a NaN in b is passed over; one instruction, unlike f32x4.max. */
HW_INLINE hw_f32x4 hw_larger(hw_f32x4 a, hw_f32x4 b) { return wasm_f32x4_pmax(a, b); }
HW_INLINE hw_f32x4 hw_smaller(hw_f32x4 a, hw_f32x4 b) { return wasm_f32x4_pmin(a, b); }

/* x with the lower half of its 24 bits cleared: its square is exact. */
HW_INLINE hw_f32x4 hw_upper_half(hw_f32x4 x) { return wasm_v128_and(x, wasm_i32x4_splat(-4096)); }

/* Comparisons give lanes of ones or zeros, for hw_and, hw_choose and hw_all_true. */
HW_INLINE hw_f32x4 hw_equal(hw_f32x4 a, hw_f32x4 b) { return wasm_f32x4_eq(a, b); }
HW_INLINE hw_f32x4 hw_above(hw_f32x4 a, hw_f32x4 b) { return wasm_f32x4_gt(a, b); }
HW_INLINE hw_f32x4 hw_and(hw_f32x4 a, hw_f32x4 b) { return wasm_v128_and(a, b); }
HW_INLINE hw_f32x4 hw_and_not(hw_f32x4 a, hw_f32x4 b) { return wasm_v128_andnot(a, b); }
HW_INLINE hw_f32x4 hw_or(hw_f32x4 a, hw_f32x4 b) { return wasm_v128_or(a, b); }
HW_INLINE hw_f32x4 hw_xor(hw_f32x4 a, hw_f32x4 b) { return wasm_v128_xor(a, b); }
HW_INLINE hw_f32x4 hw_choose(hw_f32x4 condition, hw_f32x4 yes, hw_f32x4 no) {
  return wasm_v128_bitselect(yes, no, condition);
}
/* |a| with the sign of b */
HW_INLINE hw_f32x4 hw_copy_sign(hw_f32x4 a, hw_f32x4 b) { return hw_choose(hw_splat(-0.0F), b, a); }
HW_INLINE bool hw_all_true(hw_f32x4 condition) { return wasm_i32x4_all_true(condition); }

/* Lane by lane: `yes` where the byte is not zero. */
HW_INLINE hw_f32x4 hw_choose_bytes(const uint8_t *bytes, hw_f32x4 yes, hw_f32x4 no) {
  const v128_t halves = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(bytes));
  const v128_t words = wasm_u32x4_extend_low_u16x8(halves);
  return hw_choose(wasm_i32x4_eq(words, wasm_i32x4_splat(0)), no, yes);
}

/* Lane by lane: `yes` where one of the four lowest bits is set. */
HW_INLINE hw_f32x4 hw_choose_bits(uint32_t bits, hw_f32x4 yes, hw_f32x4 no) {
  const v128_t places = wasm_i32x4_make(1, 2, 4, 8);
  return hw_choose(wasm_i32x4_eq(wasm_v128_and(wasm_i32x4_splat((int32_t)bits), places), places), yes, no);
}

/* Integers: the same in all lanes; first, first + 1, …; whether a > b. */
HW_INLINE hw_f32x4 hw_splat_integer(int32_t x) { return wasm_i32x4_splat(x); }
HW_INLINE hw_f32x4 hw_integers_from(int32_t first) {
  return wasm_i32x4_add(wasm_i32x4_make(0, 1, 2, 3), wasm_i32x4_splat(first));
}
HW_INLINE hw_f32x4 hw_integer_above(hw_f32x4 a, hw_f32x4 b) { return wasm_i32x4_gt(a, b); }

HW_INLINE hw_f32x4 hw_add_integers(hw_f32x4 a, hw_f32x4 b) { return wasm_i32x4_add(a, b); }
/* Of numbers without a sign. */
HW_INLINE hw_f32x4 hw_subtract_integers(hw_f32x4 a, hw_f32x4 b) { return wasm_i32x4_sub(a, b); }
HW_INLINE hw_f32x4 hw_shift_right(hw_f32x4 x, uint32_t bits) { return wasm_u32x4_shr(x, bits); }
HW_INLINE hw_f32x4 hw_shift_left(hw_f32x4 x, uint32_t bits) { return wasm_i32x4_shl(x, bits); }

/* A float16 in the upper half of each lane, whatever is below, as a float's bits: its value times 2^-112. */
HW_INLINE hw_f32x4 hw_float16_bits_to_float(hw_f32x4 x) {
  return wasm_v128_and(wasm_i32x4_shr(x, 3), wasm_i32x4_splat((int32_t)0x8fffe000U));
}

/* Integers of 16 bits: c + a·b of neighbours, in lanes of 32; the upper byte of each, with its sign. */
HW_INLINE hw_f32x4 hw_add_pairs(hw_f32x4 a, hw_f32x4 b, hw_f32x4 c) {
  return wasm_i32x4_add(wasm_i32x4_dot_i16x8(a, b), c);
}
HW_INLINE hw_f32x4 hw_upper_bytes(hw_f32x4 x) { return wasm_i16x8_shr(x, 8); }

#if HW_DOTS
/* c + the dots of four neighbours: bytes with a sign times bytes in 0…127, in lanes of 32. */
HW_INLINE hw_f32x4 hw_add_dots(hw_f32x4 bytes, hw_f32x4 sevens, hw_f32x4 c) {
#if HW_FUSED
  return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(bytes, sevens, c);
#else
  const v128_t low = wasm_i32x4_dot_i16x8(wasm_i16x8_extend_low_i8x16(bytes), wasm_i16x8_extend_low_i8x16(sevens));
  const v128_t high = wasm_i32x4_dot_i16x8(wasm_i16x8_extend_high_i8x16(bytes), wasm_i16x8_extend_high_i8x16(sevens));
  const v128_t even = wasm_i32x4_shuffle(low, high, 0, 2, 4, 6);
  return wasm_i32x4_add(c, wasm_i32x4_add(even, wasm_i32x4_shuffle(low, high, 1, 3, 5, 7)));
#endif
}

/* Four integers in 0…16383 as two words of four bytes each: the upper seven bits, then the lower ones. */
HW_INLINE void hw_store_sevens(hw_f32x4 integers, int32_t *words) {
  const v128_t halves =
      wasm_i16x8_narrow_i32x4(wasm_u32x4_shr(integers, 7), wasm_v128_and(integers, wasm_i32x4_splat(127)));
  wasm_v128_store64_lane(words, wasm_u8x16_narrow_i16x8(halves, halves), 0);
}
#endif

HW_INLINE hw_f32x4 hw_float_of_integer(hw_f32x4 x) { return wasm_f32x4_convert_i32x4(x); }

/* Floats in [-2^22, 2^22] to the nearest integers: 1.5 · 2^23 leaves no room for a fraction. */
HW_INLINE hw_f32x4 hw_round_to_integers(hw_f32x4 x) {
  const hw_f32x4 magic = wasm_f32x4_splat(12582912.0F);
  return wasm_i32x4_sub(wasm_f32x4_add(x, magic), magic);
}

/* Four numbers of 16 bits, each in a lane's lower half. */
HW_INLINE hw_f32x4 hw_load_halves(const uint16_t *p) { return wasm_u32x4_load16x4(p); }

/* The lowest bytes of four integers, from low to high. */
HW_INLINE hw_f32x4 hw_four_bytes(hw_f32x4 a, hw_f32x4 b, hw_f32x4 c, hw_f32x4 d) {
  const v128_t lowest = wasm_i32x4_splat(0xff);
  const hw_f32x4 even = hw_or(hw_and(a, lowest), hw_shift_left(hw_and(c, lowest), 16));
  return hw_or(even, hw_or(hw_shift_left(hw_and(b, lowest), 8), hw_shift_left(d, 24)));
}

/* Four integers as 16 bits each, two by two. */
HW_INLINE void hw_store_word_pairs(hw_f32x4 integers, int32_t *first, int32_t *second) {
  const v128_t words = wasm_i16x8_narrow_i32x4(integers, integers);
  wasm_v128_store32_lane(first, words, 0);
  wasm_v128_store32_lane(second, words, 1);
}

/* Keeps the compiler from moving memory accesses across, and older V8 (Node 20, 22) from hoisting broadcasts out of
 * reach of the registers; costs no instruction. */
HW_INLINE void hw_order_barrier(void) {
#if defined(__wasm__)
  __asm__ volatile("" ::: "memory");
#endif
}

/* x in `count` floats, a multiple of HW_LANES. */
HW_INLINE void hw_fill(float *p, size_t count, hw_f32x4 x) {
  for (size_t i = 0; i < count; i += HW_LANES) {
    /* Or it would become a call of memset, which takes longer for a few vectors. */
    hw_order_barrier();
    hw_store(p + i, x);
  }
}

HW_INLINE float hw_first_lane(hw_f32x4 x) { return wasm_f32x4_extract_lane(x, 0); }

HW_INLINE float hw_largest_lane(hw_f32x4 x) {
  const hw_f32x4 pairs = hw_larger(x, wasm_i32x4_shuffle(x, x, 2, 3, 0, 1));
  const hw_f32x4 one = hw_larger(pairs, wasm_i32x4_shuffle(pairs, pairs, 1, 0, 3, 2));
  return hw_first_lane(one);
}

HW_INLINE float hw_sum_lanes(hw_f32x4 x) {
  const hw_f32x4 pairs = hw_add(x, wasm_i32x4_shuffle(x, x, 2, 3, 0, 1));
  const hw_f32x4 one = hw_add(pairs, wasm_i32x4_shuffle(pairs, pairs, 1, 0, 3, 2));
  return hw_first_lane(one);
}

/* Two doubles, for sums that floats are too coarse for. */
typedef v128_t hw_f64x2;

HW_INLINE hw_f64x2 hw_splat_double(double x) { return wasm_f64x2_splat(x); }
HW_INLINE hw_f64x2 hw_add_doubles(hw_f64x2 a, hw_f64x2 b) { return wasm_f64x2_add(a, b); }
HW_INLINE hw_f64x2 hw_low_doubles(hw_f32x4 x) { return wasm_f64x2_promote_low_f32x4(x); }
HW_INLINE hw_f64x2 hw_high_doubles(hw_f32x4 x) { return wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(x, x, 1, 0)); }
HW_INLINE double hw_sum_doubles(hw_f64x2 x) { return wasm_f64x2_extract_lane(x, 0) + wasm_f64x2_extract_lane(x, 1); }

/* Adding 1.5 · 2^23 + 127 to x in [-127, 127] rounds it to an integer n and leaves n + 127, the exponent field of
 * 2^n, in the low bits; shifted up they are 2^n (0 for n = -127). */
HW_INLINE hw_f32x4 hw_exponent_to_power(hw_f32x4 rounded) { return wasm_i32x4_shl(rounded, 23); }

/* Rows become columns, in place. */
HW_INLINE void hw_transpose_4x4(hw_f32x4 rows[4]) {
  const hw_f32x4 ab_low = wasm_i32x4_shuffle(rows[0], rows[1], 0, 4, 1, 5);
  const hw_f32x4 ab_high = wasm_i32x4_shuffle(rows[0], rows[1], 2, 6, 3, 7);
  const hw_f32x4 cd_low = wasm_i32x4_shuffle(rows[2], rows[3], 0, 4, 1, 5);
  const hw_f32x4 cd_high = wasm_i32x4_shuffle(rows[2], rows[3], 2, 6, 3, 7);
  rows[0] = wasm_i64x2_shuffle(ab_low, cd_low, 0, 2);
  rows[1] = wasm_i64x2_shuffle(ab_low, cd_low, 1, 3);
  rows[2] = wasm_i64x2_shuffle(ab_high, cd_high, 0, 2);
  rows[3] = wasm_i64x2_shuffle(ab_high, cd_high, 1, 3);
}

#endif
