/* Every allocation of the context, the functions and the attention modules fails once. */
#include "allocation_case.h"
#include "modules.h"
#include "ops/key_value_cache.h"

static const hw_causal_attention_config head_config = {D_IN, WIDTH, TOKENS, 0.5, true, true, false};
static const hw_multi_head_attention_config fused_config = {.d_in = D_IN,
                                                            .d_out = HEADS * WIDTH,
                                                            .context_length = TOKENS,
                                                            .num_heads = HEADS,
                                                            .dropout = 0.5,
                                                            .qkv_bias = true,
                                                            .out_proj = true,
                                                            .is_causal = true};

static hw_module *causal;
static hw_module *wrapper;
static hw_module *fused;

static hw_status create_context(hw_context *context) {
  (void)context;
  hw_context *created = (hw_context *)(uintptr_t)64;
  const hw_status status = hw_context_create(&created);
  CHECK((status == HW_OK) == (created != NULL), "status %d", (int)status);
  hw_context_destroy(created);
  return status;
}

CREATES(create_linear, make_linear(context, D_IN, WIDTH, true, &created))
CREATES(create_causal, hw_causal_attention_create(context, &head_config, &created))
CREATES(create_wrapper, make_wrapper(context, &head_config, HEADS, &created))
CREATES(create_fused, hw_multi_head_attention_create(context, &fused_config, &created))

static hw_status run_matmul(hw_context *context) {
  const uint32_t index = 0;
  return hw_matmul(context, x, x, results.y, 1, &index, &index, TOKENS, D_IN, D_IN);
}

/* A new context has no scratch memory, and even a function that needs none asks for it. */
enum { COUNT = BATCH * TOKENS * D_IN };

static hw_status run_gelu(hw_context *context) { return hw_gelu(context, x, results.y, COUNT, HW_GELU_NONE); }

static hw_status run_activation(hw_context *context) {
  return hw_activate(context, HW_ACTIVATION_SILU, x, results.y, COUNT);
}

static hw_status run_activation_backward(hw_context *context) {
  return hw_activation_backward(context, HW_ACTIVATION_SILU, x, x, results.y, COUNT);
}

static hw_status run_layer_normalization(hw_context *context) {
  return hw_layer_normalization(context, x, BATCH * TOKENS, D_IN, NULL, NULL, 1e-5, results.y);
}

static hw_status run_rms_normalization(hw_context *context) {
  return hw_rms_normalization(context, x, BATCH * TOKENS, D_IN, NULL, 1e-5, results.y);
}

/* Of x with itself, as a batch of heads. */
static hw_attention attention_of(size_t key_heads) {
  const hw_strides strides = {.head = TOKENS * D_IN, .token = D_IN};
  return (hw_attention){.batch = 1,
                        .heads = BATCH,
                        .key_heads = key_heads,
                        .query_tokens = TOKENS,
                        .key_tokens = TOKENS,
                        .key_width = D_IN,
                        .value_width = D_IN,
                        .query = x,
                        .key = x,
                        .value = x,
                        .output = results.y,
                        .query_strides = strides,
                        .key_strides = strides,
                        .value_strides = strides,
                        .output_strides = strides,
                        .scale = 1.0F,
                        .weights = results.weights};
}

static hw_status run_attention(hw_context *context) {
  hw_attention attention = attention_of(BATCH);
  attention.dropout = 0.5;
  return hw_scaled_dot_product_attention(context, &attention);
}

/* Heads that share keys, lengths, a soft cap, a window and raw scores. */
static hw_status run_attention_options(hw_context *context) {
  const uint32_t lengths[] = {TOKENS - 2};
  hw_attention attention = attention_of(1);
  attention.softcap = 2.0F;
  attention.offset_from_end = true;
  attention.is_windowed = true;
  attention.window_left = 3;
  attention.window_right = 1;
  attention.key_lengths = lengths;
  attention.weights_kind = HW_WEIGHTS_SCORES;
  return hw_scaled_dot_product_attention(context, &attention);
}

