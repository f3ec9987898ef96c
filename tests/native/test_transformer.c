/* Embedding, feed-forward, blocks and stacks are their parts, one after another, to the bit. */
#include "core/context.h"
#include "core/tile.h"
#include "modules.h"

enum { BATCH = 2, TOKENS = 9, HEADS = 3, D_MODEL = 12, D_FF = 20, LAYERS = 3, ROWS = BATCH * TOKENS };
enum { COUNT = ROWS * D_MODEL, WEIGHTS = BATCH * HEADS * TOKENS * TOKENS };

static hw_context *context;
static const double rates[] = {0.0, 0.25, 1.0};
static float x[COUNT];

static hw_transformer_block_config config_of(double dropout, bool norm_first) {
  return (hw_transformer_block_config){
      .d_model = D_MODEL,
      .num_heads = HEADS,
      .d_ff = D_FF,
      .dropout = dropout,
      .norm_first = norm_first,
      .is_causal = true,
  };
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

static void add(const float *a, const float *b, float *sum) {
  for (size_t i = 0; i < COUNT; i++) {
    sum[i] = a[i] + b[i];
  }
}

/* torch's dropout: an element that is dropped becomes a zero, the others grow. */
static void drop(double rate, float *values, size_t count) {
  for (size_t i = 0; rate > 0.0 && i < count; i++) {
    values[i] *= rate < 1.0 && hw_generator_double(&context->generator) < 1.0 - rate ? hw_kept_scale(rate) : 0.0F;
  }
}

/* ---- Embedding ---- */

static void test_embedding(void) {
  enum { num = 7, dim = 5, count = 4 };
  const uint32_t ids[count] = {6, 0, 3, 6};
  hw_module *module = NULL;
  float expected[num * dim];
  float y[count * dim];
  hw_manual_seed(context, 1);
  CHECK_STATUS(make_embedding(context, num, dim, &module), HW_OK);
  hw_manual_seed(context, 1);
  hw_randn(context, expected, (size_t)num * dim);
  float *weight = stored(whole(module), "weight");
  expect_same(weight, expected, (size_t)num * dim, "weight");
  free(weight);
  CHECK_STATUS(forward_ids(context, module, ids, count, y), HW_OK);
  for (size_t i = 0; i < count; i++) {
    expect_same(y + i * dim, expected + (size_t)ids[i] * dim, dim, "row");
  }
  float before[count * dim];
  memcpy(before, y, sizeof y);
  const uint32_t bad[] = {num, num + 1, 0x80000000u, UINT32_MAX};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const uint32_t wrong[count] = {1, 2, 3, bad[i]};
    CHECK_STATUS(forward_ids(context, module, wrong, count, y), HW_ERROR_VALUE);
    expect_same(y, before, (size_t)count * dim, "y after an error");
  }
  hw_module_destroy(module);
}

/* ---- Feed-forward ---- */

/* fc1, GELU, dropout, fc2 over all rows at once. */
static void feed_forward_by_parts(hw_module *module, const hw_feed_forward_config *config, const float *input,
                                  size_t rows, float *y) {
  float *hidden = check_floats(rows * config->d_ff);
  run_linear_part(context, part_of(whole(module), "fc1"), input, rows, hidden);
  CHECK(hw_gelu(context, hidden, hidden, rows * config->d_ff, HW_GELU_NONE) == HW_OK, "gelu");
  drop(config->dropout, hidden, rows * config->d_ff);
  run_linear_part(context, part_of(whole(module), "fc2"), hidden, rows, y);
  free(hidden);
}

