#include "kernels/key_value_panels.h"

#include <string.h>

#include "core/half.h"
#include "core/tile.h"
#include "kernels/elementwise.h"
#include "kernels/pack.h"
#include "kernels/weights.h"

hw_key_value_store hw_key_value_store_of(hw_matrix_type dtype, size_t tokens, size_t key_width, size_t value_width) {
  const size_t capacity = hw_whole_panels(tokens);
  const size_t bytes = hw_element_bytes(dtype);
  const size_t keys = hw_arena_size(hw_size_multiply(capacity, key_width), bytes);
  const size_t values = hw_arena_size(hw_size_multiply(capacity, hw_whole_panels(value_width)), bytes);
  const size_t finite = hw_arena_size(hw_ceil_divide(capacity, HW_KEY_BLOCK), 1);
  return (hw_key_value_store){
      .dtype = dtype,
      .capacity = capacity,
      .key_width = key_width,
      .value_width = value_width,
      .values_at = keys,
      .finite_at = hw_size_add(keys, values),
      .head_bytes = hw_size_add(hw_size_add(keys, values), finite),
  };
}

/* An element of the keys or values. */
static void *element(const hw_key_value_panels *panels, void *elements, size_t index) {
  return (unsigned char *)elements + index * hw_element_bytes(panels->dtype);
}

static __attribute__((noinline)) void put(const hw_key_value_panels *panels, void *elements, size_t index, float x) {
  if (panels->dtype == HW_MATRIX_FLOAT32) {
    ((float *)elements)[index] = x;
  } else {
    ((uint16_t *)elements)[index] = panels->dtype == HW_MATRIX_BFLOAT16 ? hw_bfloat16_of(x) : hw_float16_of(x);
  }
}

/* Tokens before the next whole panel, or all that become smaller, one by one. */
static size_t pack_leading_keys(const hw_key_value_panels *panels, size_t first, size_t tokens, const float *key,
                                size_t key_stride) {
  const size_t before = (HW_TILE_COLUMNS - first % HW_TILE_COLUMNS) % HW_TILE_COLUMNS;
  const size_t leading = panels->dtype == HW_MATRIX_FLOAT32 ? hw_min(tokens, before) : tokens;
  for (size_t t = first; t < first + leading; t++) {
    const size_t panel = t / HW_TILE_COLUMNS * HW_TILE_COLUMNS * panels->key_width;
    for (size_t i = 0; i < panels->key_width; i++) {
      put(panels, panels->keys, panel + i * HW_TILE_COLUMNS + t % HW_TILE_COLUMNS, key[(t - first) * key_stride + i]);
    }
  }
  return leading;
}

void hw_pack_keys(const hw_key_value_panels *panels, size_t first, size_t tokens, const float *key, size_t key_stride) {
  const size_t leading = pack_leading_keys(panels, first, tokens, key, key_stride);
  if (leading < tokens) {
    hw_pack_panels(key + leading * key_stride, key_stride, 1, tokens - leading, panels->key_width,
                   (float *)panels->keys + (first + leading) * panels->key_width, panels->key_width * HW_TILE_COLUMNS);
  }
}

/* Whether so many rows of a panel are finite. */
static bool all_finite(const hw_key_value_panels *panels, size_t index, size_t rows) {
  if (panels->dtype == HW_MATRIX_FLOAT32) {
    return hw_all_finite((const float *)panels->values + index, rows * HW_TILE_COLUMNS);
  }
  bool finite = true;
  for (size_t end = index + rows * HW_TILE_COLUMNS; index < end; index += HW_TILE_COLUMNS) {
    float row[HW_TILE_COLUMNS];
    hw_floats_of(panels->dtype, element(panels, panels->values, index), HW_TILE_COLUMNS, row);
    finite = finite && hw_all_finite(row, HW_TILE_COLUMNS);
  }
  return finite;
}

/* The tokens that one flag stands for. */
static void update_finite(const hw_key_value_panels *panels, size_t block, size_t start, size_t end) {
  const bool starts_block = start % HW_KEY_BLOCK == 0;
  bool finite = starts_block || panels->finite[block] != 0;
  for (size_t column = 0; column < panels->value_width; column += HW_TILE_COLUMNS) {
    finite = finite && all_finite(panels, column * panels->capacity + start * HW_TILE_COLUMNS, end - start);
  }
  panels->finite[block] = finite;
}

