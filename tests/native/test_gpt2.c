/* GPT-2 is its parts, to the bit; float64 from the definition; caches, head masks, and what is refused. */
#include "core/context.h"
#include "reference_gpt2.h"

enum { VOCAB = 23, CONTEXT = 14, HEADS = 3, D_MODEL = 12, D_FF = 20, LAYERS = 2, BATCH = 2, TOKENS = 11 };
enum { ROWS = BATCH * TOKENS, LAYER_WEIGHTS = BATCH * HEADS * TOKENS * TOKENS };

static hw_context *context;
static uint32_t ids[BATCH * CONTEXT];
static const float head_mask[LAYERS * HEADS] = {1.0F, 0.0F, 0.5F, -1.0F, 1.0F, 2.0F};

static hw_decoder_config config_of(hw_gelu_approximation approximate, double eps) {
  hw_decoder_config config = gpt2_config(VOCAB, CONTEXT, LAYERS, D_MODEL, HEADS, D_FF);
  config.model.activation = (hw_activation)approximate;
  config.model.eps = eps == 0.0 ? HW_LAYER_NORM_EPS : eps;
  return config;
}

static void expect_same(const float *got, const float *expected, size_t count, const char *what) {
  for (size_t i = 0; i < count; i++) {
    if (check_bits(got[i]) != check_bits(expected[i])) {
      CHECK(false, "%s, %zu: %.9g, expected %.9g", what, i, (double)got[i], (double)expected[i]);
      return;
    }
  }
  check_case();
}

/* Another order of sums. */
static void expect_near(const float *got, const float *expected, size_t count, const char *what) {
  for (size_t i = 0; i < count; i++) {
    const double tolerance = 2e-4 + 1e-4 * fabs((double)expected[i]);
    CHECK(fabs((double)got[i] - (double)expected[i]) <= tolerance, "%s, %zu: %.9g, expected %.9g", what, i,
          (double)got[i], (double)expected[i]);
  }
  check_case();
}

/* ---- The public parts, one after another ---- */

/* The blocks as modules of their own, one layer of weights and traces after another. */
static void run_blocks(hw_module *module, const hw_forward_options *options, float *x) {
  for (size_t i = 0; i < LAYERS; i++) {
    hw_forward_options own = *options;
    own.weights = options->weights == NULL ? NULL : options->weights + i * LAYER_WEIGHTS;
    own.trace = options->trace == NULL ? NULL : options->trace + i;
    own.head_mask = options->head_mask == NULL ? NULL : options->head_mask + i * HEADS;
    CHECK(forward_tokens(context, nth_child(module, "h", i), x, BATCH, TOKENS, x, &own) == HW_OK, "h.%zu", i);
  }
}

static void forward_by_parts(hw_module *module, const hw_forward_options *options, float *logits) {
  float x[ROWS * D_MODEL];
  float *wte = stored(whole(module), "wte.weight");
  float *wpe = stored(whole(module), "wpe.weight");
  for (size_t i = 0; i < (size_t)ROWS * D_MODEL; i++) {
    x[i] = wte[ids[i / D_MODEL] * D_MODEL + i % D_MODEL] + wpe[i % ((size_t)TOKENS * D_MODEL)];
  }
  free(wte);
  free(wpe);
  run_blocks(module, options, x);
  CHECK(forward_rows(context, hw_module_child(module, "ln_f"), x, ROWS, x) == HW_OK, "ln_f");
  run_linear_part(context, part_of(whole(module), "wte"), x, ROWS, logits);
}

static void compare_traces(hw_trace *const *got, hw_trace *const *expected) {
  float rows[2][TOKENS * TOKENS];
  for (size_t i = 0; i < (size_t)LAYERS * BATCH * HEADS; i++) {
    const size_t layer = i / (BATCH * HEADS);
    const size_t batch = i / HEADS % BATCH;
    CHECK(hw_trace_weights(context, got[layer], batch, i % HEADS, 0, TOKENS, rows[0]) == HW_OK, "trace");
    CHECK(hw_trace_weights(context, expected[layer], batch, i % HEADS, 0, TOKENS, rows[1]) == HW_OK, "trace");
    expect_same(rows[0], rows[1], (size_t)TOKENS * TOKENS, "traced weights");
  }
}

