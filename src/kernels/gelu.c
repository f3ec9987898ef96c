#include "kernels/gelu.h"

#include "kernels/exp2.h"
#include "kernels/lanes.h"

enum {
  LIMIT,
  MINUS_HALF_LOG2_E,
  TWICE_LN2_UPPER,
  TWICE_LN2_LOWER,
  NUMERATOR,
  DENOMINATOR = NUMERATOR + 5,
  TANH_LINEAR = DENOMINATOR + 6,
  TANH_CUBIC,
  TANH_SLOPE,
  TANH_CURVE,
  TANH_LOWEST,
  TANH_HIGHEST,
  ONE,
  DENSITY,
  CONSTANTS
};

enum { BLOCK = 64 };

#define ALL_LANES(x) \
  { x, x, x, x }

/* Loaded, as hw_exp2_table is. */
float hw_gelu_table[CONSTANTS][HW_LANES] = {
    /* Where the tails are below the smallest float. */
    ALL_LANES(14.5F),
    ALL_LANES(-0.721347520F),
    /* 2·ln 2 in two parts; the first times an integer below 2^9 is exact. */
    ALL_LANES(0x1.62e4p0F),
    ALL_LANES(0x1.7f7d1cp-19F),
    /* Q(a)·exp(a²/2) on [0, 13.3], the highest powers first; minimax relative error 5e-9. Nothing cancels: all are
     * positive. */
    ALL_LANES(0.00402019F),
    ALL_LANES(0.039984166F),
    ALL_LANES(0.18130673F),
    ALL_LANES(0.43568628F),
    ALL_LANES(0.5F),
    ALL_LANES(0.010076979F),
    ALL_LANES(0.10023282F),
    ALL_LANES(0.46438027F),
    ALL_LANES(1.1944841F),
    ALL_LANES(1.6692575F),
    ALL_LANES(1.0F),
    /* -2·√(2/π)·log2(e), and that times 0.044715 */
    ALL_LANES(-2.30220819F),
    ALL_LANES(-0.102943242F),
    /* 2·√(2/π), and that times 3·0.044715 */
    ALL_LANES(1.59576912F),
    ALL_LANES(0.214064440F),
    /* Below the lowest the function is less than 2^-122, above the highest it is x. */
    ALL_LANES(-10.0F),
    ALL_LANES(10.0F),
    ALL_LANES(1.0F),
    /* 1/√(2π) */
    ALL_LANES(0.398942280F),
};

/* Loaded where they are used, and the order kept: all together are more than there are registers. */
HW_INLINE hw_f32x4 constant(size_t index) { return hw_load(hw_gelu_table[index]); }

HW_INLINE hw_f32x4 polynomial(size_t first, size_t count, hw_f32x4 x) {
  hw_f32x4 y = constant(first);
#pragma GCC unroll 8
  for (size_t i = 1; i < count; i++) {
    hw_order_barrier();
    y = hw_multiply_add(y, x, constant(first + i));
  }
  return y;
}

/* |x|, or LIMIT where that is less. */
HW_INLINE hw_f32x4 magnitude(hw_f32x4 x) { return hw_smaller(hw_absolute(x), constant(LIMIT)); }

/* exp(-a²/2) for 0 <= a <= LIMIT. The square is kept in two parts: its rounding would become a relative error of the
 * result a²/2 times as large. */
HW_INLINE hw_f32x4 bell(const hw_exp2_constants *exp2, hw_f32x4 a) {
  const hw_f32x4 upper = hw_upper_half(a);
  const hw_f32x4 square = hw_multiply(upper, upper);
  const hw_f32x4 remainder = hw_multiply(hw_subtract(a, upper), hw_add(a, upper));
  const hw_f32x4 exponent = hw_multiply(hw_add(square, remainder), constant(MINUS_HALF_LOG2_E));
  const hw_f32x4 rounded = hw_add(hw_larger(exponent, exp2->lowest), exp2->magic);
  const hw_f32x4 n = hw_subtract(rounded, exp2->magic);
  const hw_f32x4 rest = hw_add(hw_add(square, hw_multiply(n, constant(TWICE_LN2_UPPER))),
                               hw_add(remainder, hw_multiply(n, constant(TWICE_LN2_LOWER))));
  const hw_f32x4 f = hw_multiply(rest, constant(MINUS_HALF_LOG2_E));
  return hw_exp2_of_parts(exp2, rounded, f);
}

/* exp(-2u) with u = √(2/π)·(x + 0.044715·x³), of no less than TANH_LOWEST. */
HW_INLINE hw_f32x4 tanh_power(const hw_exp2_constants *exp2, hw_f32x4 x) {
  const hw_f32x4 slope = hw_multiply_add(hw_multiply(x, x), constant(TANH_CUBIC), constant(TANH_LINEAR));
  return hw_exp2(exp2, hw_multiply(x, slope));
}

HW_INLINE hw_f32x4 from_lowest(hw_f32x4 x) { return hw_larger(x, constant(TANH_LOWEST)); }

/* (1 + tanh(u))/2 */
HW_INLINE hw_f32x4 tanh_share(hw_f32x4 power) { return hw_divide(constant(ONE), hw_add(constant(ONE), power)); }

/* x·share, or 0 below TANH_LOWEST. */
HW_INLINE hw_f32x4 gelu_of_share(hw_f32x4 x, hw_f32x4 share) {
  return hw_and_not(hw_multiply(x, share), hw_above(constant(TANH_LOWEST), x));
}

