/* Which keys a query may attend to, for one head: a range that moves with the query, and a mask. */
#ifndef HW_KERNELS_VISIBILITY_H
#define HW_KERNELS_VISIBILITY_H

#include "headwise.h"

/* Larger than any number of tokens: no limit on this side. */
#define HW_UNLIMITED ((int64_t)1 << 40)

typedef struct hw_key_range {
  size_t start;
  size_t end; /* empty if not above start */
} hw_key_range;

/* Query i sees the keys [i + start_shift, i + end_shift) that exist and that the mask allows. */
typedef struct hw_visibility {
  int64_t start_shift;
  int64_t end_shift;
  size_t key_tokens;
  hw_mask_kind mask_kind;
  const void *mask; /* the head's first element */
  size_t query_stride;
  size_t key_stride;
} hw_visibility;

/* Keys that some query of [row, row + rows) sees, the mask apart. */
hw_key_range hw_keys_of_any(const hw_visibility *visible, size_t row, size_t rows);

/* What queries [row, row + rows) see, the mask apart. */
typedef struct hw_sight {
  const hw_visibility *visible;
  size_t row;
  size_t rows;
  hw_key_range any; /* keys that some of them see */
  hw_key_range all; /* keys that all of them see */
} hw_sight;

hw_sight hw_sight_of(const hw_visibility *visible, size_t row, size_t rows);

typedef enum hw_tile_visibility {
  HW_TILE_HIDDEN,
  HW_TILE_PARTIAL,
  HW_TILE_VISIBLE,
} hw_tile_visibility;

/* What they see of the tile of HW_TILE_COLUMNS keys at `key`, the mask included. One of these keys is in sight->any. */
hw_tile_visibility hw_see_tile(const hw_sight *sight, size_t key);

/* Adds the mask to the tile's scores and sets what is not visible to -inf. */
void hw_mask_tile(const hw_sight *sight, size_t key, float *scores, size_t stride);

#endif
