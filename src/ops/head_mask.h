/* What a caller makes of heads' outputs. */
#ifndef HW_OPS_HEAD_MASK_H
#define HW_OPS_HEAD_MASK_H

#include "ops/attention.h"

/* Multiplies the output of each head by its factor, in place. A factor of 0 gives 0, also for NaN and inf. */
void hw_head_mask_forward(const hw_run *run, const hw_attention *attention, const float *factors);

/* Puts the outputs of the run's options that are of its present layer in place of the heads'. */
void hw_head_replace_forward(const hw_run *run, const hw_attention *attention);

#endif
