#include "layers/scaled_dot_product_attention.h"

#include <math.h>

float hw_attention_default_scale(size_t key_width) { return (float)(1.0 / sqrt((double)key_width)); }

const void *hw_mask_of_head(const hw_mask *mask, size_t batch, size_t head) {
  const size_t first = batch * mask->batch_stride + head * mask->head_stride;
  switch (mask->kind) {
    case HW_MASK_NONE:
      return NULL;
    case HW_MASK_BOOL:
      return (const uint8_t *)mask->data + first;
    case HW_MASK_FLOAT:
      return (const float *)mask->data + first;
  }
  return NULL;
}

bool hw_mask_is_valid(const hw_mask *mask) {
  return mask->kind == HW_MASK_NONE ||
         ((mask->kind == HW_MASK_BOOL || mask->kind == HW_MASK_FLOAT) && mask->data != NULL);
}

hw_status hw_attention_check(const hw_attention *attention) {
  const hw_attention *a = attention;
  if (a->batch == 0 || a->heads == 0 || a->query_tokens == 0 || a->key_tokens == 0 || a->key_width == 0 ||
      a->value_width == 0) {
    return HW_ERROR_SHAPE;
  }
  const bool pointers = a->query != NULL && a->key != NULL && a->value != NULL && a->output != NULL;
  const bool dropout = a->dropout >= 0.0 && a->dropout <= 1.0;
  return pointers && dropout && hw_mask_is_valid(&a->mask) ? HW_OK : HW_ERROR_VALUE;
}

static size_t record_rows(const hw_attention *a) {
  return hw_size_multiply(hw_size_multiply(a->batch, a->heads), a->query_tokens);
}

static size_t own_record_scratch(const hw_attention *a) {
  const size_t rows = record_rows(a);
  const size_t statistics = hw_arena_size(rows, sizeof(float));
  size_t bytes = hw_size_add(statistics, statistics);
  if (a->dropout > 0.0) {
    const size_t words = hw_size_multiply(rows, hw_keep_words(a->key_tokens));
    bytes = hw_size_add(bytes, hw_arena_size(words, sizeof(uint32_t)));
  }
  return bytes;
}

static hw_attention_record take_record(hw_arena *arena, const hw_attention *a) {
  const size_t rows = record_rows(a);
  return (hw_attention_record){
      .row_maximum = hw_arena_take_floats(arena, rows),
      .row_sum = hw_arena_take_floats(arena, rows),
      .keep = a->dropout > 0.0 ? hw_arena_take(arena, rows * hw_keep_words(a->key_tokens), sizeof(uint32_t)) : NULL,
      .batch_heads = a->heads,
  };
}

size_t hw_attention_run_scratch(const hw_attention *attention, const hw_attention_record *record) {
  const hw_attention *a = attention;
  size_t bytes = record == NULL ? own_record_scratch(a) : 0;
  bytes = hw_size_add(bytes, hw_pack_keys_scratch(a->key_tokens, a->key_width));
  bytes = hw_size_add(bytes, hw_attention_stream_scratch(a->key_tokens, a->key_width, a->value_width));
  return hw_size_add(bytes, a->weights == NULL ? 0 : hw_attention_weights_scratch(a->key_tokens, a->key_width));
}

static void draw_keep(hw_generator *generator, const hw_attention *a, const hw_attention_record *record) {
  if (record->keep == NULL) {
    return;
  }
  const size_t head_words = a->query_tokens * hw_keep_words(a->key_tokens);
  for (size_t b = 0; b < a->batch; b++) {
    for (size_t h = 0; h < a->heads; h++) {
      uint32_t *bits = record->keep + (b * record->batch_heads + h) * head_words;
      hw_generator_keep(generator, a->dropout, bits, a->query_tokens, a->key_tokens);
    }
  }
}

hw_attention_head hw_attention_head_of(const hw_attention *attention, const hw_attention_record *record, size_t batch,
                                       size_t head) {
  const hw_attention *a = attention;
  const size_t first_row = (batch * record->batch_heads + head) * a->query_tokens;
  const size_t words = hw_keep_words(a->key_tokens);
  return (hw_attention_head){
      .query_tokens = a->query_tokens,
      .key_tokens = a->key_tokens,
      .key_width = a->key_width,
      .value_width = a->value_width,
      .query = a->query + batch * a->query_strides.batch + head * a->query_strides.head,
      .key = a->key + batch * a->key_strides.batch + head * a->key_strides.head,
      .value = a->value + batch * a->value_strides.batch + head * a->value_strides.head,
      .output = a->output + batch * a->output_strides.batch + head * a->output_strides.head,
      .query_stride = a->query_strides.token,
      .key_stride = a->key_strides.token,
      .value_stride = a->value_strides.token,
      .output_stride = a->output_strides.token,
      .scale = a->scale,
      .visible = {a->is_causal, a->causal_offset, a->mask.kind, hw_mask_of_head(&a->mask, batch, head),
                  a->mask.query_stride, a->mask.key_stride},
      .keep = {record->keep == NULL ? NULL : record->keep + first_row * words, words, hw_keep_scale(a->dropout)},
      .row_maximum = record->row_maximum + first_row,
      .row_sum = record->row_sum + first_row,
  };
}

static void store_log_sum_exp(const hw_attention_head *head, float *out) {
  for (size_t i = 0; i < head->query_tokens; i++) {
    out[i] = (float)(((double)head->row_maximum[i] + log2((double)head->row_sum[i])) * 0.69314718055994531);
  }
}

static void run_head(hw_context *context, const hw_attention *a, const hw_attention_record *record, size_t b,
                     size_t h) {
  hw_arena *arena = &context->arena;
  const size_t mark = arena->used;
  const hw_attention_head head = hw_attention_head_of(a, record, b, h);
  const float *key_panels = hw_pack_keys(arena, &head);
  hw_attention_stream(arena, &head, key_panels);
  if (a->weights != NULL) {
    float *weights = a->weights + b * a->weights_batch_stride + h * a->query_tokens * a->key_tokens;
    hw_attention_weights(arena, &head, key_panels, 0, a->query_tokens, weights);
  }
  if (a->log_sum_exp != NULL) {
    store_log_sum_exp(&head, a->log_sum_exp + b * a->log_sum_exp_batch_stride + h * a->query_tokens);
  }
  arena->used = mark;
}

void hw_attention_run(hw_context *context, const hw_attention *attention, const hw_attention_record *record) {
  const size_t mark = context->arena.used;
  const hw_attention_record kept = record == NULL ? take_record(&context->arena, attention) : *record;
  draw_keep(&context->generator, attention, &kept);
  for (size_t b = 0; b < attention->batch; b++) {
    for (size_t h = 0; h < attention->heads; h++) {
      run_head(context, attention, &kept, b, h);
    }
  }
  context->arena.used = mark;
}

hw_status hw_scaled_dot_product_attention(hw_context *context, const hw_attention *attention) {
  HW_TRY(hw_attention_check(attention));
  HW_TRY(hw_arena_reserve(&context->arena, hw_attention_run_scratch(attention, NULL)));
  hw_attention_run(context, attention, NULL);
  return HW_OK;
}
