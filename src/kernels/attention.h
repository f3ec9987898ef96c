/*
 * Streaming attention of one head: queries in blocks, keys in blocks, the softmax kept up to date as the keys pass
 * by (FlashAttention, Dao et al. 2022; online softmax, Milakov & Gimelshein 2018). No n×n matrix.
 */
#ifndef HW_KERNELS_ATTENTION_H
#define HW_KERNELS_ATTENTION_H

#include "kernels/attention_head.h"

/* A block's scratch, described once for all blocks: scores are first; of the others, where they are in it, in bytes. */
typedef struct hw_attention_scratch {
  size_t weighted_at;
  size_t queries_at;
  size_t room_at;
  size_t bytes; /* SIZE_MAX: they do not fit */
} hw_attention_scratch;

hw_attention_scratch hw_attention_scratch_of(hw_matrix_type dtype, size_t key_width, size_t value_width);

/* Queries [row, row + rows), rows <= HW_QUERY_BLOCK: writes their output, row_maximum and row_sum. memory has the bytes of the
 * scratch, and is at HW_ALIGNMENT. */
void hw_attention_block(const hw_attention_head *head, size_t row, size_t rows, const hw_attention_scratch *scratch,
                        unsigned char *memory);

#endif
