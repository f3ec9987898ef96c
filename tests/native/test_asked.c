/* Decoders whose last layer computes only the tokens whose logits are asked for: numbers, traces and caches are those of all. */
#include <math.h>

#include "decoder_case.h"

/* What else is asked of a forward. */
typedef enum extra { PLAIN, TRACED, WEIGHTS, HEAD_MASK, REPLACED, CACHED, RAGGED_CACHE, MASKED, EXTRAS } extra;

typedef struct range {
  size_t start;
  size_t end;
  const uint32_t *lengths;
  bool last;
} range;

enum { PAST = 2, SCORES = LAYERS * BATCH * HEADS * TOKENS * TOKENS };

static hw_context *context;
static uint32_t ids[BATCH * TOKENS];

/* What a forward leaves. */
typedef struct result {
  float logits[BATCH * TOKENS * VOCAB];
  float weights[SCORES];
  float map[TOKENS * (PAST + TOKENS)]; /* of the trace of a head of the last layer */
  float next[BATCH * VOCAB];           /* logits of a next token, by the cache */
} result;

static hw_key_value_cache *cache_of(const hw_module *module, bool is_ragged) {
  static const uint32_t lengths[BATCH] = {1, PAST};
  float logits[BATCH * VOCAB];
  hw_key_value_cache *cache = NULL;
  CHECK_STATUS(hw_module_create_cache(module, BATCH, NULL, &cache), HW_OK);
  const hw_input past = {
      .ids = ids, .batch = BATCH, .tokens = PAST, .lengths = is_ragged ? lengths : NULL, .logits_last = true};
  CHECK_STATUS(hw_module_forward(context, module, &past, logits, &(hw_forward_options){.cache = cache}), HW_OK);
  return cache;
}

static void run(const hw_module *module, const range *r, extra what, result *found) {
  static float factors[LAYERS * HEADS];
  static float mask[TOKENS * TOKENS];
  static float output[BATCH * TOKENS * HEAD_DIM];
  hw_trace *traces[LAYERS];
  hw_forward_options options = {.cache =
                                    what == CACHED || what == RAGGED_CACHE ? cache_of(module, what != CACHED) : NULL};
  for (size_t i = 0; i < TOKENS * TOKENS; i++) {
    mask[i] = i % 5 == 2 ? -1.0F : 0.0F;
    output[i] = (float)i / 16.0F;
    factors[i % (LAYERS * HEADS)] = (float)(i % 3);
  }
  const hw_head_output replace = {LAYERS - 1, 1, output, BATCH * TOKENS};
  options.trace = what == TRACED || what == RAGGED_CACHE ? traces : NULL;
  options.weights = what == WEIGHTS ? found->weights : NULL;
  options.head_mask = what == HEAD_MASK || what == RAGGED_CACHE ? factors : NULL;
  options.replace = &replace;
  options.replace_count = what == REPLACED ? 1 : 0;
  options.mask = (hw_mask){what == MASKED ? HW_MASK_FLOAT : HW_MASK_NONE, mask, 0, 0, TOKENS, 1};
  const hw_input asked = {.ids = ids,
                          .batch = BATCH,
                          .tokens = TOKENS,
                          .logits_start = r->start,
                          .logits_end = r->end,
                          .lengths = r->lengths,
                          .logits_last = r->last};
  CHECK_STATUS(hw_module_forward(context, module, &asked, found->logits, &options), HW_OK);
  if (options.trace != NULL) {
    CHECK_STATUS(hw_trace_weights(context, traces[LAYERS - 1], 1, 2, 0, TOKENS, found->map), HW_OK);
    for (size_t i = 0; i < LAYERS; i++) {
      hw_trace_destroy(traces[i]);
    }
  }
  if (options.cache != NULL) {
    const hw_input next = {.ids = ids, .batch = BATCH, .tokens = 1, .logits_last = true};
    const hw_forward_options more = {.cache = options.cache};
    CHECK_STATUS(hw_module_forward(context, module, &next, found->next, &more), HW_OK);
    hw_key_value_cache_destroy(options.cache);
  }
}

static void expect_rows(const range *r, const result *all, const result *some, double tolerance, const char *what) {
  const size_t count = (r->last ? 1 : r->end - r->start) * VOCAB;
  for (size_t b = 0; b < BATCH; b++) {
    const size_t last = (r->lengths == NULL ? TOKENS : r->lengths[b]) - 1;
    const float *expected = all->logits + (b * TOKENS + (r->last ? last : r->start)) * VOCAB;
    const float *logits = some->logits + b * count;
    double most = 0.0;
    for (size_t i = 0; i < count; i++) {
      most = fmax(most, fabs((double)logits[i] - (double)expected[i]));
    }
    CHECK(most <= tolerance && (tolerance > 0.0 || memcmp(logits, expected, count * sizeof(float)) == 0),
          "%s, logits of [%zu, %zu)%s of sequence %zu: off by %g", what, r->start, r->end, r->last ? ", the last" : "",
          b, most);
  }
  CHECK(memcmp(all->weights, some->weights, sizeof all->weights) == 0, "%s: other weights", what);
  CHECK(memcmp(all->map, some->map, sizeof all->map) == 0, "%s: another map", what);
  CHECK(memcmp(all->next, some->next, sizeof all->next) == 0, "%s: another next token", what);
}

