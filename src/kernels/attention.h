/*
 * Streaming attention of one head: queries in blocks, keys in blocks, the softmax kept up to date as the keys pass
 * by (FlashAttention, Dao et al. 2022; online softmax, Milakov & Gimelshein 2018). No n×n matrix.
 */
#ifndef HW_KERNELS_ATTENTION_H
#define HW_KERNELS_ATTENTION_H

#include "kernels/key_value_panels.h"
#include "kernels/scores.h"

/* Which weights dropout keeps, for one head: bits [query_tokens][hw_keep_words(key_tokens)], NULL: all. */
typedef struct hw_keep {
  const uint32_t *bits;
  size_t words_per_row;
  float scale;
} hw_keep;

static inline bool hw_is_kept(const hw_keep *keep, size_t row, size_t key) {
  return (keep->bits[row * keep->words_per_row + key / 32] >> (key % 32) & 1u) != 0;
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
  hw_keep keep;
  /* [query_tokens]: the log-sum-exp in two parts, since one float would lose bits: the largest score and the
   * sum of exp(score - largest). */
  float *row_maximum;
  float *row_sum;
} hw_attention_head;

/* What a row's weights are multiplied by at the end. */
static inline float hw_inverse_sum(const hw_attention_head *head, size_t row) {
  return head->row_sum[row] == 0.0F ? 0.0F : 1.0F / head->row_sum[row];
}

/* What the head's scores are of; it points to the head's visibility. */
static inline hw_score_source hw_attention_source(const hw_attention_head *head) {
  return (hw_score_source){head->panels.keys, head->panels.key_width, head->softcap, &head->visible};
}

/* Queries [row, row + rows), rows <= HW_QUERY_BLOCK: writes their output, row_maximum and row_sum. The scratch has
 * hw_attention_scratch_bytes, SIZE_MAX if that does not fit; at HW_ALIGNMENT. */
void hw_attention_block(const hw_attention_head *head, size_t row, size_t rows, unsigned char *scratch);
size_t hw_attention_scratch_bytes(size_t key_width, size_t value_width);

/* Weights from queries, keys and what hw_attention_block left in row_maximum and row_sum: rows [row, row + rows) into
 * out [rows, key_tokens], rows <= HW_TILE_ROWS. Values and output are not looked at. */
void hw_attention_weights(const hw_attention_head *head, size_t row, size_t rows, float *out, unsigned char *scratch);
size_t hw_attention_weights_scratch_bytes(size_t key_width);

/* The same rows of another kind than the probabilities. HW_WEIGHTS_SCORES and HW_WEIGHTS_SOFTCAPPED read the panels of
 * all key_tokens. */
void hw_attention_scores(const hw_attention_head *head, hw_weights_kind kind, size_t row, size_t rows, float *out,
                         unsigned char *scratch);

#endif
