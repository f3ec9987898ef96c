#include "kernels/gradient_block.h"

#include <math.h>
#include <string.h>

#include "kernels/elementwise.h"
#include "kernels/gemm.h"
#include "kernels/micro_tile.h"
#include "kernels/pack.h"
#include "kernels/softcap.h"
#include "kernels/softmax.h"

void hw_take_gradient_block(hw_arena *arena, hw_gradient_block *block, size_t key_width, size_t value_width) {
  const size_t cells = (size_t)HW_GRADIENT_QUERIES * HW_GRADIENT_STRIDE;
  const size_t key_floats = hw_size_multiply(HW_GRADIENT_QUERIES, hw_whole_panels(key_width));
  block->weights = hw_arena_take_floats(arena, cells);
  block->scores = hw_arena_take_floats(arena, cells);
  block->slopes = hw_arena_take_floats(arena, (size_t)HW_TILE_ROWS * HW_GRADIENT_STRIDE);
  block->query_rows = hw_arena_take_floats(arena, key_floats);
  block->query_copies = hw_arena_take_floats(arena, key_floats);
  block->output_rows = hw_arena_take_floats(arena, hw_size_multiply(HW_GRADIENT_QUERIES, hw_whole_panels(value_width)));
  block->query_sums = hw_arena_take_floats(arena, key_floats);
}

static void drop_not_finite(float *x, size_t count) {
  for (size_t i = 0; i < count; i++) {
    x[i] = x[i] * 0.0F == 0.0F ? x[i] : 0.0F;
  }
}

void hw_pack_finite_columns(const float *rows, size_t stride, size_t tokens, size_t width, size_t room,
                            float *columns) {
  const size_t panel = room * HW_TILE_COLUMNS;
  hw_pack_panels(rows, 1, stride, width, tokens, columns, panel);
  for (size_t column = 0; column < width; column += HW_TILE_COLUMNS) {
    float *first = columns + column / HW_TILE_COLUMNS * panel;
    if (!hw_all_finite(first, tokens * HW_TILE_COLUMNS)) {
      drop_not_finite(first, tokens * HW_TILE_COLUMNS);
    }
  }
}

/* The output's gradients, divided by the sums, and their products with the output. A row that sees nothing has zeros. */
static void start_outputs(const hw_key_gradients *g, const hw_gradient_head *head, hw_gradient_block *block) {
  const size_t width = g->keys.value_width;
  const size_t whole = hw_whole_panels(width);
  for (size_t r = 0; r < block->rows; r++) {
    const size_t row = block->row + r;
    const float *gradient = head->output_gradient + row * head->output_gradient_stride;
    float *scaled = block->output_rows + r * whole;
    const float inverse = hw_inverse_sum(&head->head, row);
    if (inverse == 0.0F) {
      hw_fill(scaled, whole, hw_splat(0.0F));
      block->deltas[r] = 0.0F;
    } else {
      const float *output = head->head.output + row * head->head.output_stride;
      hw_row_scale(gradient, scaled, width, inverse);
      block->deltas[r] = hw_row_dot(scaled, output, width);
      if (head->weights_gradient != NULL) {
        const size_t at = row * g->keys.tokens;
        block->deltas[r] += inverse * hw_row_dot(head->weights_gradient + at, head->weights + at, g->keys.tokens);
      }
    }
  }
}

/* Zeros for the rows that the last strip lacks, and for the columns that the last panel lacks. */
static void clear_missing(float *rows, size_t count, size_t width) {
  const size_t whole = hw_whole_panels(width);
  const size_t from = width < whole ? 0 : count;
  const size_t end = hw_ceil_divide(count, HW_TILE_ROWS) * HW_TILE_ROWS;
  hw_fill(rows + from * whole, (end - from) * whole, hw_splat(0.0F));
}

static void find_finite_queries(hw_gradient_block *block, size_t floats) {
  block->finite_queries = block->query_rows;
  if (!hw_all_finite(block->query_rows, floats)) {
    block->finite_queries = block->query_copies;
    memcpy(block->query_copies, block->query_rows, floats * sizeof(float));
    drop_not_finite(block->query_copies, floats);
  }
}

