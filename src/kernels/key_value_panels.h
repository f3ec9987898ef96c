/*
 * Keys and values of one head in the layout that attention reads, and that a cache can append to in place.
 *
 *   keys: panels of 8 tokens               values: panels of 8 columns
 *   | i=0: t0 … t7 |  | i=0: t8 … t15 |    | t=0: c0 … c7 |  | t=0: c8 … c15 |
 *   | i=1: t0 … t7 |  | i=1: t8 … t15 |    | t=1: c0 … c7 |  | t=1: c8 … c15 |
 *     key_width rows a panel        …        `capacity` rows a panel       …
 */
#ifndef HW_KERNELS_KEY_VALUE_PANELS_H
#define HW_KERNELS_KEY_VALUE_PANELS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"

typedef struct hw_key_value_panels {
  float *keys;
  float *values;
  uint8_t *finite; /* per HW_KEY_BLOCK tokens: every value is */
  size_t capacity; /* tokens; a multiple of 8 */
  size_t key_width;
  size_t value_width;
} hw_key_value_panels;

/* The panels of many heads, one after another. */
typedef struct hw_key_value_store {
  unsigned char *memory; /* at HW_ALIGNMENT */
  size_t first_head;     /* whose panels come first */
  size_t tokens;
  size_t key_width;
  size_t value_width; /* 0: keys only */
} hw_key_value_store;

/* Bytes of a store; SIZE_MAX if they do not fit. */
size_t hw_key_value_store_bytes(size_t heads, size_t tokens, size_t key_width, size_t value_width);
hw_key_value_panels hw_key_value_store_head(const hw_key_value_store *store, size_t head);

/* Writes tokens [first, first + tokens): key and value point to the first of these, rows at their strides. */
void hw_pack_keys(const hw_key_value_panels *panels, size_t first, size_t tokens, const float *key, size_t key_stride);
void hw_pack_values(const hw_key_value_panels *panels, size_t first, size_t tokens, const float *value,
                    size_t value_stride);

/* Tokens from `first` on are there no more: what is known of the values before them is brought up to date. */
void hw_forget_values(const hw_key_value_panels *panels, size_t first);

/* Whether all values of tokens [start, end) are finite; may say no because of a neighbour. */
bool hw_values_are_finite(const hw_key_value_panels *panels, size_t start, size_t end);

#endif
