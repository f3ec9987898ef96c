/*
 * Keys and values of one head in the layout that attention reads, and that a cache can append to in place.
 *
 *   keys: panels of 8 tokens               values: panels of 8 columns
 *   | i=0: t0 … t7 |  | i=0: t8 … t15 |    | t=0: c0 … c7 |  | t=0: c8 … c15 |
 *   | i=1: t0 … t7 |  | i=1: t8 … t15 |    | t=1: c0 … c7 |  | t=1: c8 … c15 |
 *     key_width rows a panel        …        `capacity` rows a panel       …
 *
 * Elements of 16 bits lie in the same order. Products want floats: hw_float_panels makes some of a block of keys at a time.
 */
#ifndef HW_KERNELS_KEY_VALUE_PANELS_H
#define HW_KERNELS_KEY_VALUE_PANELS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "headwise.h"

typedef struct hw_key_value_panels {
  hw_matrix_type dtype; /* of keys and values; not int8 */
  void *keys;
  void *values;
  uint8_t *finite; /* per HW_KEY_BLOCK tokens: every value is */
  size_t first;    /* token in front; not 0 but in a part that hw_float_panels made */
  size_t capacity; /* tokens; a multiple of 8 */
  size_t key_width;
  size_t value_width;
} hw_key_value_panels;

/* The panels of many heads, one after another; of each its keys, values and flags. */
typedef struct hw_key_value_store {
  hw_matrix_type dtype;
  unsigned char *memory; /* at HW_ALIGNMENT */
  size_t first_head;     /* whose panels come first */
  size_t capacity;
  size_t key_width;
  size_t value_width;
  size_t values_at; /* in bytes from the head's first */
  size_t finite_at;
  size_t head_bytes; /* SIZE_MAX: they do not fit */
} hw_key_value_store;

/* A store for so many tokens, still without memory; value_width 0: keys only. */
hw_key_value_store hw_key_value_store_of(hw_matrix_type dtype, size_t tokens, size_t key_width, size_t value_width);

static inline hw_key_value_panels hw_key_value_store_head(const hw_key_value_store *store, size_t head) {
  unsigned char *memory = store->memory + (head - store->first_head) * store->head_bytes;
  return (hw_key_value_panels){
      .dtype = store->dtype,
      .keys = memory,
      .values = memory + store->values_at,
      .finite = memory + store->finite_at,
      .capacity = store->capacity,
      .key_width = store->key_width,
      .value_width = store->value_width,
  };
}

/* Writes tokens [first, first + tokens): key and value point to the first of these, rows at their strides. Elements of 16 bits
 * are rounded; what is too large for them becomes infinite. */
void hw_pack_keys(const hw_key_value_panels *panels, size_t first, size_t tokens, const float *key, size_t key_stride);
void hw_pack_values(const hw_key_value_panels *panels, size_t first, size_t tokens, const float *value,
                    size_t value_stride);

/* Tokens [start, end), at most the first HW_KEY_BLOCK of them, as floats: *part becomes these panels if they are, else what is
 * made in the room [hw_float_panels_room], of keys only unless values are wanted too. start is a multiple of 8. */
void hw_float_panels(const hw_key_value_panels *panels, size_t start, size_t end, bool with_values, float *room,
                     hw_key_value_panels *part);

/* Floats of that room; value_width 0: for keys. */
size_t hw_float_panels_room(hw_matrix_type dtype, size_t key_width, size_t value_width);

/* Copies all tokens that both have room for; of the same dtype. */
void hw_copy_panels(const hw_key_value_panels *from, const hw_key_value_panels *to);

/* The values of tokens [0, tokens) as rows: out [tokens, value_width]. */
void hw_unpack_values(const hw_key_value_panels *panels, size_t tokens, float *out);

/* Tokens from `first` on are there no more: what is known of the values before them is brought up to date. */
void hw_forget_values(const hw_key_value_panels *panels, size_t first);

/* Whether all values of tokens [start, end) are finite; may say no because of a neighbour. */
bool hw_values_are_finite(const hw_key_value_panels *panels, size_t start, size_t end);

#endif
