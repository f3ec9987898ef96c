/* Every allocation of linear layers, layer norms, embeddings, feed-forward layers, blocks, stacks and GPT-2 fails once. */
#include "allocation_case.h"

enum { D_MODEL = 6, D_FF = 11, ROWS = BATCH * TOKENS };

static const hw_feed_forward_config ffn_config = {.d_model = D_MODEL, .d_ff = D_FF, .dropout = 0.5};
static const hw_transformer_block_config block_configs[] = {
    {.d_model = D_MODEL, .num_heads = HEADS, .d_ff = D_FF, .dropout = 0.5, .norm_first = true, .is_causal = true},
    {.d_model = D_MODEL, .num_heads = HEADS, .d_ff = D_FF, .dropout = 0.5, .attention_bias = true}};

static const hw_gpt2_config gpt2_config = {.vocab_size = 5,
                                           .context_length = TOKENS,
                                           .d_model = D_MODEL,
                                           .num_heads = HEADS,
                                           .num_layers = LAYERS,
                                           .d_ff = D_FF};

static hw_linear *linear;
static hw_feed_forward *ffn;
static hw_transformer_block *blocks[2]; /* pre-norm, post-norm */
static hw_transformer_stack *stack;
static hw_gpt2 *gpt2;

static hw_status forward_linear(hw_context *context) { return hw_linear_forward(context, linear, x, ROWS, results.y); }

static hw_status create_layer_norm(hw_context *context) {
  hw_layer_norm *created = (hw_layer_norm *)(uintptr_t)64;
  const hw_status status = hw_layer_norm_create(WIDTH, HW_LAYER_NORM_EPS, &created);
  check_created(context, status, created);
  hw_layer_norm_destroy(created);
  return status;
}

static hw_status create_embedding(hw_context *context) {
  hw_embedding *created = (hw_embedding *)(uintptr_t)64;
  const hw_status status = hw_embedding_create(context, TOKENS, WIDTH, &created);
  check_created(context, status, created);
  hw_embedding_destroy(created);
  return status;
}

static hw_status create_feed_forward(hw_context *context) {
  hw_feed_forward *created = (hw_feed_forward *)(uintptr_t)64;
  const hw_status status = hw_feed_forward_create(context, &ffn_config, &created);
  check_created(context, status, created);
  hw_feed_forward_destroy(created);
  return status;
}

static hw_status forward_feed_forward(hw_context *context) {
  return hw_feed_forward_forward(context, ffn, x, ROWS, results.y);
}

static hw_status create_block(hw_context *context) {
  hw_transformer_block *created = (hw_transformer_block *)(uintptr_t)64;
  const hw_status status = hw_transformer_block_create(context, &block_configs[0], &created);
  check_created(context, status, created);
  hw_transformer_block_destroy(created);
  return status;
}

static hw_status forward_block(hw_context *context, hw_transformer_block *block) {
  hw_trace *trace = (hw_trace *)(uintptr_t)64;
  const hw_forward_options asked = options(&trace);
  const hw_status status = hw_transformer_block_forward(context, block, x, BATCH, TOKENS, results.y, &asked);
  const hw_status used = use_trace(context, status, trace, results.traced);
  hw_trace_destroy(trace);
  return used;
}

static hw_status forward_pre_norm(hw_context *context) { return forward_block(context, blocks[0]); }

static hw_status forward_post_norm(hw_context *context) { return forward_block(context, blocks[1]); }

static hw_status forward_alone(hw_context *context) {
  return hw_transformer_block_forward(context, blocks[1], x, BATCH, TOKENS, results.y, NULL);
}

static hw_status create_stack(hw_context *context) {
  hw_transformer_stack *created = (hw_transformer_stack *)(uintptr_t)64;
  const hw_status status = hw_transformer_stack_create(context, &block_configs[0], LAYERS, &created);
  check_created(context, status, created);
  hw_transformer_stack_destroy(created);
  return status;
}

/* The traces of all layers, or none. */
static hw_status forward_stack(hw_context *context) {
  hw_trace *traces[LAYERS] = {(hw_trace *)(uintptr_t)64, (hw_trace *)(uintptr_t)64};
  const hw_forward_options asked = options(traces);
  const hw_status status = hw_transformer_stack_forward(context, stack, x, BATCH, TOKENS, results.y, &asked);
  hw_status used = status;
  for (size_t i = 0; i < LAYERS; i++) {
    CHECK((status == HW_OK) == (traces[i] != NULL), "status %d, layer %zu", (int)status, i);
    used = used == HW_OK ? use_trace(context, HW_OK, traces[i], results.traced + i * TOKENS * TOKENS) : used;
    hw_trace_destroy(traces[i]);
  }
  return used;
}

