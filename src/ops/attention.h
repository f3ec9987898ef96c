/* Scaled dot-product attention over every batch entry and head. */
#ifndef HW_OPS_ATTENTION_H
#define HW_OPS_ATTENTION_H

#include "kernels/attention_head.h"
#include "ops/run.h"

/* Where a run leaves what its weights can be recomputed from. Head (b, h) has its rows at
 * (b · batch_heads + h) · query_tokens, so that the heads of a wrapper can share one record. */
typedef struct hw_attention_record {
  float *row_maximum;
  float *row_sum;
  uint32_t *kept; /* NULL without dropout; hw_kept_words(key_tokens) words a row */
  size_t batch_heads;
  /* For a copy of keys and values, their head (b, h) at b · batch_key_heads + h; memory NULL: not wanted. */
  hw_key_value_store store;
  size_t batch_key_heads;
} hw_attention_record;

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

/* A record without keys. */
hw_attention_record hw_attention_take_record(hw_arena *arena, const hw_attention *attention);

hw_status hw_attention_check(const hw_attention *attention);

/* 0: none. */
static inline bool hw_softcap_is_valid(float softcap) {
  return softcap == 0.0F || (softcap >= HW_SMALLEST_SOFTCAP && softcap <= HW_LARGEST_SOFTCAP);
}

/* Draws dropout's mask, then attends; leaves a trace on the run's tape, if there is one. The attention has passed
 * hw_attention_check, but for its pointers while the run is measured. Output and query may be the same memory with the
 * same strides, if no weights are asked for. */
void hw_attention_forward(hw_run *run, const hw_attention *attention, const hw_attention_state *state);

/* The gradients of a call, from what its forward left where it points to. Both are what
 * hw_scaled_dot_product_attention_backward takes, but for their pointers while the run is measured. Heads of keys and values
 * are shared among threads. */
void hw_attention_backward(const hw_run *run, const hw_attention *attention, const hw_attention_gradient *gradient);

/* One head of a call: what its mask, strides and record make of it. */
hw_attention_head hw_attention_head_of(const hw_attention *attention, const hw_attention_record *record,
                                       const hw_key_value_store *store, size_t batch, size_t head);

/* Whether the kind is known and a mask has data. */
bool hw_mask_is_valid(const hw_mask *mask);

/* Bytes from a mask's first to its last element over scores of that shape; 0 for no mask. */
size_t hw_mask_bytes(const hw_mask *mask, const hw_trace_shape *scores);

/* The mask of the heads from one on. */
hw_mask hw_mask_from_head(const hw_mask *mask, size_t head);

/* Heads of `tokens` rows one after another. */
static inline hw_strides hw_head_major(size_t heads, size_t tokens, size_t width) {
  return (hw_strides){.batch = heads * tokens * width, .head = tokens * width, .token = width};
}

/* 1/√width */
float hw_attention_default_scale(size_t key_width);

#endif
