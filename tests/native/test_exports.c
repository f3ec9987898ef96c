/* What JavaScript may call, with good and bad arguments, before the engine's start and after it: nothing crashes, bad ones
 * are a status, NULL or 0. The sources are included: they have no header, and a call of each of them is counted. */
#include "exports.h"

#include "core/context.h"
/* NOLINTBEGIN(bugprone-suspicious-include): they have no header */
#include "exports/engine.c"
#include "exports/functions.c"
#include "exports/memory.c"
#include "exports/modules.c"
#include "exports/threads.c"
#include "exports/traces.c"
/* NOLINTEND(bugprone-suspicious-include) */

enum { WIDTH = 8, HEADS = 2, TOKENS = 5, LAYERS = 2, VOCAB = 11, FLOATS = 4096 };

static float x[FLOATS];
static float y[FLOATS];
static const uint32_t ids[TOKENS] = {3, 1, 4, 1, 5};
static const uint32_t zero;
static uint64_t rng_state[HW_RNG_STATE_WORDS];

static hw_attention_arguments attention_of(void) {
  return (hw_attention_arguments){
      .batch = 1,
      .heads = HEADS,
      .key_heads = HEADS,
      .query_tokens = TOKENS,
      .key_tokens = TOKENS,
      .key_width = 4,
      .value_width = 4,
      .query = x,
      .key = x,
      .value = x,
      .output = y,
      .scale = 1.0F,
      .window_left = -1,
      .window_right = -1,
  };
}

/* ---- Without a context; what has no state but that says so, too ---- */

static void refuse_functions(void) {
  const hw_attention_arguments attention = attention_of();
  VALUE(manual_seed, 1, 2);
  VALUE(get_rng_state, rng_state);
  VALUE(set_rng_state, rng_state);
  VALUE(rand, x, 4);
  VALUE(randn, x, 4);
  VALUE(matmul, x, x, y, 1, &zero, &zero, 2, 2, 2);
  VALUE(scaled_dot_product_attention, &attention);
  VALUE(gelu, x, y, 4, HW_GELU_NONE);
  VALUE(layer_norm, x, 2, 2, NULL, NULL, 1e-5, y);
  uint32_t id = 0;
  VALUE(sample, x, 4, 0.0, 1, 1.0, 0.0, &id, NULL);
  VALUE(dropout, x, 4, 0.5, y);
}

/* A module of every kind, with its input. */
typedef struct kind_case {
  hw_module_kind kind;
  const void *config;
  const void *bad_config; /* with a size of 0 */
  hw_input input;
  size_t parameters;
} kind_case;

static const hw_linear_config linear = {WIDTH, WIDTH, true};
static const hw_linear_config bad_linear = {0, WIDTH, true};
static const hw_layer_norm_config norm = {WIDTH, 1e-5};
static const hw_layer_norm_config bad_norm = {0, 1e-5};
static const hw_embedding_config embedding = {VOCAB, WIDTH};
static const hw_embedding_config bad_embedding = {VOCAB, 0};
static const hw_feed_forward_config ffn = {.d_model = WIDTH, .d_ff = 2 * WIDTH, .dropout = 0.5};
static const hw_feed_forward_config bad_ffn = {.d_model = WIDTH};
static const hw_causal_attention_config causal = {WIDTH, 4, TOKENS, 0.0, true, true, false};
static const hw_causal_attention_config bad_causal = {WIDTH, 0, TOKENS, 0.0, true, true, false};
static const hw_multi_head_attention_wrapper_config wrapper = {{WIDTH, 4, TOKENS, 0.0, true, true, false}, HEADS};
static const hw_multi_head_attention_wrapper_config bad_wrapper = {{WIDTH, 4, TOKENS, 0.0, true, true, false}, 0};
static const hw_multi_head_attention_config attention = {WIDTH, WIDTH, TOKENS, HEADS, 0.0,
                                                         true,  true,  true,   true,  true};
static const hw_multi_head_attention_config bad_attention = {WIDTH, WIDTH, TOKENS, 3,    0.0,
                                                             true,  true,  true,   true, true};
