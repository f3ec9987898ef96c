/*
 * Attention scores of one head, strip by strip: HW_TILE_ROWS queries against a block of keys, scaled, softcapped and
 * masked.
 */
#ifndef HW_KERNELS_SCORES_H
#define HW_KERNELS_SCORES_H

#include "core/tile.h"
#include "kernels/visibility.h"

typedef struct hw_score_source {
  const float *key_panels; /* hw_key_value_panels' keys */
  size_t first_key;        /* which they begin with */
  size_t key_width;
  float softcap; /* 0: none */
  const hw_visibility *visible;
} hw_score_source;

/*
 * Scores of up to HW_TILE_ROWS queries against at most HW_KEY_BLOCK keys, or of one against HW_ROW_KEYS. Only the ranges
 * hold scores, whole tiles of 8 keys, -inf where masked; what lies between them no query sees.
 */
typedef struct hw_strip {
  float *room;   /* for the keys as floats: hw_float_panels */
  float *scores; /* [HW_TILE_ROWS] rows, `stride` apart */
  size_t stride; /* HW_STRIP_STRIDE; not known to the compiler, or older V8 would keep less in registers */
  float maximum[HW_TILE_ROWS]; /* NaN passed over; -inf if there is nothing else */
  size_t visible;              /* columns of keys that some query sees, the mask apart; of use if there are ranges */
  size_t range_count;
  hw_key_range ranges[HW_ROW_KEYS / HW_TILE_COLUMNS / 2 + 1]; /* columns of `scores` */
} hw_strip;

/* Packs rows of queries, times scale, strip by strip: hw_pack_rows, or as it is if the last strip has but one
 * row. */
size_t hw_packed_queries_floats(size_t rows, size_t key_width);
void hw_pack_queries(const float *query, size_t token_stride, size_t rows, size_t key_width, float scale,
                     float *packed);

/* Fills the strip with its packed queries [row, row + rows), rows <= HW_TILE_ROWS, against keys [key_start, key_end);
 * key_start is a multiple of 8, and there are at most HW_KEY_BLOCK keys, or HW_ROW_KEYS for a single query. */
void hw_score_strip(const hw_score_source *source, const float *packed_queries, size_t row, size_t rows,
                    size_t key_start, size_t key_end, hw_strip *strip);

#endif
