/* Sizes that memory cannot hold, or whose bytes would wrap, are refused, and what comes next works. */
#include "allocation_case.h"
#include "core/arena.h"
#include "modules.h"

enum { D_MODEL = 6, D_FF = 4 };

/* Around 2^31, 4 GiB, and where a product or a sum of bytes would wrap. */
static const size_t huge[] = {((size_t)1 << 30) - 1,
                              (size_t)1 << 30,
                              ((size_t)1 << 31) - 1,
                              (size_t)1 << 31,
#if SIZE_MAX > UINT32_MAX
                              UINT32_MAX,
                              (size_t)1 << 32,
                              ((size_t)1 << 32) + 1,
                              (size_t)1 << 40,
                              SIZE_MAX / 8 + 1,
#endif
                              SIZE_MAX / 4,
                              SIZE_MAX / 4 + 1,
                              SIZE_MAX / 2 - 7,
                              SIZE_MAX / 2 + 1,
                              SIZE_MAX / 3 * 2,
                              SIZE_MAX - 8,
                              SIZE_MAX};

enum { HUGE_SIZES = sizeof huge / sizeof *huge };

static const hw_causal_attention_config head_config = {D_IN, WIDTH, SIZE_MAX, 0.0, true, true, false};
static const hw_multi_head_attention_config fused_config = {.d_in = D_IN,
                                                            .d_out = HEADS * WIDTH,
                                                            .context_length = SIZE_MAX,
                                                            .num_heads = HEADS,
                                                            .out_proj = true,
                                                            .is_causal = true};
static const hw_transformer_block_config block_config = {
    .d_model = D_MODEL, .num_heads = HEADS, .d_ff = D_FF, .norm_first = true, .is_causal = true};

static hw_context *context;

static void test_linear(void) {
  for (size_t i = 0; i < HUGE_SIZES; i++) {
    hw_module *linear = (hw_module *)(uintptr_t)64;
    CHECK_STATUS(make_linear(NULL, huge[i], 1, true, &linear), HW_ERROR_MEMORY);
    CHECK_STATUS(make_linear(NULL, 1, huge[i], true, &linear), HW_ERROR_MEMORY);
    CHECK_STATUS(make_linear(NULL, huge[i], huge[i], true, &linear), HW_ERROR_MEMORY);
    CHECK(linear == NULL, "size %zu left something", huge[i]);
  }
}

static void test_rowwise(void) {
  for (size_t i = 0; i < HUGE_SIZES; i++) {
    const size_t n = huge[i];
    hw_module *norm = (hw_module *)(uintptr_t)64;
    CHECK_STATUS(make_layer_norm(n, HW_LAYER_NORM_EPS, &norm), HW_ERROR_MEMORY);
    hw_module *embedding = (hw_module *)(uintptr_t)64;
    CHECK_STATUS(make_embedding(NULL, n, 1, &embedding), HW_ERROR_MEMORY);
    CHECK_STATUS(make_embedding(NULL, 1, n, &embedding), HW_ERROR_MEMORY);
    CHECK_STATUS(make_embedding(NULL, n, n, &embedding), HW_ERROR_MEMORY);
    hw_module *ffn = (hw_module *)(uintptr_t)64;
    const hw_feed_forward_config configs[] = {
        {.d_model = n, .d_ff = 1}, {.d_model = 1, .d_ff = n}, {.d_model = n, .d_ff = n}};
    for (size_t j = 0; j < 3; j++) {
      CHECK_STATUS(hw_feed_forward_create(NULL, &configs[j], &ffn), HW_ERROR_MEMORY);
    }
    CHECK(norm == NULL && embedding == NULL && ffn == NULL, "size %zu left something", n);
  }
}

static void test_attention_modules(void) {
  for (size_t i = 0; i < HUGE_SIZES; i++) {
    const size_t n = huge[i];
    hw_module *head = (hw_module *)(uintptr_t)64;
    const hw_causal_attention_config configs[] = {{D_IN, n, 1, 0.0, true, true, false},
                                                  {n, WIDTH, 1, 0.0, true, true, false}};
    hw_module *heads = (hw_module *)(uintptr_t)64;
    for (size_t j = 0; j < 2; j++) {
      CHECK_STATUS(hw_causal_attention_create(NULL, &configs[j], &head), HW_ERROR_MEMORY);
      CHECK_STATUS(make_wrapper(NULL, &configs[j], HEADS, &heads), HW_ERROR_MEMORY);
    }
    CHECK_STATUS(make_wrapper(NULL, &head_config, n, &heads), HW_ERROR_MEMORY);
    hw_module *module = (hw_module *)(uintptr_t)64;
    hw_multi_head_attention_config all = fused_config;
    all.d_in = n;
    CHECK_STATUS(hw_multi_head_attention_create(NULL, &all, &module), HW_ERROR_MEMORY);
    all.num_heads = 1;
    all.d_in = D_IN;
    all.d_out = n;
    CHECK_STATUS(hw_multi_head_attention_create(NULL, &all, &module), HW_ERROR_MEMORY);
    all.num_heads = n;
    CHECK_STATUS(hw_multi_head_attention_create(NULL, &all, &module), HW_ERROR_MEMORY);
    CHECK(head == NULL && heads == NULL && module == NULL, "size %zu left something", n);
  }
}

