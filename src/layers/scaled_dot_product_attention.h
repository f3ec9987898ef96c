/* Scaled dot-product attention over every batch entry and head, for callers that own the arena and the records. */
#ifndef HW_LAYERS_SCALED_DOT_PRODUCT_ATTENTION_H
#define HW_LAYERS_SCALED_DOT_PRODUCT_ATTENTION_H

#include "core/context.h"
#include "kernels/attention_head.h"

/* Where a run leaves what its weights can be recomputed from. Head (b, h) has its rows at
 * (b · batch_heads + h) · query_tokens, so that the heads of a wrapper can share one record. */
typedef struct hw_attention_record {
  float *row_maximum;
  float *row_sum;
  uint32_t *keep;          /* NULL without dropout; hw_keep_words(key_tokens) words a row */
  hw_key_value_store keys; /* for a copy of the keys, head (b, h) at b · batch_heads + h; memory NULL: not wanted */
  size_t batch_heads;
} hw_attention_record;

/* What a run shares with its caller; all NULL: nothing. */
typedef struct hw_attention_keeping {
  /* Where to leave the record. */
  const hw_attention_record *record;
  /* Panels of batch · key_heads heads that already hold stored_tokens tokens. The run appends those that key and value
   * point to, key_tokens - stored_tokens of them, and attends over all. */
  const hw_key_value_store *store;
  size_t stored_tokens;
} hw_attention_keeping;

hw_status hw_attention_check(const hw_attention *attention);

/* Scratch of a run on the context's threads. */
size_t hw_attention_run_scratch(const hw_context *context, const hw_attention *attention,
                                const hw_attention_keeping *keeping);

/* Draws dropout's mask, then runs. The attention has passed hw_attention_check, the arena holds the scratch. Output and
 * query may be the same memory with the same strides, if no weights are asked for. */
void hw_attention_run(hw_context *context, const hw_attention *attention, const hw_attention_keeping *keeping);

/* One head of a call: what its mask, strides and record make of it. */
hw_attention_head hw_attention_head_of(const hw_attention *attention, const hw_attention_record *record,
                                       const hw_key_value_store *store, size_t batch, size_t head);

/* A known kind, and data where there is one. */
bool hw_mask_is_valid(const hw_mask *mask);

/* The mask's first element for one head; NULL for no mask. */
const void *hw_mask_of_head(const hw_mask *mask, size_t batch, size_t head);

/* 1/√width */
float hw_attention_default_scale(size_t key_width);

#endif
