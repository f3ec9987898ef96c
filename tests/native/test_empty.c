/* Calls without rows, tokens, keys or batch entries: they compute nothing, but for sums of nothing, which are zeros. */
#include "modules.h"

enum { WIDTH = 6, TOKENS = 9, HEADS = 2, FLOATS = 2 * TOKENS * TOKENS * WIDTH };

static hw_context *context;
static float x[FLOATS];
static float y[FLOATS];

static void fill(float *values, size_t count, float with) {
  for (size_t i = 0; i < count; i++) {
    values[i] = with;
  }
}

/* The first `zeros` of what was filled with sevens. */
static void expect_zeros(const char *name, const float *values, size_t zeros, size_t count) {
  for (size_t i = 0; i < count; i++) {
    CHECK(values[i] == (i < zeros ? 0.0F : 7.0F), "%s: %zu is %g", name, i, (double)values[i]);
  }
}

static void test_products(void) {
  const uint32_t index[2] = {0, 0};
  for (size_t i = 0; i < 4; i++) {
    size_t n[4] = {2, 150, 4, 3};
    n[i] = 0;
    fill(y, FLOATS, 7.0F);
    CHECK_STATUS(hw_matmul(context, x, x, y, n[0], index, index, n[1], n[2], n[3]), HW_OK);
    expect_zeros("matmul", y, n[0] * n[1] * n[3], FLOATS);
  }
}

static void test_norms(void) {
  float weight[WIDTH];
  float bias[WIDTH];
  fill(weight, WIDTH, 7.0F);
  fill(bias, WIDTH, 7.0F);
  fill(y, FLOATS, 7.0F);
  CHECK_STATUS(hw_layer_normalization(context, x, 0, WIDTH, NULL, NULL, 1e-5, y), HW_OK);
  CHECK_STATUS(hw_rms_normalization(context, x, 0, WIDTH, NULL, 1e-6, y), HW_OK);
  CHECK_STATUS(hw_layer_normalization_backward(context, x, 0, WIDTH, NULL, 1e-5, x, y, weight, bias), HW_OK);
  CHECK_STATUS(hw_rms_normalization_backward(context, x, 0, WIDTH, NULL, 1e-6, x, y, weight), HW_OK);
  expect_zeros("output", y, 0, FLOATS);
  expect_zeros("weight", weight, 0, WIDTH);
  expect_zeros("bias", bias, 0, WIDTH);
}

static void test_losses(void) {
  const int32_t target = 0;
  float loss = 7.0F;
  hw_cross_entropy_call call = {x, &target, 0, WIDTH, -100, 0.0F, &loss, NULL, 1.0F, NULL};
  CHECK_STATUS(hw_cross_entropy(context, &call), HW_OK);
  fill(y, FLOATS, 7.0F);
  call.gradient = y;
  CHECK_STATUS(hw_cross_entropy(context, &call), HW_OK);
  CHECK(loss == 7.0F, "a loss");
  expect_zeros("gradient", y, 0, FLOATS);
}

static void run_attention_backward(const hw_attention *call) {
  float gradients[4][FLOATS];
  fill(*gradients, 4 * FLOATS, 7.0F);
  const hw_attention_gradient gradient = {
      .output = x,
      .query = gradients[0],
      .key = gradients[1],
      .value = gradients[2],
      .output_strides = call->output_strides,
      .query_strides = call->query_strides,
      .key_strides = call->key_strides,
      .value_strides = call->value_strides,
      .mask = call->mask.kind == HW_MASK_FLOAT ? gradients[3] : NULL,
      .weights = x,
  };
  CHECK_STATUS(hw_scaled_dot_product_attention_backward(context, call, &gradient), HW_OK);
  const size_t queries = call->batch * call->heads * call->query_tokens * WIDTH;
  const size_t keys = call->batch * call->heads * call->key_tokens * WIDTH;
  expect_zeros("query's gradient", gradients[0], queries, FLOATS);
  expect_zeros("key's gradient", gradients[1], keys, FLOATS);
  expect_zeros("value's gradient", gradients[2], keys, FLOATS);
  expect_zeros("mask's gradient", gradients[3], 0, FLOATS);
}

