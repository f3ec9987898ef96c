/* What explains heads of decoders: sums that close, scores that make the weights, matrices, and bad calls. */
#include <math.h>

#include "decoder_case.h"

enum { MOST_PARTS = LAYERS * (HEADS + 1) + 2, MATRIX = HEAD_DIM * WIDTH };

static hw_context *context;
static uint32_t ids[TOKENS];
/* Factors of heads' outputs. */
static float factors[LAYERS * HEADS];

typedef struct split {
  float query[MOST_PARTS];
  float key[MOST_PARTS];
  float pairs[MOST_PARTS * MOST_PARTS];
  float score;
} split;

static hw_qk_attribution ask(split *s, size_t layer, size_t head, size_t query, size_t key) {
  return (hw_qk_attribution){.ids = ids,
                             .tokens = TOKENS,
                             .layer = layer,
                             .head = head,
                             .query = query,
                             .key = key,
                             .query_parts = s->query,
                             .key_parts = s->key,
                             .pairs = s->pairs,
                             .score = &s->score};
}

static double sum_of(const float *x, size_t count, size_t stride, double *largest) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) {
    sum += (double)x[i * stride];
    *largest = fmax(*largest, fabs((double)x[i * stride]));
  }
  return sum;
}

static void expect_sum(double sum, double expected, double largest, const char *what) {
  CHECK(fabs(sum - expected) <= 1e-5 * largest, "%s: %g, expected %g", what, sum, expected);
}

/* Both sides add up to the score, and the pairs to both sides. */
static void check_sums(const split *s, size_t count) {
  double largest = 1.0;
  const double query = sum_of(s->query, count, 1, &largest);
  const double key = sum_of(s->key, count, 1, &largest);
  for (size_t i = 0; i < count; i++) {
    const double row = sum_of(s->pairs + i * count, count, 1, &largest);
    const double column = sum_of(s->pairs + i, count, count, &largest);
    expect_sum(row, (double)s->query[i], largest, "pairs of a query's part");
    expect_sum(column, (double)s->key[i], largest, "pairs of a key's part");
  }
  expect_sum(query, (double)s->score, largest, "the query's parts");
  expect_sum(key, (double)s->score, largest, "the key's parts");
}

/* The softmax of a query's scores, capped, is what the forward gave. */
static void check_weights(const hw_module *module, const hw_decoder_config *config, size_t layer, size_t head,
                          const float *weights, const float *head_mask) {
  const double cap = config->model.attention_softcap;
  const size_t query = TOKENS - 1;
  const size_t window = config->model.layers == NULL ? 0 : config->model.layers[layer].window;
  double exponentials[TOKENS];
  double sum = 0.0;
  static split s;
  for (size_t key = 0; key < TOKENS; key++) {
    hw_qk_attribution call = ask(&s, layer, head, query, key);
    call.head_mask = head_mask;
    CHECK_STATUS(hw_decoder_qk_attribution(context, module, &call), HW_OK);
    check_sums(&s, layer * (HEADS + 1) + 2);
    const double score = cap == 0.0 ? (double)s.score : cap * tanh((double)s.score / cap);
    exponentials[key] = window > 0 && query - key >= window ? 0.0 : exp(score);
    sum += exponentials[key];
  }
  const float *row = weights + ((layer * HEADS + head) * TOKENS + query) * TOKENS;
  for (size_t key = 0; key < TOKENS; key++) {
    const double expected = exponentials[key] / sum;
    CHECK(fabs((double)row[key] - expected) <= 2e-5, "key %zu: %g, expected %g", key, (double)row[key], expected);
  }
  check_case();
}

static void test_scores(void) {
  static float weights[LAYERS * HEADS * TOKENS * TOKENS];
  float logits[VOCAB];
  for (size_t options = 0; options < 256; options += 3) {
    for (int type = HW_MATRIX_FLOAT32; type <= HW_MATRIX_INT8; type++) {
      hw_decoder_config config = config_of(options);
      config.model.dtype = (hw_matrix_type)type;
      hw_module *module = make(&config);
      const hw_input input = {.ids = ids, .batch = 1, .tokens = TOKENS, .logits_last = true};
      const float *head_mask = options % 2 == 0 ? NULL : factors;
      const hw_forward_options asked = {.weights = weights, .head_mask = head_mask};
      CHECK_STATUS(hw_module_forward(context, module, &input, logits, &asked), HW_OK);
      check_weights(module, &config, options % LAYERS, options % HEADS, weights, head_mask);
      hw_module_destroy(module);
    }
  }
}

/* Parts of a logit of the same models: they add up to what the forward gives, with a mask of heads too. */
static void test_logits(void) {
  float parts[MOST_PARTS + 1];
  float logits[VOCAB];
  for (size_t options = 0; options < 256; options++) {
    hw_decoder_config config = config_of(options);
    config.model.dtype = (hw_matrix_type)(options % 4);
    hw_module *module = make(&config);
    const hw_attribution call = {.ids = ids,
                                 .tokens = TOKENS,
                                 .position = options % TOKENS,
                                 .target = 3,
                                 .against = 5,
                                 .has_against = true,
                                 .heads = parts,
                                 .mlps = parts + LAYERS * HEADS,
                                 .rest = parts + LAYERS * HEADS + LAYERS,
                                 .head_mask = options % 3 == 0 ? NULL : factors};
    const hw_input input = {.ids = ids, .batch = 1, .tokens = call.position + 1, .logits_last = true};
    const hw_forward_options asked = {.head_mask = call.head_mask};
    CHECK_STATUS(hw_decoder_attribution(context, module, &call), HW_OK);
    CHECK_STATUS(hw_module_forward(context, module, &input, logits, &asked), HW_OK);
    double largest = 1.0;
    const double sum = sum_of(parts, MOST_PARTS, 1, &largest);
    expect_sum(sum, (double)parts[MOST_PARTS], largest, "a logit's parts");
    expect_sum((double)parts[MOST_PARTS], (double)logits[3] - (double)logits[5], largest, "the logits");
    check_case();
    hw_module_destroy(module);
  }
}

