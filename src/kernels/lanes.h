/* Functions of every element alone, written for whole vectors only. */
#ifndef HW_KERNELS_LANES_H
#define HW_KERNELS_LANES_H

#include "core/simd.h"

/* y[i] from x[i], a gradient also from dy[i]; count is a multiple of HW_LANES, and y may be one of the others. */
typedef void hw_vectors_function(const float *x, const float *dy, float *y, size_t count);

/* The same for any count. dy may be NULL. */
static inline void hw_row_of_vectors(hw_vectors_function *vectors, const float *x, const float *dy, float *y,
                                     size_t count) {
  const size_t rest = count % HW_LANES;
  const size_t whole = count - rest;
  vectors(x, dy, y, whole);
  if (rest != 0) {
    float last[HW_LANES];
    float last_dy[HW_LANES];
    hw_store(last, hw_load_lanes(x + whole, rest));
    hw_store(last_dy, dy == NULL ? hw_splat(0.0F) : hw_load_lanes(dy + whole, rest));
    vectors(last, last_dy, last, HW_LANES);
    hw_store_lanes(y + whole, hw_load(last), rest);
  }
}

#endif