static const hw_transformer_block_config block = {.d_model = WIDTH, .num_heads = HEADS, .d_ff = WIDTH};
static const hw_transformer_block_config bad_block = {.d_model = WIDTH, .num_heads = HEADS};
static const hw_transformer_stack_config stack = {{.d_model = WIDTH, .num_heads = HEADS, .d_ff = WIDTH}, LAYERS};
static const hw_transformer_stack_config bad_stack = {{.d_model = WIDTH, .num_heads = HEADS, .d_ff = WIDTH}, 0};

/* What both kinds of models are made of. */
#define SIZES(vocab)                                                                                           \
  .vocab_size = (vocab), .context_length = TOKENS, .d_model = WIDTH, .num_layers = LAYERS, .num_heads = HEADS, \
  .num_key_value_heads = HEADS, .head_dim = WIDTH / HEADS, .d_ff = WIDTH, .qkv_bias = true, .out_bias = true,  \
  .mlp_bias = true, .positions = TOKENS, .embedding_scale = 1.0

#define DECODER(vocab) \
  { .model = {SIZES(vocab)}, .ties_head = true }

static const hw_decoder_config decoder_config = DECODER(VOCAB);
static const hw_decoder_config bad_decoder = DECODER(0);

#define ENCODER(vocab)                                                                                               \
  {                                                                                                                  \
    .model = {SIZES(vocab), .names = HW_NAMES_BERT, .norm_place = HW_NORM_POST}, .token_types = 2, .has_head = true, \
    .ties_head = true                                                                                                \
  }

static const hw_encoder_config encoder_config = ENCODER(VOCAB);
static const hw_encoder_config bad_encoder = ENCODER(0);

#define FLOAT_INPUT \
  { .x = x, .batch = 1, .tokens = TOKENS }
#define ID_INPUT \
  { .ids = ids, .batch = 1, .tokens = TOKENS, .logits_end = TOKENS }

static const kind_case kinds[] = {
    {HW_MODULE_LINEAR, &linear, &bad_linear, FLOAT_INPUT, 2},
    {HW_MODULE_LAYER_NORM, &norm, &bad_norm, FLOAT_INPUT, 2},
    {HW_MODULE_EMBEDDING, &embedding, &bad_embedding, ID_INPUT, 1},
    {HW_MODULE_FEED_FORWARD, &ffn, &bad_ffn, FLOAT_INPUT, 4},
    {HW_MODULE_CAUSAL_ATTENTION, &causal, &bad_causal, FLOAT_INPUT, 6},
    {HW_MODULE_MULTI_HEAD_ATTENTION_WRAPPER, &wrapper, &bad_wrapper, FLOAT_INPUT, 6 * HEADS},
    {HW_MODULE_MULTI_HEAD_ATTENTION, &attention, &bad_attention, FLOAT_INPUT, 4},
    {HW_MODULE_TRANSFORMER_BLOCK, &block, &bad_block, FLOAT_INPUT, 10},
    {HW_MODULE_TRANSFORMER_STACK, &stack, &bad_stack, FLOAT_INPUT, 10 * LAYERS},
    {HW_MODULE_DECODER, &decoder_config, &bad_decoder, ID_INPUT, 4 + 12 * LAYERS},
    {HW_MODULE_ENCODER, &encoder_config, &bad_encoder, ID_INPUT, 10 + 16 * LAYERS},
};

_Static_assert(sizeof kinds / sizeof *kinds == HW_MODULE_KINDS, "a case for every kind");

/* Their modules are there, but nothing can run. */
static void test_before_start(void) {
  refuse_functions();
  VALUE(team_start, 2, 1);
  for (size_t i = 0; i < HW_MODULE_KINDS; i++) {
    OK(module_create, kinds[i].kind, kinds[i].config, false);
    hw_module *module = result_slot;
    VALUE(module_forward, module, &kinds[i].input, y, NULL);
    CALL(module_destroy, module);
  }
}

/* ---- The engine, random numbers, functions ---- */

