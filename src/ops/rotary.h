/* Rotary positions of queries or keys, shared among threads. */
#ifndef HW_OPS_ROTARY_H
#define HW_OPS_ROTARY_H

#include "ops/places.h"
#include "ops/run.h"

/* cos and sin [batch, tokens, pairs] of what each token's pairs are rotated by; a batch stride of 0: [tokens, pairs]. */
typedef struct hw_angles {
  const float *cos;
  const float *sin;
  size_t pairs;
  size_t batch_stride;
} hw_angles;

/* Whether a factor, as a float, is finite and not 0. */
bool hw_factor_is_valid(double factor);

/* HW_ERROR_SHAPE: more pairs than in a head. HW_ERROR_VALUE: no frequencies, or not from 0 to what `positions` tokens allow. */
hw_status hw_rotary_check(const hw_rotary_config *config, size_t head_dim, size_t positions);

/* Angles at these places, in the run's arena; the pointers are NULL while the run is measured. */
hw_angles hw_angles_take(const hw_run *run, const hw_rotary_config *config, const hw_places *places);

/* Heads of width `width` whose first 2·pairs elements are rotated, the halves paired (Su et al. 2021); the others stay as they are. */
typedef struct hw_rotary {
  hw_angles angles;
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
