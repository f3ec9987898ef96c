/* Every allocation of every function is made to fail once: the status says so, nothing leaks, and all works on. */
#include "check.h"
#include "core/memory.h"
#include "layers/key_value_cache.h"

enum { D_IN = 7, WIDTH = 5, HEADS = 3, TOKENS = 9, BATCH = 2 };

static const size_t largest_allocation = (size_t)1 << 30;

static size_t allocations;
static size_t failing_allocation = SIZE_MAX;

/* In place of the C library's: the engine allocates with nothing else. */
void *aligned_alloc(size_t alignment, size_t bytes) {
  void *memory = NULL;
  if (allocations++ == failing_allocation || bytes > largest_allocation ||
      posix_memalign(&memory, alignment, bytes) != 0) {
    return NULL;
  }
  return memory;
}

static const hw_causal_attention_config head_config = {D_IN, WIDTH, TOKENS, 0.5, true, true};
static const hw_multi_head_attention_config fused_config = {.d_in = D_IN,
                                                            .d_out = HEADS * WIDTH,
                                                            .context_length = TOKENS,
                                                            .num_heads = HEADS,
                                                            .dropout = 0.5,
                                                            .qkv_bias = true,
                                                            .out_proj = true,
                                                            .is_causal = true};

static float x[BATCH * TOKENS * D_IN];
static float y[BATCH * TOKENS * HEADS * WIDTH];
static float weights[BATCH * HEADS * TOKENS * TOKENS];
static float mask[TOKENS * TOKENS];

static hw_causal_attention *causal;
static hw_multi_head_attention_wrapper *wrapper;
static hw_multi_head_attention *fused;

typedef hw_status scenario(hw_context *context);

static hw_status create_context(hw_context *context) {
  (void)context;
  hw_context *created = (hw_context *)(uintptr_t)64;
  const hw_status status = hw_context_create(&created);
  CHECK((status == HW_OK) == (created != NULL), "status %d", (int)status);
  hw_context_destroy(created);
  return status;
}

static hw_status create_linear(hw_context *context) {
  hw_linear *created = (hw_linear *)(uintptr_t)64;
  const hw_status status = hw_linear_create(context, D_IN, WIDTH, true, &created);
  CHECK((status == HW_OK) == (created != NULL), "status %d", (int)status);
  hw_linear_destroy(created);
  return status;
}

static hw_status create_causal(hw_context *context) {
  hw_causal_attention *created = (hw_causal_attention *)(uintptr_t)64;
  const hw_status status = hw_causal_attention_create(context, &head_config, &created);
  CHECK((status == HW_OK) == (created != NULL), "status %d", (int)status);
  hw_causal_attention_destroy(created);
  return status;
}

static hw_status create_wrapper(hw_context *context) {
  hw_multi_head_attention_wrapper *created = (hw_multi_head_attention_wrapper *)(uintptr_t)64;
  const hw_status status = hw_multi_head_attention_wrapper_create(context, &head_config, HEADS, &created);
  CHECK((status == HW_OK) == (created != NULL), "status %d", (int)status);
  hw_multi_head_attention_wrapper_destroy(created);
  return status;
}

static hw_status create_fused(hw_context *context) {
  hw_multi_head_attention *created = (hw_multi_head_attention *)(uintptr_t)64;
  const hw_status status = hw_multi_head_attention_create(context, &fused_config, &created);
  CHECK((status == HW_OK) == (created != NULL), "status %d", (int)status);
  hw_multi_head_attention_destroy(created);
  return status;
}

static hw_status run_matmul(hw_context *context) {
  const uint32_t index = 0;
  return hw_matmul(context, x, x, y, 1, &index, &index, TOKENS, D_IN, D_IN);
}

static hw_status run_attention(hw_context *context) {
  const hw_strides strides = {.head = TOKENS * D_IN, .token = D_IN};
  const hw_attention attention = {.batch = 1,
                                  .heads = BATCH,
                                  .key_heads = BATCH,
                                  .query_tokens = TOKENS,
                                  .key_tokens = TOKENS,
                                  .key_width = D_IN,
                                  .value_width = D_IN,
                                  .query = x,
                                  .key = x,
                                  .value = x,
                                  .output = y,
                                  .query_strides = strides,
                                  .key_strides = strides,
                                  .value_strides = strides,
                                  .output_strides = strides,
                                  .scale = 1.0F,
                                  .dropout = 0.5,
                                  .weights = weights};
  return hw_scaled_dot_product_attention(context, &attention);
}

