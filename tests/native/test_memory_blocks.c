/* Every allocation of linear layers, layer norms, embeddings, feed-forward layers, blocks, stacks and GPT-2 fails once. */
#include "allocation_case.h"
#include "modules.h"

/* WIDE: a product of so many columns needs scratch. */
enum { D_MODEL = 6, D_FF = 11, ROWS = BATCH * TOKENS, WIDE = 300 };

static const hw_feed_forward_config ffn_config = {.d_model = D_MODEL, .d_ff = D_FF, .dropout = 0.5};
static const hw_transformer_block_config block_configs[] = {
    {.d_model = D_MODEL, .num_heads = HEADS, .d_ff = D_FF, .dropout = 0.5, .norm_first = true, .is_causal = true},
    {.d_model = D_MODEL, .num_heads = HEADS, .d_ff = D_FF, .dropout = 0.5, .attention_bias = true}};

static hw_module *linear;
static hw_module *ffn;
static hw_module *blocks[2]; /* pre-norm, post-norm */
static hw_module *stack;
static hw_module *gpt2;

static hw_status forward_linear(hw_context *context) {
  static float y[ROWS * WIDE];
  const hw_status status = forward_rows(context, linear, x, ROWS, y);
  for (size_t i = 0; status == HW_OK && i < ROWS * WIDE; i++) {
    results.y[i % ROWS] += y[i];
  }
  return status;
}

CREATES(create_layer_norm, make_layer_norm(WIDTH, HW_LAYER_NORM_EPS, &created))
CREATES(create_embedding, make_embedding(context, TOKENS, WIDTH, &created))
CREATES(create_feed_forward, hw_feed_forward_create(context, &ffn_config, &created))

static hw_status forward_feed_forward(hw_context *context) { return forward_rows(context, ffn, x, ROWS, results.y); }

CREATES(create_block, hw_transformer_block_create(context, &block_configs[0], &created))

static hw_status forward_block(hw_context *context, hw_module *block) {
  hw_trace *trace = (hw_trace *)(uintptr_t)64;
  const hw_forward_options asked = options(&trace);
  const hw_status status = forward_tokens(context, block, x, BATCH, TOKENS, results.y, &asked);
  const hw_status used = use_trace(context, status, trace, results.traced);
  hw_trace_destroy(trace);
  return used;
}

static hw_status forward_pre_norm(hw_context *context) { return forward_block(context, blocks[0]); }

static hw_status forward_post_norm(hw_context *context) { return forward_block(context, blocks[1]); }

static hw_status forward_alone(hw_context *context) {
  return forward_tokens(context, blocks[1], x, BATCH, TOKENS, results.y, NULL);
}

CREATES(create_stack, make_stack(context, &block_configs[0], LAYERS, &created))

/* The traces of all layers, or none. */
static hw_status forward_stack(hw_context *context) {
  hw_trace *traces[LAYERS] = {(hw_trace *)(uintptr_t)64, (hw_trace *)(uintptr_t)64};
  const hw_forward_options asked = options(traces);
  const hw_status status = forward_tokens(context, stack, x, BATCH, TOKENS, results.y, &asked);
  hw_status used = status;
  for (size_t i = 0; i < LAYERS; i++) {
    CHECK((status == HW_OK) == (traces[i] != NULL), "status %d, layer %zu", (int)status, i);
    used = used == HW_OK ? use_trace(context, HW_OK, traces[i], results.traced + i * TOKENS * TOKENS) : used;
    hw_trace_destroy(traces[i]);
  }
  return used;
}

static hw_status create_gpt2(hw_context *context) {
  hw_module *created = (hw_module *)(uintptr_t)64;
  const hw_decoder_config config = gpt2_config(5, TOKENS, LAYERS, D_MODEL, HEADS, D_FF);
  const hw_status status = hw_decoder_create(&config, &created);
  check_created(context, status, created);
  hw_module_destroy(created);
  return status;
}

/* Three tokens and then two, against a cache, with what can be asked for; a failure leaves the cache as it was. */
static hw_status forward_gpt2(hw_context *context) {
  static const uint32_t ids[] = {1, 0, 4, 2, 2, 3};
  hw_key_value_cache *cache = (hw_key_value_cache *)(uintptr_t)64;
  hw_status status = hw_module_create_cache(gpt2, BATCH, NULL, &cache);
  CHECK((status == HW_OK) == (cache != NULL), "status %d", (int)status);
  for (size_t length = 0, tokens = 3; length < 5 && status == HW_OK; length += 3, tokens = 2) {
    hw_trace *traces[LAYERS] = {(hw_trace *)(uintptr_t)64, (hw_trace *)(uintptr_t)64};
    const hw_forward_options asked = {.weights = results.weights, .trace = traces, .cache = cache};
    const hw_input input = {NULL, ids, BATCH, tokens, 1, tokens, NULL, false};
    status = hw_module_forward(context, gpt2, &input, results.y, &asked);
    CHECK(hw_key_value_cache_length(cache) == (status == HW_OK ? length + tokens : length), "length");
    for (size_t i = 0; i < LAYERS; i++) {
      CHECK((status == HW_OK) == (traces[i] != NULL), "status %d, layer %zu", (int)status, i);
      hw_trace_destroy(traces[i]);
    }
  }
  hw_key_value_cache_destroy(cache);
  return status;
}

