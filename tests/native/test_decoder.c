/* Decoders of every architecture's options: pieces through caches, ragged batches, recording, small weights and bad configs. */
#include <math.h>

#include "decoder_case.h"
#include "modules/block.h"

static hw_context *context;
static uint32_t ids[BATCH * TOKENS];

static void expect_near(const float *got, const float *expected, size_t count, double tolerance, const char *what) {
  for (size_t i = 0; i < count; i++) {
    CHECK(fabs((double)got[i] - (double)expected[i]) <= tolerance, "%s, %zu: %g, expected %g", what, i, (double)got[i],
          (double)expected[i]);
  }
}

/* In pieces of 3 tokens, then again in a ragged batch: the second row ends two tokens earlier, and goes on. */
static void check_caches(hw_module *module, const float *all) {
  static const uint32_t lengths[BATCH] = {TOKENS - 1, TOKENS - 3};
  hw_key_value_cache *cache = NULL;
  float logits[BATCH * TOKENS * VOCAB];
  CHECK_STATUS(hw_module_create_cache(module, 1, NULL, &cache), HW_OK);
  const hw_forward_options one = {.cache = cache};
  for (size_t start = 0; start < TOKENS; start += 3) {
    const size_t count = TOKENS - start < 3 ? TOKENS - start : 3;
    const hw_input piece = {.ids = ids + start, .batch = 1, .tokens = count, .logits_end = count};
    CHECK_STATUS(hw_module_forward(context, module, &piece, logits, &one), HW_OK);
    expect_near(logits, all + start * VOCAB, count * VOCAB, 2e-3, "a piece");
  }
  hw_key_value_cache_destroy(cache);
  CHECK_STATUS(hw_module_create_cache(module, BATCH, NULL, &cache), HW_OK);
  const hw_forward_options both = {.cache = cache};
  hw_input input = {.ids = ids, .batch = BATCH, .tokens = TOKENS, .lengths = lengths, .logits_last = true};
  CHECK_STATUS(hw_module_forward(context, module, &input, logits, &both), HW_OK);
  const uint32_t next[BATCH] = {ids[lengths[0]], ids[TOKENS + lengths[1]]};
  for (size_t step = 0; step < 2; step++) {
    for (size_t b = 0; b < BATCH; b++) {
      expect_near(logits + b * VOCAB, all + (b * TOKENS + lengths[b] - 1 + step) * VOCAB, VOCAB, 2e-3, "a row");
    }
    input = (hw_input){.ids = next, .batch = BATCH, .tokens = 1, .logits_last = true};
    CHECK_STATUS(hw_module_forward(context, module, &input, logits, &both), HW_OK);
  }
  CHECK(hw_key_value_cache_length(cache) == TOKENS + 1, "length");
  hw_key_value_cache_destroy(cache);
}

