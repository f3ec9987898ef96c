/*
 * One query over many keys, as in decoding: all scores, then all weights, then all values, so that keys and values are
 * read in streams of memory as long as the cache. Blocks are weighed and summed in the order of hw_attention_block's
 * strips: to the bit, the numbers are theirs.
 */
#ifndef HW_KERNELS_ROW_ATTENTION_H
#define HW_KERNELS_ROW_ATTENTION_H

#include "kernels/attention_head.h"

/* The query [key_width] is scaled, keys.start a multiple of 8, all values of the keys finite, the strip's
 * room that of whole strips. Adds to the weighted values [whole panels], which are
 * not yet divided by the sum of the row. */
void hw_row_attention(const hw_attention_head *head, size_t row, const float *query, hw_key_range keys, hw_strip *strip,
                      float *weighted);

#endif
