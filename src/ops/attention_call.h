/* A call of attention as it is described: its mask, its heads, and the record that it leaves. Nothing runs here. */
#ifndef HW_OPS_ATTENTION_CALL_H
#define HW_OPS_ATTENTION_CALL_H

#include "core/arena.h"
#include "core/random.h"
#include "kernels/attention_head.h"

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

/* A record without keys. */
hw_attention_record hw_attention_take_record(hw_arena *arena, const hw_attention *attention);

hw_status hw_attention_check(const hw_attention *attention);

/* 0: none. */
static inline bool hw_softcap_is_valid(float softcap) {
  return softcap == 0.0F || (softcap >= HW_SMALLEST_SOFTCAP && softcap <= HW_LARGEST_SOFTCAP);
}

/* Keys of a batch entry. */
static inline size_t hw_key_length(const hw_attention *attention, size_t batch) {
  return attention->key_lengths == NULL ? attention->key_tokens : attention->key_lengths[batch];
}

/* Heads that share a head of keys and values. */
static inline size_t hw_sharing_heads(const hw_attention *attention) {
  return attention->heads == attention->key_heads ? 1 : attention->heads / attention->key_heads;
}

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