/* A call and its backward without what fields say: bit 0 the batch, 1 the heads, 2 queries, 3 keys. */
static void run_attention(unsigned without, double dropout, hw_mask_kind mask) {
  const size_t batch = without & 1u ? 0 : 2;
  const size_t heads = without & 2u ? 0 : HEADS;
  const size_t queries = without & 4u ? 0 : TOKENS;
  const size_t keys = without & 8u ? 0 : TOKENS;
  const size_t rows = batch * heads * queries;
  float maxima[2 * HEADS * TOKENS];
  float sums[2 * HEADS * TOKENS];
  float weights[2 * HEADS * TOKENS * TOKENS];
  uint32_t kept[2 * HEADS * TOKENS];
  const hw_strides q = {heads * queries * WIDTH, queries * WIDTH, WIDTH};
  const hw_strides k = {heads * keys * WIDTH, keys * WIDTH, WIDTH};
  const hw_attention call = {
      .batch = batch,
      .heads = heads,
      .key_heads = heads,
      .query_tokens = queries,
      .key_tokens = keys,
      .key_width = WIDTH,
      .value_width = WIDTH,
      .query = x,
      .key = x,
      .value = x,
      .output = y,
      .query_strides = q,
      .key_strides = k,
      .value_strides = k,
      .output_strides = q,
      .scale = 1.0F,
      .is_causal = true,
      .mask = {.kind = mask, .data = x, .query_stride = keys, .key_stride = 1},
      .dropout = dropout,
      .weights = weights,
      .weights_batch_stride = heads * queries * keys,
      .row_maximum = maxima,
      .row_sum = sums,
      .kept = kept,
  };
  fill(y, FLOATS, 7.0F);
  fill(weights, sizeof weights / sizeof *weights, 7.0F);
  CHECK_STATUS(hw_scaled_dot_product_attention(context, &call), HW_OK);
  expect_zeros("output", y, rows * WIDTH, FLOATS);
  expect_zeros("weights", weights, 0, sizeof weights / sizeof *weights);
  run_attention_backward(&call);
}

static void test_attention(void) {
  for (unsigned without = 1; without < 16; without++) {
    run_attention(without, 0.0, HW_MASK_NONE);
    run_attention(without, 0.5, HW_MASK_NONE);
    run_attention(without, 0.0, HW_MASK_FLOAT);
  }
}

/* Without queries nothing is to be done for keys: a loop over these heads would take years. */
static void test_no_queries(void) {
  const hw_attention call = {
      .batch = 1,
      .heads = SIZE_MAX / 4,
      .key_heads = SIZE_MAX / 4,
      .key_tokens = TOKENS,
      .key_width = WIDTH,
      .value_width = WIDTH,
      .query = x,
      .key = x,
      .value = x,
      .output = y,
      .key_strides = {.token = WIDTH},
      .value_strides = {.token = WIDTH},
      .scale = 1.0F,
  };
  CHECK_STATUS(hw_scaled_dot_product_attention(context, &call), HW_OK);
}

/* ---- Modules ---- */

static void expect_zero_gradients(hw_module *module) {
  for (size_t i = 0; i < hw_module_parameter_count(module); i++) {
    hw_parameter_info info;
    CHECK_STATUS(hw_module_parameter(module, i, &info), HW_OK);
    float *values = check_floats(info.shape[0] * info.shape[1]);
    CHECK_STATUS(hw_module_store_gradient(module, i, 0, info.shape[0], values), HW_OK);
    expect_zeros(info.name, values, info.shape[0] * info.shape[1], info.shape[0] * info.shape[1]);
    free(values);
  }
}

static void train_on(hw_module *module, const hw_input *input, const hw_forward_options *options) {
  hw_graph *graph = NULL;
  fill(y, FLOATS, 7.0F);
  CHECK_STATUS(hw_module_forward(context, module, input, y, options), HW_OK);
  CHECK_STATUS(hw_module_forward_recorded(context, module, input, y, options, &graph), HW_OK);
  CHECK_STATUS(hw_module_backward(context, module, input, graph, x, input->x == NULL ? NULL : y, NULL), HW_OK);
  expect_zeros("output and gradient", y, 0, FLOATS);
  expect_zero_gradients(module);
  hw_graph_destroy(graph);
}

/* A map of nothing is zeros. */
static void trace_on(const hw_module *module, const hw_input *input) {
  hw_trace *traces[2] = {NULL, NULL};
  CHECK_STATUS(hw_module_forward(context, module, input, y, &(hw_forward_options){.trace = traces}), HW_OK);
  for (size_t i = 0; i < 2; i++) {
    const hw_status expected = traces[i] == NULL || input->batch == 0 ? HW_ERROR_VALUE : HW_OK;
    CHECK(i > 0 || traces[i] != NULL, "no trace");
    CHECK_STATUS(hw_trace_weights(context, traces[i], 0, 0, 0, 0, y), expected);
    CHECK_STATUS(hw_trace_values(traces[i], 0, 0, y), expected);
    CHECK_STATUS(hw_trace_output(context, traces[i], 0, 0, y), expected);
    fill(y, FLOATS, 7.0F);
    CHECK_STATUS(hw_trace_map(context, traces[i], 0, 0, 3, y), expected);
    expect_zeros("map", y, expected == HW_OK ? 9 : 0, FLOATS);
    hw_trace_destroy(traces[i]);
  }
}

