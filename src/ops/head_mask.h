/* A factor for every head. */
#ifndef HW_OPS_HEAD_MASK_H
#define HW_OPS_HEAD_MASK_H

#include "ops/attention.h"

/* Every head's output times its factor, in place; 0 gives 0, whatever the output is. */
void hw_head_mask_forward(const hw_run *run, const hw_attention *attention, const float *factors);

#endif
