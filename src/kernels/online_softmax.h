/* The softmax of queries, kept up to date as blocks of their scores pass by (Milakov & Gimelshein 2018). */
#ifndef HW_KERNELS_ONLINE_SOFTMAX_H
#define HW_KERNELS_ONLINE_SOFTMAX_H

#include "kernels/attention_head.h"
#include "kernels/exp2.h"

/* Raises the row's maximum to a block's. Returns what the values that were summed before must be multiplied by; the sum
 * of their weights already is. */
static inline float hw_raise_maximum(const hw_attention_head *head, size_t row, float block_maximum) {
  float *maximum = head->row_maximum + row;
  float *sum = head->row_sum + row;
  float factor = 1.0F;
  if (block_maximum > *maximum) {
    if (*sum != 0.0F) {
      factor = hw_exp_scalar(*maximum - block_maximum);
      *sum *= factor;
    }
    *maximum = block_maximum;
  }
  return factor;
}

/* Whole panels of keys that scores were computed for, of which `count` keys exist. */
typedef struct hw_scored_keys {
  size_t key; /* the first */
  size_t scored;
  size_t count;
} hw_scored_keys;

/* Turns the keys' scores for queries [row, row + rows), HW_STRIP_STRIDE apart, into weights relative to the rows'
 * maxima, dropout applied. Adds each row's, dropout not applied, to sums[rows]. */
void hw_weigh_scores(const hw_attention_head *head, size_t row, size_t rows, const hw_scored_keys *keys, float *scores,
                     float *sums);

#endif
