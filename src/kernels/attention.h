/*
 * Streaming attention of one head: queries in blocks, keys in blocks, the softmax kept up to date as the keys pass
 * by (FlashAttention, Dao et al. 2022; online softmax, Milakov & Gimelshein 2018). No n×n matrix.
 */
#ifndef HW_KERNELS_ATTENTION_H
#define HW_KERNELS_ATTENTION_H

#include "kernels/attention_head.h"

/* Queries [row, row + rows), rows <= HW_QUERY_BLOCK: writes their output, row_maximum and row_sum. The scratch has
 * hw_attention_scratch_bytes, SIZE_MAX if that does not fit; at HW_ALIGNMENT. */
void hw_attention_block(const hw_attention_head *head, size_t row, size_t rows, unsigned char *scratch);
size_t hw_attention_scratch_bytes(hw_matrix_type dtype, size_t key_width, size_t value_width);

#endif