/* Releases the module. */
static void check_module(hw_module *module, bool attends) {
  const uint32_t id = 0;
  const hw_mask mask = {.kind = HW_MASK_FLOAT, .data = x};
  hw_mask wide = mask;
  wide.query_stride = 1 << 20;
  const bool takes_ids = hw_module_find_parameter(module, "weight") == 0 && hw_module_parameter_count(module) == 1;
  for (size_t batch = 0; batch < 2; batch++) {
    hw_input input = {.batch = batch, .tokens = 1 - batch};
    input.x = takes_ids ? NULL : x;
    input.ids = takes_ids ? &id : NULL;
    train_on(module, &input, NULL);
    if (attends) {
      train_on(module, &input, &(hw_forward_options){.mask = mask, .weights = y});
      /* Rows of a larger mask, none of which is read. */
      train_on(module, &input, &(hw_forward_options){.mask = wide, .weights = y});
      trace_on(module, &input);
    }
  }
  hw_module_destroy(module);
}

static void test_modules(void) {
  const hw_causal_attention_config head = {.d_in = WIDTH, .d_out = WIDTH, .context_length = TOKENS, .dropout = 0.5};
  const hw_multi_head_attention_config attention = {.d_in = WIDTH,
                                                    .d_out = WIDTH,
                                                    .context_length = TOKENS,
                                                    .dropout = 0.5,
                                                    .num_heads = HEADS,
                                                    .qkv_bias = true,
                                                    .out_proj = true,
                                                    .out_bias = true};
  const hw_transformer_block_config block = {
      .d_model = WIDTH, .num_heads = HEADS, .d_ff = TOKENS, .dropout = 0.5, .norm_first = true, .eps = 1e-5};
  const hw_feed_forward_config feed_forward = {.d_model = WIDTH, .d_ff = TOKENS, .dropout = 0.5};
  hw_module *module = NULL;
  CHECK_STATUS(make_linear(context, WIDTH, WIDTH, true, &module), HW_OK);
  check_module(module, false);
  CHECK_STATUS(make_layer_norm(WIDTH, 1e-5, &module), HW_OK);
  check_module(module, false);
  CHECK_STATUS(make_embedding(context, TOKENS, WIDTH, &module), HW_OK);
  check_module(module, false);
  CHECK_STATUS(hw_feed_forward_create(context, &feed_forward, &module), HW_OK);
  check_module(module, false);
  CHECK_STATUS(hw_causal_attention_create(context, &head, &module), HW_OK);
  check_module(module, true);
  CHECK_STATUS(make_wrapper(context, &head, HEADS, &module), HW_OK);
  check_module(module, true);
  CHECK_STATUS(hw_multi_head_attention_create(context, &attention, &module), HW_OK);
  check_module(module, true);
  CHECK_STATUS(hw_transformer_block_create(context, &block, &module), HW_OK);
  check_module(module, true);
  CHECK_STATUS(make_stack(context, &block, 2, &module), HW_OK);
  hw_module_checkpoint(module, true);
  check_module(module, true);
}

/* No loop is over a batch without rows. */
static void test_endless_batch(void) {
  const hw_multi_head_attention_config config = {
      .d_in = WIDTH, .d_out = WIDTH, .context_length = TOKENS, .num_heads = HEADS};
  const hw_input input = {.x = x, .batch = SIZE_MAX / 4, .tokens = 0};
  hw_module *module = NULL;
  hw_trace *trace = NULL;
  hw_graph *graph = NULL;
  CHECK_STATUS(hw_multi_head_attention_create(context, &config, &module), HW_OK);
  CHECK_STATUS(hw_module_forward(context, module, &input, y, NULL), HW_OK);
  CHECK_STATUS(hw_module_forward(context, module, &input, y, &(hw_forward_options){.trace = &trace}), HW_OK);
  CHECK_STATUS(hw_module_forward_recorded(context, module, &input, y, NULL, &graph), HW_OK);
  CHECK_STATUS(hw_module_backward(context, module, &input, graph, x, y, NULL), HW_OK);
  hw_graph_destroy(graph);
  hw_trace_destroy(trace);
  hw_module_destroy(module);
}

int main(void) {
  check_fill(x, FLOATS);
  CHECK(hw_context_create(&context) == HW_OK, "create");
  check_run("products", test_products);
  check_run("norms", test_norms);
  check_run("losses", test_losses);
  check_run("attention", test_attention);
  check_run("attention without queries takes no time, however many heads and keys", test_no_queries);
  check_run("modules", test_modules);
  check_run("a batch of no tokens takes no time, however large", test_endless_batch);
  hw_context_destroy(context);
  return check_result();
}