/* In a ragged batch whose rows come to the end of the context one after another: padding goes beyond it. */
static void check_end(hw_module *module) {
  enum { STEPS = 3 };
  static const uint32_t lengths[STEPS][BATCH] = {{CONTEXT - 1, 3}, {1, CONTEXT - 5}, {0, 2}};
  uint32_t texts[BATCH * CONTEXT];
  size_t stored[BATCH] = {0};
  float *all = malloc(sizeof(float) * BATCH * CONTEXT * VOCAB);
  hw_key_value_cache *cache = NULL;
  for (size_t i = 0; i < BATCH * CONTEXT; i++) {
    texts[i] = (uint32_t)(check_random() % VOCAB);
  }
  const hw_input whole = {.ids = texts, .batch = BATCH, .tokens = CONTEXT, .logits_end = CONTEXT};
  CHECK_STATUS(hw_module_forward(context, module, &whole, all, NULL), HW_OK);
  CHECK_STATUS(hw_module_create_cache(module, BATCH, NULL, &cache), HW_OK);
  for (size_t step = 0; step < STEPS; step++) {
    const size_t tokens = lengths[step][0] > lengths[step][1] ? lengths[step][0] : lengths[step][1];
    const size_t longest = stored[0] + tokens < CONTEXT ? stored[0] + tokens : CONTEXT;
    /* Of just these sizes, so that a sanitizer sees what goes beyond. */
    float *logits = malloc(sizeof(float) * BATCH * tokens * VOCAB);
    float *weights = malloc(sizeof(float) * LAYERS * BATCH * HEADS * tokens * longest);
    uint32_t *pieces = calloc(BATCH * tokens, sizeof *pieces);
    hw_trace *traces[LAYERS];
    for (size_t b = 0; b < BATCH; b++) {
      memcpy(pieces + b * tokens, texts + b * CONTEXT + stored[b], lengths[step][b] * sizeof *pieces);
    }
    hw_input input = {.ids = pieces, .batch = BATCH, .tokens = tokens, .lengths = lengths[step], .logits_end = tokens};
    hw_forward_options options = {.cache = cache, .weights = weights, .trace = traces};
    CHECK_STATUS(hw_module_forward(context, module, &input, logits, &options), HW_OK);
    for (size_t b = 0; b < BATCH; b++) {
      expect_near(logits + b * tokens * VOCAB, all + (b * CONTEXT + stored[b]) * VOCAB, lengths[step][b] * VOCAB, 2e-3,
                  "a row to the end");
      stored[b] += lengths[step][b];
      CHECK(hw_key_value_cache_lengths(cache)[b] == stored[b], "length of %zu", b);
    }
    for (size_t layer = 0; layer < LAYERS; layer++) {
      hw_trace_destroy(traces[layer]);
    }
    free(pieces);
    free(weights);
    free(logits);
  }
  free(all);
  hw_key_value_cache_destroy(cache);
}

/* From each layer on, with the residual stream before it, the forward goes on with the same bits. */
static void check_starts(hw_module *module, const float *all) {
  enum { STREAM = BATCH * TOKENS * WIDTH };
  float residuals[(LAYERS + 1) * STREAM];
  float again[(LAYERS + 1) * STREAM];
  float logits[BATCH * TOKENS * VOCAB];
  const hw_input input = {.ids = ids, .batch = BATCH, .tokens = TOKENS, .logits_end = TOKENS};
  const hw_forward_options whole = {.residuals = residuals};
  CHECK_STATUS(hw_module_forward(context, module, &input, logits, &whole), HW_OK);
  CHECK(memcmp(logits, all, sizeof logits) == 0, "to give the residual stream changes logits");
  for (size_t layer = 0; layer <= LAYERS; layer++) {
    const float *start = residuals + layer * STREAM;
    const hw_forward_options rest = {.start = start, .start_layer = layer, .residuals = again};
    CHECK_STATUS(hw_module_forward(context, module, &input, logits, &rest), HW_OK);
    CHECK(memcmp(logits, all, sizeof logits) == 0, "other logits from layer %zu", layer);
    CHECK(memcmp(again, start, (LAYERS + 1 - layer) * STREAM * sizeof(float)) == 0, "other residuals from %zu", layer);
  }
}

/* Recorded, none of them runs. */
static void expect_options(hw_module *module, const hw_forward_options *options, hw_status expected) {
  float logits[VOCAB];
  hw_graph *graph = NULL;
  const hw_input input = {.ids = ids, .batch = 1, .tokens = 1, .logits_end = 1};
  CHECK_STATUS(hw_module_forward(context, module, &input, logits, options), expected);
  CHECK_STATUS(hw_module_forward_recorded(context, module, &input, logits, options, &graph), HW_ERROR_VALUE);
  check_case();
}