static void run_feed_forward(size_t d_model, size_t d_ff, size_t rows, double dropout) {
  const hw_feed_forward_config config = {.d_model = d_model, .d_ff = d_ff, .dropout = dropout};
  hw_module *module = NULL;
  CHECK(hw_feed_forward_create(context, &config, &module) == HW_OK, "create");
  float *input = check_floats(rows * d_model);
  float *y = check_guarded(rows * d_model);
  float *expected = check_floats(rows * d_model);
  check_fill(input, rows * d_model);
  hw_manual_seed(context, 3);
  feed_forward_by_parts(module, &config, input, rows, expected);
  hw_manual_seed(context, 3);
  CHECK_STATUS(forward_rows(context, module, input, rows, y), HW_OK);
  expect_same(y, expected, rows * d_model, "feed-forward");
  hw_manual_seed(context, 3);
  CHECK_STATUS(forward_rows(context, module, input, rows, input), HW_OK);
  expect_same(input, expected, rows * d_model, "in place");
  hw_module_destroy(module);
  free(input);
  free(y);
  free(expected);
}

/* Some rows, and more than are computed at a time. */
static void test_feed_forward(void) {
  const size_t wide = HW_HIDDEN_BYTES / sizeof(float) / HW_GEMM_ROWS;
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    run_feed_forward(5, 9, 1, rates[i]);
    run_feed_forward(5, 9, 2 * HW_GEMM_ROWS + 3, rates[i]);
    run_feed_forward(3, wide, HW_GEMM_ROWS + 1, rates[i]);
    run_feed_forward(2, wide + 1, 2 * HW_GEMM_ROWS + 3, rates[i]);
  }
}

/* ---- Block ---- */

static void block_by_parts(hw_module *module, const hw_transformer_block_config *config, const float *input, float *y,
                           const hw_forward_options *options) {
  hw_module *ln1 = hw_module_child(module, "ln1");
  hw_module *ln2 = hw_module_child(module, "ln2");
  hw_module *attn = hw_module_child(module, "attn");
  hw_module *ffn = hw_module_child(module, "ffn");
  float normed[COUNT];
  float branch[COUNT];
  float sum[COUNT];
  if (config->norm_first) {
    CHECK(forward_rows(context, ln1, input, ROWS, normed) == HW_OK, "ln1");
  }
  const float *attended = config->norm_first ? normed : input;
  CHECK(forward_tokens(context, attn, attended, BATCH, TOKENS, branch, options) == HW_OK, "attn");
  drop(config->dropout, branch, COUNT);
  add(input, branch, sum);
  CHECK(forward_rows(context, config->norm_first ? ln2 : ln1, sum, ROWS, normed) == HW_OK, "the other");
  CHECK(forward_rows(context, ffn, normed, ROWS, branch) == HW_OK, "ffn");
  drop(config->dropout, branch, COUNT);
  add(config->norm_first ? sum : normed, branch, y);
  if (!config->norm_first) {
    CHECK(forward_rows(context, ln2, y, ROWS, y) == HW_OK, "ln2");
  }
}

/* Norms that do something. */
static void fill_norms(hw_module *module) {
  fill_part(whole(hw_module_child(module, "ln1")));
  fill_part(whole(hw_module_child(module, "ln2")));
}

static void run_block(double rate, bool norm_first, bool masked) {
  const hw_transformer_block_config config = config_of(rate, norm_first);
  float mask[TOKENS * TOKENS];
  float expected[COUNT];
  float expected_weights[WEIGHTS];
  float y[COUNT];
  float weights[WEIGHTS];
  hw_module *module = NULL;
  CHECK_STATUS(hw_transformer_block_create(context, &config, &module), HW_OK);
  fill_norms(module);
  check_fill(mask, sizeof mask / sizeof *mask);
  hw_forward_options options = {.weights = expected_weights};
  if (masked) {
    options.mask = (hw_mask){.kind = HW_MASK_FLOAT, .data = mask, .query_stride = TOKENS, .key_stride = 1};
  }
  hw_manual_seed(context, 5);
  block_by_parts(module, &config, x, expected, &options);
  options.weights = weights;
  hw_manual_seed(context, 5);
  CHECK_STATUS(forward_tokens(context, module, x, BATCH, TOKENS, y, &options), HW_OK);
  expect_same(y, expected, COUNT, norm_first ? "pre-norm" : "post-norm");
  expect_same(weights, expected_weights, WEIGHTS, "weights");
  if (!masked) {
    memcpy(y, x, sizeof y);
    hw_manual_seed(context, 5);
    CHECK_STATUS(forward_tokens(context, module, y, BATCH, TOKENS, y, NULL), HW_OK);
    for (size_t i = 0; i < COUNT; i++) {
      CHECK(fabsf(y[i] - expected[i]) <= 1e-5F, "in place, %zu: %g, expected %g", i, (double)y[i], (double)expected[i]);
    }
  }
  hw_module_destroy(module);
}

