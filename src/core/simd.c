#include "core/simd.h"

hw_f32x4 hw_load_few(const float *p, size_t count) { return hw_load_lanes_inline(p, count); }

void hw_store_few(float *p, hw_f32x4 x, size_t count) { hw_store_lanes_inline(p, x, count); }
