/* Bad arguments of layer norms, embeddings, feed-forward layers, blocks and stacks: the documented status, nothing left
 * behind, and everything works on. */
#include "headwise.h"
#include "modules.h"

enum { D_MODEL = 6, HEADS = 3, D_FF = 4, TOKENS = 5, LAYERS = 2 };

static hw_context *context;
static float x[TOKENS * D_MODEL];
static float y[TOKENS * D_MODEL];
static const double bad_dropouts[] = {-0.1, 1.1, (double)NAN, (double)INFINITY};
static const hw_transformer_block_config good_block = {
    .d_model = D_MODEL, .num_heads = HEADS, .d_ff = D_FF, .norm_first = true, .is_causal = true};

static void test_null_is_destroyed(void) {
  hw_module_destroy(NULL);
  hw_module_destroy(NULL);
  hw_module_destroy(NULL);
  hw_module_destroy(NULL);
  hw_module_destroy(NULL);
  hw_key_value_cache_destroy(NULL);
  check_case();
}

static void test_layer_norm(void) {
  const double bad[] = {-1e-9, (double)NAN, (double)INFINITY, (double)-INFINITY};
  hw_module *module = (hw_module *)(uintptr_t)64;
  CHECK_STATUS(make_layer_norm(0, HW_LAYER_NORM_EPS, &module), HW_ERROR_SHAPE);
  for (size_t i = 0; i < 4; i++) {
    CHECK_STATUS(make_layer_norm(D_MODEL, bad[i], &module), HW_ERROR_VALUE);
  }
  CHECK(module == NULL, "left a pointer");
  CHECK_STATUS(make_layer_norm(D_MODEL, 0.0, &module), HW_OK);
  CHECK_STATUS(forward_rows(context, module, x, TOKENS, y), HW_OK);
  hw_module_destroy(module);
}

static void test_embedding(void) {
  hw_module *module = (hw_module *)(uintptr_t)64;
  CHECK_STATUS(make_embedding(context, 0, 1, &module), HW_ERROR_SHAPE);
  CHECK_STATUS(make_embedding(context, 1, 0, &module), HW_ERROR_SHAPE);
  CHECK(module == NULL, "left a pointer");
  CHECK_STATUS(make_embedding(context, 1, 1, &module), HW_OK);
  CHECK_STATUS(forward_ids(context, module, NULL, 1, x), HW_ERROR_VALUE);
  CHECK_STATUS(forward_ids(context, module, NULL, 0, NULL), HW_ERROR_VALUE);
  hw_module_destroy(module);
}

static void test_feed_forward(void) {
  hw_module *module = (hw_module *)(uintptr_t)64;
  const hw_feed_forward_config empty[] = {{.d_ff = D_FF}, {.d_model = D_MODEL}};
  for (size_t i = 0; i < 2; i++) {
    CHECK_STATUS(hw_feed_forward_create(context, &empty[i], &module), HW_ERROR_SHAPE);
  }
  for (size_t i = 0; i < sizeof bad_dropouts / sizeof *bad_dropouts; i++) {
    const hw_feed_forward_config config = {.d_model = D_MODEL, .d_ff = D_FF, .dropout = bad_dropouts[i]};
    CHECK_STATUS(hw_feed_forward_create(context, &config, &module), HW_ERROR_VALUE);
  }
  const hw_feed_forward_config formless = {.d_model = D_MODEL, .d_ff = D_FF, .approximate = (hw_gelu_approximation)2};
  CHECK_STATUS(hw_feed_forward_create(context, &formless, &module), HW_ERROR_VALUE);
  CHECK(module == NULL, "left a pointer");
  const hw_feed_forward_config good = {.d_model = D_MODEL, .d_ff = D_FF, .dropout = 1.0};
  CHECK_STATUS(hw_feed_forward_create(context, &good, &module), HW_OK);
  CHECK_STATUS(forward_rows(context, module, x, TOKENS, y), HW_OK);
  hw_module_destroy(module);
}

static void expect_config(const hw_transformer_block_config *config, hw_status expected) {
  hw_module *block = (hw_module *)(uintptr_t)64;
  hw_module *stack = (hw_module *)(uintptr_t)64;
  CHECK_STATUS(hw_transformer_block_create(context, config, &block), expected);
  CHECK_STATUS(make_stack(context, config, LAYERS, &stack), expected);
  CHECK(block == NULL && stack == NULL, "left a pointer");
}

