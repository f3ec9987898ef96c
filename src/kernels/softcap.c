#include "kernels/softcap.h"

#include "kernels/tanh.h"

void hw_row_softcap(float *x, size_t count, float softcap) {
  const hw_f32x4 cap = hw_splat(softcap);
  const hw_f32x4 inverse = hw_splat(1.0F / softcap);
  for (size_t i = 0; i < count; i += HW_LANES) {
    hw_store(x + i, hw_multiply(cap, hw_tanh(hw_multiply(hw_load(x + i), inverse))));
  }
}