static hw_status create_gpt2(hw_context *context) {
  hw_gpt2 *created = (hw_gpt2 *)(uintptr_t)64;
  const hw_status status = hw_gpt2_create(&gpt2_config, &created);
  check_created(context, status, created);
  hw_gpt2_destroy(created);
  return status;
}

/* Three tokens and then two, against a cache, with what can be asked for; a failure leaves the cache as it was. */
static hw_status forward_gpt2(hw_context *context) {
  static const uint32_t ids[] = {1, 0, 4, 2, 2, 3};
  hw_key_value_cache *cache = (hw_key_value_cache *)(uintptr_t)64;
  hw_status status = hw_gpt2_create_cache(gpt2, BATCH, &cache);
  CHECK((status == HW_OK) == (cache != NULL), "status %d", (int)status);
  for (size_t length = 0, tokens = 3; length < 5 && status == HW_OK; length += 3, tokens = 2) {
    hw_trace *traces[LAYERS] = {(hw_trace *)(uintptr_t)64, (hw_trace *)(uintptr_t)64};
    const hw_forward_options asked = {.weights = results.weights, .trace = traces, .cache = cache};
    const hw_gpt2_input input = {ids, BATCH, tokens, 1, tokens};
    status = hw_gpt2_forward(context, gpt2, &input, results.y, &asked);
    CHECK(hw_key_value_cache_length(cache) == (status == HW_OK ? length + tokens : length), "length");
    for (size_t i = 0; i < LAYERS; i++) {
      CHECK((status == HW_OK) == (traces[i] != NULL), "status %d, layer %zu", (int)status, i);
      hw_trace_destroy(traces[i]);
    }
  }
  hw_key_value_cache_destroy(cache);
  return status;
}

static scenario *const scenarios[] = {forward_linear,       create_layer_norm, create_embedding, create_feed_forward,
                                      forward_feed_forward, create_block,      forward_pre_norm, forward_post_norm,
                                      forward_alone,        create_stack,      forward_stack,    create_gpt2,
                                      forward_gpt2};

/* Embeddings that are no zeros. */
static void fill_gpt2(void) {
  float wte[5 * D_MODEL];
  check_fill(wte, sizeof wte / sizeof *wte);
  CHECK(hw_linear_load(hw_gpt2_wte(gpt2), 0, 5, wte, NULL) == HW_OK, "load");
  check_fill(hw_embedding_weight(hw_gpt2_wpe(gpt2)), (size_t)TOKENS * D_MODEL);
}

static void test_every_allocation(void) {
  hw_context *context = NULL;
  check_fill(x, sizeof x / sizeof *x);
  check_fill(mask, sizeof mask / sizeof *mask);
  CHECK(hw_context_create(&context) == HW_OK, "create");
  CHECK(hw_linear_create(context, D_MODEL, WIDTH, true, &linear) == HW_OK, "create");
  CHECK(hw_feed_forward_create(context, &ffn_config, &ffn) == HW_OK, "create");
  CHECK(hw_transformer_block_create(context, &block_configs[0], &blocks[0]) == HW_OK, "create");
  CHECK(hw_transformer_block_create(context, &block_configs[1], &blocks[1]) == HW_OK, "create");
  CHECK(hw_transformer_stack_create(context, &block_configs[0], LAYERS, &stack) == HW_OK, "create");
  CHECK(hw_gpt2_create(&gpt2_config, &gpt2) == HW_OK, "create");
  fill_gpt2();
  hw_context_destroy(context);
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
    sweep_failures(scenarios[i]);
  }
  hw_linear_destroy(linear);
  hw_feed_forward_destroy(ffn);
  hw_transformer_block_destroy(blocks[0]);
  hw_transformer_block_destroy(blocks[1]);
  hw_transformer_stack_destroy(stack);
  hw_gpt2_destroy(gpt2);
}

int main(void) {
  check_seed(15);
  check_run("any failing allocation is a status, leaves nothing behind, and all works on", test_every_allocation);
  return check_result();
}
