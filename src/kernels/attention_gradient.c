#include "kernels/attention_gradient.h"

#include <math.h>

#include "kernels/elementwise.h"
#include "kernels/gradient_block.h"
#include "kernels/pack.h"
#include "kernels/transposed_product.h"

static size_t whole_floats(size_t rows, size_t width) { return hw_size_multiply(rows, hw_whole_panels(width)); }

static hw_gradient_sums take_sums(hw_arena *arena, size_t rows, size_t width) {
  return (hw_gradient_sums){hw_arena_take_floats(arena, whole_floats(rows, width)), hw_whole_panels(width)};
}

/* In the order in which it is taken. */
static void take_scratch(hw_arena *arena, hw_key_gradients *g, size_t tokens, size_t key_width, size_t value_width) {
  const size_t whole = hw_whole_panels(tokens);
  g->key_panels = hw_arena_take_floats(arena, hw_size_multiply(whole, key_width));
  g->value_panels = hw_arena_take_floats(arena, hw_size_multiply(whole, value_width));
  g->key_columns = hw_arena_take_floats(arena, whole_floats(whole, key_width));
  g->key_sums = take_sums(arena, whole, key_width);
  g->value_sums = take_sums(arena, whole, value_width);
  g->block = hw_arena_take(arena, 1, sizeof *g->block);
  hw_gradient_block block;
  hw_take_gradient_block(arena, &block, key_width, value_width);
  if (!arena->measures) {
    *g->block = block;
  }
}

size_t hw_attention_gradient_scratch_bytes(size_t tokens, size_t key_width, size_t value_width) {
  hw_arena arena = {.measures = true};
  hw_key_gradients gradients;
  take_scratch(&arena, &gradients, tokens, key_width, value_width);
  return arena.peak;
}

/* Zeros, in the gradient itself if its rows are whole panels. */
static void start_sums(hw_gradient_sums *sums, float *gradient, size_t stride, size_t tokens, size_t width) {
  if (gradient != NULL && width == hw_whole_panels(width)) {
    *sums = (hw_gradient_sums){gradient, stride};
  }
  for (size_t token = 0; token < tokens; token++) {
    hw_fill(sums->data + token * sums->stride, hw_whole_panels(width), hw_splat(0.0F));
  }
}

void hw_start_key_gradients(hw_key_gradients *gradients, const hw_gradient_keys *keys, unsigned char *scratch) {
  hw_key_gradients *g = gradients;
  hw_arena arena = {.memory = scratch, .capacity = SIZE_MAX};
  take_scratch(&arena, g, keys->tokens, keys->key_width, keys->value_width);
  g->keys = *keys;
  const size_t whole = hw_whole_panels(keys->visible);
  hw_pack_panels(keys->key, keys->key_stride, 1, keys->visible, keys->key_width, g->key_panels,
                 keys->key_width * HW_TILE_COLUMNS);
  hw_pack_panels(keys->value, keys->value_stride, 1, keys->visible, keys->value_width, g->value_panels,
                 keys->value_width * HW_TILE_COLUMNS);
  hw_pack_finite_columns(keys->key, keys->key_stride, keys->visible, keys->key_width, whole, g->key_columns);
  start_sums(&g->key_sums, keys->key_gradient, keys->key_gradient_stride, keys->tokens, keys->key_width);
  start_sums(&g->value_sums, keys->value_gradient, keys->value_gradient_stride, keys->tokens, keys->value_width);
}

/* Queries [*first, *end) of the block that see some of keys [key, key + count), the mask apart. */
static void queries_that_see(const hw_visibility *visible, const hw_gradient_block *block, size_t key, size_t count,
                             size_t *first, size_t *end) {
  const int64_t row = (int64_t)block->row;
  const int64_t from = (int64_t)key - visible->end_shift + 1 - row;
  const int64_t to = (int64_t)(key + count) - visible->start_shift - row;
  const int64_t rows = (int64_t)block->rows;
  *first = (size_t)(from < 0 ? 0 : from > rows ? rows : from);
  *end = (size_t)(to < 0 ? 0 : to > rows ? rows : to);
}