/* Row and column of one of a head's matrices, from the parameters of a GPT-2. */
static double gpt2_weight(const float *qkv, const float *out, size_t which, size_t head, size_t row, size_t column) {
  const size_t d_out = HEADS * HEAD_DIM;
  const size_t place = head * HEAD_DIM + row;
  return (double)(which < 3 ? qkv[column * 3 * d_out + which * d_out + place] : out[place * WIDTH + column]);
}

static void test_matrices(void) {
  static float raw[4 * MATRIX];
  static float folded[4 * MATRIX];
  const hw_decoder_config config = config_of(0);
  hw_module *module = make(&config);
  float *qkv = stored(whole(module), "h.1.attn.c_attn.weight");
  float *out = stored(whole(module), "h.1.attn.c_proj.weight");
  float *gain = stored(whole(module), "h.1.ln_1.weight");
  for (size_t head = 0; head < HEADS; head++) {
    CHECK_STATUS(hw_decoder_head_weights(module, 1, head, false, raw), HW_OK);
    CHECK_STATUS(hw_decoder_head_weights(module, 1, head, true, folded), HW_OK);
    for (size_t i = 0; i < 4 * MATRIX; i++) {
      const size_t which = i / MATRIX;
      const size_t column = i % WIDTH;
      const double expected = gpt2_weight(qkv, out, which, head, i % MATRIX / WIDTH, column);
      const double scaled = which < 3 ? expected * (double)gain[column] : expected;
      CHECK((double)raw[i] == expected, "%zu: %g, expected %g", i, (double)raw[i], expected);
      CHECK(fabs((double)folded[i] - scaled) <= 1e-6, "%zu: %g, expected %g", i, (double)folded[i], scaled);
    }
    check_case();
  }
  free(qkv);
  free(out);
  free(gain);
  hw_module_destroy(module);
}

static void test_bad_calls(void) {
  static split s;
  const hw_decoder_config config = config_of(0);
  hw_module *module = make(&config);
  enum { BAD = 9 };
  hw_qk_attribution calls[BAD];
  for (size_t i = 0; i < BAD; i++) {
    calls[i] = ask(&s, 1, 0, 2, 1);
  }
  calls[0].layer = LAYERS;
  calls[1].head = HEADS;
  calls[2].query = TOKENS;
  calls[3].key = TOKENS;
  calls[4].query_parts = NULL;
  calls[5].key_parts = NULL;
  calls[6].score = NULL;
  calls[7].ids = NULL;
  const uint32_t beyond[TOKENS] = {VOCAB};
  calls[8].ids = beyond;
  for (size_t i = 0; i < BAD; i++) {
    CHECK_STATUS(hw_decoder_qk_attribution(context, module, &calls[i]), HW_ERROR_VALUE);
    check_case();
  }
  hw_qk_attribution call = ask(&s, 1, 0, 2, 1);
  CHECK_STATUS(hw_decoder_qk_attribution(NULL, module, &call), HW_ERROR_VALUE);
  CHECK_STATUS(hw_decoder_qk_attribution(context, NULL, &call), HW_ERROR_VALUE);
  CHECK_STATUS(hw_decoder_qk_attribution(context, module, NULL), HW_ERROR_VALUE);
  call.tokens = CONTEXT + 1;
  CHECK_STATUS(hw_decoder_qk_attribution(context, module, &call), HW_ERROR_SHAPE);
  call.tokens = 0;
  CHECK_STATUS(hw_decoder_qk_attribution(context, module, &call), HW_ERROR_SHAPE);
  call = ask(&s, 1, 0, 2, 1);
  call.pairs = NULL;
  CHECK_STATUS(hw_decoder_qk_attribution(context, module, &call), HW_OK);
  hw_module_destroy(module);
}

/* Its struct has other fields. */
static void test_no_decoder(void) {
  static float values[4 * MATRIX];
  double numbers[2 * HEAD_DIM + 1];
  const hw_encoder_config config = encoder_config_of(VOCAB, CONTEXT, LAYERS, WIDTH, HEADS, 9);
  hw_module *module = NULL;
  CHECK_STATUS(hw_encoder_create(&config, &module), HW_OK);
  CHECK_STATUS(hw_decoder_head_circuit(context, module, 1, 0, numbers, numbers + 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_decoder_head_weights(module, 1, 0, true, values), HW_ERROR_VALUE);
  hw_module_destroy(module);
}

int main(void) {
  check_seed(27);
  CHECK(hw_context_create(&context) == HW_OK, "context");
  for (size_t i = 0; i < TOKENS; i++) {
    ids[i] = (uint32_t)(check_random() % VOCAB);
  }
  for (size_t i = 0; i < LAYERS * HEADS; i++) {
    factors[i] = (float)(i % 3) / 2.0F;
  }
  check_run("parts add up to a head's scores, whose softmax is its weights, in models of all options", test_scores);
  check_run("parts add up to logits in models of all options", test_logits);
  check_run("a head's matrices are its rows and columns of the parameters", test_matrices);
  check_run("bad calls are refused", test_bad_calls);
  check_run("so is an encoder", test_no_decoder);
  hw_context_destroy(context);
  return check_result();
}