static void test_bad_starts(void) {
  const hw_decoder_config config = config_of(0);
  hw_module *module = make(&config);
  hw_key_value_cache *cache = NULL;
  float stream[(LAYERS + 1) * WIDTH] = {0.0F};
  CHECK_STATUS(hw_module_create_cache(module, 1, NULL, &cache), HW_OK);
  expect_options(module, &(hw_forward_options){.start = stream, .start_layer = LAYERS + 1}, HW_ERROR_VALUE);
  expect_options(module, &(hw_forward_options){.start_layer = 1}, HW_ERROR_VALUE);
  const hw_head_output replaced = {.layer = 0, .head = 0, .output = stream, .rows = 1};
  for (size_t layer = 0; layer < 2; layer++) {
    expect_options(
        module, &(hw_forward_options){.start = stream, .start_layer = layer, .replace = &replaced, .replace_count = 1},
        layer == 0 ? HW_OK : HW_ERROR_VALUE);
  }
  expect_options(module, &(hw_forward_options){.start = stream, .cache = cache}, HW_ERROR_VALUE);
  CHECK(hw_key_value_cache_length(cache) == 0, "length");
  /* What a cache holds has no gradient. */
  expect_options(module, &(hw_forward_options){.cache = cache}, HW_OK);
  CHECK(hw_key_value_cache_length(cache) == 1, "a forward that was refused appended");
  expect_options(module, &(hw_forward_options){.start = stream}, HW_OK);
  expect_options(module, &(hw_forward_options){.residuals = stream}, HW_OK);
  hw_key_value_cache_destroy(cache);
  hw_module_destroy(module);
}

/* The loss's gradient along itself is what a step that way changes. */
static void check_loss(hw_module *module) {
  const hw_loss_input input = {ids, NULL, BATCH, TOKENS, -100, NULL, NULL, NULL};
  hw_graph *graph = NULL;
  float loss = 0.0F;
  CHECK_STATUS(hw_model_loss(context, module, &input, &loss, &graph), HW_OK);
  CHECK_STATUS(hw_model_loss_backward(context, module, graph, 1.0F), HW_OK);
  hw_graph_destroy(graph);
  double squares = 0.0;
  CHECK_STATUS(hw_module_sum_gradient_squares(context, module, NULL, 0, &squares), HW_OK);
  CHECK(isfinite(loss) && isfinite(squares) && squares > 0.0, "loss %g, squares %g", (double)loss, squares);
}

static void test_options(void) {
  for (size_t options = 0; options < 256; options++) {
    const hw_decoder_config config = config_of(options);
    hw_module *module = make(&config);
    float all[BATCH * TOKENS * VOCAB];
    float recorded[BATCH * TOKENS * VOCAB];
    hw_graph *graph = NULL;
    const hw_input input = {.ids = ids, .batch = BATCH, .tokens = TOKENS, .logits_end = TOKENS};
    CHECK_STATUS(hw_module_forward(context, module, &input, all, NULL), HW_OK);
    CHECK_STATUS(hw_module_forward_recorded(context, module, &input, recorded, NULL, &graph), HW_OK);
    CHECK(memcmp(all, recorded, sizeof all) == 0, "options %zu: a recorded forward gives other bits", options);
    CHECK_STATUS(hw_module_backward(context, module, &input, graph, all, NULL, NULL), HW_OK);
    hw_graph_destroy(graph);
    check_starts(module, all);
    check_caches(module, all);
    check_end(module);
    check_loss(module);
    check_case();
    hw_module_destroy(module);
  }
}

static void test_small_weights(void) {
  for (size_t options = 0; options < 256; options += 5) {
    for (int type = HW_MATRIX_BFLOAT16; type <= HW_MATRIX_INT8; type++) {
      hw_decoder_config config = config_of(options);
      config.model.dtype = (hw_matrix_type)type;
      hw_module *module = NULL;
      CHECK_STATUS(hw_decoder_create(&config, &module), HW_OK);
      float logits[BATCH * VOCAB];
      hw_graph *graph = NULL;
      const hw_input input = {.ids = ids, .batch = BATCH, .tokens = TOKENS, .logits_last = true};
      CHECK_STATUS(hw_module_forward(context, module, &input, logits, NULL), HW_OK);
      CHECK_STATUS(hw_module_forward_recorded(context, module, &input, logits, NULL, &graph), HW_ERROR_VALUE);
      check_case();
      hw_module_destroy(module);
    }
  }
}

