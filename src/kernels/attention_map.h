/* One head's weights pooled into a square map: each cell the largest weight of its block of queries × keys. */
#ifndef HW_KERNELS_ATTENTION_MAP_H
#define HW_KERNELS_ATTENTION_MAP_H

#include "kernels/attention_head.h"

/* Cell `index` of `size` covers [start, end) of n tokens, at least one. */
static inline size_t hw_cell_start(size_t index, size_t size, size_t n) { return (size_t)((uint64_t)index * n / size); }

static inline size_t hw_cell_end(size_t index, size_t size, size_t n) {
  const size_t end = hw_cell_start(index + 1, size, n);
  const size_t start = hw_cell_start(index, size, n);
  return end > start ? end : start + 1;
}

/* Rows [first, end) of cells into map [size, size], from queries, keys and what hw_attention_block left in row_maximum
 * and row_sum. A NaN weight makes its cell NaN. The scratch, at HW_ALIGNMENT, has hw_attention_map_scratch_bytes,
 * SIZE_MAX if that does not fit. */
void hw_attention_map_rows(const hw_attention_head *head, size_t size, size_t first, size_t end, float *map,
                           unsigned char *scratch);
size_t hw_attention_map_scratch_bytes(hw_matrix_type dtype, size_t key_width, size_t size);

#endif
