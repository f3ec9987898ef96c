/* The softmax of one query, kept up to date as blocks of its scores pass by (Milakov & Gimelshein 2018). */
#ifndef HW_KERNELS_ONLINE_SOFTMAX_H
#define HW_KERNELS_ONLINE_SOFTMAX_H

#include "kernels/attention.h"

/* Raises the row's maximum to a block's. Returns what the values that were summed before must be multiplied by; the sum
 * of their weights already is. */
float hw_raise_maximum(const hw_attention_head *head, size_t row, float block_maximum);

/* Turns scores of keys from `key` on, whole panels of which `count` keys exist, into weights relative to the row's
 * maximum, dropout applied. Returns the sum of the weights, dropout not applied. */
float hw_weigh_scores(const hw_attention_head *head, size_t row, size_t key, float *scores, size_t scored,
                      size_t count);

#endif
