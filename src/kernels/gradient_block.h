/* A block of queries against a block of keys: weights and the gradients of scores, for kernels/attention_gradient.c. */
#ifndef HW_KERNELS_GRADIENT_BLOCK_H
#define HW_KERNELS_GRADIENT_BLOCK_H

#include "kernels/attention_gradient.h"

typedef struct hw_gradient_block {
  size_t row; /* the first query, of `rows` */
  size_t rows;
  size_t first_key;      /* of column 0 of weights and scores */
  hw_key_range keys;     /* whole panels of keys that some query sees, the mask apart */
  float *weights;        /* [HW_GRADIENT_QUERIES, HW_GRADIENT_STRIDE]: dropout applied, 0 where nothing is seen */
  float *scores;         /* likewise: the gradients of the products of queries and keys, not yet scaled */
  float *slopes;         /* [HW_TILE_ROWS, HW_GRADIENT_STRIDE]: those of a soft cap */
  float *query_rows;     /* [HW_GRADIENT_QUERIES, key_width in whole panels]: scaled */
  float *finite_queries; /* the same, or where some are not finite a copy with zeros in their place */
  float *query_copies;   /* room for that copy */
  float *output_rows;    /* [HW_GRADIENT_QUERIES, value_width in whole panels]: the output's gradients over the sums */
  float *query_sums;     /* [HW_GRADIENT_QUERIES, key_width in whole panels]: the queries' gradients, not yet scaled */
  float deltas[HW_GRADIENT_QUERIES];
} hw_gradient_block;

void hw_take_gradient_block(hw_arena *arena, hw_gradient_block *block, size_t key_width, size_t value_width);

/* Packs the columns of rows [tokens, width] at stride as panels of `room` rows. What is not finite becomes 0: it meets
 * only gradients that are 0 or NaN themselves. */
void hw_pack_finite_columns(const float *rows, size_t stride, size_t tokens, size_t width, size_t room, float *columns);

/* For queries [row, row + rows), rows <= HW_GRADIENT_QUERIES. */
void hw_start_gradient_block(const hw_key_gradients *gradients, const hw_gradient_head *head, size_t row, size_t rows);

/* The block's weights and scores, from its keys; adds to query_sums and to the mask's gradient. */
void hw_fill_gradient_block(const hw_key_gradients *gradients, const hw_gradient_head *head);

#endif
