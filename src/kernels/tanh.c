#include "kernels/tanh.h"

enum { SCALE, LOWEST, MAGIC, ONE, TWO, COEFFICIENTS, COUNT = 6 };

/* Read anew in every round, with external linkage so that the compiler knows no values: all of them at once would leave
 * too few registers. -2 log2 e; hw_exp2's bound and magic number; (2^f - 1) / f for |f| <= 1/2, minimax for the relative
 * error (1.1e-8), the highest power's coefficient first. */
extern float hw_tanh_table[COEFFICIENTS + COUNT];
float hw_tanh_table[COEFFICIENTS + COUNT] = {
    -2.88539008F,    -127.0F,        12582912.0F + 127.0F, 1.0F,           2.0F,           0x1.4308fap-13F,
    0x1.5f07b4p-10F, 0x1.3b2ba0p-7F, 0x1.c6af6ep-5F,       0x1.ebfbdep-3F, 0x1.62e430p-1F,
};

static hw_f32x4 constant(size_t index) { return hw_load_splat(hw_tanh_table + index); }

/* By e = exp(-2|x|) - 1: tanh|x| = -e / (e + 2). As in hw_exp2, exp(-2|x|) = 2^n · 2^f; with 2^f - 1 for 2^f nothing is
 * lost where x is small. */
hw_f32x4 hw_tanh(hw_f32x4 x) {
  const hw_f32x4 power = hw_larger(hw_copy_sign(hw_multiply(x, constant(SCALE)), constant(LOWEST)), constant(LOWEST));
  const hw_f32x4 rounded = hw_add(power, constant(MAGIC));
  const hw_f32x4 f = hw_subtract(power, hw_subtract(rounded, constant(MAGIC)));
  hw_f32x4 y = constant(COEFFICIENTS);
#pragma GCC unroll 8
  for (size_t i = 1; i < COUNT; i++) {
    y = hw_multiply_add(y, f, constant(COEFFICIENTS + i));
  }
  const hw_f32x4 whole = hw_exponent_to_power(rounded);
  const hw_f32x4 e = hw_multiply_add(hw_multiply(y, f), whole, hw_subtract(whole, constant(ONE)));
  return hw_copy_sign(hw_divide(e, hw_add(e, constant(TWO))), x);
}
