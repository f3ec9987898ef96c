/*
 * Gradients of streaming attention, for the heads that share one head of keys and values: weights are recomputed from queries,
 * keys and what the forward left of its softmax, a block of queries and a block of keys at a time (FlashAttention, Dao et al.
 * 2022). No n×n matrix.
 *
 *   P = exp(S - maximum)    dS = P·(dP - delta)    dP = dO·Vᵀ    dV = Pᵀ·dO    dQ = scale·dS·K    dK = dSᵀ·(scale·Q)
 *
 * Rows of dO are divided by the sums of their weights beforehand, so that P need not be; delta is the row's dO·O. A gradient
 * dW of the weights themselves adds dW to dP and the row's dW·W to delta.
 */
#ifndef HW_KERNELS_ATTENTION_GRADIENT_H
#define HW_KERNELS_ATTENTION_GRADIENT_H

#include "kernels/attention_head.h"

/* The keys and values, and where their gradients go; NULL: not wanted. */
typedef struct hw_gradient_keys {
  size_t tokens;  /* rows of the gradients */
  size_t visible; /* keys that are there; the others are not read, and their gradients are 0 */
  size_t key_width;
  size_t value_width;
  const float *key;
  const float *value;
  size_t key_stride;
  size_t value_stride;
  float *key_gradient;
  float *value_gradient;
  size_t key_gradient_stride;
  size_t value_gradient_stride;
  float scale; /* of all heads' scores */
} hw_gradient_keys;

/* A head of queries after its forward; its panels are not read. */
typedef struct hw_gradient_head {
  hw_attention_head head;
  const float *output_gradient;
  size_t output_gradient_stride;
  float *query_gradient; /* NULL: not wanted */
  size_t query_gradient_stride;
  float *mask_gradient; /* NULL, or where it is added, at the strides of the head's mask */
  /* [query_tokens, tokens of the keys]: weights, dropout applied, and their gradient; NULL: there is none. */
  const float *weights;
  const float *weights_gradient;
} hw_gradient_head;

/* Rows [tokens, width in whole panels] at stride: a gradient, or what it will be copied from. */
typedef struct hw_gradient_sums {
  float *data;
  size_t stride;
} hw_gradient_sums;

/* A head of keys in the making: its packed keys and values, and the sums of its gradients. */
typedef struct hw_key_gradients {
  hw_gradient_keys keys;
  float *key_panels;   /* of keys, for scores */
  float *value_panels; /* of values, likewise */
  float *key_columns;  /* of the keys' columns */
  hw_gradient_sums key_sums;
  hw_gradient_sums value_sums;
  struct hw_gradient_block *block;
} hw_key_gradients;

/* Packs keys and values into the scratch, at HW_ALIGNMENT, which has hw_attention_gradient_scratch_bytes, SIZE_MAX if that does
 * not fit; then each head of queries adds its share, and hw_finish_key_gradients writes the keys' and values' gradients. */
size_t hw_attention_gradient_scratch_bytes(size_t tokens, size_t key_width, size_t value_width);
void hw_start_key_gradients(hw_key_gradients *gradients, const hw_gradient_keys *keys, unsigned char *scratch);
void hw_add_head_gradients(const hw_key_gradients *gradients, const hw_gradient_head *head);
void hw_finish_key_gradients(const hw_key_gradients *gradients);

#endif