/* A forward with a trace, which is used and freed. */
static hw_status forward_traced(hw_context *context, hw_module *module, hw_forward_options asked) {
  hw_trace *trace = NULL;
  asked.trace = &trace;
  const hw_status status = forward_tokens(context, module, x, BATCH, TOKENS, results.y, &asked);
  const hw_status used = use_trace(context, status, trace, results.traced);
  hw_trace_destroy(trace);
  return used;
}

static hw_status forward_causal(hw_context *context) { return forward_traced(context, causal, options(NULL)); }

static hw_status forward_wrapper(hw_context *context) { return forward_traced(context, wrapper, options(NULL)); }

static hw_status forward_fused(hw_context *context) { return forward_traced(context, fused, options(NULL)); }

static hw_status forward_alone(hw_context *context) {
  return forward_tokens(context, fused, x, BATCH, TOKENS, results.y, NULL);
}

/* A trace that need not remember what was dropped, of one mask for all. */
static hw_status forward_evaluated(hw_context *context) {
  static const uint8_t bits[TOKENS] = {1, 0, 1};
  const hw_forward_options asked = {.mask = {.kind = HW_MASK_BOOL, .data = bits, .key_stride = 1}};
  hw_module_train(fused, false);
  const hw_status status = forward_traced(context, fused, asked);
  hw_module_train(fused, true);
  return status;
}

static hw_status trace_alone(hw_context *context) {
  hw_context *other = NULL;
  hw_trace *trace = NULL;
  const hw_forward_options asked = options(&trace);
  const size_t failing = failing_allocation;
  failing_allocation = SIZE_MAX;
  CHECK(hw_context_create(&other) == HW_OK, "create");
  CHECK(forward_tokens(other, fused, x, BATCH, TOKENS, results.y, &asked) == HW_OK, "forward");
  hw_context_destroy(other);
  failing_allocation = failing;
  allocations = 0;
  const hw_status used = use_trace(context, HW_OK, trace, results.traced);
  hw_trace_destroy(trace);
  return used;
}

/* Appends to the cache; a failure leaves every byte of it as it was. */
static hw_status append(hw_context *context, hw_key_value_cache *cache, size_t tokens) {
  const hw_key_value_store *store = &cache->stores[0];
  const size_t bytes = BATCH * HEADS * store->head_bytes;
  const size_t length = cache->length;
  unsigned char *before = check_memory(bytes);
  memcpy(before, store->memory, bytes);
  hw_trace *trace = NULL;
  hw_forward_options asked = options(&trace);
  asked.cache = cache;
  const hw_status status = forward_tokens(context, fused, x, BATCH, tokens, results.y, &asked);
  const bool untouched = cache->length == length && memcmp(before, store->memory, bytes) == 0;
  CHECK(status == HW_OK ? cache->length == length + tokens : untouched, "status %d, length %zu after %zu", (int)status,
        cache->length, length);
  free(before);
  CHECK((status == HW_OK) == (trace != NULL), "status %d with%s trace", (int)status, trace == NULL ? "out" : "");
  hw_trace_destroy(trace);
  return status;
}

static hw_status forward_cached_as(hw_context *context, hw_matrix_type dtype) {
  hw_key_value_cache *cache = (hw_key_value_cache *)(uintptr_t)64;
  hw_status status = hw_module_create_cache(fused, BATCH, &(hw_past){x, x, 2, dtype}, &cache);
  CHECK((status == HW_OK) == (cache != NULL), "status %d", (int)status);
  for (size_t tokens = 1; tokens < 4 && status == HW_OK; tokens++) {
    status = append(context, cache, tokens);
  }
  hw_key_value_cache_destroy(cache);
  return status;
}

static hw_status forward_cached(hw_context *context) { return forward_cached_as(context, HW_MATRIX_FLOAT32); }

static hw_status forward_cached_halves(hw_context *context) { return forward_cached_as(context, HW_MATRIX_FLOAT16); }

