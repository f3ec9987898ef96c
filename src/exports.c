/*
 * What JavaScript may call. Every argument is checked here or in the function that is called; nothing traps.
 *
 * One context per module instance. Pointers are addresses in the module's memory; a created object's address is left
 * in the result slot. Functions that can fail return an hw_status. Structs that JavaScript fills lie in staging memory;
 * their 32-bit fields are mirrored in web/headwise/, where mask.js,
 * scaled-dot-product-attention.js and modules/attention-module.js write them.
 */
#include "exports.h"

#include "core/memory.h"
#include "core/simd.h"
#include "headwise.h"

static hw_context *context;
static void *result_slot;
static void *staging;
static size_t staging_bytes;

#if defined(__EMSCRIPTEN__) && !defined(HW_THREADS)
/* Called by the allocator when memory grows; defining it here leaves the module without imports. */
void emscripten_notify_memory_growth(size_t memory_index);
void emscripten_notify_memory_growth(size_t memory_index) { (void)memory_index; }
#endif

/* ---- Engine ---- */

HW_EXPORT(engine_start) hw_status hw_export_engine_start(void);
hw_status hw_export_engine_start(void) { return context != NULL ? HW_OK : hw_context_create(&context); }

hw_context *hw_export_context(void) { return context; }

void **hw_export_result_slot(void) { return &result_slot; }

HW_EXPORT(result_address) void *hw_export_result_address(void);
void *hw_export_result_address(void) { return (void *)&result_slot; }

/* Memory in which JavaScript lays inputs and finds outputs; NULL if it cannot be had. Keeps no contents when it
 * grows, and is empty after it could not. */
HW_EXPORT(staging_reserve) void *hw_export_staging_reserve(size_t bytes);
void *hw_export_staging_reserve(size_t bytes) {
  if (bytes <= staging_bytes) {
    return staging;
  }
  hw_release(staging);
  staging = hw_allocate(bytes);
  staging_bytes = staging == NULL ? 0 : bytes;
  return staging;
}

/* Gives it back, so that what comes after a call that ran out of memory has room. */
HW_EXPORT(staging_release) void hw_export_staging_release(void);
void hw_export_staging_release(void) {
  hw_release(staging);
  staging = NULL;
  staging_bytes = 0;
}

HW_EXPORT(staging_capacity) size_t hw_export_staging_capacity(void);
size_t hw_export_staging_capacity(void) { return staging_bytes; }

/* Nonzero in the module built with relaxed SIMD. */
HW_EXPORT(has_relaxed_simd) uint32_t hw_export_has_relaxed_simd(void);
uint32_t hw_export_has_relaxed_simd(void) { return HW_FUSED; }

/* ---- Random numbers ---- */

HW_EXPORT(manual_seed) void hw_export_manual_seed(uint32_t low, uint32_t high);
void hw_export_manual_seed(uint32_t low, uint32_t high) { hw_manual_seed(context, (uint64_t)high << 32 | low); }

HW_EXPORT(rand) void hw_export_rand(float *out, size_t count);
void hw_export_rand(float *out, size_t count) { hw_rand(context, out, count); }

HW_EXPORT(randn) void hw_export_randn(float *out, size_t count);
void hw_export_randn(float *out, size_t count) { hw_randn(context, out, count); }

/* ---- Functions ---- */

HW_EXPORT(matmul)
hw_status hw_export_matmul(const float *a, const float *b, float *c, size_t batch, const uint32_t *a_index,
                           const uint32_t *b_index, size_t m, size_t k, size_t n);
hw_status hw_export_matmul(const float *a, const float *b, float *c, size_t batch, const uint32_t *a_index,
                           const uint32_t *b_index, size_t m, size_t k, size_t n) {
  return hw_matmul(context, a, b, c, batch, a_index, b_index, m, k, n);
}

HW_EXPORT(transpose) void hw_export_transpose(const float *x, float *y, size_t batch, size_t rows, size_t columns);
void hw_export_transpose(const float *x, float *y, size_t batch, size_t rows, size_t columns) {
  hw_transpose(x, y, batch, rows, columns);
}

HW_EXPORT(softmax) void hw_export_softmax(const float *x, float *y, size_t rows, size_t columns);
void hw_export_softmax(const float *x, float *y, size_t rows, size_t columns) { hw_softmax(x, y, rows, columns); }