/* tolerance: of logits; 0: the same bits. */
static void check_module(const hw_module *module, double tolerance) {
  static const char *const names[EXTRAS] = {"plain",    "traced", "with weights",        "with a head mask",
                                            "replaced", "cached", "with a ragged cache", "masked"};
  static const uint32_t lengths[BATCH] = {TOKENS - 3, TOKENS};
  static const range ranges[] = {
      {0, 0, NULL, false}, {2, 5, NULL, false},    {TOKENS - 1, TOKENS, NULL, false},
      {0, 0, NULL, true},  {1, 4, lengths, false}, {0, 0, lengths, true},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    for (extra what = PLAIN; what < EXTRAS; what++) {
      static result all;
      static result some;
      memset(&all, 0, sizeof all);
      memset(&some, 0, sizeof some);
      run(module, &(range){0, TOKENS, ranges[i].lengths, false}, what, &all);
      run(module, &ranges[i], what, &some);
      expect_rows(&ranges[i], &all, &some, tolerance, names[what]);
      check_case();
    }
  }
}

static void test_options(void) {
  for (size_t options = 0; options < 256; options += 3) {
    const hw_decoder_config config = config_of(options);
    hw_module *module = make(&config);
    check_module(module, 0.0);
    hw_module_destroy(module);
  }
}

static void test_small_weights(void) {
  for (int type = HW_MATRIX_BFLOAT16; type <= HW_MATRIX_INT8; type++) {
    hw_decoder_config config = config_of(37);
    config.model.dtype = (hw_matrix_type)type;
    hw_module *module = make(&config);
    /* Products of few rows with float16 weights scale sums, those of many scale weights. */
    check_module(module, type == HW_MATRIX_FLOAT16 ? 1e-5 : 0.0);
    hw_module_destroy(module);
  }
}

/* Blocks of keys begin where the first query sees a key. */
static void test_windows(void) {
  enum { LONG = 500 };
  static const hw_layer_config windows[LAYERS] = {{90, -1}, {440, -1}};
  hw_decoder_config config = config_of(0);
  config.model.layers = windows;
  config.model.context_length = LONG;
  config.model.positions = LONG;
  hw_module *module = make(&config);
  uint32_t text[LONG];
  static float all[LONG * VOCAB];
  float last[VOCAB];
  for (size_t i = 0; i < LONG; i++) {
    text[i] = ids[i % (BATCH * TOKENS)];
  }
  for (size_t tokens = 1; tokens < LONG; tokens += 19) {
    const hw_input input = {.ids = text, .batch = 1, .tokens = tokens, .logits_last = true};
    CHECK_STATUS(hw_module_forward(context, module, &input, last, NULL), HW_OK);
    const hw_input rows = {.ids = text, .batch = 1, .tokens = tokens, .logits_end = tokens};
    CHECK_STATUS(hw_module_forward(context, module, &rows, all, NULL), HW_OK);
    CHECK(memcmp(last, all + (tokens - 1) * VOCAB, sizeof last) == 0, "the last of %zu tokens: other bits", tokens);
    check_case();
  }
  hw_module_destroy(module);
}

/* A call like the one before it is not measured again. With one layer all tokens need more scratch than one. */
static void test_one_after_another(void) {
  static float all[BATCH * TOKENS * VOCAB];
  static float again[BATCH * TOKENS * VOCAB];
  float last[BATCH * VOCAB];
  const hw_input rows = {.ids = ids, .batch = BATCH, .tokens = TOKENS, .logits_end = TOKENS};
  const hw_input one = {.ids = ids, .batch = BATCH, .tokens = TOKENS, .logits_last = true};
  for (int type = HW_MATRIX_FLOAT32; type <= HW_MATRIX_INT8; type++) {
    hw_decoder_config config = config_of(0);
    config.model.num_layers = 1;
    config.model.dtype = (hw_matrix_type)type;
    hw_module *module = make(&config);
    hw_context *fresh = NULL; /* whose scratch is no larger than its runs need */
    CHECK_STATUS(hw_module_forward(context, module, &rows, all, NULL), HW_OK);
    CHECK_STATUS(hw_context_create(&fresh), HW_OK);
    CHECK_STATUS(hw_module_forward(fresh, module, &one, last, NULL), HW_OK);
    const size_t before = hw_context_scratch_bytes(fresh);
    CHECK_STATUS(hw_module_forward(fresh, module, &rows, again, NULL), HW_OK);
    CHECK(hw_context_scratch_bytes(fresh) > before, "type %d: all tokens need no more than one", type);
    CHECK(memcmp(again, all, sizeof all) == 0, "type %d: other bits after the last token's", type);
    hw_context_destroy(fresh);
    hw_module_destroy(module);
  }
}

int main(void) {
  check_seed(22);
  CHECK(hw_context_create(&context) == HW_OK, "context");
  for (size_t i = 0; i < BATCH * TOKENS; i++) {
    ids[i] = (uint32_t)(check_random() % VOCAB);
  }
  check_run("logits of some tokens are those of all, to the bit, whatever else is asked", test_options);
  check_run("they are with small weights", test_small_weights);
  check_run("they are with windows, behind more than a block of keys", test_windows);
  check_run("all are asked for right after the last one, and have memory", test_one_after_another);
  hw_context_destroy(context);
  return check_result();
}
