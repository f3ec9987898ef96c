/* One head of a wrapper. */
#ifndef HW_MODULES_CAUSAL_ATTENTION_H
#define HW_MODULES_CAUSAL_ATTENTION_H

#include "modules/module.h"
#include "ops/attention.h"

/* A head's place among others: which columns of y, whose weights, which part of their trace. */
typedef struct hw_head_place {
  size_t head;
  size_t num_heads;
  bool training; /* the wrapper's, for all heads: one trace tells what was dropped */
} hw_head_place;

/* y [batch, tokens, num_heads · d_out] */
void hw_causal_attention_head_forward(hw_run *run, const hw_module *module, const hw_input *input, float *y,
                                      const hw_head_place *place);

/* dy [batch, tokens, num_heads · d_out]; dx, or dx plus the head's part of it. `training` does not count: the tape knows. */
void hw_causal_attention_head_backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy,
                                       bool adds, float *dx, const hw_head_place *place);

/* Bytes of a module's weights; SIZE_MAX if they do not fit. */
size_t hw_causal_attention_weight_bytes(const hw_causal_attention_config *config);

#endif