static void test_configs(void) {
  for (size_t field = 0; field < 3; field++) {
    hw_transformer_block_config config = good_block;
    size_t *const fields[] = {&config.d_model, &config.num_heads, &config.d_ff};
    *fields[field] = 0;
    expect_config(&config, HW_ERROR_SHAPE);
  }
  for (size_t heads = 4; heads <= 7; heads += heads == 5 ? 2 : 1) {
    hw_transformer_block_config config = good_block;
    config.num_heads = heads;
    expect_config(&config, HW_ERROR_SHAPE);
  }
  for (size_t i = 0; i < sizeof bad_dropouts / sizeof *bad_dropouts; i++) {
    hw_transformer_block_config config = good_block;
    config.dropout = bad_dropouts[i];
    expect_config(&config, HW_ERROR_VALUE);
  }
  hw_transformer_block_config other = good_block;
  other.approximate = (hw_gelu_approximation)2;
  expect_config(&other, HW_ERROR_VALUE);
  other = good_block;
  other.eps = -1e-5;
  expect_config(&other, HW_ERROR_VALUE);
  hw_module *stack = (hw_module *)(uintptr_t)64;
  CHECK_STATUS(make_stack(context, &good_block, 0, &stack), HW_ERROR_SHAPE);
  CHECK(stack == NULL, "left a pointer");
}

typedef struct modules {
  hw_module *block;
  hw_module *stack;
} modules;

static void expect_forward(const modules *m, size_t batch, size_t tokens, hw_forward_options options,
                           hw_status expected) {
  const hw_forward_options nothing = {0};
  hw_trace *traces[LAYERS];
  for (size_t traced = 0; traced < 2; traced++) {
    traces[0] = NULL;
    traces[1] = NULL;
    options.trace = traced != 0 ? traces : NULL;
    CHECK_STATUS(forward_tokens(context, m->block, x, batch, tokens, y, &options), expected);
    CHECK(traces[0] == NULL, "left a trace");
    CHECK_STATUS(forward_tokens(context, m->stack, x, batch, tokens, y, &options), expected);
    CHECK(traces[0] == NULL && traces[1] == NULL, "left a trace");
  }
  CHECK_STATUS(forward_tokens(context, m->block, x, 1, TOKENS, y, NULL), HW_OK);
  CHECK_STATUS(forward_tokens(context, m->stack, x, 1, TOKENS, y, &nothing), HW_OK);
}

static void test_forwards(void) {
  modules m = {NULL, NULL};
  CHECK_STATUS(hw_transformer_block_create(context, &good_block, &m.block), HW_OK);
  CHECK_STATUS(make_stack(context, &good_block, LAYERS, &m.stack), HW_OK);
  for (int kind = HW_MASK_FLOAT + 1; kind >= HW_MASK_BOOL; kind--) {
    const hw_mask mask = {.kind = (hw_mask_kind)kind, .data = kind > HW_MASK_FLOAT ? x : NULL};
    expect_forward(&m, 1, TOKENS, (hw_forward_options){.mask = mask}, HW_ERROR_VALUE);
  }
  hw_module_destroy(m.block);
  hw_module_destroy(m.stack);
}

/* A cache even of the block's own attention. */
static void test_cache(void) {
  const hw_multi_head_attention_config config = {
      .d_in = D_MODEL, .d_out = D_MODEL, .context_length = TOKENS, .num_heads = HEADS};
  modules m = {NULL, NULL};
  hw_module *module = NULL;
  hw_forward_options options = {.cache = NULL};
  CHECK_STATUS(hw_transformer_block_create(context, &good_block, &m.block), HW_OK);
  CHECK_STATUS(make_stack(context, &good_block, LAYERS, &m.stack), HW_OK);
  CHECK_STATUS(hw_multi_head_attention_create(context, &config, &module), HW_OK);
  CHECK_STATUS(hw_module_create_cache(module, 1, NULL, &options.cache), HW_OK);
  expect_forward(&m, 1, 1, options, HW_ERROR_VALUE);
  CHECK(hw_key_value_cache_length(options.cache) == 0, "appended");
  hw_key_value_cache_destroy(options.cache);
  hw_module_destroy(module);
  hw_module_destroy(m.block);
  hw_module_destroy(m.stack);
}

int main(void) {
  check_seed(17);
  check_fill(x, sizeof x / sizeof *x);
  if (hw_context_create(&context) != HW_OK) {
    return 1;
  }
  check_run("NULL may be destroyed", test_null_is_destroyed);
  check_run("layer norms refuse no size, a bad eps and no rows", test_layer_norm);
  check_run("embeddings refuse no size", test_embedding);
  check_run("feed-forward layers refuse no size, bad dropout and no rows", test_feed_forward);
  check_run("blocks and stacks refuse no size, uneven heads, bad dropout and no layers", test_configs);
  check_run("blocks and stacks refuse empty input and a mask without data or of no kind", test_forwards);
  check_run("blocks and stacks refuse a cache", test_cache);
  hw_context_destroy(context);
  return check_result();
}