/* One place a layer that runs, no more. */
static void test_traces_from_a_layer(void) {
  const hw_decoder_config config = config_of(0);
  hw_module *module = make(&config);
  const hw_input input = {.ids = ids, .batch = 1, .tokens = 1, .logits_end = 1};
  const hw_input too_long = {.ids = ids, .batch = 1, .tokens = SIZE_MAX};
  const float stream[WIDTH] = {0.0F};
  float logits[VOCAB];
  for (size_t layer = 0; layer <= LAYERS; layer++) {
    const size_t count = LAYERS - layer;
    hw_trace **traces = check_memory(count * sizeof(hw_trace *));
    const hw_forward_options options = {.trace = traces, .start = stream, .start_layer = layer};
    CHECK_STATUS(hw_module_forward(context, module, &input, logits, &options), HW_OK);
    for (size_t i = 0; i < count; i++) {
      CHECK(hw_trace_get_shape(traces[i]).heads == HEADS, "no trace of layer %zu", layer + i);
      hw_trace_destroy(traces[i]);
    }
    CHECK_STATUS(hw_module_forward(context, module, &too_long, logits, &options), HW_ERROR_SHAPE);
    for (size_t i = 0; i < count; i++) {
      CHECK(traces[i] == NULL, "left a trace of layer %zu", layer + i);
    }
    free((void *)traces);
  }
  hw_module_destroy(module);
}

/* Angles are the model's: its layers and their attention do not run without it, their other parts do. */
static void test_parts(void) {
  const char *const parts[] = {"", ".attn", ".ln1", ".ffn"};
  for (size_t rotary = 0; rotary <= 1; rotary++) {
    const hw_decoder_config config = config_of(4 + rotary); /* Llama's names */
    hw_module *module = make(&config);
    const float x[TOKENS * WIDTH] = {0.0F};
    float y[TOKENS * WIDTH];
    const hw_input input = {.x = x, .batch = 1, .tokens = TOKENS};
    for (size_t i = 0; i < 4; i++) {
      char name[64];
      snprintf(name, sizeof name, "layers.0%s", parts[i]);
      hw_module *part = hw_module_child(module, name);
      CHECK(part != NULL, "no %s", name);
      CHECK_STATUS(hw_module_forward(context, part, &input, y, NULL), rotary == 1 && i < 2 ? HW_ERROR_VALUE : HW_OK);
    }
    hw_module_destroy(module);
  }
}

static void expect_config(const hw_decoder_config *config, hw_status expected) {
  hw_module *module = (hw_module *)(uintptr_t)64;
  CHECK_STATUS(hw_decoder_create(config, &module), expected);
  CHECK(module == NULL, "left a module");
  check_case();
}

static void test_rotary_configs(void) {
  const double endless[] = {1.0, (double)NAN, 0.1};
  const hw_rotary_config bad[] = {{frequencies, HEAD_DIM, 1.0},
                                  {endless, 3, 1.0},
                                  {NULL, 3, 1.0},
                                  {frequencies, 3, (double)INFINITY},
                                  {frequencies, 3, 0.0}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    hw_decoder_config config = config_of(1);
    hw_rotary_config own[] = {rotaries[0], bad[i]};
    config.model.rotary = own;
    expect_config(&config, i == 0 ? HW_ERROR_SHAPE : HW_ERROR_VALUE);
  }
}