static void test_engine(void) {
  CHECK_STATUS(CALL_PLAIN(engine_start), HW_OK);
  CHECK_STATUS(CALL_PLAIN(engine_start), HW_OK);
  CHECK(CALL_PLAIN(result_address) == (void *)&result_slot && hw_export_result_slot() == &result_slot,
        "the result slot");
  CHECK(CALL_PLAIN(has_relaxed_simd) == HW_FUSED, "relaxed SIMD");
  NOTHING(staging_reserve, SIZE_MAX);
  CHECK(CALL_PLAIN(staging_capacity) == 0, "capacity");
  SOMETHING(staging_reserve, 1000);
  CHECK(CALL_PLAIN(staging_capacity) == 1000, "capacity");
  CALL_PLAIN(staging_release);
  CHECK(CALL_PLAIN(staging_capacity) == 0, "capacity");
  CHECK(*CALL_PLAIN(growths_address) == 0, "memory has not grown");
}

static void test_functions(void) {
  OK(manual_seed, 1, 2);
  VALUE(set_rng_state, rng_state);
  OK(get_rng_state, rng_state);
  OK(set_rng_state, rng_state);
  VALUE(get_rng_state, NULL);
  VALUE(set_rng_state, NULL);
  OK(rand, x, FLOATS);
  OK(randn, x, FLOATS);
  OK(randn, NULL, 0);
  VALUE(rand, NULL, 4);
  VALUE(randn, NULL, 4);
  OK(transpose, x, y, 2, 3, 4);
  OK(transpose, NULL, NULL, 2, 0, 4);
  VALUE(transpose, NULL, y, 2, 3, 4);
  VALUE(transpose, x, NULL, 2, 3, 4);
  OK(softmax, x, y, 3, 4);
  OK(softmax, NULL, NULL, 0, 4);
  VALUE(softmax, NULL, y, 3, 4);
  VALUE(softmax, x, NULL, 3, 4);
  OK(gelu, x, y, 4, HW_GELU_TANH);
  VALUE(gelu, x, y, 4, 2);
  VALUE(gelu, NULL, y, 4, HW_GELU_NONE);
  VALUE(gelu, x, NULL, 4, HW_GELU_NONE);
  OK(layer_norm, x, 2, 4, x, x, 1e-5, y);
  VALUE(layer_norm, NULL, 2, 4, x, x, 1e-5, y);
  VALUE(layer_norm, x, 2, 4, x, x, 1e-5, NULL);
  VALUE(layer_norm, x, 2, 4, x, x, -1.0, y);
  EXPECT(HW_ERROR_SHAPE, layer_norm, x, 2, 0, x, x, 1e-5, y);
  OK(dropout, x, 4, 0.5, y);
  VALUE(dropout, NULL, 4, 0.5, y);
  VALUE(dropout, x, 4, 1.5, y);
}

static void test_broadcasting(void) {
  const uint32_t shape[] = {2, 3};
  const uint32_t row[] = {1, 3};
  OK(broadcast, HW_BINARY_ADD, 2, shape, x, shape, x, row, y);
  VALUE(broadcast, 3, 2, shape, x, shape, x, row, y);
  VALUE(broadcast, HW_BINARY_ADD, 2, shape, x, shape, NULL, row, y);
  EXPECT(HW_ERROR_SHAPE, broadcast, HW_BINARY_ADD, 2, row, x, shape, x, row, y);
  OK(sum, 2, shape, x, row, 1.0, y);
  VALUE(sum, 2, shape, NULL, row, 1.0, y);
  EXPECT(HW_ERROR_SHAPE, sum, 2, row, x, shape, 1.0, y);
}

static void test_matmul(void) {
  OK(matmul, x, x, y, 1, &zero, &zero, 2, 3, 4);
  OK(matmul, x, x, y, 1, &zero, &zero, 2, 0, 4);
  VALUE(matmul, NULL, x, y, 1, &zero, &zero, 2, 3, 4);
  VALUE(matmul, x, NULL, y, 1, &zero, &zero, 2, 3, 4);
  VALUE(matmul, x, x, NULL, 1, &zero, &zero, 2, 3, 4);
  VALUE(matmul, x, x, y, 1, NULL, &zero, 2, 3, 4);
  VALUE(matmul, x, x, y, 1, &zero, NULL, 2, 3, 4);
}

