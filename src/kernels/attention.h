/*
 * Streaming attention of one head: queries in blocks, keys in blocks, the softmax kept up to date as the keys pass
 * by (FlashAttention, Dao et al. 2022; online softmax, Milakov & Gimelshein 2018). No n×n matrix.
 */
#ifndef HW_KERNELS_ATTENTION_H
#define HW_KERNELS_ATTENTION_H

#include "core/memory.h"
#include "kernels/scores.h"

/* Which weights dropout keeps, for one head: bits [query_tokens][hw_keep_words(key_tokens)], NULL: all. */
typedef struct hw_keep {
  const uint32_t *bits;
  size_t words_per_row;
  float scale;
} hw_keep;

typedef struct hw_attention_head {
  size_t query_tokens;
  size_t key_tokens;
  size_t key_width;
  size_t value_width;
  const float *query; /* [query_tokens, key_width] at query_stride */
  const float *key;
  const float *value;
  float *output; /* [query_tokens, value_width] at output_stride */
  size_t query_stride;
  size_t key_stride;
  size_t value_stride;
  size_t output_stride;
  float scale;
  hw_visibility visible;
  hw_keep keep;
  /* [query_tokens]: the log-sum-exp in two parts, since one float would lose bits: the largest score in base 2 and
   * the sum of 2^(score - largest). */
  float *row_maximum;
  float *row_sum;
} hw_attention_head;

/* Keys of a head as panels, taken from the arena. */
const float *hw_pack_keys(hw_arena *arena, const hw_attention_head *head);
size_t hw_pack_keys_scratch(size_t key_tokens, size_t key_width);

/* Writes output, row_maximum and row_sum. Its scratch, as all of these, is a byte count for hw_arena_reserve,
 * SIZE_MAX if it does not fit. */
void hw_attention_stream(hw_arena *arena, const hw_attention_head *head, const float *key_panels);
size_t hw_attention_stream_scratch(size_t key_tokens, size_t key_width, size_t value_width);

/* Weights from queries, keys and what hw_attention_stream left in row_maximum and row_sum: rows [row_start, row_end)
 * into out [row_end - row_start, key_tokens]. Value, output and weights of the head are not looked at. */
void hw_attention_weights(hw_arena *arena, const hw_attention_head *head, const float *key_panels, size_t row_start,
                          size_t row_end, float *out);
size_t hw_attention_weights_scratch(size_t key_tokens, size_t key_width);

#endif