void hw_start_gradient_block(const hw_key_gradients *gradients, const hw_gradient_head *head, size_t row, size_t rows) {
  const hw_gradient_keys *keys = &gradients->keys;
  hw_gradient_block *block = gradients->block;
  const float *query = head->head.query + row * head->head.query_stride;
  block->row = row;
  block->rows = rows;
  clear_missing(block->query_rows, rows, keys->key_width);
  clear_missing(block->output_rows, rows, keys->value_width);
  start_outputs(gradients, head, block);
  const size_t key_whole = hw_whole_panels(keys->key_width);
  hw_rows_scale(&(hw_float_rows){query, head->head.query_stride, rows, keys->key_width}, keys->scale, block->query_rows,
                key_whole);
  find_finite_queries(block, rows * key_whole);
  hw_fill(block->query_sums, HW_GRADIENT_QUERIES * key_whole, hw_splat(0.0F));
}

/* A strip of queries: `r` counts from the block's first. */
typedef struct gradient_strip {
  const hw_gradient_head *head;
  hw_gradient_block *block;
  const hw_key_gradients *gradients;
  hw_sight sight;
  size_t r;
  size_t rows;
} gradient_strip;

/* A strip of rows of k elements times panels side by side. */
static void product_tiles(const float *rows, const float *panels, size_t k, size_t count, float *out) {
  const size_t stride = hw_whole_panels(k);
  for (size_t i = 0; i < count; i++) {
    hw_gemm_tile(rows, stride, panels + i * k * HW_TILE_COLUMNS, hw_gemm_zeros, k, out + i * HW_TILE_COLUMNS,
                 HW_GRADIENT_STRIDE);
  }
}

/* sums += gradients of scores times keys. */
static __attribute__((noinline)) void query_tile(const float *scores, const float *panel, size_t keys, float *sums,
                                                 size_t stride) {
  hw_tile tile;
  hw_tile_load(tile, sums, stride);
  hw_tile_multiply_add(tile, scores, HW_GRADIENT_STRIDE, 1, panel, keys);
  hw_tile_store(tile, sums, stride);
}

/* A tile of eight columns becomes x. */
static void fill_tile(float *tile, float x) {
#pragma GCC unroll 1
  for (size_t r = 0; r < HW_TILE_ROWS; r++) {
    hw_fill(tile + r * HW_GRADIENT_STRIDE, HW_TILE_COLUMNS, hw_splat(x));
  }
}

/* Caps a tile's scores, and leaves the cap's slopes, 1 - tanh². */
static void cap_tile(float softcap, size_t rows, float *scores, float *slopes) {
  for (size_t r = 0; r < rows; r++) {
    float *row = scores + r * HW_GRADIENT_STRIDE;
    hw_row_softcap(row, HW_TILE_COLUMNS, softcap);
    for (size_t j = 0; j < HW_TILE_COLUMNS; j++) {
      const float tangent = row[j] / softcap;
      slopes[r * HW_GRADIENT_STRIDE + j] = (1.0F - tangent) * (1.0F + tangent);
    }
  }
}

static size_t place_of(const gradient_strip *s, size_t key) {
  return s->r * HW_GRADIENT_STRIDE + key - s->block->first_key;
}

/* Scores of keys [key, end) into the weights' place and dO·V into the scores'. */
static void multiply(const gradient_strip *s, size_t key, size_t end) {
  const hw_gradient_block *block = s->block;
  const hw_gradient_keys *keys = &s->gradients->keys;
  const size_t panels = (end - key) / HW_TILE_COLUMNS;
  product_tiles(block->query_rows + s->r * hw_whole_panels(keys->key_width),
                s->gradients->key_panels + key * keys->key_width, keys->key_width, panels,
                block->weights + place_of(s, key));
  product_tiles(block->output_rows + s->r * hw_whole_panels(keys->value_width),
                s->gradients->value_panels + key * keys->value_width, keys->value_width, panels,
                block->scores + place_of(s, key));
}