/* The cache's values are x, whatever memory they are in. */
static void check_values(const hw_key_value_cache *cache, size_t tokens) {
  const size_t heads = cache->shape.batch * cache->shape.heads;
  for (size_t i = 0; i < cache->shape.layers * heads; i++) {
    float *values = results.y + i * tokens * WIDTH;
    const hw_key_value_panels panels = hw_key_value_store_head(&cache->stores[i / heads], i % heads);
    hw_unpack_values(&panels, tokens, values);
    CHECK(memcmp(values, x + i * tokens * WIDTH, tokens * WIDTH * sizeof(float)) == 0, "head %zu", i);
  }
}

static hw_status grow_cache(hw_context *context) {
  const hw_cache_shape shape = {.batch = BATCH, .layers = LAYERS, .heads = HEADS, .head_dim = WIDTH, .capacity = 700};
  hw_key_value_cache *cache = NULL;
  (void)context;
  hw_status status = hw_key_value_cache_create(&shape, &cache);
  if (status == HW_OK) {
    CHECK(hw_key_value_cache_fill(cache, &(hw_past){x, x, 2, HW_MATRIX_FLOAT32}) == HW_OK, "fill");
    for (size_t tokens = 300; tokens < shape.capacity && status == HW_OK; tokens += 300) {
      status = hw_key_value_cache_reserve(cache, tokens);
      check_values(cache, 2);
      CHECK(status != HW_OK || cache->stores[LAYERS - 1].capacity >= tokens + 2, "%zu tokens", tokens);
    }
  }
  hw_key_value_cache_destroy(cache);
  return status;
}

/* Where there is no memory for twice the tokens there may be for some more. */
static void test_little_memory(void) {
  const hw_cache_shape shape = {.batch = BATCH, .layers = LAYERS, .heads = HEADS, .head_dim = WIDTH, .capacity = 5000};
  hw_key_value_cache *cache = NULL;
  failing_allocation = SIZE_MAX;
  CHECK(hw_key_value_cache_create(&shape, &cache) == HW_OK, "create");
  CHECK(hw_key_value_cache_fill(cache, &(hw_past){x, x, 2, HW_MATRIX_FLOAT32}) == HW_OK, "fill");
  CHECK(hw_key_value_cache_reserve(cache, 1000) == HW_OK, "reserve");
  allocations = 0;
  failing_allocation = 0;
  CHECK(hw_key_value_cache_reserve(cache, 1100) == HW_OK, "reserve with little memory");
  CHECK(cache->stores[0].capacity < 1500 && cache->stores[1].capacity > 2000, "room for %zu and %zu tokens",
        cache->stores[0].capacity, cache->stores[1].capacity);
  check_values(cache, 2);
  failing_allocation = SIZE_MAX;
  hw_key_value_cache_destroy(cache);
  check_case();
}

static scenario *const scenarios[] = {create_context,
                                      create_linear,
                                      create_causal,
                                      create_wrapper,
                                      create_fused,
                                      run_matmul,
                                      run_gelu,
                                      run_activation,
                                      run_activation_backward,
                                      run_layer_normalization,
                                      run_rms_normalization,
                                      run_attention,
                                      run_attention_options,
                                      forward_causal,
                                      forward_wrapper,
                                      forward_fused,
                                      forward_alone,
                                      forward_evaluated,
                                      forward_cached,
                                      forward_cached_halves,
                                      grow_cache,
                                      trace_alone};

static void test_every_allocation(void) {
  hw_context *context = NULL;
  check_fill(x, sizeof x / sizeof *x);
  check_fill(mask, sizeof mask / sizeof *mask);
  CHECK(hw_context_create(&context) == HW_OK, "create");
  CHECK(hw_causal_attention_create(context, &head_config, &causal) == HW_OK, "create");
  CHECK(make_wrapper(context, &head_config, HEADS, &wrapper) == HW_OK, "create");
  CHECK(hw_multi_head_attention_create(context, &fused_config, &fused) == HW_OK, "create");
  hw_context_destroy(context);
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
    sweep_failures(scenarios[i]);
  }
  hw_module_destroy(causal);
  hw_module_destroy(wrapper);
  hw_module_destroy(fused);
}

int main(void) {
  check_seed(7);
  check_run("any failing allocation is a status, leaves nothing behind, and all works on", test_every_allocation);
  check_run("a cache grows by less where it cannot double", test_little_memory);
  return check_result();
}