static void test_block(void) {
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    for (size_t kind = 0; kind < 4; kind++) {
      run_block(rates[i], kind % 2 == 0, kind / 2 != 0);
    }
  }
}

/* qkv_proj and out_proj without biases, fc1, fc2; norms draw nothing and start as ones and zeros. */
static void test_draws(void) {
  const hw_transformer_block_config config = config_of(0.0, true);
  const size_t shapes[4][3] = {
      {3 * D_MODEL, D_MODEL, 0}, {D_MODEL, D_MODEL, 0}, {D_FF, D_MODEL, 1}, {D_MODEL, D_FF, 1}};
  hw_module *module = NULL;
  hw_manual_seed(context, 123);
  CHECK_STATUS(hw_transformer_block_create(context, &config, &module), HW_OK);
  static const char *const linears[4] = {"attn.qkv_proj", "attn.out_proj", "ffn.fc1", "ffn.fc2"};
  hw_manual_seed(context, 123);
  for (size_t i = 0; i < 4; i++) {
    const size_t count = shapes[i][0] * (shapes[i][1] + shapes[i][2]);
    float *expected = check_floats(count);
    const float bound = (float)(1.0 / sqrt((double)shapes[i][1]));
    hw_uniform(context, -bound, bound, expected, count);
    const module_part linear = part_of(whole(module), linears[i]);
    float *weight = stored(linear, "weight");
    expect_same(weight, expected, shapes[i][0] * shapes[i][1], "drawn weights");
    free(weight);
    CHECK(has_parameter(linear, "bias") == (shapes[i][2] != 0), "bias of %s", linears[i]);
    if (shapes[i][2] != 0) {
      float *bias = stored(linear, "bias");
      expect_same(bias, expected + shapes[i][0] * shapes[i][1], shapes[i][0], "drawn biases");
      free(bias);
    }
    free(expected);
  }
  float *weight = stored(whole(module), "ln1.weight");
  float *bias = stored(whole(module), "ln2.bias");
  for (size_t i = 0; i < D_MODEL; i++) {
    CHECK(weight[i] == 1.0F, "weight %zu", i);
    CHECK(bias[i] == 0.0F, "bias %zu", i);
  }
  free(weight);
  free(bias);
  hw_module_destroy(module);
}

/* ---- Stack ---- */

static void expect_same_traces(const hw_trace *a, const hw_trace *b) {
  float rows[2][TOKENS * TOKENS];
  for (size_t i = 0; i < (size_t)BATCH * HEADS; i++) {
    CHECK(hw_trace_weights(context, a, i / HEADS, i % HEADS, 0, TOKENS, rows[0]) == HW_OK, "trace");
    CHECK(hw_trace_weights(context, b, i / HEADS, i % HEADS, 0, TOKENS, rows[1]) == HW_OK, "trace");
    expect_same(rows[0], rows[1], (size_t)TOKENS * TOKENS, "traced weights");
  }
}

