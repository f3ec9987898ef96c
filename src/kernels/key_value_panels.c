#include "kernels/key_value_panels.h"

#include <string.h>

#include "core/tile.h"
#include "kernels/elementwise.h"
#include "kernels/pack.h"

hw_key_value_store hw_key_value_store_of(size_t tokens, size_t key_width, size_t value_width) {
  const size_t capacity = hw_whole_panels(tokens);
  const size_t keys = hw_arena_size(hw_size_multiply(capacity, key_width), sizeof(float));
  const size_t values = hw_arena_size(hw_size_multiply(capacity, hw_whole_panels(value_width)), sizeof(float));
  const size_t finite = hw_arena_size(hw_ceil_divide(capacity, HW_KEY_BLOCK), 1);
  return (hw_key_value_store){
      .capacity = capacity,
      .key_width = key_width,
      .value_width = value_width,
      .values_at = keys,
      .finite_at = hw_size_add(keys, values),
      .head_bytes = hw_size_add(hw_size_add(keys, values), finite),
  };
}

/* Tokens before the next whole panel, one by one. */
static size_t pack_leading_keys(const hw_key_value_panels *panels, size_t first, size_t tokens, const float *key,
                                size_t key_stride) {
  const size_t leading = hw_min(tokens, (HW_TILE_COLUMNS - first % HW_TILE_COLUMNS) % HW_TILE_COLUMNS);
  float *panel = panels->keys + first / HW_TILE_COLUMNS * HW_TILE_COLUMNS * panels->key_width;
  for (size_t t = 0; t < leading; t++) {
    for (size_t i = 0; i < panels->key_width; i++) {
      panel[i * HW_TILE_COLUMNS + first % HW_TILE_COLUMNS + t] = key[t * key_stride + i];
    }
  }
  return leading;
}

void hw_pack_keys(const hw_key_value_panels *panels, size_t first, size_t tokens, const float *key, size_t key_stride) {
  const size_t leading = pack_leading_keys(panels, first, tokens, key, key_stride);
  if (leading < tokens) {
    hw_pack_panels(key + leading * key_stride, key_stride, 1, tokens - leading, panels->key_width,
                   panels->keys + (first + leading) * panels->key_width, panels->key_width * HW_TILE_COLUMNS);
  }
}

/* The tokens that one flag stands for. */
static void update_finite(const hw_key_value_panels *panels, size_t block, size_t start, size_t end) {
  const bool starts_block = start % HW_KEY_BLOCK == 0;
  bool finite = starts_block || panels->finite[block] != 0;
  for (size_t column = 0; column < panels->value_width; column += HW_TILE_COLUMNS) {
    const float *panel = panels->values + column * panels->capacity;
    finite = finite && hw_all_finite(panel + start * HW_TILE_COLUMNS, (end - start) * HW_TILE_COLUMNS);
  }
  panels->finite[block] = finite;
}

void hw_pack_values(const hw_key_value_panels *panels, size_t first, size_t tokens, const float *value,
                    size_t value_stride) {
  hw_pack_panels(value, 1, value_stride, panels->value_width, tokens, panels->values + first * HW_TILE_COLUMNS,
                 panels->capacity * HW_TILE_COLUMNS);
  const size_t end = first + tokens;
  for (size_t start = first; start < end;) {
    const size_t block = start / HW_KEY_BLOCK;
    const size_t block_end = hw_min(end, (block + 1) * HW_KEY_BLOCK);
    update_finite(panels, block, start, block_end);
    start = block_end;
  }
}

void hw_copy_panels(const hw_key_value_panels *from, const hw_key_value_panels *to) {
  const size_t tokens = hw_min(from->capacity, to->capacity);
  memcpy(to->keys, from->keys, tokens * to->key_width * sizeof(float));
  for (size_t column = 0; column < to->value_width; column += HW_TILE_COLUMNS) {
    memcpy(to->values + column * to->capacity, from->values + column * from->capacity,
           tokens * HW_TILE_COLUMNS * sizeof(float));
  }
  memcpy(to->finite, from->finite, hw_ceil_divide(tokens, HW_KEY_BLOCK));
}

void hw_unpack_values(const hw_key_value_panels *panels, size_t tokens, float *out) {
  for (size_t t = 0; t < tokens; t++) {
    for (size_t i = 0; i < panels->value_width; i++) {
      const size_t panel = i / HW_TILE_COLUMNS * panels->capacity;
      out[t * panels->value_width + i] = panels->values[(panel + t) * HW_TILE_COLUMNS + i % HW_TILE_COLUMNS];
    }
  }
}

void hw_forget_values(const hw_key_value_panels *panels, size_t first) {
  const size_t block = first / HW_KEY_BLOCK;
  if (first % HW_KEY_BLOCK != 0 && panels->finite[block] == 0) {
    update_finite(panels, block, block * HW_KEY_BLOCK, first);
  }
}

bool hw_values_are_finite(const hw_key_value_panels *panels, size_t start, size_t end) {
  bool finite = true;
  for (size_t block = start / HW_KEY_BLOCK; block * HW_KEY_BLOCK < end; block++) {
    finite = finite && panels->finite[block] != 0;
  }
  return finite;
}