static void test_configs(void) {
  hw_layer_config none[LAYERS] = {{0, 2}, {0, 0}};
  hw_layer_config below[LAYERS] = {{0, 0}, {0, -2}}; /* -1: no rotary */
  enum { CONFIGS = 25 };
  hw_decoder_config configs[CONFIGS];
  for (size_t i = 0; i < CONFIGS; i++) {
    configs[i] = config_of(5);
  }
  configs[0].model.layers = none;
  configs[1].model.rotary_count = HW_MOST_ROTARIES + 1;
  configs[2].model.norm_place = HW_NORM_POST;
  configs[3].model.attention_softcap = -1.0;
  configs[4].logit_softcap = (double)NAN;
  configs[5].model.names = (hw_names)9;
  configs[6].model.dtype = (hw_matrix_type)4;
  configs[7].model.embedding_scale = (double)INFINITY;
  /* Their names have no such parts. */
  configs[8].model.norm_place = HW_NORM_BOTH;
  configs[9].model.names = HW_NAMES_GPT2;
  configs[9].model.num_key_value_heads = HEADS;
  configs[9].model.is_gated = true;
  configs[10] = configs[9];
  configs[10].model.is_gated = false;
  configs[10].model.qk_norm = true;
  configs[11].model.dropout = (double)NAN;
  configs[12].model.dropout = 1.5;
  configs[13].model.activation = (hw_activation)99;
  configs[13].model.d_ff = 0;
  configs[14].logit_softcap = 0.9e-30;
  /* No floats. */
  configs[15].model.embedding_scale = 1e300;
  configs[16].model.attention_scale = 1e300;
  configs[17].model.gain_offset = -1e300;
  configs[18].model.eps = 1e300;
  /* Of a zeroed struct. */
  configs[19].model.embedding_scale = 0.0;
  configs[20].model.layers = NULL;
  configs[21].model.layers = below;
  configs[22].model.norm_place = (hw_norm_place)9;
  /* One projection for all of a head, of which keys and values have fewer. */
  configs[23].model.names = HW_NAMES_GPT2;
  /* Two norms, which both branches cannot share. */
  configs[24].model.names = HW_NAMES_GEMMA3;
  configs[24].model.norm_place = HW_NORM_BOTH;
  configs[24].model.is_parallel = true;
  for (size_t i = 0; i < CONFIGS; i++) {
    expect_config(&configs[i], HW_ERROR_VALUE);
  }
}

/* Tokens after the last position would read what lies behind them. */
static void test_few_positions(void) {
  hw_decoder_config short_of_one = config_of(0);
  short_of_one.model.positions = CONTEXT - 1;
  expect_config(&short_of_one, HW_ERROR_SHAPE);
}

/* By this bound models are refused before they are made. */
static void test_least_bytes(void) {
  for (int dtype = HW_MATRIX_FLOAT32; dtype <= HW_MATRIX_INT8; dtype++) {
    const hw_matrix_type type = (hw_matrix_type)dtype;
    const hw_model_config model = {.dtype = type,
                                   .d_model = 64,
                                   .num_heads = 4,
                                   .num_key_value_heads = 2,
                                   .head_dim = 16,
                                   .d_ff = 200,
                                   .is_gated = true};
    const size_t bytes = hw_matrix_bytes(type, 64, 64) * 2 + hw_matrix_bytes(type, 32, 64) * 2 +
                         hw_matrix_bytes(type, 200, 64) * 2 + hw_matrix_bytes(type, 64, 200);
    const size_t bound = hw_model_block_weight_bytes(&model);
    CHECK(bound <= bytes && bound > bytes / 4 * 3, "%zu bytes of %zu", bound, bytes);
    check_case();
  }
}

int main(void) {
  check_seed(21);
  CHECK(hw_context_create(&context) == HW_OK, "context");
  for (size_t i = 0; i < BATCH * TOKENS; i++) {
    ids[i] = (uint32_t)(check_random() % VOCAB);
  }
  check_run("decoders of all options: recorded, through caches, in ragged batches, with a loss", test_options);
  check_run("forwards begin at a layer there is, without a cache and unrecorded", test_bad_starts);
  check_run("from a layer on, there is one trace for each layer that runs", test_traces_from_a_layer);
  check_run("parts of a decoder run alone, except where they need its angles", test_parts);
  check_run("decoders of small weights run, and refuse to be recorded", test_small_weights);
  check_run("bad configs are refused", test_configs);
  check_run("so are bad rotaries", test_rotary_configs);
  check_run("so are fewer positions than the context", test_few_positions);
  check_run("what a block takes at least is no more than it takes", test_least_bytes);
  hw_context_destroy(context);
  return check_result();
}