static void run_stack(double rate, bool norm_first) {
  const hw_transformer_block_config config = config_of(rate, norm_first);
  static float weights[LAYERS][WEIGHTS];
  static float expected_weights[WEIGHTS];
  hw_trace *traces[LAYERS];
  float y[COUNT];
  float expected[COUNT];
  hw_module *stack = NULL;
  hw_manual_seed(context, 11);
  CHECK_STATUS(make_stack(context, &config, LAYERS, &stack), HW_OK);
  CHECK(nth_child(stack, "blocks", LAYERS) == NULL, "a block too many");
  const hw_forward_options options = {.weights = weights[0], .trace = traces};
  hw_manual_seed(context, 12);
  CHECK_STATUS(forward_tokens(context, stack, x, BATCH, TOKENS, y, &options), HW_OK);
  hw_manual_seed(context, 12);
  memcpy(expected, x, sizeof expected);
  for (size_t i = 0; i < LAYERS; i++) {
    hw_module *block = nth_child(stack, "blocks", i);
    hw_trace *trace = NULL;
    const hw_forward_options own = {.weights = expected_weights, .trace = &trace};
    CHECK_STATUS(forward_tokens(context, block, expected, BATCH, TOKENS, expected, &own), HW_OK);
    expect_same(weights[i], expected_weights, WEIGHTS, "weights of a layer");
    expect_same_traces(traces[i], trace);
    hw_trace_destroy(trace);
    hw_trace_destroy(traces[i]);
  }
  expect_same(y, expected, COUNT, "stack");
  hw_module_destroy(stack);
}

static void test_stack(void) {
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    run_stack(rates[i], true);
    run_stack(rates[i], false);
  }
}

/* Block after block, as blocks made one by one. */
static void test_stack_draws(void) {
  const hw_transformer_block_config config = config_of(0.0, true);
  hw_module *stack = NULL;
  hw_manual_seed(context, 4);
  CHECK_STATUS(make_stack(context, &config, LAYERS, &stack), HW_OK);
  hw_manual_seed(context, 4);
  for (size_t i = 0; i < LAYERS; i++) {
    hw_module *block = NULL;
    CHECK_STATUS(hw_transformer_block_create(context, &config, &block), HW_OK);
    float *alone = stored(whole(block), "ffn.fc2.weight");
    float *stacked = stored(whole(nth_child(stack, "blocks", i)), "ffn.fc2.weight");
    expect_same(stacked, alone, (size_t)D_FF * D_MODEL, "fc2");
    free(alone);
    free(stacked);
    hw_module_destroy(block);
  }
  hw_module_destroy(stack);
}

/* A new stack is in training mode; outside it nothing is dropped. */
static void test_training(void) {
  const hw_transformer_block_config with = config_of(0.5, true);
  const hw_transformer_block_config without = config_of(0.0, true);
  hw_module *stacks[2] = {NULL, NULL};
  float y[2][COUNT];
  hw_manual_seed(context, 6);
  CHECK_STATUS(make_stack(context, &with, LAYERS, &stacks[0]), HW_OK);
  hw_manual_seed(context, 6);
  CHECK_STATUS(make_stack(context, &without, LAYERS, &stacks[1]), HW_OK);
  for (size_t i = 0; i < 2; i++) {
    CHECK_STATUS(forward_tokens(context, stacks[i], x, BATCH, TOKENS, y[i], NULL), HW_OK);
  }
  CHECK(memcmp(y[0], y[1], sizeof y[0]) != 0, "no dropout in training mode");
  hw_module_train(stacks[0], false);
  CHECK_STATUS(forward_tokens(context, stacks[0], x, BATCH, TOKENS, y[0], NULL), HW_OK);
  expect_same(y[0], y[1], COUNT, "outside training mode");
  hw_module_destroy(stacks[0]);
  hw_module_destroy(stacks[1]);
}

int main(void) {
  check_seed(14);
  check_fill(x, COUNT);
  if (hw_context_create(&context) != HW_OK) {
    return 1;
  }
  check_run("an embedding is drawn by randn, gives its rows and refuses other ids", test_embedding);
  check_run("feed-forward is fc1, GELU, dropout, fc2, however many rows there are", test_feed_forward);
  check_run("a block is its sublayers with dropout, residuals and norms before or after", test_block);
  check_run("a block draws qkv_proj, out_proj, fc1, fc2", test_draws);
  check_run("a stack is its blocks one after another, with weights and traces of each", test_stack);
  check_run("a stack draws block after block", test_stack_draws);
  check_run("dropout works in training mode only", test_training);
  hw_context_destroy(context);
  return check_result();
}
