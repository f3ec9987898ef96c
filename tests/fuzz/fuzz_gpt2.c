/* GPT-2 of any sizes: pieces appended to a cache that is cut now and then, against float64 of all tokens so far; forwards that
 * begin at any layer; and parts of a logit and of a head's score, which add up. */
#include "fuzz.h"
#include "reference_gpt2.h"

enum { MOST_TOKENS = 24, MOST_BATCH = 2, MOST_STEPS = 6 };

typedef struct model {
  hw_context *context;
  hw_decoder_config config;
  hw_module *module;
  hw_key_value_cache *cache;
  const float *head_mask;
  size_t batch;
  uint32_t ids[MOST_BATCH * MOST_TOKENS]; /* [batch, length so far] */
} model;

static model draw(fuzz_bytes *bytes) {
  static const float head_mask[] = {1.0F, 0.0F, 0.5F, 0.0F, 1.0F, -1.0F};
  const size_t heads = fuzz_size(bytes, 1, 3);
  const size_t vocab_size = fuzz_size(bytes, 1, 40);
  const size_t context_length = fuzz_size(bytes, 1, MOST_TOKENS);
  const size_t num_layers = fuzz_size(bytes, 1, 2);
  const size_t d_model = heads * fuzz_size(bytes, 1, 9);
  model m = {.config = gpt2_config(vocab_size, context_length, num_layers, d_model, heads, fuzz_size(bytes, 1, 40))};
  m.config.model.activation = (hw_activation)(fuzz_byte(bytes) % 2);
  m.config.model.eps = fuzz_bool(bytes) ? 1e-3 : HW_LAYER_NORM_EPS;
  m.batch = fuzz_size(bytes, 1, MOST_BATCH);
  m.head_mask = fuzz_bool(bytes) ? head_mask : NULL;
  CHECK(hw_context_create(&m.context) == HW_OK, "create");
  m.module = reference_create_gpt2(&m.config);
  CHECK(hw_module_create_cache(m.module, m.batch, NULL, &m.cache) == HW_OK, "create");
  return m;
}

/* Other tokens from `length` on, as many as there are to be. */
static void draw_ids(model *m, size_t length, size_t tokens) {
  uint32_t kept[MOST_BATCH * MOST_TOKENS];
  const size_t before = hw_key_value_cache_length(m->cache);
  memcpy(kept, m->ids, sizeof kept);
  CHECK(hw_key_value_cache_truncate(m->cache, length) == HW_OK, "truncate");
  for (size_t i = 0; i < m->batch * tokens; i++) {
    const size_t position = i % tokens;
    m->ids[i] = position < length ? kept[i / tokens * before + position]
                                  : (uint32_t)(check_random() % m->config.model.vocab_size);
  }
}

/* Logits of tokens [start, end) of all, computed from a piece that begins at `length`. */
static void compare(const model *m, const float *logits, size_t start, size_t end) {
  const reference_tokens t = {m->batch, hw_key_value_cache_length(m->cache), 0};
  const size_t vocab = m->config.model.vocab_size;
  const size_t count = m->batch * t.tokens * vocab;
  double *exact = reference_doubles(count);
  double *noisy = reference_doubles(count);
  double *weights =
      reference_doubles(m->config.model.num_layers * m->batch * m->config.model.num_heads * t.tokens * t.tokens);
  double moved = 0.0;
  reference_gpt2(m->module, &m->config, m->ids, &t, m->head_mask, exact, weights, 0.0);
  for (size_t run = 0; run < REFERENCE_RUNS; run++) {
    reference_gpt2(m->module, &m->config, m->ids, &t, m->head_mask, noisy, weights, REFERENCE_NOISE);
    moved = fmax(moved, reference_distance(exact, noisy, count));
  }
  for (size_t b = 0; b < m->batch; b++) {
    const size_t rows = (end - start) * vocab;
    reference_compare(logits + b * rows, exact + (b * t.tokens + start) * vocab, moved, rows, "logits");
  }
  free(exact);
  free(noisy);
  free(weights);
}

static void append(fuzz_bytes *bytes, model *m) {
  const size_t length = fuzz_size(bytes, 0, hw_key_value_cache_length(m->cache));
  const size_t room = m->config.model.context_length - length;
  if (room == 0) {
    return;
  }
  const size_t piece = fuzz_size(bytes, 1, room);
  draw_ids(m, length, length + piece);
  const size_t start = fuzz_size(bytes, 0, piece - 1);
  const size_t end = fuzz_size(bytes, start + 1, piece);
  uint32_t ids[MOST_BATCH * MOST_TOKENS];
  for (size_t i = 0; i < m->batch * piece; i++) {
    ids[i] = m->ids[i / piece * (length + piece) + length + i % piece];
  }
  const hw_input input = {NULL, ids, m->batch, piece, start, end, NULL, false};
  const hw_forward_options options = {.cache = m->cache, .head_mask = m->head_mask};
  float *logits = check_guarded(m->batch * (end - start) * m->config.model.vocab_size);
  CHECK(hw_module_forward(m->context, m->module, &input, logits, &options) == HW_OK, "forward");
  compare(m, logits, length + start, length + end);
  free(logits);
}