static void test_blocks(void) {
  for (size_t i = 0; i < HUGE_SIZES; i++) {
    const size_t n = huge[i];
    const hw_transformer_block_config configs[] = {{.d_model = n, .num_heads = 1, .d_ff = D_FF},
                                                   {.d_model = n, .num_heads = n, .d_ff = D_FF},
                                                   {.d_model = D_MODEL, .num_heads = HEADS, .d_ff = n},
                                                   {.d_model = n, .num_heads = 1, .d_ff = n}};
    hw_module *block = (hw_module *)(uintptr_t)64;
    hw_module *stack = (hw_module *)(uintptr_t)64;
    for (size_t j = 0; j < sizeof configs / sizeof *configs; j++) {
      CHECK_STATUS(hw_transformer_block_create(NULL, &configs[j], &block), HW_ERROR_MEMORY);
      CHECK_STATUS(make_stack(NULL, &configs[j], LAYERS, &stack), HW_ERROR_MEMORY);
    }
    CHECK_STATUS(make_stack(NULL, &block_config, n, &stack), HW_ERROR_MEMORY);
    CHECK(block == NULL && stack == NULL, "size %zu left something", n);
  }
}

static void test_gpt2(void) {
  const hw_decoder_config good = gpt2_config(5, TOKENS, LAYERS, D_MODEL, HEADS, D_FF);
  for (size_t i = 0; i < HUGE_SIZES; i++) {
    hw_module *module = (hw_module *)(uintptr_t)64;
    for (size_t field = 0; field < 5; field++) {
      hw_decoder_config config = good;
      hw_model_config *model = &config.model;
      size_t *const fields[] = {&model->vocab_size, &model->context_length, &model->d_model, &model->num_layers,
                                &model->d_ff};
      *fields[field] = huge[i];
      model->positions = model->context_length;
      CHECK_STATUS(hw_decoder_create(&config, &module), HW_ERROR_MEMORY);
      CHECK(module == NULL, "size %zu left something", huge[i]);
    }
    hw_key_value_cache *cache = (hw_key_value_cache *)(uintptr_t)64;
    CHECK_STATUS(hw_decoder_create(&good, &module), HW_OK);
    CHECK_STATUS(hw_module_create_cache(module, huge[i], NULL, &cache), HW_ERROR_MEMORY);
    CHECK(cache == NULL, "size %zu left something", huge[i]);
    const uint32_t id = 0;
    const hw_input many = {.ids = &id, .batch = 1, .tokens = huge[i]};
    CHECK_STATUS(hw_module_forward(context, module, &many, NULL, NULL), HW_ERROR_SHAPE);
    hw_module_destroy(module);
  }
}

/* Modules that set no limit to the number of tokens. */
typedef struct modules {
  hw_module *causal;
  hw_module *wrapper;
  hw_module *fused;
  hw_module *block;
  hw_module *stack;
} modules;

static void forward_all(const modules *m, size_t batch, size_t tokens, const hw_forward_options *asked,
                        hw_status expected) {
  float *y = results.y;
  CHECK_STATUS(forward_tokens(context, m->causal, x, batch, tokens, y, asked), expected);
  CHECK_STATUS(forward_tokens(context, m->wrapper, x, batch, tokens, y, asked), expected);
  CHECK_STATUS(forward_tokens(context, m->fused, x, batch, tokens, y, asked), expected);
  CHECK_STATUS(forward_tokens(context, m->block, x, batch, tokens, y, asked), expected);
  CHECK_STATUS(forward_tokens(context, m->stack, x, batch, tokens, y, asked), expected);
}

