/* One head of attention: what its queries, keys and values are, and what is left of its softmax. */
#ifndef HW_KERNELS_ATTENTION_HEAD_H
#define HW_KERNELS_ATTENTION_HEAD_H

#include "kernels/key_value_panels.h"
#include "kernels/scores.h"

/* Which weights dropout keeps, for one head: bits [query_tokens][hw_kept_words(key_tokens)], NULL: all. */
typedef struct hw_kept {
  const uint32_t *bits;
  size_t words_per_row;
  float scale;
} hw_kept;

static inline bool hw_is_kept(const hw_kept *kept, size_t row, size_t key) {
  return (kept->bits[row * kept->words_per_row + key / 32] >> (key % 32) & 1u) != 0;
}

typedef struct hw_attention_head {
  size_t query_tokens;
  const float *query; /* [query_tokens, key_width] at query_stride */
  float *output;      /* [query_tokens, value_width] at output_stride; may be the query if the widths are the same */
  size_t query_stride;
  size_t output_stride;
  float scale;
  float softcap;              /* 0: none */
  size_t key_tokens;          /* columns of the weights */
  hw_key_value_panels panels; /* visible.key_tokens of them are read */
  hw_visibility visible;
  hw_kept kept;
  /* [query_tokens]: the log-sum-exp in two parts, since one float would lose bits: the largest score and the
   * sum of exp(score - largest). */
  float *row_maximum;
  float *row_sum;
} hw_attention_head;

/* What a row's weights are multiplied by at the end. */
static inline float hw_inverse_sum(const hw_attention_head *head, size_t row) {
  return head->row_sum[row] == 0.0F ? 0.0F : 1.0F / head->row_sum[row];
}

/* What the head's scores are of, with its panels or a part of them as floats; it points to the head's visibility. */
static inline hw_score_source hw_attention_source(const hw_attention_head *head, const hw_key_value_panels *floats) {
  return (hw_score_source){floats->keys, floats->first, floats->key_width, head->softcap, &head->visible};
}

#endif