static void score_tile(const gradient_strip *s, size_t key, bool has_mask) {
  const hw_gradient_block *block = s->block;
  const size_t column = key - block->first_key;
  const size_t at = place_of(s, key);
  const hw_tile_visibility seen = hw_see_tile(&s->sight, key);
  if (seen == HW_TILE_HIDDEN) {
    fill_tile(block->weights + at, -INFINITY);
    fill_tile(block->scores + at, 0.0F);
    fill_tile(block->slopes + column, 0.0F);
    return;
  }
  if (has_mask) {
    multiply(s, key, key + HW_TILE_COLUMNS);
  }
  if (s->head->head.softcap != 0.0F) {
    cap_tile(s->head->head.softcap, s->rows, block->weights + at, block->slopes + column);
  }
  if (seen == HW_TILE_PARTIAL) {
    hw_mask_tile(&s->sight, key, block->weights + at, HW_GRADIENT_STRIDE);
  }
}

/* All keys at once if no mask hides some of them. */
static void score_tiles(const gradient_strip *s, size_t key, size_t end) {
  const bool has_mask = s->sight.visible->mask_kind != HW_MASK_NONE;
  const bool changes_all = has_mask || s->head->head.softcap != 0.0F;
  if (!has_mask) {
    multiply(s, key, end);
  }
  for (; key < end; key += HW_TILE_COLUMNS) {
    if (changes_all || key < s->sight.all.start || key + HW_TILE_COLUMNS > s->sight.all.end) {
      score_tile(s, key, has_mask);
    }
  }
}

/* Of each row scores = weights·(scores - delta), 0 where the weight is, whatever the value was. */
static void score_gradients(const float *weights, float *scores, size_t rows, size_t count, const float *deltas) {
  const hw_f32x4 zero = hw_splat(0.0F);
  for (size_t r = 0; r < rows; r++) {
    const hw_f32x4 delta = hw_load_splat(deltas + r);
    for (size_t i = 0; i < count; i += HW_LANES) {
      const hw_f32x4 weight = hw_load(weights + i);
      const hw_f32x4 gradient = hw_multiply(weight, hw_subtract(hw_load(scores + i), delta));
      hw_store(scores + i, hw_and_not(gradient, hw_equal(weight, zero)));
    }
    weights += HW_GRADIENT_STRIDE;
    scores += HW_GRADIENT_STRIDE;
  }
}

/* With dropout: of a weight that is dropped only the delta is left, and it meets no value. */
static void dropped_gradients(const hw_kept *kept, size_t row, size_t key, size_t count, float delta, float *weights,
                              float *scores) {
  for (size_t j = 0; j < count; j++) {
    const float factor = hw_is_kept(kept, row, key + j) ? kept->scale : 0.0F;
    const float gradient = weights[j] * ((factor == 0.0F ? 0.0F : scores[j] * factor) - delta);
    scores[j] = weights[j] == 0.0F ? 0.0F : gradient;
    weights[j] *= factor;
  }
}

static void add_to_mask(const gradient_strip *s, size_t r, const float *scores, size_t key, size_t count) {
  const hw_visibility *visible = s->sight.visible;
  float *out = s->head->mask_gradient + (s->sight.row + r) * visible->query_stride;
  for (size_t j = 0; j < count; j++) {
    out[(key + j) * visible->key_stride] += scores[j];
  }
}

/* A row's weights and gradients of scores, as dropout, the mask's gradient and a soft cap want it. */
static void change_row(const gradient_strip *s, size_t r, size_t key, size_t scored, size_t count) {
  const hw_gradient_block *block = s->block;
  const size_t column = key - block->first_key;
  const size_t at = (s->r + r) * HW_GRADIENT_STRIDE + column;
  float *scores = block->scores + at;
  if (s->head->head.kept.bits != NULL) {
    dropped_gradients(&s->head->head.kept, s->sight.row + r, key, count, block->deltas[s->r + r], block->weights + at,
                      scores);
    for (size_t j = count; j < scored; j++) {
      scores[j] = 0.0F;
    }
  }
  if (s->head->mask_gradient != NULL) {
    add_to_mask(s, r, scores, key, count);
  }
  if (s->head->head.softcap != 0.0F) {
    hw_row_multiply(scores, block->slopes + r * HW_GRADIENT_STRIDE + column, scores, scored);
  }
}