/* Rank-4 tensors, head-major and contiguous, as PyTorch's function takes them. */
typedef struct hw_attention_arguments {
  uint32_t batch;
  uint32_t heads;
  uint32_t key_heads;
  uint32_t query_tokens;
  uint32_t key_tokens;
  uint32_t key_width;
  uint32_t value_width;
  const float *query;
  const float *key;
  const float *value;
  float *output;
  float *weights;
  const uint32_t *key_lengths;
  float scale;
  float softcap;
  hw_weights_kind weights_kind;
  uint32_t is_causal;
  uint32_t offset_from_end;
  int32_t causal_offset;
  int32_t window_left; /* negative: unlimited */
  int32_t window_right;
  hw_mask mask;
} hw_attention_arguments;

static hw_strides head_major(size_t heads, size_t tokens, size_t width) {
  return (hw_strides){.batch = heads * tokens * width, .head = tokens * width, .token = width};
}

HW_EXPORT(scaled_dot_product_attention)
hw_status hw_export_scaled_dot_product_attention(const hw_attention_arguments *a, double dropout);
hw_status hw_export_scaled_dot_product_attention(const hw_attention_arguments *a, double dropout) {
  const hw_attention attention = {
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
      .query_strides = head_major(a->heads, a->query_tokens, a->key_width),
      .key_strides = head_major(a->key_heads, a->key_tokens, a->key_width),
      .value_strides = head_major(a->key_heads, a->key_tokens, a->value_width),
      .output_strides = head_major(a->heads, a->query_tokens, a->value_width),
      .scale = a->scale,
      .softcap = a->softcap,
      .is_causal = a->is_causal != 0,
      .offset_from_end = a->offset_from_end != 0,
      .causal_offset = a->causal_offset,
      .is_windowed = true,
      .window_left = a->window_left,
      .window_right = a->window_right,
      .key_lengths = a->key_lengths,
      .mask = a->mask,
      .dropout = dropout,
      .weights = a->weights,
      .weights_kind = a->weights_kind,
      .weights_batch_stride = (size_t)a->heads * a->query_tokens * a->key_tokens,
  };
  return hw_scaled_dot_product_attention(context, &attention);
}

/* ---- Linear ---- */

static hw_context *generator_of(bool draw) { return draw ? context : NULL; }

HW_EXPORT(linear_create)
hw_status hw_export_linear_create(bool draw, size_t in_features, size_t out_features, bool bias);
hw_status hw_export_linear_create(bool draw, size_t in_features, size_t out_features, bool bias) {
  return hw_linear_create(generator_of(draw), in_features, out_features, bias, (hw_linear **)&result_slot);
}

HW_EXPORT(linear_destroy) void hw_export_linear_destroy(hw_linear *linear);
void hw_export_linear_destroy(hw_linear *linear) { hw_linear_destroy(linear); }

HW_EXPORT(linear_load)
hw_status hw_export_linear_load(hw_linear *linear, size_t first_row, size_t rows, const float *weight,
                                const float *bias);
hw_status hw_export_linear_load(hw_linear *linear, size_t first_row, size_t rows, const float *weight,
                                const float *bias) {
  return hw_linear_load(linear, first_row, rows, weight, bias);
}

HW_EXPORT(linear_store)
hw_status hw_export_linear_store(const hw_linear *linear, size_t first_row, size_t rows, float *weight, float *bias);
hw_status hw_export_linear_store(const hw_linear *linear, size_t first_row, size_t rows, float *weight, float *bias) {
  return hw_linear_store(linear, first_row, rows, weight, bias);
}

HW_EXPORT(linear_forward)
hw_status hw_export_linear_forward(const hw_linear *linear, const float *x, size_t rows, float *y);
hw_status hw_export_linear_forward(const hw_linear *linear, const float *x, size_t rows, float *y) {
  return hw_linear_forward(context, linear, x, rows, y);
}

/* ---- Attention modules ---- */

#ifdef __wasm__
_Static_assert(sizeof(hw_forward_options) == 10 * sizeof(uint32_t), "as modules/attention-module.js writes it");
#endif

HW_EXPORT(causal_attention_create)
hw_status hw_export_causal_attention_create(bool draw, size_t d_in, size_t d_out, size_t context_length, double dropout,
                                            bool qkv_bias, bool is_causal);