static void run_parts(hw_module *module, hw_forward_options options) {
  static float weights[2][LAYERS * LAYER_WEIGHTS];
  hw_trace *traces[2][LAYERS];
  float *logits = check_guarded((size_t)ROWS * VOCAB);
  float *expected = check_floats((size_t)ROWS * VOCAB);
  const hw_input input = {NULL, ids, BATCH, TOKENS, 0, TOKENS, NULL, false};
  const bool with_all = options.head_mask != NULL;
  options.weights = with_all ? weights[0] : NULL;
  options.trace = with_all ? traces[0] : NULL;
  forward_by_parts(module, &options, expected);
  options.weights = with_all ? weights[1] : NULL;
  options.trace = with_all ? traces[1] : NULL;
  CHECK_STATUS(hw_module_forward(context, module, &input, logits, &options), HW_OK);
  expect_same(logits, expected, (size_t)ROWS * VOCAB, "logits");
  if (with_all) {
    expect_same(weights[1], weights[0], (size_t)LAYERS * LAYER_WEIGHTS, "weights");
    compare_traces(traces[1], traces[0]);
    for (size_t i = 0; i < (size_t)2 * LAYERS; i++) {
      hw_trace_destroy(traces[i / LAYERS][i % LAYERS]);
    }
  }
  free(logits);
  free(expected);
}

static void test_parts(void) {
  float mask[TOKENS * TOKENS];
  check_fill(mask, sizeof mask / sizeof *mask);
  for (int approximate = HW_GELU_NONE; approximate <= HW_GELU_TANH; approximate++) {
    const hw_decoder_config config = config_of((hw_gelu_approximation)approximate, approximate == 0 ? 0.0 : 1e-3);
    hw_module *module = reference_create_gpt2(&config);
    run_parts(module, (hw_forward_options){0});
    run_parts(module, (hw_forward_options){.head_mask = head_mask});
    const hw_mask added = {.kind = HW_MASK_FLOAT, .data = mask, .query_stride = TOKENS, .key_stride = 1};
    run_parts(module, (hw_forward_options){.mask = added, .head_mask = head_mask});
    hw_module_destroy(module);
  }
}

/* ---- The definition in double ---- */

typedef struct expectation {
  double logits[ROWS * VOCAB];
  double weights[LAYERS * LAYER_WEIGHTS];
} expectation;

static void run_definition(const hw_decoder_config *config, const float *factors) {
  static expectation exact;
  static expectation noisy;
  static float weights[LAYERS * LAYER_WEIGHTS];
  float logits[ROWS * VOCAB];
  double moved = 0.0;
  double moved_weights = 0.0;
  const reference_tokens t = {BATCH, TOKENS, 0};
  hw_module *module = reference_create_gpt2(config);
  reference_gpt2(module, config, ids, &t, factors, exact.logits, exact.weights, 0.0);
  for (size_t run = 0; run < REFERENCE_RUNS; run++) {
    reference_gpt2(module, config, ids, &t, factors, noisy.logits, noisy.weights, REFERENCE_NOISE);
    moved = fmax(moved, reference_distance(exact.logits, noisy.logits, (size_t)ROWS * VOCAB));
    moved_weights =
        fmax(moved_weights, reference_distance(exact.weights, noisy.weights, (size_t)LAYERS * LAYER_WEIGHTS));
  }
  const hw_input input = {NULL, ids, BATCH, TOKENS, 0, TOKENS, NULL, false};
  const hw_forward_options options = {.weights = weights, .head_mask = factors};
  CHECK_STATUS(hw_module_forward(context, module, &input, logits, &options), HW_OK);
  reference_compare(logits, exact.logits, moved, (size_t)ROWS * VOCAB, "logits");
  reference_compare(weights, exact.weights, moved_weights, (size_t)LAYERS * LAYER_WEIGHTS, "weights");
  hw_module_destroy(module);
}

static void test_definition(void) {
  for (int i = 0; i < 8; i++) {
    const hw_decoder_config config = config_of((hw_gelu_approximation)(i % 2), i / 2 % 2 == 0 ? 0.0 : 0.5);
    run_definition(&config, i / 4 == 0 ? NULL : head_mask);
  }
}

/* ---- Ranges of logits, pieces through a cache ---- */

static void test_ranges(void) {
  const hw_decoder_config config = config_of(HW_GELU_TANH, 0.0);
  hw_module *module = reference_create_gpt2(&config);
  float all[ROWS * VOCAB];
  const hw_input every = {NULL, ids, BATCH, TOKENS, 0, TOKENS, NULL, false};
  CHECK_STATUS(hw_module_forward(context, module, &every, all, NULL), HW_OK);
  for (size_t start = 0; start <= TOKENS; start++) {
    for (size_t end = start; end <= TOKENS; end++) {
      const hw_input input = {NULL, ids, BATCH, TOKENS, start, end, NULL, false};
      const size_t count = (end - start) * VOCAB;
      float *logits = check_guarded(BATCH * count + 1);
      CHECK_STATUS(hw_module_forward(context, module, &input, count == 0 ? NULL : logits, NULL), HW_OK);
      for (size_t b = 0; b < BATCH; b++) {
        expect_near(logits + b * count, all + (b * TOKENS + start) * VOCAB, count, "a range");
      }
      CHECK(check_is_guard(logits[BATCH * count]), "written beyond [%zu, %zu)", start, end);
      free(logits);
    }
  }
  hw_module_destroy(module);
}

