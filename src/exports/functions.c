/* Random numbers and functions of tensors. */
#include "exports/exports.h"
#include "ops/attention.h"

HW_EXPORT(hw_status, manual_seed, (uint32_t low, uint32_t high)) {
  return hw_manual_seed(hw_export_context(), (uint64_t)high << 32 | low);
}

HW_EXPORT(hw_status, get_rng_state, (uint64_t * state)) { return hw_get_rng_state(hw_export_context(), state); }

HW_EXPORT(hw_status, set_rng_state, (const uint64_t *state)) { return hw_set_rng_state(hw_export_context(), state); }

HW_EXPORT(hw_status, rand, (float *out, size_t count)) { return hw_rand(hw_export_context(), out, count); }

HW_EXPORT(hw_status, randn, (float *out, size_t count)) { return hw_randn(hw_export_context(), out, count); }

HW_EXPORT(hw_status, matmul,
          (const float *a, const float *b, float *c, size_t batch, const uint32_t *a_index, const uint32_t *b_index,
           size_t m, size_t k, size_t n)) {
  return hw_matmul(hw_export_context(), a, b, c, batch, a_index, b_index, m, k, n);
}

HW_EXPORT(hw_status, transpose, (const float *x, float *y, size_t batch, size_t rows, size_t columns)) {
  return hw_transpose(x, y, batch, rows, columns);
}

HW_EXPORT(hw_status, softmax, (const float *x, float *y, size_t rows, size_t columns)) {
  return hw_softmax(x, y, rows, columns);
}

HW_EXPORT(hw_status, gelu, (const float *x, float *y, size_t count, uint32_t approximate)) {
  return hw_gelu(hw_export_context(), x, y, count, (hw_gelu_approximation)approximate);
}

HW_EXPORT(hw_status, layer_norm,
          (const float *x, size_t rows, size_t columns, const float *weight, const float *bias, double eps, float *y)) {
  return hw_layer_normalization(hw_export_context(), x, rows, columns, weight, bias, eps, y);
}

HW_EXPORT(hw_status, broadcast,
          (uint32_t operation, size_t rank, const uint32_t *shape, const float *a, const uint32_t *a_shape,
           const float *b, const uint32_t *b_shape, float *y)) {
  return hw_broadcast((hw_binary_operation)operation, rank, shape, a, a_shape, b, b_shape, y);
}

HW_EXPORT(hw_status, sum,
          (size_t rank, const uint32_t *shape, const float *x, const uint32_t *y_shape, double scale, float *y)) {
  return hw_sum(rank, shape, x, y_shape, scale, y);
}

HW_EXPORT(hw_status, dropout, (const float *x, size_t count, double probability, float *y)) {
  return hw_dropout(hw_export_context(), x, count, probability, y);
}

HW_EXPORT(hw_status, sample,
          (const float *logits, size_t count, double temperature, size_t top_k, double top_p, double uniform,
           uint32_t *id, double *log_probability)) {
  const hw_sampling sampling = {temperature, top_k, top_p, uniform};
  return hw_sample(hw_export_context(), logits, count, &sampling, id, log_probability);
}

hw_attention hw_export_attention(const hw_attention_arguments *arguments) {
  const hw_attention_arguments *a = arguments;
  return (hw_attention){
      .batch = a->batch,
      .heads = a->heads,
      .key_heads = a->key_heads,
      .query_tokens = a->query_tokens,
      .key_tokens = a->key_tokens,
      .key_width = a->key_width,
      .value_width = a->value_width,
      .query = a->query,
      .key = a->key,
      .value = a->value,
      .output = a->output,
      .query_strides = hw_head_major(a->heads, a->query_tokens, a->key_width),
      .key_strides = hw_head_major(a->key_heads, a->key_tokens, a->key_width),
      .value_strides = hw_head_major(a->key_heads, a->key_tokens, a->value_width),
      .output_strides = hw_head_major(a->heads, a->query_tokens, a->value_width),
      .scale = a->scale,
      .softcap = a->softcap,
      .is_causal = a->is_causal,
      .offset_from_end = a->offset_from_end,
      .causal_offset = a->causal_offset,
      .is_windowed = true,
      .window_left = a->window_left,
      .window_right = a->window_right,
      .key_lengths = a->key_lengths,
      .mask = a->mask,
      .dropout = a->dropout,
      .weights = a->weights,
      .weights_kind = a->weights_kind,
      .weights_batch_stride = (size_t)a->heads * a->query_tokens * a->key_tokens,
      .row_maximum = a->row_maximum,
      .row_sum = a->row_sum,
      .kept = a->kept,
  };
}

HW_EXPORT(hw_status, scaled_dot_product_attention, (const hw_attention_arguments *a)) {
  if (a == NULL) {
    return HW_ERROR_VALUE;
  }
  const hw_attention attention = hw_export_attention(a);
  return hw_scaled_dot_product_attention(hw_export_context(), &attention);
}