/* Heads that share keys, lengths, a soft cap, a window and raw scores. */
static hw_status run_attention_options(hw_context *context) {
  const uint32_t lengths[] = {TOKENS - 2};
  const hw_strides strides = {.head = TOKENS * D_IN, .token = D_IN};
  const hw_attention attention = {.batch = 1,
                                  .heads = BATCH,
                                  .key_heads = 1,
                                  .query_tokens = TOKENS,
                                  .key_tokens = TOKENS,
                                  .key_width = D_IN,
                                  .value_width = D_IN,
                                  .query = x,
                                  .key = x,
                                  .value = x,
                                  .output = y,
                                  .query_strides = strides,
                                  .key_strides = strides,
                                  .value_strides = strides,
                                  .output_strides = strides,
                                  .scale = 1.0F,
                                  .softcap = 2.0F,
                                  .offset_from_end = true,
                                  .is_windowed = true,
                                  .window_left = 3,
                                  .window_right = 1,
                                  .key_lengths = lengths,
                                  .weights = weights,
                                  .weights_kind = HW_WEIGHTS_SCORES};
  return hw_scaled_dot_product_attention(context, &attention);
}

static hw_forward_options options(hw_trace **trace) {
  return (hw_forward_options){
      .mask = {.kind = HW_MASK_FLOAT, .data = mask, .query_stride = TOKENS, .key_stride = 1},
      .weights = weights,
      .trace = trace,
  };
}

/* Asks the trace for weights and a map when there is one. */
static hw_status use_trace(hw_context *context, hw_status status, hw_trace *trace) {
  CHECK((status == HW_OK) == (trace != NULL), "status %d with%s trace", (int)status, trace == NULL ? "out" : "");
  if (status == HW_OK) {
    status = hw_trace_weights(context, trace, 0, 0, 0, TOKENS, weights);
  }
  if (status == HW_OK) {
    status = hw_trace_map(context, trace, 0, 0, 4, weights);
  }
  hw_trace_destroy(trace);
  return status;
}

static hw_status forward_causal(hw_context *context) {
  hw_trace *trace = NULL;
  const hw_forward_options asked = options(&trace);
  const hw_status status = hw_causal_attention_forward(context, causal, x, BATCH, TOKENS, y, &asked);
  return use_trace(context, status, trace);
}

static hw_status forward_wrapper(hw_context *context) {
  hw_trace *trace = NULL;
  const hw_forward_options asked = options(&trace);
  const hw_status status = hw_multi_head_attention_wrapper_forward(context, wrapper, x, BATCH, TOKENS, y, &asked);
  return use_trace(context, status, trace);
}

static hw_status forward_fused(hw_context *context) {
  hw_trace *trace = NULL;
  const hw_forward_options asked = options(&trace);
  const hw_status status = hw_multi_head_attention_forward(context, fused, x, BATCH, TOKENS, y, &asked);
  return use_trace(context, status, trace);
}

static hw_status trace_alone(hw_context *context) {
  hw_context *other = NULL;
  hw_trace *trace = NULL;
  const hw_forward_options asked = options(&trace);
  const size_t failing = failing_allocation;
  failing_allocation = SIZE_MAX;
  CHECK(hw_context_create(&other) == HW_OK, "create");
  CHECK(hw_multi_head_attention_forward(other, fused, x, BATCH, TOKENS, y, &asked) == HW_OK, "forward");
  hw_context_destroy(other);
  failing_allocation = failing;
  allocations = 0;
  return use_trace(context, HW_OK, trace);
}

/* Appends to the cache; a failure leaves every byte of it as it was. */
static hw_status append(hw_context *context, hw_key_value_cache *cache, size_t tokens) {
  const hw_key_value_store *store = &cache->store;
  const size_t bytes = hw_key_value_store_bytes(BATCH * HEADS, store->tokens, store->key_width, store->value_width);
  const size_t length = cache->length;
  unsigned char *before = check_memory(bytes);
  memcpy(before, store->memory, bytes);
  hw_trace *trace = NULL;
  hw_forward_options asked = options(&trace);
  asked.cache = cache;
  const hw_status status = hw_multi_head_attention_forward(context, fused, x, BATCH, tokens, y, &asked);
  const bool untouched = cache->length == length && memcmp(before, store->memory, bytes) == 0;
  CHECK(status == HW_OK ? cache->length == length + tokens : untouched, "status %d, length %zu after %zu", (int)status,
        cache->length, length);
  free(before);
  CHECK((status == HW_OK) == (trace != NULL), "status %d with%s trace", (int)status, trace == NULL ? "out" : "");
  hw_trace_destroy(trace);
  return status;
}