/* dP += dW, of keys [key, key + count) */
static void add_weights_gradient(const gradient_strip *s, size_t key, size_t count) {
  float *scores = s->block->scores + place_of(s, key);
  for (size_t r = 0; r < s->rows; r++) {
    const size_t row = s->sight.row + r;
    const float inverse = hw_inverse_sum(&s->head->head, row);
    const float *gradient = s->head->weights_gradient + row * s->gradients->keys.tokens + key;
    for (size_t j = 0; j < count; j++) {
      scores[r * HW_GRADIENT_STRIDE + j] += gradient[j] * inverse;
    }
  }
}

/* Weights and gradients of scores of keys [key, key + scored), the first `count` of which exist. */
static void finish_rows(const gradient_strip *s, size_t key, size_t scored, size_t count) {
  const hw_attention_head *head = &s->head->head;
  const size_t at = place_of(s, key);
  if (s->head->weights_gradient != NULL) {
    add_weights_gradient(s, key, count);
  }
  if (head->kept.bits == NULL) {
    score_gradients(s->block->weights + at, s->block->scores + at, s->rows, scored, s->block->deltas + s->r);
  }
  const bool changes = head->kept.bits != NULL || s->head->mask_gradient != NULL || head->softcap != 0.0F;
  for (size_t r = 0; changes && r < s->rows; r++) {
    change_row(s, r, key, scored, count);
  }
}

/* Zeros for the panel of keys from `from` on, which none of the strip sees. A strip of keys that reaches into it is seen
 * by some of the rows. */
static void clear_panel(const gradient_strip *s, size_t from) {
  const hw_key_range *keys = &s->block->keys;
  if (from >= keys->start && from < keys->end) {
    fill_tile(s->block->weights + place_of(s, from), 0.0F);
    fill_tile(s->block->scores + place_of(s, from), 0.0F);
  }
}

static void fill_strip(const gradient_strip *s) {
  const hw_gradient_block *block = s->block;
  const hw_gradient_keys *keys = &s->gradients->keys;
  const size_t from = s->sight.any.start / HW_TILE_COLUMNS * HW_TILE_COLUMNS;
  const size_t start = from > block->keys.start ? from : block->keys.start;
  const size_t end = hw_min(hw_whole_panels(s->sight.any.end), block->keys.end);
  if (start >= end) {
    return;
  }
  score_tiles(s, start, end);
  const size_t at = place_of(s, start);
  float sums[HW_TILE_ROWS] = {0.0F};
  hw_rows_exp(block->weights + at, HW_GRADIENT_STRIDE, s->rows, end - start, s->head->head.row_maximum + s->sight.row,
              sums);
  const size_t count = hw_min(end, keys->visible) - start;
  finish_rows(s, start, end - start, count);
  clear_panel(s, start - HW_TILE_COLUMNS);
  clear_panel(s, end);
  const size_t whole = hw_whole_panels(keys->key_width);
  for (size_t column = 0; column < whole; column += HW_TILE_COLUMNS) {
    const float *panel = s->gradients->key_columns + column * hw_whole_panels(keys->visible) + start * HW_TILE_COLUMNS;
    query_tile(block->scores + at, panel, count, block->query_sums + s->r * whole + column, whole);
  }
}

void hw_fill_gradient_block(const hw_key_gradients *gradients, const hw_gradient_head *head) {
  hw_gradient_block *block = gradients->block;
  for (size_t r = 0; r < block->rows; r += HW_TILE_ROWS) {
    const size_t rows = hw_min(block->rows - r, HW_TILE_ROWS);
    fill_strip(
        &(gradient_strip){head, block, gradients, hw_sight_of(&head->head.visible, block->row + r, rows), r, rows});
  }
}