/* From a layer on, with the residual stream before it, all tokens so far have the logits of the whole forward. */
static void go_on(fuzz_bytes *bytes, const model *m) {
  const size_t tokens = hw_key_value_cache_length(m->cache);
  const size_t layers = m->config.model.num_layers;
  const size_t stream = m->batch * tokens * m->config.model.d_model;
  const size_t count = m->batch * tokens * m->config.model.vocab_size;
  if (tokens == 0) {
    return;
  }
  float *residuals = check_guarded((layers + 1) * stream);
  float *whole = check_guarded(count);
  float *rest = check_guarded(count);
  const hw_input input = {.ids = m->ids, .batch = m->batch, .tokens = tokens, .logits_end = tokens};
  hw_forward_options options = {.head_mask = m->head_mask, .residuals = residuals};
  CHECK(hw_module_forward(m->context, m->module, &input, whole, &options) == HW_OK, "forward");
  options.residuals = NULL;
  options.start_layer = fuzz_size(bytes, 0, layers);
  options.start = residuals + options.start_layer * stream;
  CHECK(hw_module_forward(m->context, m->module, &input, rest, &options) == HW_OK, "from layer %zu",
        options.start_layer);
  CHECK(memcmp(rest, whole, count * sizeof(float)) == 0, "other logits from layer %zu", options.start_layer);
  free(residuals);
  free(whole);
  free(rest);
}

/* Sums of floats of this size, which products of some length came before. */
static void expect_sum(const float *parts, size_t count, double expected, const char *what) {
  double sum = 0.0;
  double size = 1.0;
  for (size_t i = 0; i < count; i++) {
    sum += (double)parts[i];
    size += fabs((double)parts[i]);
  }
  CHECK(fabs(sum - expected) <= 1e-5 * size, "%s: %g, expected %g", what, sum, expected);
}

/* What the model makes of a text of its own. */
static void explain(fuzz_bytes *bytes, const model *m) {
  const hw_model_config *model = &m->config.model;
  const size_t tokens = fuzz_size(bytes, 1, model->context_length);
  const size_t layer = fuzz_size(bytes, 0, model->num_layers - 1);
  const size_t heads = model->num_layers * model->num_heads;
  const size_t count = layer * (model->num_heads + 1) + 2;
  const size_t all = heads + model->num_layers + 2;
  uint32_t ids[MOST_TOKENS];
  for (size_t i = 0; i < tokens; i++) {
    ids[i] = (uint32_t)(check_random() % model->vocab_size);
  }
  float *parts = check_guarded(all + 1);
  const hw_attribution logit = {.ids = ids,
                                .tokens = tokens,
                                .position = fuzz_size(bytes, 0, tokens - 1),
                                .heads = parts,
                                .mlps = parts + heads,
                                .rest = parts + all - 2};
  CHECK(hw_decoder_attribution(m->context, m->module, &logit) == HW_OK, "attribution");
  expect_sum(parts, all, (double)parts[all], "a logit");
  float *sides = check_guarded(2 * count + 1);
  const hw_qk_attribution look = {.ids = ids,
                                  .tokens = tokens,
                                  .layer = layer,
                                  .head = fuzz_size(bytes, 0, model->num_heads - 1),
                                  .query = fuzz_size(bytes, 0, tokens - 1),
                                  .key = fuzz_size(bytes, 0, tokens - 1),
                                  .query_parts = sides,
                                  .key_parts = sides + count,
                                  .score = sides + 2 * count};
  CHECK(hw_decoder_qk_attribution(m->context, m->module, &look) == HW_OK, "attribution of a score");
  expect_sum(sides, count, (double)sides[2 * count], "the query's parts");
  expect_sum(sides + count, count, (double)sides[2 * count], "the key's parts");
  free(parts);
  free(sides);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes bytes = {data, size};
  check_seed(fuzz_byte(&bytes));
  model m = draw(&bytes);
  for (size_t step = 0; step < MOST_STEPS && (step == 0 || bytes.left > 0); step++) {
    append(&bytes, &m);
  }
  go_on(&bytes, &m);
  explain(&bytes, &m);
  hw_key_value_cache_destroy(m.cache);
  hw_module_destroy(m.module);
  hw_context_destroy(m.context);
  return fuzz_end();
}
