/* One head's weights pooled into a square map: each cell the largest weight of its block of queries × keys. */
#ifndef HW_KERNELS_ATTENTION_MAP_H
#define HW_KERNELS_ATTENTION_MAP_H

#include "kernels/attention_head.h"

/* Rows [first, end) of cells into map [size, size], from queries, keys and what hw_attention_block left in row_maximum
 * and row_sum. A NaN weight makes its cell NaN. Without queries all cells are 0. The scratch, at HW_ALIGNMENT, has
 * hw_attention_map_scratch_bytes, SIZE_MAX if that does not fit. */
void hw_attention_map_rows(const hw_attention_head *head, size_t size, size_t first, size_t end, float *map,
                           unsigned char *scratch);
size_t hw_attention_map_scratch_bytes(hw_matrix_type dtype, size_t key_width, size_t size);

#endif