/* Appends tokens [start, end) of both sequences. */
static void append(hw_module *module, hw_key_value_cache *cache, size_t start, size_t end, const float *whole) {
  uint32_t piece[BATCH * CONTEXT];
  float logits[BATCH * CONTEXT * VOCAB];
  const size_t count = end - start;
  for (size_t i = 0; i < BATCH * count; i++) {
    piece[i] = ids[i / count * CONTEXT + start + i % count];
  }
  const hw_input input = {NULL, piece, BATCH, count, 0, count, NULL, false};
  const hw_forward_options options = {.cache = cache, .head_mask = head_mask};
  CHECK_STATUS(hw_module_forward(context, module, &input, logits, &options), HW_OK);
  CHECK(hw_key_value_cache_length(cache) == end, "length");
  for (size_t b = 0; whole != NULL && b < BATCH; b++) {
    expect_near(logits + b * count * VOCAB, whole + (b * CONTEXT + start) * VOCAB, count * VOCAB, "a piece");
  }
}

static void test_cache(void) {
  const hw_decoder_config config = config_of(HW_GELU_TANH, 0.0);
  static float whole[BATCH * CONTEXT * VOCAB];
  hw_module *module = reference_create_gpt2(&config);
  hw_key_value_cache *cache = NULL;
  const hw_input input = {NULL, ids, BATCH, CONTEXT, 0, CONTEXT, NULL, false};
  const hw_forward_options options = {.head_mask = head_mask};
  CHECK_STATUS(hw_module_forward(context, module, &input, whole, &options), HW_OK);
  CHECK_STATUS(hw_module_create_cache(module, BATCH, NULL, &cache), HW_OK);
  for (size_t first = 1; first < CONTEXT; first++) {
    for (size_t step = 1; step <= CONTEXT - first; step++) {
      append(module, cache, 0, first, whole);
      for (size_t start = first; start < CONTEXT; start += step) {
        append(module, cache, start, start + step < CONTEXT ? start + step : CONTEXT, whole);
      }
      CHECK_STATUS(hw_key_value_cache_truncate(cache, first), HW_OK);
      append(module, cache, first, CONTEXT, whole);
      CHECK_STATUS(hw_key_value_cache_truncate(cache, 0), HW_OK);
    }
  }
  hw_key_value_cache_destroy(cache);
  hw_module_destroy(module);
}

/* ---- What is refused ---- */

static void expect_config(hw_decoder_config config, hw_status expected) {
  hw_module *module = (hw_module *)(uintptr_t)64;
  CHECK_STATUS(hw_decoder_create(&config, &module), expected);
  CHECK((module != NULL) == (expected == HW_OK), "a pointer");
  hw_module_destroy(module);
}

static void test_configs(void) {
  const hw_decoder_config good = config_of(HW_GELU_TANH, 0.0);
  hw_module_destroy(NULL);
  expect_config(good, HW_OK);
  for (size_t field = 0; field < 7; field++) {
    hw_decoder_config config = good;
    hw_model_config *model = &config.model;
    size_t *const fields[] = {&model->vocab_size,         &model->context_length, &model->d_model,
                              &model->num_heads,          &model->num_layers,     &model->head_dim,
                              &model->num_key_value_heads};
    *fields[field] = 0;
    expect_config(config, HW_ERROR_SHAPE);
  }
  hw_decoder_config config = good;
  config.model.num_heads = 5;
  expect_config(config, HW_ERROR_SHAPE);
  const double bad_eps[] = {-1e-5, (double)NAN, (double)INFINITY};
  for (size_t i = 0; i < 3; i++) {
    expect_config(config_of(HW_GELU_TANH, bad_eps[i]), HW_ERROR_VALUE);
  }
  config = good;
  config.model.activation = (hw_activation)5;
  expect_config(config, HW_ERROR_VALUE);
}

/* Asked for traces, none may be left; the cache, if there is one, has as many tokens as before. */
static void expect_forward(hw_module *module, const hw_input *input, hw_forward_options options, hw_status expected) {
  hw_trace *traces[LAYERS] = {(hw_trace *)(uintptr_t)64, (hw_trace *)(uintptr_t)64};
  float logits[BATCH * CONTEXT * VOCAB];
  options.trace = traces;
  const size_t length = options.cache == NULL ? 0 : hw_key_value_cache_length(options.cache);
  CHECK_STATUS(hw_module_forward(context, module, input, logits, &options), expected);
  CHECK(traces[0] == NULL && traces[1] == NULL, "left a trace");
  CHECK(options.cache == NULL || hw_key_value_cache_length(options.cache) == length, "the cache has another length");
}