/* Where a token's value has its column i. */
static size_t value_at(const hw_key_value_panels *panels, size_t token, size_t i) {
  const size_t panel = i / HW_TILE_COLUMNS * panels->capacity;
  return (panel + token) * HW_TILE_COLUMNS + i % HW_TILE_COLUMNS;
}

static void round_values(const hw_key_value_panels *panels, size_t first, size_t tokens, const float *value,
                         size_t value_stride) {
  for (size_t t = 0; t < tokens; t++) {
    for (size_t i = 0; i < panels->value_width; i++) {
      put(panels, panels->values, value_at(panels, first + t, i), value[t * value_stride + i]);
    }
  }
}

void hw_pack_values(const hw_key_value_panels *panels, size_t first, size_t tokens, const float *value,
                    size_t value_stride) {
  if (panels->dtype == HW_MATRIX_FLOAT32) {
    hw_pack_panels(value, 1, value_stride, panels->value_width, tokens,
                   (float *)panels->values + first * HW_TILE_COLUMNS, panels->capacity * HW_TILE_COLUMNS);
  } else {
    round_values(panels, first, tokens, value, value_stride);
  }
  const size_t end = first + tokens;
  for (size_t start = first; start < end;) {
    const size_t block = start / HW_KEY_BLOCK;
    const size_t block_end = hw_min(end, (block + 1) * HW_KEY_BLOCK);
    update_finite(panels, block, start, block_end);
    start = block_end;
  }
}

size_t hw_float_panels_room(hw_matrix_type dtype, size_t key_width, size_t value_width) {
  const size_t width = hw_size_add(key_width, hw_whole_panels(value_width));
  return dtype == HW_MATRIX_FLOAT32 ? 0 : hw_size_multiply(HW_KEY_BLOCK, width);
}

void hw_float_panels(const hw_key_value_panels *panels, size_t start, size_t end, bool with_values, float *room,
                     hw_key_value_panels *part) {
  *part = *panels;
  if (panels->dtype == HW_MATRIX_FLOAT32) {
    return;
  }
  part->dtype = HW_MATRIX_FLOAT32;
  part->keys = room;
  part->values = room + HW_KEY_BLOCK * panels->key_width;
  part->first = start;
  part->capacity = HW_KEY_BLOCK;
  const size_t tokens = hw_whole_panels(hw_min(end - start, HW_KEY_BLOCK));
  const void *keys = element(panels, panels->keys, start * panels->key_width);
  hw_floats_of(panels->dtype, keys, tokens * panels->key_width, room);
  for (size_t column = 0; with_values && column < panels->value_width; column += HW_TILE_COLUMNS) {
    const void *values = element(panels, panels->values, value_at(panels, start, column));
    hw_floats_of(panels->dtype, values, tokens * HW_TILE_COLUMNS, (float *)part->values + value_at(part, 0, column));
  }
}

void hw_copy_panels(const hw_key_value_panels *from, const hw_key_value_panels *to) {
  const size_t tokens = hw_min(from->capacity, to->capacity);
  const size_t bytes = hw_element_bytes(to->dtype);
  memcpy(to->keys, from->keys, tokens * to->key_width * bytes);
  for (size_t column = 0; column < to->value_width; column += HW_TILE_COLUMNS) {
    memcpy(element(to, to->values, column * to->capacity), element(from, from->values, column * from->capacity),
           tokens * HW_TILE_COLUMNS * bytes);
  }
  memcpy(to->finite, from->finite, hw_ceil_divide(tokens, HW_KEY_BLOCK));
}

void hw_unpack_values(const hw_key_value_panels *panels, size_t tokens, float *out) {
  for (size_t t = 0; t < tokens; t++) {
    for (size_t i = 0; i < panels->value_width; i++) {
      const void *value = element(panels, panels->values, value_at(panels, t, i));
      hw_floats_of(panels->dtype, value, 1, out + t * panels->value_width + i);
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
