#include "kernels/attention_weights.h"

#include <math.h>
#include <string.h>

#include "kernels/elementwise.h"
#include "kernels/online_softmax.h"

float *hw_take_strip(hw_arena *arena, hw_matrix_type dtype, size_t key_width, hw_strip *strip) {
  float *queries = hw_arena_take_floats(arena, hw_packed_queries_floats(HW_TILE_ROWS, key_width));
  strip->scores = hw_arena_take_floats(arena, (size_t)HW_TILE_ROWS * HW_STRIP_STRIDE);
  strip->stride = HW_STRIP_STRIDE;
  strip->room = hw_arena_take_floats(arena, hw_float_panels_room(dtype, key_width, 0));
  return queries;
}

size_t hw_attention_weights_scratch_bytes(hw_matrix_type dtype, size_t key_width) {
  hw_arena arena = {.measures = true};
  hw_strip strip;
  hw_take_strip(&arena, dtype, key_width, &strip);
  return arena.peak;
}

/* Room for the strip's scores; returns its queries, packed. */
static const float *start_strip(const hw_attention_head *head, size_t row, size_t rows, hw_strip *strip,
                                unsigned char *scratch) {
  const size_t width = head->panels.key_width;
  hw_arena arena = {.memory = scratch, .capacity = SIZE_MAX};
  float *queries = hw_take_strip(&arena, head->panels.dtype, width, strip);
  hw_pack_queries(head->query + row * head->query_stride, head->query_stride, rows, width, head->scale, queries);
  return queries;
}

static void store_weights(const hw_attention_head *head, const hw_strip *strip, size_t r, size_t row, size_t key_start,
                          float *out) {
  const float inverse = hw_inverse_sum(head, row);
  for (size_t i = 0; i < strip->range_count; i++) {
    const hw_key_range range = strip->ranges[i];
    float *scores = strip->scores + r * HW_STRIP_STRIDE + range.start;
    const size_t key = key_start + range.start;
    const size_t count = hw_min(range.end - range.start, head->visible.key_tokens - key);
    float sum = 0.0F;
    hw_weigh_scores(head, row, 1, &(hw_scored_keys){key, range.end - range.start, count}, scores, &sum);
    hw_row_scale(scores, out + key, count, inverse);
  }
}

void hw_attention_weights(const hw_attention_head *head, size_t row, size_t rows, float *out, unsigned char *scratch) {
  const size_t key_tokens = head->key_tokens;
  hw_strip strip;
  const float *queries = start_strip(head, row, rows, &strip, scratch);
  for (size_t r = 0; r < rows; r++) {
    for (size_t j = 0; j < key_tokens; j++) {
      /* 0, or NaN where the row's sum is: a softmax is NaN as a whole. */
      out[r * key_tokens + j] = 0.0F * hw_inverse_sum(head, row + r);
    }
  }
  const hw_key_range keys = hw_keys_of_any(&head->visible, row, rows);
  for (size_t key = keys.start / HW_TILE_COLUMNS * HW_TILE_COLUMNS; key < keys.end; key += HW_KEY_BLOCK) {
    hw_key_value_panels floats;
    hw_float_panels(&head->panels, key, keys.end, false, strip.room, &floats);
    const hw_score_source source = hw_attention_source(head, &floats);
    hw_score_strip(&source, queries, row, rows, key, key + HW_KEY_BLOCK, &strip);
    for (size_t r = 0; r < rows; r++) {
      store_weights(head, &strip, r, row + r, key, out + r * key_tokens);
    }
  }
}

void hw_attention_scores(const hw_attention_head *head, hw_weights_kind kind, size_t row, size_t rows, float *out,
                         unsigned char *scratch) {
  const size_t columns = head->key_tokens;
  const hw_visibility everything = {
      .start_shift = -HW_UNLIMITED, .end_shift = HW_UNLIMITED, .key_tokens = head->key_tokens};
  const bool is_masked = kind == HW_WEIGHTS_MASKED;
  const size_t end_of_keys = is_masked ? head->visible.key_tokens : everything.key_tokens;
  hw_strip strip;
  const float *queries = start_strip(head, row, rows, &strip, scratch);
  for (size_t i = 0; i < rows * columns; i++) {
    out[i] = -INFINITY;
  }
  for (size_t key = 0; key < end_of_keys; key += HW_KEY_BLOCK) {
    hw_key_value_panels floats;
    hw_float_panels(&head->panels, key, end_of_keys, false, strip.room, &floats);
    hw_score_source source = hw_attention_source(head, &floats);
    source.visible = is_masked ? &head->visible : &everything;
    source.softcap = kind == HW_WEIGHTS_SCORES ? 0.0F : head->softcap;
    hw_score_strip(&source, queries, row, rows, key, key + HW_KEY_BLOCK, &strip);
    for (size_t i = 0; i < rows * strip.range_count; i++) {
      const hw_key_range range = strip.ranges[i / rows];
      const size_t end = hw_min(range.end, end_of_keys - key);
      const float *scores = strip.scores + i % rows * strip.stride;
      memcpy(out + i % rows * columns + key + range.start, scores + range.start, (end - range.start) * sizeof(float));
    }
  }
}
