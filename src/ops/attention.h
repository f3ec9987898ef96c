/* Scaled dot-product attention over every batch entry and head. */
#ifndef HW_OPS_ATTENTION_H
#define HW_OPS_ATTENTION_H

#include "ops/attention_call.h"
#include "ops/run.h"

/* Inputs and outputs of a run besides its operands. A zeroed struct requests nothing. */
typedef struct hw_attention_state {
  /* Of a call for some of the heads that share a trace: the first of them, and all; 0: the call has them all. */
  size_t first_head;
  size_t heads;
  /* Panels of batch · key_heads heads that already hold stored_tokens tokens. The run appends those that key and value
   * point to, key_tokens - stored_tokens of them, and attends over all. */
  const hw_key_value_store *store;
  size_t stored_tokens;
  /* NULL, or [batch]: how many of those each entry has, at most stored_tokens; its new ones lie after them. */
  const uint32_t *stored;
} hw_attention_state;

/* Draws dropout's mask, then attends; leaves a trace on the run's tape, if there is one. The attention has passed
 * hw_attention_check, but for its pointers while the run is measured. Output and query may be the same memory with the
 * same strides, if no weights are asked for. */
void hw_attention_forward(hw_run *run, const hw_attention *attention, const hw_attention_state *state);

/* The gradients of a call, from what its forward left where it points to. Both are what
 * hw_scaled_dot_product_attention_backward takes, but for their pointers while the run is measured. Heads of keys and values
 * are shared among threads. */
void hw_attention_backward(const hw_run *run, const hw_attention *attention, const hw_attention_gradient *gradient);

#endif
