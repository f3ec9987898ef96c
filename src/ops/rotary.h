/* Rotary positions of queries or keys, shared among threads. */
#ifndef HW_OPS_ROTARY_H
#define HW_OPS_ROTARY_H

#include "ops/run.h"

/* Heads of width `width` whose first 2·half elements are rotated, the halves paired; the others stay as they are. Row t of cos and
 * sin [tokens, half] is token t's, the same in every batch entry. */
typedef struct hw_rotary {
  const float *cos;
  const float *sin;
  size_t half;
  size_t batch;
  size_t heads;
  size_t tokens;
  size_t width;
} hw_rotary;

/* y = x rotated, and dx = dy rotated back; both may be the same memory with the same strides. */
void hw_rotary_forward(const hw_run *run, const hw_rotary *rotary, const float *x, const hw_strides *x_strides,
                       float *y, const hw_strides *y_strides);
void hw_rotary_backward(const hw_run *run, const hw_rotary *rotary, const float *dy, const hw_strides *dy_strides,
                        float *dx, const hw_strides *dx_strides);

#endif
