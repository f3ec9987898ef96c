/* Functions of every element alone, written for whole vectors only. */
#ifndef HW_KERNELS_LANES_H
#define HW_KERNELS_LANES_H

#include "core/simd.h"

/* y[i] from x[i]; count is a multiple of HW_LANES, and y may be x. */
typedef void hw_vectors_function(const float *x, float *y, size_t count);

/* dx[i] from x[i] and dy[i], and y[i] if it is not NULL; dx may be x or dy. */
typedef void hw_vectors_gradient(const float *x, const float *dy, float *dx, float *y, size_t count);

/* The same for any count. */
void hw_row_of_vectors(hw_vectors_function *vectors, const float *x, float *y, size_t count);
void hw_row_of_gradients(hw_vectors_gradient *vectors, const float *x, const float *dy, float *dx, float *y,
                         size_t count);

/* The slope of max(x, 0) - a·tail(a), a = |x|, with tail(0) = 1/2 and the tail's fall: below 0 it is small, and nothing of
 * it may be lost in a difference from a half. */
HW_INLINE hw_f32x4 hw_slope_of_tail(hw_f32x4 x, hw_f32x4 a, hw_f32x4 tail, hw_f32x4 fall) {
  const hw_f32x4 below = hw_subtract(tail, hw_multiply(a, fall));
  return hw_choose(hw_above(x, hw_splat(0.0F)), hw_subtract(hw_splat(1.0F), below), below);
}

/* hw_row_<name> and hw_row_<name>_backward, of a function and its gradient. */
#define HW_ROWS_OF_VECTORS(name, vectors, gradient)                                                       \
  void hw_row_##name(const float *x, float *y, size_t count) { hw_row_of_vectors(vectors, x, y, count); } \
  void hw_row_##name##_backward(const float *x, const float *dy, float *dx, float *y, size_t count) {     \
    hw_row_of_gradients(gradient, x, dy, dx, y, count);                                                   \
  }

#endif