static void test_sampling(void) {
  const float logits[] = {0.0F, 2.0F, 1.0F};
  uint32_t id = 0;
  double log_probability = 1.0;
  OK(sample, logits, 3, 0.0, 3, 1.0, 0.0, &id, &log_probability);
  CHECK(id == 1 && log_probability < 0.0 && log_probability > -1.0, "token %u, %g", id, log_probability);
  OK(sample, logits, 3, 1.0, 3, 1.0, 0.999, &id, NULL);
  CHECK(id == 2, "token %u", id);
  EXPECT(HW_ERROR_SHAPE, sample, logits, 0, 0.0, 3, 1.0, 0.0, &id, NULL);
  VALUE(sample, NULL, 3, 0.0, 3, 1.0, 0.0, &id, NULL);
  VALUE(sample, logits, 3, 0.0, 3, 1.0, 0.0, NULL, NULL);
  VALUE(sample, logits, 3, -1.0, 3, 1.0, 0.0, &id, NULL);
}

static void test_attention_function(void) {
  hw_attention_arguments good = attention_of();
  OK(scaled_dot_product_attention, &good);
  VALUE(scaled_dot_product_attention, NULL);
  good.dropout = 2.0;
  VALUE(scaled_dot_product_attention, &good);
  good.dropout = 0.0;
  good.value = NULL;
  VALUE(scaled_dot_product_attention, &good);
  good.key_width = 0;
  EXPECT(HW_ERROR_SHAPE, scaled_dot_product_attention, &good);
}

/* ---- Modules ---- */

static void check_parameters(hw_module *module, size_t count) {
  hw_parameter_info info;
  CHECK(CALL(module_parameter_count, module) == count, "%zu parameters, expected %zu",
        hw_export_module_parameter_count(module), count);
  for (size_t i = 0; i < count; i++) {
    OK(module_parameter, module, i, &info);
    CHECK(info.name[0] != '\0' && info.rank >= 1 && info.rank <= 2, "parameter %zu", i);
    OK(module_load, module, i, 0, info.shape[0], HW_MATRIX_FLOAT32, x);
    OK(module_store, module, i, 0, info.shape[0], y);
    EXPECT(HW_ERROR_SHAPE, module_load, module, i, 0, info.shape[0] + 1, HW_MATRIX_FLOAT32, x);
    EXPECT(HW_ERROR_SHAPE, module_store, module, i, SIZE_MAX, 1, y);
    VALUE(module_load, module, i, 0, 1, HW_MATRIX_FLOAT32, NULL);
    VALUE(module_load, module, i, 0, 1, HW_MATRIX_INT8, x);
    VALUE(module_store, module, i, 0, 1, NULL);
    VALUE(module_parameter, module, i, NULL);
  }
  VALUE(module_parameter, module, count, &info);
  VALUE(module_load, module, count, 0, 0, HW_MATRIX_FLOAT32, x);
  VALUE(module_store, module, SIZE_MAX, 0, 0, y);
}

static void check_forward(hw_module *module, const hw_input *good) {
  hw_input bad = *good;
  OK(module_forward, module, good, y, NULL);
  VALUE(module_forward, NULL, good, y, NULL);
  VALUE(module_forward, module, NULL, y, NULL);
  VALUE(module_forward, module, good, NULL, NULL);
  bad.x = NULL;
  bad.ids = NULL;
  VALUE(module_forward, module, &bad, y, NULL);
}