static hw_status forward_cached(hw_context *context) {
  hw_key_value_cache *cache = (hw_key_value_cache *)(uintptr_t)64;
  hw_status status = hw_multi_head_attention_create_cache(fused, BATCH, x, x, 2, &cache);
  CHECK((status == HW_OK) == (cache != NULL), "status %d", (int)status);
  for (size_t tokens = 1; tokens < 4 && status == HW_OK; tokens++) {
    status = append(context, cache, tokens);
  }
  hw_key_value_cache_destroy(cache);
  return status;
}

static scenario *const scenarios[] = {
    create_context,        create_linear,  create_causal,   create_wrapper, create_fused,   run_matmul, run_attention,
    run_attention_options, forward_causal, forward_wrapper, forward_fused,  forward_cached, trace_alone};

/* Run after a failure: must work, and give what a context that never failed gives. */
static void check_works_on(hw_context *context, scenario *run, size_t failed) {
  static float after[sizeof y / sizeof *y];
  hw_context *fresh = NULL;
  failing_allocation = SIZE_MAX;
  hw_manual_seed(context, 7);
  CHECK(run(context) == HW_OK, "after failure of allocation %zu", failed);
  memcpy(after, y, sizeof y);
  CHECK(hw_context_create(&fresh) == HW_OK, "create");
  hw_manual_seed(fresh, 7);
  CHECK(run(fresh) == HW_OK, "on a fresh context");
  CHECK(memcmp(after, y, sizeof y) == 0, "after failure of allocation %zu: other numbers", failed);
  hw_context_destroy(fresh);
}

static void sweep_failures(scenario *run) {
  for (size_t failing = 0;; failing++) {
    hw_context *context = NULL;
    failing_allocation = SIZE_MAX;
    CHECK(hw_context_create(&context) == HW_OK, "create");
    allocations = 0;
    failing_allocation = failing;
    const hw_status status = run(context);
    const bool failed = allocations > failing;
    check_works_on(context, run, failing);
    hw_context_destroy(context);
    if (!failed) {
      CHECK(status == HW_OK, "status %d without a failure", (int)status);
      CHECK(failing > 0, "nothing was allocated");
      return;
    }
    CHECK(status == HW_ERROR_MEMORY, "allocation %zu failed, status %d", failing, (int)status);
    check_case();
  }
}

static void test_every_allocation(void) {
  hw_context *context = NULL;
  check_fill(x, sizeof x / sizeof *x);
  check_fill(mask, sizeof mask / sizeof *mask);
  CHECK(hw_context_create(&context) == HW_OK, "create");
  CHECK(hw_causal_attention_create(context, &head_config, &causal) == HW_OK, "create");
  CHECK(hw_multi_head_attention_wrapper_create(context, &head_config, HEADS, &wrapper) == HW_OK, "create");
  CHECK(hw_multi_head_attention_create(context, &fused_config, &fused) == HW_OK, "create");
  hw_context_destroy(context);
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
    sweep_failures(scenarios[i]);
  }
  hw_causal_attention_destroy(causal);
  hw_multi_head_attention_wrapper_destroy(wrapper);
  hw_multi_head_attention_destroy(fused);
}

/* Sizes around where a product or a sum of bytes would wrap. */
static const size_t huge[] = {(size_t)1 << 40,  (size_t)1 << 61,  (size_t)1 << 62, SIZE_MAX / 4, SIZE_MAX / 2 - 7,
                              SIZE_MAX / 2 + 1, SIZE_MAX / 3 * 2, SIZE_MAX - 8,    SIZE_MAX};

static void test_huge_modules(void) {
  for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
    const size_t n = huge[i];
    hw_linear *linear = NULL;
    CHECK_STATUS(hw_linear_create(NULL, n, 1, true, &linear), HW_ERROR_MEMORY);
    CHECK_STATUS(hw_linear_create(NULL, 1, n, true, &linear), HW_ERROR_MEMORY);
    CHECK_STATUS(hw_linear_create(NULL, n, n, true, &linear), HW_ERROR_MEMORY);
    hw_causal_attention *head = NULL;
    hw_causal_attention_config config = head_config;
    config.d_out = n;
    CHECK_STATUS(hw_causal_attention_create(NULL, &config, &head), HW_ERROR_MEMORY);
    config.d_out = WIDTH;
    config.d_in = n;
    CHECK_STATUS(hw_causal_attention_create(NULL, &config, &head), HW_ERROR_MEMORY);
    hw_multi_head_attention_wrapper *heads = NULL;
    CHECK_STATUS(hw_multi_head_attention_wrapper_create(NULL, &head_config, n, &heads), HW_ERROR_MEMORY);
    hw_multi_head_attention *module = NULL;
    hw_multi_head_attention_config all = fused_config;
    all.num_heads = 1;
    all.d_out = n;
    CHECK_STATUS(hw_multi_head_attention_create(NULL, &all, &module), HW_ERROR_MEMORY);
    CHECK(linear == NULL && head == NULL && heads == NULL && module == NULL, "size %zu left something", n);
  }
}