/* What its heads do, in a text of three tokens; the numbers stand one behind another. */
static hw_status explain_gpt2(hw_context *context) {
  static const uint32_t ids[] = {1, 4, 2};
  static double circuit[1 + 2 * D_MODEL];
  static float directions[LAYERS * D_MODEL];
  float *parts = results.y;
  enum { PARTS = LAYERS * (HEADS + 1) + 2 };
  const hw_attribution attribution = {
      .ids = ids,
      .tokens = 3,
      .position = 2,
      .target = 1,
      .heads = parts,
      .mlps = parts + LAYERS * HEADS,
      .rest = parts + LAYERS * (HEADS + 1),
      .directions = directions,
  };
  const hw_qk_attribution looks = {
      .ids = ids,
      .tokens = 3,
      .layer = 1,
      .head = 1,
      .query = 2,
      .key = 1,
      .query_parts = parts + 2 * PARTS,
      .key_parts = parts + 3 * PARTS,
      .score = parts + 4 * PARTS,
  };
  hw_trace *traces[LAYERS] = {NULL, NULL};
  const hw_forward_options asked = {.trace = traces};
  const hw_input input = {.ids = ids, .batch = 1, .tokens = 3};
  hw_status status = hw_decoder_attribution(context, gpt2, &attribution);
  status = status == HW_OK ? hw_decoder_qk_attribution(context, gpt2, &looks) : status;
  status = status == HW_OK ? hw_decoder_head_circuit(context, gpt2, 1, 1, circuit, circuit + 1) : status;
  status = status == HW_OK ? hw_module_forward(context, gpt2, &input, NULL, &asked) : status;
  float *traced = results.traced;
  status = status == HW_OK ? hw_module_value_norms(context, gpt2, 0, traces[0], 0, 1, 0, 3, traced) : status;
  status = status == HW_OK ? hw_trace_output(context, traces[1], 0, 1, traced + 9) : status;
  status = status == HW_OK ? hw_trace_values(traces[1], 0, 1, traced + 18) : status;
  for (size_t i = 0; i < LAYERS; i++) {
    hw_trace_destroy(traces[i]);
  }
  return status;
}

static scenario *const scenarios[] = {forward_linear,       create_layer_norm, create_embedding, create_feed_forward,
                                      forward_feed_forward, create_block,      forward_pre_norm, forward_post_norm,
                                      forward_alone,        create_stack,      forward_stack,    create_gpt2,
                                      forward_gpt2,         explain_gpt2};

/* Embeddings that are no zeros. */
static void fill_gpt2(void) {
  static const char *const names[] = {"wte.weight", "wpe.weight"};
  for (size_t i = 0; i < 2; i++) {
    const size_t count = parameter_info(whole(gpt2), names[i]).shape[0] * D_MODEL;
    float *values = check_floats(count);
    check_fill(values, count);
    load_all(whole(gpt2), names[i], values);
    free(values);
  }
}

static void test_every_allocation(void) {
  hw_context *context = NULL;
  check_fill(x, sizeof x / sizeof *x);
  check_fill(mask, sizeof mask / sizeof *mask);
  CHECK(hw_context_create(&context) == HW_OK, "create");
  CHECK(make_linear(context, D_MODEL, WIDE, true, &linear) == HW_OK, "create");
  CHECK(hw_feed_forward_create(context, &ffn_config, &ffn) == HW_OK, "create");
  CHECK(hw_transformer_block_create(context, &block_configs[0], &blocks[0]) == HW_OK, "create");
  CHECK(hw_transformer_block_create(context, &block_configs[1], &blocks[1]) == HW_OK, "create");
  CHECK(make_stack(context, &block_configs[0], LAYERS, &stack) == HW_OK, "create");
  const hw_decoder_config config = gpt2_config(5, TOKENS, LAYERS, D_MODEL, HEADS, D_FF);
  CHECK(hw_decoder_create(&config, &gpt2) == HW_OK, "create");
  fill_gpt2();
  hw_context_destroy(context);
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
    sweep_failures(scenarios[i]);
  }
  hw_module_destroy(linear);
  hw_module_destroy(ffn);
  hw_module_destroy(blocks[0]);
  hw_module_destroy(blocks[1]);
  hw_module_destroy(stack);
  hw_module_destroy(gpt2);
}

int main(void) {
  check_seed(15);
  check_run("any failing allocation is a status, leaves nothing behind, and all works on", test_every_allocation);
  return check_result();
}