static void test_kinds(void) {
  for (size_t i = 0; i < HW_MODULE_KINDS; i++) {
    const kind_case *c = &kinds[i];
    EXPECT(HW_ERROR_SHAPE, module_create, c->kind, c->bad_config, true);
    CHECK(result_slot == NULL, "kind %zu left a pointer", i);
    VALUE(module_create, c->kind, NULL, true);
    OK(module_create, c->kind, c->config, true);
    hw_module *module = result_slot;
    CALL(module_train, module, false);
    CALL(module_checkpoint, module, true);
    check_forward(module, &c->input);
    check_parameters(module, c->parameters);
    CALL(module_destroy, module);
  }
  VALUE(module_create, HW_MODULE_KINDS, &linear, true);
  CALL(module_destroy, NULL);
  CALL(module_train, NULL, false);
  CALL(module_checkpoint, NULL, true);
  NOTHING(module_parameter_count, NULL);
  VALUE(module_parameter, NULL, 0, NULL);
  VALUE(module_load, NULL, 0, 0, 0, HW_MATRIX_FLOAT32, x);
  VALUE(module_store, NULL, 0, 0, 0, y);
}

static void check_heads(hw_module *decoder) {
  static double values[2 * WIDTH];
  static float parts[3 * WIDTH];
  static float weights[4 * WIDTH * WIDTH];
  hw_attribution call = {.ids = ids, .tokens = TOKENS, .position = 1, .target = 1, .has_against = true};
  VALUE(decoder_attribution, decoder, &call);
  call.heads = parts;
  call.mlps = parts + WIDTH;
  call.rest = parts + 2 * WIDTH;
  OK(decoder_attribution, decoder, &call);
  VALUE(decoder_attribution, decoder, NULL);
  VALUE(decoder_attribution, NULL, &call);
  hw_attribution bad[] = {call, call, call, call};
  bad[0].position = TOKENS;
  bad[1].target = VOCAB;
  bad[2].against = VOCAB;
  bad[3].ids = NULL;
  for (size_t i = 0; i < 4; i++) {
    VALUE(decoder_attribution, decoder, bad + i);
  }
  OK(decoder_head_circuit, decoder, LAYERS - 1, 0, values, values + 1);
  VALUE(decoder_head_circuit, decoder, LAYERS, 0, values, values + 1);
  VALUE(decoder_head_circuit, decoder, 0, HEADS, values, values + 1);
  VALUE(decoder_head_circuit, decoder, 0, 0, NULL, values);
  VALUE(decoder_head_circuit, decoder, 0, 0, values, NULL);
  VALUE(decoder_head_circuit, NULL, 0, 0, values, values + 1);
  OK(decoder_head_weights, decoder, LAYERS - 1, 0, true, weights);
  VALUE(decoder_head_weights, decoder, LAYERS, 0, true, weights);
  VALUE(decoder_head_weights, decoder, 0, HEADS, true, weights);
  VALUE(decoder_head_weights, decoder, 0, 0, true, NULL);
  VALUE(decoder_head_weights, NULL, 0, 0, true, weights);
  hw_qk_attribution look = {.ids = ids, .tokens = TOKENS, .query = 1, .query_parts = parts, .key_parts = parts};
  VALUE(decoder_qk_attribution, decoder, &look);
  look.score = parts + WIDTH;
  OK(decoder_qk_attribution, decoder, &look);
  VALUE(decoder_qk_attribution, NULL, &look);
}

static void test_ids(void) {
  const uint32_t beyond = VOCAB;
  const hw_input bad = {.ids = &beyond, .batch = 1, .tokens = 1, .logits_end = 1};
  const hw_module_kind with_ids[] = {HW_MODULE_EMBEDDING, HW_MODULE_DECODER};
  for (size_t i = 0; i < 2; i++) {
    OK(module_create, with_ids[i], kinds[with_ids[i]].config, true);
    VALUE(module_forward, result_slot, &bad, y, NULL);
    CALL(module_destroy, result_slot);
  }
  OK(module_create, HW_MODULE_DECODER, &decoder_config, true);
  OK(module_store, result_slot, 0, 0, 1, y);
  CHECK(y[0] == 0.0F, "a model's parameters are drawn");
  hw_input range = {.ids = ids, .batch = 1, .tokens = TOKENS, .logits_start = 1, .logits_end = 1};
  OK(module_forward, result_slot, &range, NULL, NULL);
  range.logits_end = TOKENS + 1;
  VALUE(module_forward, result_slot, &range, y, NULL);
  check_heads(result_slot);
  CALL(module_destroy, result_slot);
}

