#include <math.h>
#include <string.h>

#include "kernels/attention_weights.h"

void hw_attention_scores(const hw_attention_head *head, hw_weights_kind kind, size_t row, size_t rows, float *out,
                         unsigned char *scratch) {
  const size_t columns = head->key_tokens;
  const hw_visibility everything = {
      .start_shift = -HW_UNLIMITED, .end_shift = HW_UNLIMITED, .key_tokens = head->key_tokens};
  hw_score_source source = hw_attention_source(head);
  if (kind != HW_WEIGHTS_MASKED) {
    source.visible = &everything;
    source.softcap = kind == HW_WEIGHTS_SCORES ? 0.0F : head->softcap;
  }
  hw_arena arena = {.memory = scratch, .capacity = hw_attention_weights_scratch_bytes(source.key_width)};
  float *queries = hw_arena_take_floats(&arena, hw_packed_queries_floats(HW_TILE_ROWS, source.key_width));
  hw_strip strip = {.scores = hw_arena_take_floats(&arena, (size_t)HW_TILE_ROWS * HW_STRIP_STRIDE),
                    .stride = HW_STRIP_STRIDE};
  hw_pack_queries(head->query + row * head->query_stride, head->query_stride, rows, source.key_width, head->scale,
                  queries);
  for (size_t i = 0; i < rows * columns; i++) {
    out[i] = -INFINITY;
  }
  for (size_t key = 0; key < source.visible->key_tokens; key += HW_KEY_BLOCK) {
    hw_score_strip(&source, queries, row, rows, key, key + HW_KEY_BLOCK, &strip);
    for (size_t i = 0; i < rows * strip.run_count; i++) {
      const hw_key_range run = strip.runs[i / rows];
      const size_t end = hw_min(run.end, source.visible->key_tokens - key);
      const float *scores = strip.scores + i % rows * strip.stride;
      memcpy(out + i % rows * columns + key + run.start, scores + run.start, (end - run.start) * sizeof(float));
    }
  }
}
