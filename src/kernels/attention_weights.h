/* Weights and scores of one head as matrices, for those who ask for them. */
#ifndef HW_KERNELS_ATTENTION_WEIGHTS_H
#define HW_KERNELS_ATTENTION_WEIGHTS_H

#include "kernels/attention_head.h"

/* Weights from queries, keys and what hw_attention_block left in row_maximum and row_sum: rows [row, row + rows) into
 * out [rows, key_tokens], rows <= HW_TILE_ROWS. Values and output are not looked at. */
void hw_attention_weights(const hw_attention_head *head, size_t row, size_t rows, float *out, unsigned char *scratch);
size_t hw_attention_weights_scratch_bytes(hw_matrix_type dtype, size_t key_width);

/* Takes a strip's room for keys and scores and returns that of its packed queries [HW_TILE_ROWS, key_width]. */
float *hw_take_strip(hw_arena *arena, hw_matrix_type dtype, size_t key_width, hw_strip *strip);

/* The same rows of another kind than the probabilities. HW_WEIGHTS_SCORES and HW_WEIGHTS_SOFTCAPPED read the panels of
 * all key_tokens. */
void hw_attention_scores(const hw_attention_head *head, hw_weights_kind kind, size_t row, size_t rows, float *out,
                         unsigned char *scratch);

#endif