static void check_trace(const hw_module *module, hw_trace *trace) {
  SOMETHING(trace_bytes, trace);
  NOTHING(trace_bytes, NULL);
  OK(trace_weights, trace, 0, HEADS - 1, 0, TOKENS, y);
  VALUE(trace_weights, trace, 0, HEADS, 0, TOKENS, y);
  VALUE(trace_weights, trace, 0, 0, 0, TOKENS + 1, y);
  VALUE(trace_weights, trace, 0, 0, 0, TOKENS, NULL);
  VALUE(trace_weights, NULL, 0, 0, 0, 1, y);
  OK(trace_map, trace, 0, 0, 3, y);
  VALUE(trace_map, trace, 1, 0, 3, y);
  VALUE(trace_map, trace, 0, 0, 0, y);
  VALUE(trace_map, trace, 0, 0, 3, NULL);
  VALUE(trace_map, NULL, 0, 0, 3, y);
  SOMETHING(trace_value_width, trace);
  NOTHING(trace_value_width, NULL);
  OK(trace_values, trace, 0, HEADS - 1, y);
  VALUE(trace_values, trace, 0, HEADS, y);
  VALUE(trace_values, trace, 0, 0, NULL);
  VALUE(trace_values, NULL, 0, 0, y);
  OK(trace_output, trace, 0, HEADS - 1, y);
  VALUE(trace_output, trace, 1, 0, y);
  VALUE(trace_output, trace, 0, 0, NULL);
  VALUE(trace_output, NULL, 0, 0, y);
  OK(trace_norms, module, 0, trace, 0, HEADS - 1, 0, TOKENS, y);
  VALUE(trace_norms, module, 1, trace, 0, 0, 0, TOKENS, y);
  VALUE(trace_norms, module, 0, trace, 0, 0, 2, 1, y);
  VALUE(trace_norms, module, 0, trace, 0, HEADS, 0, TOKENS, y);
  VALUE(trace_norms, module, 0, trace, 0, 0, 0, TOKENS, NULL);
  VALUE(trace_norms, module, 0, NULL, 0, 0, 0, TOKENS, y);
  VALUE(trace_norms, NULL, 0, trace, 0, 0, 0, TOKENS, y);
  CALL(trace_destroy, trace);
  CALL(trace_destroy, NULL);
}

static void check_replace(hw_module *module) {
  const hw_input input = FLOAT_INPUT;
  const hw_head_output good = {0, HEADS - 1, x, TOKENS};
  hw_head_output bad[] = {good, good, good, good};
  bad[0].layer = 1;
  bad[1].head = HEADS;
  bad[2].output = NULL;
  bad[3].rows = TOKENS - 1;
  OK(module_forward, module, &input, y, &(hw_forward_options){.replace = &good, .replace_count = 1});
  VALUE(module_forward, module, &input, y, &(hw_forward_options){.replace_count = 1});
  for (size_t i = 0; i < 4; i++) {
    VALUE(module_forward, module, &input, y, &(hw_forward_options){.replace = bad + i, .replace_count = 1});
  }
}

