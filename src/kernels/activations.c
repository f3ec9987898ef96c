#include "kernels/activations.h"

#include "kernels/exp2.h"
#include "kernels/lanes.h"
#include "kernels/tanh.h"

static void relu(const float *x, float *y, size_t count) {
  const hw_f32x4 zero = hw_splat(0.0F);
  for (size_t i = 0; i < count; i += HW_LANES) {
    hw_store(y + i, hw_larger(hw_load(x + i), zero));
  }
}

static void relu_backward(const float *x, const float *dy, float *dx, float *y, size_t count) {
  const hw_f32x4 zero = hw_splat(0.0F);
  for (size_t i = 0; i < count; i += HW_LANES) {
    const hw_f32x4 value = hw_larger(hw_load(x + i), zero);
    hw_store(dx + i, hw_and_not(hw_load(dy + i), hw_equal(value, zero)));
    if (y != NULL) {
      hw_store(y + i, value);
    }
  }
}

enum { BLOCK = 64 };

/* |x|; beyond 128 the tail is 0 whatever it is. */
HW_INLINE hw_f32x4 magnitude(hw_f32x4 x) { return hw_smaller(hw_absolute(x), hw_splat(128.0F)); }

/* t(|x|), t(a) = 1/(1 + exp(a)), of at most BLOCK elements. A loop of its own: with what follows there would be more constants
 * than registers. */
static __attribute__((noinline)) void tails_of(const float *x, size_t count, float *tails) {
  const hw_exp2_constants exp2 = hw_load_exp2_constants();
  for (size_t i = 0; i < count; i += HW_LANES) {
    const hw_f32x4 power = hw_exp(&exp2, hw_subtract(hw_splat(0.0F), magnitude(hw_load(x + i))));
    hw_store(tails + i, hw_divide(power, hw_add(hw_splat(1.0F), power)));
    hw_order_barrier();
  }
}

/* SiLU as GELU is computed: max(x, 0) - |x|·t(|x|). The tail falls by t·(1 - t). dx or y is NULL where it is not wanted. */
static void silu_of_tails(const float *x, const float *dy, float *dx, float *y, size_t count) {
  const hw_f32x4 one = hw_splat(1.0F);
  float tails[BLOCK];
  for (size_t start = 0; start < count; start += BLOCK) {
    const size_t end = count - start < BLOCK ? count - start : BLOCK;
    tails_of(x + start, end, tails);
    for (size_t i = 0; i < end; i += HW_LANES) {
      const hw_f32x4 value = hw_load(x + start + i);
      const hw_f32x4 tail = hw_load(tails + i);
      if (dx != NULL) {
        const hw_f32x4 fall = hw_multiply(tail, hw_subtract(one, tail));
        const hw_f32x4 slope = hw_slope_of_tail(value, magnitude(value), tail, fall);
        hw_store(dx + start + i, hw_multiply(hw_load(dy + start + i), slope));
      }
      if (y != NULL) {
        const hw_f32x4 less = hw_multiply(magnitude(value), tail);
        hw_store(y + start + i, hw_subtract(hw_larger(value, hw_splat(0.0F)), less));
      }
    }
  }
}

static void silu(const float *x, float *y, size_t count) { silu_of_tails(x, NULL, NULL, y, count); }

static void tanh_forward(const float *x, float *y, size_t count) {
  for (size_t i = 0; i < count; i += HW_LANES) {
    hw_store(y + i, hw_tanh(hw_load(x + i)));
  }
}

static void tanh_backward(const float *x, const float *dy, float *dx, float *y, size_t count) {
  const hw_f32x4 one = hw_splat(1.0F);
  for (size_t i = 0; i < count; i += HW_LANES) {
    const hw_f32x4 value = hw_tanh(hw_load(x + i));
    const hw_f32x4 slope = hw_multiply(hw_subtract(one, value), hw_add(one, value));
    hw_store(dx + i, hw_multiply(hw_load(dy + i), slope));
    if (y != NULL) {
      hw_store(y + i, value);
    }
  }
}

HW_ROWS_OF_VECTORS(relu, relu, relu_backward)
HW_ROWS_OF_VECTORS(silu, silu, silu_of_tails)
HW_ROWS_OF_VECTORS(tanh, tanh_forward, tanh_backward)
