/* Norms and positions of queries and keys, before they meet. */
#ifndef HW_MODULES_TURNED_HEADS_H
#define HW_MODULES_TURNED_HEADS_H

#include "modules/layer_norm.h"
#include "ops/rotary.h"

/* Heads of a projection in rows of qkv, and what turns them. */
typedef struct hw_turned_heads {
  hw_module *norm; /* NULL: none */
  hw_rotary rotary;
  hw_strides strides; /* in qkv */
  size_t start;
  size_t rows; /* of one head each */
} hw_turned_heads;

/* In place. */
void hw_turned_heads_forward(hw_run *run, const hw_turned_heads *heads, float *qkv);

/* Gradients, in place. */
void hw_turned_heads_backward(hw_run *run, const hw_turned_heads *heads, const hw_normalized *normalized, float *d_qkv);

#endif