/* As many tokens as the size says, from a module that sets no limit. */
static void test_huge_forwards(void) {
  hw_context *context = NULL;
  hw_causal_attention_config config = head_config;
  hw_multi_head_attention_config all = fused_config;
  config.context_length = all.context_length = SIZE_MAX;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  CHECK(hw_causal_attention_create(context, &config, &causal) == HW_OK, "create");
  CHECK(hw_multi_head_attention_wrapper_create(context, &config, HEADS, &wrapper) == HW_OK, "create");
  CHECK(hw_multi_head_attention_create(context, &all, &fused) == HW_OK, "create");
  for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
    const size_t sizes[][2] = {{1, huge[i]}, {huge[i], 1}, {huge[i], huge[i]}};
    for (size_t j = 0; j < 3; j++) {
      const size_t b = sizes[j][0];
      const size_t t = sizes[j][1];
      CHECK_STATUS(hw_causal_attention_forward(context, causal, x, b, t, y, NULL), HW_ERROR_MEMORY);
      CHECK_STATUS(hw_multi_head_attention_wrapper_forward(context, wrapper, x, b, t, y, NULL), HW_ERROR_MEMORY);
      CHECK_STATUS(hw_multi_head_attention_forward(context, fused, x, b, t, y, NULL), HW_ERROR_MEMORY);
      CHECK_STATUS(forward_fused(context), HW_OK);
    }
  }
  hw_context_destroy(context);
  hw_causal_attention_destroy(causal);
  hw_multi_head_attention_wrapper_destroy(wrapper);
  hw_multi_head_attention_destroy(fused);
}

static void test_huge_attention(void) {
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
    for (size_t field = 0; field < 6; field++) {
      hw_attention a = {.batch = 1,
                        .heads = 1,
                        .key_heads = 1,
                        .query_tokens = 1,
                        .key_tokens = 1,
                        .key_width = 1,
                        .value_width = 1,
                        .query = x,
                        .key = x,
                        .value = x,
                        .output = y};
      size_t *const fields[] = {&a.batch, &a.heads, &a.query_tokens, &a.key_tokens, &a.key_width, &a.value_width};
      *fields[field] = huge[i];
      CHECK_STATUS(hw_scaled_dot_product_attention(context, &a), HW_ERROR_MEMORY);
    }
  }
  CHECK_STATUS(run_attention(context), HW_OK);
  hw_context_destroy(context);
}

static void test_arena(void) {
  hw_arena arena = {0};
  CHECK_STATUS(hw_arena_reserve(&arena, 1000), HW_OK);
  CHECK_STATUS(hw_arena_reserve(&arena, largest_allocation + 1), HW_ERROR_MEMORY);
  CHECK(arena.capacity == 0 && arena.used == 0 && arena.memory == NULL, "not empty after a failure");
  CHECK_STATUS(hw_arena_reserve(&arena, SIZE_MAX), HW_ERROR_MEMORY);
  CHECK_STATUS(hw_arena_reserve(&arena, 2 * hw_arena_size(3, sizeof(float))), HW_OK);
  float *first = hw_arena_take_floats(&arena, 3);
  float *second = hw_arena_take_floats(&arena, 3);
  CHECK((uintptr_t)first % HW_ALIGNMENT == 0 && (uintptr_t)second % HW_ALIGNMENT == 0, "not aligned");
  CHECK(second >= first + 3, "overlap");
  CHECK(hw_arena_size(SIZE_MAX, 4) == SIZE_MAX && hw_arena_size(SIZE_MAX - 5, 1) == SIZE_MAX, "wrapped");
  hw_arena_release(&arena);
}

int main(void) {
  check_seed(7);
  check_run("any failing allocation is a status, leaves nothing behind, and all works on", test_every_allocation);
  check_run("an arena is empty and usable after a failure", test_arena);
  check_run("modules of huge sizes are refused", test_huge_modules);
  check_run("forwards of huge sizes are refused, and the next one works", test_huge_forwards);
  check_run("attention of huge sizes is refused", test_huge_attention);
  return check_result();
}