hw_status hw_export_causal_attention_create(bool draw, size_t d_in, size_t d_out, size_t context_length, double dropout,
                                            bool qkv_bias, bool is_causal) {
  const hw_causal_attention_config config = {d_in, d_out, context_length, dropout, qkv_bias, is_causal};
  return hw_causal_attention_create(generator_of(draw), &config, (hw_causal_attention **)&result_slot);
}

HW_EXPORT(causal_attention_destroy) void hw_export_causal_attention_destroy(hw_causal_attention *module);
void hw_export_causal_attention_destroy(hw_causal_attention *module) { hw_causal_attention_destroy(module); }

HW_EXPORT(causal_attention_linear)
hw_linear *hw_export_causal_attention_linear(hw_causal_attention *module, size_t index);
hw_linear *hw_export_causal_attention_linear(hw_causal_attention *module, size_t index) {
  return hw_causal_attention_linear(module, index);
}

HW_EXPORT(causal_attention_train) void hw_export_causal_attention_train(hw_causal_attention *module, bool training);
void hw_export_causal_attention_train(hw_causal_attention *module, bool training) {
  hw_causal_attention_train(module, training);
}

HW_EXPORT(causal_attention_forward)
hw_status hw_export_causal_attention_forward(hw_causal_attention *module, const float *x, size_t batch, size_t tokens,
                                             float *y, const hw_forward_options *options);
hw_status hw_export_causal_attention_forward(hw_causal_attention *module, const float *x, size_t batch, size_t tokens,
                                             float *y, const hw_forward_options *options) {
  return hw_causal_attention_forward(context, module, x, batch, tokens, y, options);
}

HW_EXPORT(wrapper_create)
hw_status hw_export_wrapper_create(bool draw, size_t d_in, size_t d_out, size_t context_length, double dropout,
                                   size_t num_heads, bool qkv_bias, bool is_causal);
hw_status hw_export_wrapper_create(bool draw, size_t d_in, size_t d_out, size_t context_length, double dropout,
                                   size_t num_heads, bool qkv_bias, bool is_causal) {
  const hw_causal_attention_config config = {d_in, d_out, context_length, dropout, qkv_bias, is_causal};
  return hw_multi_head_attention_wrapper_create(generator_of(draw), &config, num_heads,
                                                (hw_multi_head_attention_wrapper **)&result_slot);
}

HW_EXPORT(wrapper_destroy) void hw_export_wrapper_destroy(hw_multi_head_attention_wrapper *module);
void hw_export_wrapper_destroy(hw_multi_head_attention_wrapper *module) {
  hw_multi_head_attention_wrapper_destroy(module);
}

HW_EXPORT(wrapper_linear)
hw_linear *hw_export_wrapper_linear(hw_multi_head_attention_wrapper *module, size_t head, size_t index);
hw_linear *hw_export_wrapper_linear(hw_multi_head_attention_wrapper *module, size_t head, size_t index) {
  hw_causal_attention *one = hw_multi_head_attention_wrapper_head(module, head);
  return one == NULL ? NULL : hw_causal_attention_linear(one, index);
}

HW_EXPORT(wrapper_train) void hw_export_wrapper_train(hw_multi_head_attention_wrapper *module, bool training);
void hw_export_wrapper_train(hw_multi_head_attention_wrapper *module, bool training) {
  hw_multi_head_attention_wrapper_train(module, training);
}

HW_EXPORT(wrapper_forward)
hw_status hw_export_wrapper_forward(hw_multi_head_attention_wrapper *module, const float *x, size_t batch,
                                    size_t tokens, float *y, const hw_forward_options *options);
hw_status hw_export_wrapper_forward(hw_multi_head_attention_wrapper *module, const float *x, size_t batch,
                                    size_t tokens, float *y, const hw_forward_options *options) {
  return hw_multi_head_attention_wrapper_forward(context, module, x, batch, tokens, y, options);
}

HW_EXPORT(attention_create)
hw_status hw_export_attention_create(bool draw, size_t d_in, size_t d_out, size_t context_length, double dropout,
                                     size_t num_heads, bool qkv_bias, bool out_proj, bool out_bias, bool is_causal,
                                     bool packed_qkv);