static void check_cache(hw_module *module) {
  EXPECT(HW_ERROR_SHAPE, module_create_cache, module, 0, NULL, NULL, 0, HW_MATRIX_FLOAT32);
  VALUE(module_create_cache, module, 1, x, NULL, 2, HW_MATRIX_FLOAT32);
  VALUE(module_create_cache, module, 1, NULL, NULL, 0, HW_MATRIX_INT8);
  VALUE(module_create_cache, NULL, 1, NULL, NULL, 0, HW_MATRIX_FLOAT32);
  CHECK(result_slot == NULL, "left a pointer");
  OK(module_create_cache, module, 1, x, x, 2, HW_MATRIX_FLOAT32);
  hw_key_value_cache *cache = result_slot;
  const hw_forward_options options = {.cache = cache};
  const hw_input rest = {.x = x, .batch = 1, .tokens = TOKENS - 2};
  const hw_input one = {.x = x, .batch = 1, .tokens = 1};
  OK(module_forward, module, &rest, y, &options);
  CALL(cache_undo, cache);
  CHECK(*CALL(cache_lengths, cache) == 2, "length before the forward that was undone");
  OK(module_forward, module, &rest, y, &options);
  VALUE(module_forward, module, &one, y, &options);
  CHECK(*CALL(cache_lengths, cache) == TOKENS, "length");
  NOTHING(cache_lengths, NULL);
  CALL(cache_undo, NULL);
  OK(cache_truncate, cache, 1);
  VALUE(cache_truncate, cache, 2);
  VALUE(cache_truncate, NULL, 0);
  CALL(cache_destroy, cache);
  CALL(cache_destroy, NULL);
}

static void test_attention(void) {
  OK(module_create, HW_MODULE_MULTI_HEAD_ATTENTION, &attention, true);
  hw_module *module = result_slot;
  hw_trace *trace = (hw_trace *)(uintptr_t)64;
  const hw_forward_options traced = {.trace = &trace};
  const hw_input input = FLOAT_INPUT;
  const hw_input nothing = {.batch = 1, .tokens = TOKENS};
  VALUE(module_forward, module, &nothing, y, &traced);
  CHECK(trace == NULL, "left a trace");
  VALUE(module_forward, module, &input, NULL, &traced);
  VALUE(module_forward, NULL, &input, y, &traced);
  OK(module_forward, module, &input, y, &traced);
  check_trace(module, trace);
  check_replace(module);
  check_cache(module);
  CALL(module_destroy, module);
  OK(module_create, HW_MODULE_LINEAR, &linear, true);
  module = result_slot;
  VALUE(module_forward, module, &input, y, &traced);
  VALUE(module_create_cache, module, 1, NULL, NULL, 0, HW_MATRIX_FLOAT32);
  CALL(module_destroy, module);
}

/* Without a team; then with one whose worker never comes. */
static void test_team(void) {
  CALL(team_work, 1);
  CALL_PLAIN(team_fail);
  CALL_PLAIN(team_stop);
  NOTHING(team_stack, 1);
  VALUE(team_start, 1, 1);
  OK(team_start, 2, 1);
  VALUE(team_start, 2, 1);
  SOMETHING(team_stack, 1);
  NOTHING(team_stack, 0);
  NOTHING(team_stack, 2);
  CALL(team_work, 2);
  OK(matmul, x, x, y, 1, &zero, &zero, 2, 3, 4);
  CALL_PLAIN(team_stop);
  CALL(team_work, 1);
}

/* ---- All of them ---- */

static void test_every_export(void) {
  check_source("exports/engine.c");
  check_source("exports/functions.c");
  check_source("exports/memory.c");
  check_source("exports/modules.c");
  check_source("exports/threads.c");
  check_source("exports/traces.c");
}

int main(void) {
  check_seed(3);
  check_run("before the engine's start nothing runs, and nothing crashes", test_before_start);
  check_run("the engine starts, and lends memory", test_engine);
  check_run("functions refuse NULL and bad numbers", test_functions);
  check_run("matmul refuses NULL and sizes of 0", test_matmul);
  check_run("a token is chosen; NULL, no tokens and bad numbers are refused", test_sampling);
  check_run("broadcasting refuses what does not fit", test_broadcasting);
  check_run("attention refuses NULL and bad numbers", test_attention_function);
  check_run("a module of every kind runs, has its parameters and refuses NULL, sizes of 0 and other rows", test_kinds);
  check_run("unknown ids are refused, and logits of tokens that are not there", test_ids);
  check_run("multi-head attention, its traces and caches refuse NULL", test_attention);
  check_run("threads need a context and a team, and have stacks for workers only", test_team);
  check_run("every export is called here", test_every_export);
  hw_team_destroy(team);
  hw_release(stacks);
  hw_context_destroy(context);
  return check_result();
}
