/* What a caller makes of heads' outputs. */
#ifndef HW_OPS_HEAD_MASK_H
#define HW_OPS_HEAD_MASK_H

#include "ops/attention.h"

/* Multiplies the output of each head by its factor, in place. A factor of 0 gives 0, also for NaN and inf. */
void hw_head_mask_forward(const hw_run *run, const hw_attention *attention, const float *factors);

/* Adds to d_factors their gradients from d_output, that of the products; the attention's output is what was multiplied. */
void hw_head_mask_backward(const hw_run *run, const hw_attention *attention, const float *d_output, float *d_factors);

/* Puts the outputs of the run's options that are of its present layer in place of the heads'. */
void hw_head_replace_forward(const hw_run *run, const hw_attention *attention);

#endif