/* max(x, 0) - a·tail */
HW_INLINE hw_f32x4 gelu_of_tail(hw_f32x4 x, hw_f32x4 a, hw_f32x4 tail) {
  return hw_subtract(hw_larger(x, hw_splat(0.0F)), hw_multiply(a, tail));
}

/* Q(a) from exp(-a²/2). */
HW_INLINE hw_f32x4 normal_tail(hw_f32x4 a, hw_f32x4 bell) {
  const hw_f32x4 numerator = hw_multiply(bell, polynomial(NUMERATOR, DENOMINATOR - NUMERATOR, a));
  return hw_divide(numerator, polynomial(DENOMINATOR, TANH_LINEAR - DENOMINATOR, a));
}

/* exp(-x²/2) of at most BLOCK elements. A loop of its own: together with what follows the chain of operations would be too
 * long for a processor to work on enough elements at once, and the constants too many for the registers. */
static void bells_of(const hw_exp2_constants *exp2, const float *x, size_t count, float *bells) {
  for (size_t i = 0; i < count; i += HW_LANES) {
    hw_store(bells + i, bell(exp2, magnitude(hw_load(x + i))));
    hw_order_barrier();
  }
}

static __attribute__((noinline)) void normal_vectors(const float *x, float *y, size_t count) {
  const hw_exp2_constants exp2 = hw_load_exp2_constants();
  float bells[BLOCK];
  for (size_t start = 0; start < count; start += BLOCK) {
    const size_t end = count - start < BLOCK ? count - start : BLOCK;
    bells_of(&exp2, x + start, end, bells);
    for (size_t i = 0; i < end; i += HW_LANES) {
      const hw_f32x4 value = hw_load(x + start + i);
      const hw_f32x4 a = magnitude(value);
      hw_store(y + start + i, gelu_of_tail(value, a, normal_tail(a, hw_load(bells + i))));
    }
  }
}

static __attribute__((noinline)) void normal_backward(const float *x, const float *dy, float *dx, float *y,
                                                      size_t count) {
  const hw_exp2_constants exp2 = hw_load_exp2_constants();
  float bells[BLOCK];
  float tails[BLOCK];
  for (size_t start = 0; start < count; start += BLOCK) {
    const size_t end = count - start < BLOCK ? count - start : BLOCK;
    bells_of(&exp2, x + start, end, bells);
    for (size_t i = 0; i < end; i += HW_LANES) {
      hw_store(tails + i, normal_tail(magnitude(hw_load(x + start + i)), hw_load(bells + i)));
    }
    for (size_t i = 0; i < end; i += HW_LANES) {
      const hw_f32x4 value = hw_load(x + start + i);
      const hw_f32x4 a = magnitude(value);
      const hw_f32x4 tail = hw_load(tails + i);
      const hw_f32x4 fall = hw_multiply(hw_load(bells + i), constant(DENSITY));
      hw_store(dx + start + i, hw_multiply(hw_load(dy + start + i), hw_slope_of_tail(value, a, tail, fall)));
      if (y != NULL) {
        hw_store(y + start + i, gelu_of_tail(value, a, tail));
      }
    }
  }
}

static __attribute__((noinline)) void tanh_vectors(const float *x, float *y, size_t count) {
  const hw_exp2_constants exp2 = hw_load_exp2_constants();
  for (size_t i = 0; i < count; i += HW_LANES) {
    const hw_f32x4 value = hw_load(x + i);
    hw_store(y + i, gelu_of_share(value, tanh_share(tanh_power(&exp2, from_lowest(value)))));
    hw_order_barrier();
  }
}

/* The share 1/(1 + power) rises by share·(1 - share)·2u', and 1 - share = power·share. Two loops, again for the registers. */
static __attribute__((noinline)) void tanh_backward(const float *x, const float *dy, float *dx, float *y,
                                                    size_t count) {
  const hw_exp2_constants exp2 = hw_load_exp2_constants();
  float powers[BLOCK];
  for (size_t start = 0; start < count; start += BLOCK) {
    const size_t end = count - start < BLOCK ? count - start : BLOCK;
    for (size_t i = 0; i < end; i += HW_LANES) {
      hw_store(powers + i, tanh_power(&exp2, from_lowest(hw_load(x + start + i))));
      hw_order_barrier();
    }
    for (size_t i = 0; i < end; i += HW_LANES) {
      const hw_f32x4 value = hw_load(x + start + i);
      const hw_f32x4 within = hw_smaller(from_lowest(value), constant(TANH_HIGHEST));
      const hw_f32x4 power = hw_load(powers + i);
      const hw_f32x4 share = tanh_share(power);
      const hw_f32x4 twice_slope =
          hw_multiply_add(hw_multiply(within, within), constant(TANH_CURVE), constant(TANH_SLOPE));
      const hw_f32x4 rise = hw_multiply(hw_multiply(hw_multiply(share, power), share), twice_slope);
      hw_store(dx + start + i, hw_multiply(hw_load(dy + start + i), hw_multiply_add(within, rise, share)));
      if (y != NULL) {
        hw_store(y + start + i, gelu_of_share(value, share));
      }
      hw_order_barrier();
    }
  }
}

HW_ROWS_OF_VECTORS(gelu, normal_vectors, normal_backward)
HW_ROWS_OF_VECTORS(gelu_tanh, tanh_vectors, tanh_backward)