/* As many tokens or sequences as the size says. */
static void test_forwards(void) {
  modules m = {NULL, NULL, NULL, NULL, NULL};
  hw_trace *traces[LAYERS] = {NULL, NULL};
  const hw_forward_options all = {.weights = results.weights, .trace = traces};
  const hw_forward_options traced = {.trace = traces};
  const hw_forward_options *const asked[] = {NULL, &all, &traced};
  CHECK(hw_causal_attention_create(context, &head_config, &m.causal) == HW_OK, "create");
  CHECK(make_wrapper(context, &head_config, HEADS, &m.wrapper) == HW_OK, "create");
  CHECK(hw_multi_head_attention_create(context, &fused_config, &m.fused) == HW_OK, "create");
  CHECK(hw_transformer_block_create(context, &block_config, &m.block) == HW_OK, "create");
  CHECK(make_stack(context, &block_config, LAYERS, &m.stack) == HW_OK, "create");
  for (size_t i = 0; i < HUGE_SIZES; i++) {
    const size_t sizes[][2] = {{1, huge[i]}, {huge[i], 1}, {huge[i], huge[i]}};
    for (size_t j = 0; j < 9; j++) {
      forward_all(&m, sizes[j % 3][0], sizes[j % 3][1], asked[j / 3], HW_ERROR_MEMORY);
      CHECK(traces[0] == NULL && traces[1] == NULL, "size %zu left a trace", huge[i]);
    }
    forward_all(&m, BATCH, TOKENS, NULL, HW_OK);
  }
  hw_module_destroy(m.causal);
  hw_module_destroy(m.wrapper);
  hw_module_destroy(m.fused);
  hw_module_destroy(m.block);
  hw_module_destroy(m.stack);
}

static void test_attention(void) {
  for (size_t i = 0; i < HUGE_SIZES; i++) {
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
                        .output = results.y};
      size_t *const fields[] = {&a.batch, &a.heads, &a.query_tokens, &a.key_tokens, &a.key_width, &a.value_width};
      *fields[field] = huge[i];
      CHECK_STATUS(hw_scaled_dot_product_attention(context, &a), HW_ERROR_MEMORY);
      *fields[field] = 1;
      CHECK_STATUS(hw_scaled_dot_product_attention(context, &a), HW_OK);
    }
  }
}

static void test_matmul(void) {
  const uint32_t index = 0;
  for (size_t i = 0; i < HUGE_SIZES; i++) {
    CHECK_STATUS(hw_matmul(context, x, x, results.y, 1, &index, &index, 1, huge[i], 1), HW_ERROR_MEMORY);
    CHECK_STATUS(hw_matmul(context, x, x, results.y, 1, &index, &index, 1, 1, huge[i]), HW_ERROR_MEMORY);
    CHECK_STATUS(hw_matmul(context, x, x, results.y, 1, &index, &index, 1, huge[i], huge[i]), HW_ERROR_MEMORY);
    if (huge[i] >= SIZE_MAX / 4) {
      CHECK_STATUS(hw_matmul(context, x, x, results.y, 1, &index, &index, huge[i], 2, 2), HW_ERROR_MEMORY);
    }
    CHECK_STATUS(hw_matmul(context, x, x, results.y, 1, &index, &index, 2, 2, 2), HW_OK);
  }
}

static void test_maps(void) {
  hw_module *causal = NULL;
  hw_trace *trace = NULL;
  const hw_forward_options asked = {.trace = &trace};
  CHECK(hw_causal_attention_create(context, &head_config, &causal) == HW_OK, "create");
  CHECK(forward_tokens(context, causal, x, BATCH, TOKENS, results.y, &asked) == HW_OK, "forward");
  for (size_t i = 0; i < HUGE_SIZES; i++) {
    CHECK_STATUS(hw_trace_map(context, trace, 0, 0, huge[i], results.y), HW_ERROR_MEMORY);
    CHECK_STATUS(hw_trace_map(context, trace, 0, 0, 4, results.y), HW_OK);
  }
  hw_trace_destroy(trace);
  hw_module_destroy(causal);
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
  check_seed(16);
  check_fill(x, sizeof x / sizeof *x);
  if (hw_context_create(&context) != HW_OK) {
    return 1;
  }
  check_run("an arena is empty and usable after a failure", test_arena);
  check_run("huge linear layers are refused", test_linear);
  check_run("huge layer norms, embeddings and feed-forward layers are refused", test_rowwise);
  check_run("huge attention modules are refused", test_attention_modules);
  check_run("huge blocks and stacks are refused", test_blocks);
  check_run("huge models are refused", test_gpt2);
  check_run("forwards of huge sizes are refused, and the next one works", test_forwards);
  check_run("attention of huge sizes is refused, and the next one works", test_attention);
  check_run("products of huge matrices are refused, and the next one works", test_matmul);
  check_run("huge maps are refused, and the next one works", test_maps);
  hw_context_destroy(context);
  return check_result();
}
