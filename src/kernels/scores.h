/*
 * Attention scores of one head, strip by strip: HW_TILE_ROWS queries against a range of keys, scaled to base 2
 * (multiplied by scale · log2 e) and masked.
 */
#ifndef HW_KERNELS_SCORES_H
#define HW_KERNELS_SCORES_H

#include "headwise.h"

/* Which keys a query may attend to, for one head. */
typedef struct hw_visibility {
  bool is_causal;
  int32_t causal_offset;
  hw_mask_kind mask_kind;
  const void *mask; /* the head's first element */
  size_t query_stride;
  size_t key_stride;
} hw_visibility;

typedef struct hw_score_source {
  const float *key_panels; /* packed keys: hw_pack_panels, panels key_width · 8 floats apart */
  size_t key_tokens;
  size_t key_width;
  hw_visibility visible;
} hw_score_source;

/* Copies rows [row, row + rows) of the queries, times scale · log2 e, into packed rows of key_width floats, and
 * fills up with zero rows to a multiple of HW_TILE_ROWS. */
void hw_pack_queries(const float *query, size_t token_stride, size_t rows, size_t key_width, float scale,
                     float *packed);

/* One past the last key that causality lets any of the queries [row, row + rows) see. */
size_t hw_visible_keys(const hw_score_source *source, size_t row, size_t rows);

/* Scores of queries [row, row + rows), rows <= HW_TILE_ROWS, against keys [key_start, key_end): strip [HW_TILE_ROWS] rows
 * at strip_stride, written up to the next multiple of 8 keys; what is masked or beyond key_end is -inf.
 * key_start is a multiple of 8. */
void hw_score_strip(const hw_score_source *source, const float *packed_queries, size_t row, size_t rows,
                    size_t key_start, size_t key_end, float *strip, size_t strip_stride);

#endif