static void test_forwards(void) {
  const hw_decoder_config config = config_of(HW_GELU_TANH, 0.0);
  hw_module *module = reference_create_gpt2(&config);
  const hw_forward_options nothing = {0};
  const uint32_t bad_ids[] = {VOCAB, UINT32_MAX};
  const hw_input shapes[] = {{NULL, ids, 0, 3, 0, 3, NULL, false},
                             {NULL, ids, 1, 0, 0, 0, NULL, false},
                             {NULL, ids, 1, CONTEXT + 1, 0, 1, NULL, false}};
  const hw_input ranges[] = {{NULL, ids, 1, 3, 2, 1, NULL, false},
                             {NULL, ids, 1, 3, 0, 4, NULL, false},
                             {NULL, ids, 1, 3, 4, 4, NULL, false},
                             {NULL, ids, 1, 3, 4, 3, NULL, false}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    expect_forward(module, &shapes[i], nothing, HW_ERROR_SHAPE);
  }
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    expect_forward(module, &ranges[i], nothing, HW_ERROR_VALUE);
  }
  for (size_t i = 0; i < sizeof bad_ids / sizeof *bad_ids; i++) {
    const uint32_t wrong[] = {1, 2, bad_ids[i]};
    const hw_input input = {NULL, wrong, 1, 3, 0, 3, NULL, false};
    expect_forward(module, &input, nothing, HW_ERROR_VALUE);
  }
  const hw_input good = {NULL, ids, 1, 3, 0, 3, NULL, false};
  const hw_mask empty = {.kind = HW_MASK_BOOL, .data = NULL};
  expect_forward(module, &good, (hw_forward_options){.mask = empty}, HW_ERROR_VALUE);
  hw_module_destroy(module);
}

static void test_caches(void) {
  const hw_decoder_config config = config_of(HW_GELU_TANH, 0.0);
  hw_decoder_config longer = config;
  longer.model.positions = longer.model.context_length = CONTEXT + 1;
  hw_module *module = reference_create_gpt2(&config);
  hw_module *other = NULL;
  hw_key_value_cache *cache = (hw_key_value_cache *)(uintptr_t)64;
  hw_key_value_cache *foreign = NULL;
  CHECK_STATUS(hw_decoder_create(&longer, &other), HW_OK);
  CHECK_STATUS(hw_module_create_cache(module, 0, NULL, &cache), HW_ERROR_SHAPE);
  CHECK(cache == NULL, "left a pointer");
  CHECK_STATUS(hw_module_create_cache(module, BATCH, NULL, &cache), HW_OK);
  CHECK_STATUS(hw_module_create_cache(other, BATCH, NULL, &foreign), HW_OK);
  append(module, cache, 0, CONTEXT - 2, NULL);
  const hw_input one = {NULL, ids, 1, 1, 0, 1, NULL, false};
  const hw_input three = {NULL, ids, BATCH, 3, 0, 3, NULL, false};
  const hw_input beyond = {NULL, ids, BATCH, SIZE_MAX, 0, 1, NULL, false};
  expect_forward(module, &one, (hw_forward_options){.cache = cache}, HW_ERROR_SHAPE);
  expect_forward(module, &three, (hw_forward_options){.cache = cache}, HW_ERROR_VALUE);
  expect_forward(module, &beyond, (hw_forward_options){.cache = cache}, HW_ERROR_MEMORY);
  expect_forward(module, &three, (hw_forward_options){.cache = foreign}, HW_ERROR_SHAPE);
  append(module, cache, CONTEXT - 2, CONTEXT, NULL);
  hw_key_value_cache_destroy(cache);
  hw_key_value_cache_destroy(foreign);
  hw_module_destroy(module);
  hw_module_destroy(other);
}

int main(void) {
  check_seed(31);
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    ids[i] = (uint32_t)(check_random() % VOCAB);
  }
  if (hw_context_create(&context) != HW_OK) {
    return 1;
  }
  check_run("a GPT-2 is embeddings, stack, norm and head, with weights, traces and head masks", test_parts);
  check_run("a GPT-2 is what its definition says in double", test_definition);
  check_run("logits are those of the range that was asked for", test_ranges);
  check_run("pieces through a cache, cut and continued, give the logits of the whole", test_cache);
  check_run("GPT-2 refuses no size, uneven heads, a bad eps and an unknown GELU", test_configs);
  check_run("GPT-2 refuses other ids, ranges and masks, and leaves no trace", test_forwards);
  check_run("GPT-2 refuses caches of another shape or without room, and leaves them as they were", test_caches);
  hw_context_destroy(context);
  return check_result();
}