/* Adds the block's share of dK and dV, a strip of keys at a time. */
static void add_key_sums(const hw_key_gradients *g, const hw_visibility *visible) {
  const hw_gradient_block *block = g->block;
  const size_t key_whole = hw_whole_panels(g->keys.key_width);
  const size_t value_whole = hw_whole_panels(g->keys.value_width);
  const size_t keys_end = hw_min(block->keys.end, g->keys.visible);
  for (size_t key = block->keys.start; key < keys_end; key += HW_TILE_ROWS) {
    const size_t count = hw_min(keys_end - key, HW_TILE_ROWS);
    size_t first;
    size_t end;
    queries_that_see(visible, block, key, count, &first, &end);
    if (first >= end) {
      continue;
    }
    const size_t at = first * HW_GRADIENT_STRIDE + (key - block->first_key);
    hw_transposed_product product = {
        .a = block->weights + at,
        .a_stride = HW_GRADIENT_STRIDE,
        .panels = block->output_rows + first * value_whole,
        .panel_stride = HW_TILE_COLUMNS,
        .b_stride = value_whole,
        .count = value_whole / HW_TILE_COLUMNS,
        .c = g->value_sums.data + key * g->value_sums.stride,
        .c_stride = g->value_sums.stride,
        .c_panel_stride = HW_TILE_COLUMNS,
        .rows = count,
        .k = end - first,
    };
    hw_add_transposed_product(&product);
    product.a = block->scores + at;
    product.panels = block->finite_queries + first * key_whole;
    product.b_stride = key_whole;
    product.count = key_whole / HW_TILE_COLUMNS;
    product.c = g->key_sums.data + key * g->key_sums.stride;
    product.c_stride = g->key_sums.stride;
    hw_add_transposed_product(&product);
  }
}

static void add_block(const hw_key_gradients *g, const hw_gradient_head *head, size_t row, size_t rows) {
  const hw_visibility *visible = &head->head.visible;
  const hw_key_range keys = hw_keys_of_any(visible, row, rows);
  hw_start_gradient_block(g, head, row, rows);
  for (size_t key = keys.start / HW_GRADIENT_KEYS * HW_GRADIENT_KEYS; key < keys.end; key += HW_GRADIENT_KEYS) {
    g->block->first_key = key;
    g->block->keys.start = keys.start > key ? keys.start / HW_TILE_COLUMNS * HW_TILE_COLUMNS : key;
    g->block->keys.end = hw_min(hw_whole_panels(keys.end), key + HW_GRADIENT_KEYS);
    hw_fill_gradient_block(g, head);
    add_key_sums(g, visible);
  }
  if (head->query_gradient != NULL) {
    const size_t key_width = g->keys.key_width;
    hw_rows_scale(&(hw_float_rows){g->block->query_sums, hw_whole_panels(key_width), rows, key_width}, g->keys.scale,
                  head->query_gradient + row * head->query_gradient_stride, head->query_gradient_stride);
  }
}

void hw_add_head_gradients(const hw_key_gradients *gradients, const hw_gradient_head *head) {
  const size_t tokens = head->head.query_tokens;
  for (size_t row = 0; row < tokens; row += HW_GRADIENT_QUERIES) {
    add_block(gradients, head, row, hw_min(tokens - row, HW_GRADIENT_QUERIES));
  }
}

/* From sums that are not there already. */
static void store_sums(const hw_gradient_sums *sums, float *gradient, size_t stride, size_t tokens, size_t width) {
  if (gradient != NULL && gradient != sums->data) {
    hw_rows_scale(&(hw_float_rows){sums->data, sums->stride, tokens, width}, 1.0F, gradient, stride);
  }
}

void hw_finish_key_gradients(const hw_key_gradients *gradients) {
  const hw_gradient_keys *k = &gradients->keys;
  store_sums(&gradients->key_sums, k->key_gradient, k->key_gradient_stride, k->tokens, k->key_width);
  store_sums(&gradients->value_sums, k->value_gradient, k->value_gradient_stride, k->tokens, k->value_width);
}