hw_status hw_export_attention_create(bool draw, size_t d_in, size_t d_out, size_t context_length, double dropout,
                                     size_t num_heads, bool qkv_bias, bool out_proj, bool out_bias, bool is_causal,
                                     bool packed_qkv) {
  const hw_multi_head_attention_config config = {d_in,     d_out,    context_length, num_heads, dropout,
                                                 qkv_bias, out_proj, out_bias,       is_causal, packed_qkv};
  return hw_multi_head_attention_create(generator_of(draw), &config, (hw_multi_head_attention **)&result_slot);
}

HW_EXPORT(attention_destroy) void hw_export_attention_destroy(hw_multi_head_attention *module);
void hw_export_attention_destroy(hw_multi_head_attention *module) { hw_multi_head_attention_destroy(module); }

HW_EXPORT(attention_qkv_proj) hw_linear *hw_export_attention_qkv_proj(hw_multi_head_attention *module);
hw_linear *hw_export_attention_qkv_proj(hw_multi_head_attention *module) {
  return hw_multi_head_attention_qkv_proj(module);
}

HW_EXPORT(attention_out_proj) hw_linear *hw_export_attention_out_proj(hw_multi_head_attention *module);
hw_linear *hw_export_attention_out_proj(hw_multi_head_attention *module) {
  return hw_multi_head_attention_out_proj(module);
}

HW_EXPORT(attention_train) void hw_export_attention_train(hw_multi_head_attention *module, bool training);
void hw_export_attention_train(hw_multi_head_attention *module, bool training) {
  hw_multi_head_attention_train(module, training);
}

HW_EXPORT(attention_forward)
hw_status hw_export_attention_forward(hw_multi_head_attention *module, const float *x, size_t batch, size_t tokens,
                                      float *y, const hw_forward_options *options);
hw_status hw_export_attention_forward(hw_multi_head_attention *module, const float *x, size_t batch, size_t tokens,
                                      float *y, const hw_forward_options *options) {
  return hw_multi_head_attention_forward(context, module, x, batch, tokens, y, options);
}

/* ---- Caches ---- */

HW_EXPORT(attention_create_cache)
hw_status hw_export_attention_create_cache(const hw_multi_head_attention *module, size_t batch, const float *past_key,
                                           const float *past_value, size_t past_tokens);
hw_status hw_export_attention_create_cache(const hw_multi_head_attention *module, size_t batch, const float *past_key,
                                           const float *past_value, size_t past_tokens) {
  return hw_multi_head_attention_create_cache(module, batch, past_key, past_value, past_tokens,
                                              (hw_key_value_cache **)&result_slot);
}

HW_EXPORT(cache_destroy) void hw_export_cache_destroy(hw_key_value_cache *cache);
void hw_export_cache_destroy(hw_key_value_cache *cache) { hw_key_value_cache_destroy(cache); }

HW_EXPORT(cache_length) size_t hw_export_cache_length(const hw_key_value_cache *cache);
size_t hw_export_cache_length(const hw_key_value_cache *cache) { return hw_key_value_cache_length(cache); }

HW_EXPORT(cache_truncate) hw_status hw_export_cache_truncate(hw_key_value_cache *cache, size_t length);
hw_status hw_export_cache_truncate(hw_key_value_cache *cache, size_t length) {
  return hw_key_value_cache_truncate(cache, length);
}

/* ---- Traces ---- */

HW_EXPORT(trace_destroy) void hw_export_trace_destroy(hw_trace *trace);
void hw_export_trace_destroy(hw_trace *trace) { hw_trace_destroy(trace); }

HW_EXPORT(trace_bytes) size_t hw_export_trace_bytes(const hw_trace *trace);
size_t hw_export_trace_bytes(const hw_trace *trace) { return hw_trace_bytes(trace); }

HW_EXPORT(trace_weights)
hw_status hw_export_trace_weights(const hw_trace *trace, size_t batch, size_t head, size_t row_start, size_t row_end,
                                  float *out);
hw_status hw_export_trace_weights(const hw_trace *trace, size_t batch, size_t head, size_t row_start, size_t row_end,
                                  float *out) {
  return hw_trace_weights(context, trace, batch, head, row_start, row_end, out);
}

HW_EXPORT(trace_map)
hw_status hw_export_trace_map(const hw_trace *trace, size_t batch, size_t head, size_t size, float *out);
hw_status hw_export_trace_map(const hw_trace *trace, size_t batch, size_t head, size_t size, float *out) {
  return hw_trace_map(context, trace, batch, head, size, out);
}
