#include "ops/attention_call.h"

#include <math.h>

float hw_attention_default_scale(size_t key_width) { return (float)(1.0 / sqrt((double)key_width)); }

/* The mask's elements from one on; NULL for no mask. */
static const void *mask_from(const hw_mask *mask, size_t element) {
  switch (mask->kind) {
    case HW_MASK_BOOL:
      return (const uint8_t *)mask->data + element;
    case HW_MASK_FLOAT:
      return (const float *)mask->data + element;
    default:
      return NULL;
  }
}

hw_mask hw_mask_from_head(const hw_mask *mask, size_t head) {
  hw_mask rest = *mask;
  rest.data = mask_from(mask, head * mask->head_stride);
  return rest;
}

size_t hw_mask_bytes(const hw_mask *mask, const hw_trace_shape *scores) {
  const bool is_empty =
      scores->batch == 0 || scores->heads == 0 || scores->query_tokens == 0 || scores->key_tokens == 0;
  if (mask->kind == HW_MASK_NONE || is_empty) {
    return 0;
  }
  const size_t elements = (scores->batch - 1) * mask->batch_stride + (scores->heads - 1) * mask->head_stride +
                          (scores->query_tokens - 1) * mask->query_stride +
                          (scores->key_tokens - 1) * mask->key_stride + 1;
  return elements * (mask->kind == HW_MASK_BOOL ? 1 : sizeof(float));
}

bool hw_mask_is_valid(const hw_mask *mask) {
  return mask->kind == HW_MASK_NONE ||
         ((mask->kind == HW_MASK_BOOL || mask->kind == HW_MASK_FLOAT) && mask->data != NULL);
}

hw_status hw_attention_check(const hw_attention *attention) {
  const hw_attention *a = attention;
  const bool shares = a->heads == a->key_heads || (a->key_heads > 0 && a->heads % a->key_heads == 0);
  if (!shares || a->key_width == 0 || a->value_width == 0) {
    return HW_ERROR_SHAPE;
  }
  const bool pointers = a->query != NULL && a->key != NULL && a->value != NULL && a->output != NULL;
  const bool kind = a->weights_kind >= HW_WEIGHTS_PROBABILITIES && a->weights_kind <= HW_WEIGHTS_MASKED;
  if (!pointers || !hw_dropout_is_valid(a->dropout) || !hw_softcap_is_valid(a->softcap) || !kind ||
      !hw_mask_is_valid(&a->mask)) {
    return HW_ERROR_VALUE;
  }
  for (size_t b = 0; a->key_lengths != NULL && b < a->batch; b++) {
    if (a->key_lengths[b] > a->key_tokens) {
      return HW_ERROR_VALUE;
    }
  }
  return HW_OK;
}

hw_attention_record hw_attention_take_record(hw_arena *arena, const hw_attention *attention) {
  const hw_attention *a = attention;
  const size_t rows = hw_size_multiply(hw_size_multiply(a->batch, a->heads), a->query_tokens);
  const size_t words = a->dropout > 0.0 ? hw_size_multiply(rows, hw_kept_words(a->key_tokens)) : 0;
  return (hw_attention_record){
      .row_maximum = a->row_maximum != NULL ? a->row_maximum : hw_arena_take_floats(arena, rows),
      .row_sum = a->row_sum != NULL ? a->row_sum : hw_arena_take_floats(arena, rows),
      .kept = words == 0        ? NULL
              : a->kept != NULL ? a->kept
                                : hw_arena_take(arena, words, sizeof(uint32_t)),
      .batch_heads = a->heads,
  };
}

static hw_visibility visibility_of(const hw_attention *a, size_t batch, size_t head) {
  hw_visibility visible = {
      .start_shift = -HW_UNLIMITED,
      .end_shift = HW_UNLIMITED,
      .key_tokens = hw_key_length(a, batch),
      .mask_kind = a->mask.kind,
      .mask = mask_from(&a->mask, batch * a->mask.batch_stride + head * a->mask.head_stride),
      .query_stride = a->mask.query_stride,
      .key_stride = a->mask.key_stride,
  };
  int64_t offset = a->causal_offset + (a->offsets == NULL ? 0 : (int64_t)a->offsets[batch]);
  if (a->offset_from_end) {
    offset += (int64_t)visible.key_tokens - (int64_t)a->query_tokens;
  }
  if (a->is_windowed && a->window_left >= 0) {
    visible.start_shift = offset - a->window_left;
  }
  if (a->is_windowed && a->window_right >= 0) {
    visible.end_shift = offset + a->window_right + 1;
  }
  if (a->is_causal && visible.end_shift > offset + 1) {
    visible.end_shift = offset + 1;
  }
  return visible;
}

/* The number of the head whose keys and values a head reads. */
static size_t key_head_of(const hw_attention *a, size_t batch, size_t head) {
  return batch * a->key_heads + hw_quotient(head, hw_sharing_heads(a));
}

hw_attention_head hw_attention_head_of(const hw_attention *attention, const hw_attention_record *record,
                                       const hw_key_value_store *store, size_t batch, size_t head) {
  const hw_attention *a = attention;
  const size_t first_row = (batch * record->batch_heads + head) * a->query_tokens;
  const size_t words = hw_kept_words(a->key_tokens);
  const size_t output_start = batch * a->output_strides.batch + head * a->output_strides.head;
  return (hw_attention_head){
      .query_tokens = a->query_tokens,
      .query = a->query + batch * a->query_strides.batch + head * a->query_strides.head,
      .output = a->output == NULL ? NULL : a->output + output_start, /* a trace has none */
      .query_stride = a->query_strides.token,
      .output_stride = a->output_strides.token,
      .scale = a->scale,
      .softcap = a->softcap,
      .key_tokens = a->key_tokens,
      .panels = hw_key_value_store_head(store, key_head_of(a, batch, head)),
      .visible = visibility_of(a, batch, head),
      .kept = {record->kept == NULL ? NULL : record->kept + first_row * words, words, hw_kept_scale(a->dropout)},
      .row_maximum = record->row_maximum + first_row,
      .row_sum = record->row_sum + first_row,
  };
}
