#include "kernels/exp2.h"

float hw_exp2_table[8] = {
    -127.0F,        12582912.0F + 127.0F, 0x1.5bba2ep-10F, 0x1.3cea92p-7F,
    0x1.c6b752p-5F, 0x1.ebf9bcp-3F,       0x1.62e42ap-1F,  0x1.715476p+0F,
};

float hw_exp_scalar(float x) {
  const hw_exp2_constants constants = hw_load_exp2_constants();
  return hw_first_lane(hw_exp(&constants, hw_splat(x)));
}
