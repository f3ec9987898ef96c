/* Bad arguments of every public function: the documented status, and everything works on. */
#include "headwise.h"
#include "modules.h"

enum { D_IN = 7, WIDTH = 5, HEADS = 3, TOKENS = 9 };

static hw_context *context;
static float x[TOKENS * HEADS * WIDTH];
static float y[TOKENS * TOKENS];

static void test_status_texts(void) {
  for (int i = 0; i <= HW_ERROR_MEMORY; i++) {
    const char *text = hw_status_text((hw_status)i);
    CHECK(text != NULL && text[0] != '\0', "status %d", i);
    for (int j = 0; j < i; j++) {
      CHECK(strcmp(text, hw_status_text((hw_status)j)) != 0, "statuses %d and %d have one text", i, j);
    }
    check_case();
  }
  CHECK(hw_status_text((hw_status)99) != NULL, "an unknown status");
}

static void test_null_is_destroyed(void) {
  hw_context_destroy(NULL);
  hw_trace_destroy(NULL);
  hw_module_destroy(NULL);
  hw_module_destroy(NULL);
  hw_module_destroy(NULL);
  hw_module_destroy(NULL);
  check_case();
}

static void test_matmul(void) {
  const uint32_t index = 0;
  CHECK_STATUS(hw_matmul(NULL, x, x, y, 0, &index, &index, 1, 1, 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_matmul(context, x, NULL, y, 1, &index, &index, 1, 1, 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_matmul(context, x, x, y, 1, &index, &index, 1, SIZE_MAX, 1), HW_ERROR_MEMORY);
  CHECK_STATUS(hw_matmul(context, x, x, y, 1, &index, &index, 1, 1, SIZE_MAX), HW_ERROR_MEMORY);
  CHECK_STATUS(hw_matmul(context, x, x, y, 1, &index, &index, 1, 1, 1), HW_OK);
}

static void test_uniform(void) {
  CHECK_STATUS(hw_uniform(context, 1.0F, 0.0F, y, 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_uniform(context, NAN, 1.0F, y, 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_uniform(context, -3e38F, 3e38F, y, 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_uniform(context, 2.0F, 2.0F, y, 1), HW_OK);
  CHECK(y[0] == 2.0F, "%g", (double)y[0]);
}

static hw_attention good_attention(void) {
  return (hw_attention){.batch = 1,
                        .heads = 1,
                        .key_heads = 1,
                        .query_tokens = TOKENS,
                        .key_tokens = TOKENS,
                        .key_width = WIDTH,
                        .value_width = WIDTH,
                        .query = x,
                        .key = x,
                        .value = x,
                        .output = y,
                        .query_strides = {.token = WIDTH},
                        .key_strides = {.token = WIDTH},
                        .value_strides = {.token = WIDTH},
                        .output_strides = {.token = WIDTH},
                        .scale = 1.0F};
}

static void expect_attention(hw_attention a, hw_status expected) {
  const hw_status status = hw_scaled_dot_product_attention(context, &a);
  CHECK(status == expected, "status %d, expected %d", (int)status, (int)expected);
  const hw_attention good = good_attention();
  CHECK_STATUS(hw_scaled_dot_product_attention(context, &good), HW_OK);
}

static void test_attention_sizes(void) {
  for (size_t field = 0; field < 2; field++) {
    hw_attention a = good_attention();
    size_t *const fields[] = {&a.key_width, &a.value_width};
    *fields[field] = 0;
    expect_attention(a, HW_ERROR_SHAPE);
  }
  for (size_t key_heads = 0; key_heads <= 3; key_heads++) {
    hw_attention a = good_attention();
    a.key_heads = key_heads;
    expect_attention(a, key_heads == 1 ? HW_OK : HW_ERROR_SHAPE);
  }
}

static void test_attention_values(void) {
  const double dropouts[] = {-0.1, 1.1, 2.0, (double)NAN, (double)INFINITY, (double)-INFINITY};
  for (size_t i = 0; i < sizeof dropouts / sizeof *dropouts; i++) {
    hw_attention a = good_attention();
    a.dropout = dropouts[i];
    expect_attention(a, HW_ERROR_VALUE);
  }
  hw_attention a = good_attention();
  a.query = NULL;
  expect_attention(a, HW_ERROR_VALUE);
  a = good_attention();
  a.key = NULL;
  expect_attention(a, HW_ERROR_VALUE);
  a = good_attention();
  a.value = NULL;
  expect_attention(a, HW_ERROR_VALUE);
  a = good_attention();
  a.output = NULL;
  expect_attention(a, HW_ERROR_VALUE);
  a = good_attention();
  const float softcaps[] = {-1.0F, NAN, INFINITY, 0.9e-30F, 1.1e30F};
  for (size_t i = 0; i < sizeof softcaps / sizeof *softcaps; i++) {
    a.softcap = softcaps[i];
    expect_attention(a, HW_ERROR_VALUE);
  }
  a = good_attention();
  const uint32_t lengths[] = {TOKENS, TOKENS + 1};
  a.key_lengths = lengths + 1;
  expect_attention(a, HW_ERROR_VALUE);
  a.key_lengths = lengths;
  expect_attention(a, HW_OK);
  a.weights_kind = (hw_weights_kind)(HW_WEIGHTS_MASKED + 1);
  expect_attention(a, HW_ERROR_VALUE);
  a = good_attention();
  for (int kind = HW_MASK_BOOL; kind <= HW_MASK_FLOAT + 1; kind++) {
    a.mask.kind = (hw_mask_kind)kind;
    a.mask.data = kind > HW_MASK_FLOAT ? x : NULL;
    expect_attention(a, HW_ERROR_VALUE);
  }
}

static void test_linear(void) {
  hw_module *linear = (hw_module *)(uintptr_t)64;
  CHECK_STATUS(make_linear(context, 0, 1, true, &linear), HW_ERROR_SHAPE);
  CHECK(linear == NULL, "left a pointer");
  CHECK_STATUS(make_linear(context, 1, 0, true, &linear), HW_ERROR_SHAPE);
  for (int bias = 0; bias <= 1; bias++) {
    const hw_status with_bias = bias != 0 ? HW_OK : HW_ERROR_VALUE;
    hw_parameter_info info;
    CHECK_STATUS(make_linear(context, D_IN, WIDTH, bias != 0, &linear), HW_OK);
    CHECK(hw_module_parameter_count(linear) == (bias != 0 ? 2 : 1), "parameters");
    CHECK(hw_module_find_parameter(linear, "bias") == (bias != 0 ? 1 : SIZE_MAX), "bias");
    CHECK(hw_module_find_parameter(linear, "weigh") == SIZE_MAX, "a part of a name");
    CHECK(hw_module_find_parameter(linear, NULL) == SIZE_MAX, "no name");
    CHECK_STATUS(hw_module_parameter(linear, 2, &info), HW_ERROR_VALUE);
    CHECK_STATUS(hw_module_load(linear, 0, 0, WIDTH, x), HW_OK);
    CHECK_STATUS(hw_module_load(linear, 0, 0, WIDTH, NULL), HW_ERROR_VALUE);
    CHECK_STATUS(hw_module_store(linear, 0, 0, WIDTH, NULL), HW_ERROR_VALUE);
    CHECK_STATUS(hw_module_load(linear, 1, 0, WIDTH, x), with_bias);
    CHECK_STATUS(hw_module_store(linear, 1, 0, WIDTH, y), with_bias);
    CHECK_STATUS(hw_module_load(linear, 2, 0, WIDTH, x), HW_ERROR_VALUE);
    CHECK_STATUS(hw_module_load(linear, 0, 0, WIDTH + 1, x), HW_ERROR_SHAPE);
    CHECK_STATUS(hw_module_load(linear, 0, WIDTH, 1, x), HW_ERROR_SHAPE);
    CHECK_STATUS(hw_module_load(linear, 0, WIDTH + 1, 0, x), HW_ERROR_SHAPE);
    CHECK_STATUS(hw_module_load(linear, 0, SIZE_MAX, 2, x), HW_ERROR_SHAPE);
    CHECK_STATUS(hw_module_store(linear, 0, 1, SIZE_MAX, y), HW_ERROR_SHAPE);
    CHECK_STATUS(forward_rows(context, linear, x, 1, y), HW_OK);
    hw_module_destroy(linear);
  }
}

static const hw_causal_attention_config good_head = {D_IN, WIDTH, TOKENS, 0.0, true, true, false};

static void test_head_configs(void) {
  const double not_a_number = (double)NAN;
  const struct {
    hw_causal_attention_config config;
    hw_status status;
  } cases[] = {
      {{0, WIDTH, TOKENS, 0.0, true, true, false}, HW_ERROR_SHAPE},
      {{D_IN, 0, TOKENS, 0.0, true, true, false}, HW_ERROR_SHAPE},
      {{D_IN, WIDTH, 0, 0.0, true, true, false}, HW_ERROR_SHAPE},
      {{D_IN, WIDTH, TOKENS, 2.0, true, true, false}, HW_ERROR_VALUE},
      {{D_IN, WIDTH, TOKENS, -0.5, true, true, false}, HW_ERROR_VALUE},
      {{D_IN, WIDTH, TOKENS, not_a_number, true, true, false}, HW_ERROR_VALUE},
      {{D_IN, WIDTH, TOKENS, 0.0, true, true, true}, HW_ERROR_VALUE},
  };
  hw_module *wrapper = NULL;
  hw_module *causal = NULL;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_STATUS(hw_causal_attention_create(context, &cases[i].config, &causal), cases[i].status);
    CHECK_STATUS(make_wrapper(context, &cases[i].config, HEADS, &wrapper), cases[i].status);
    CHECK(causal == NULL && wrapper == NULL, "left a pointer");
  }
  CHECK_STATUS(make_wrapper(context, &good_head, 0, &wrapper), HW_ERROR_SHAPE);
}

static void test_fused_configs(void) {
  const hw_multi_head_attention_config good = {.d_in = D_IN, .d_out = 6, .context_length = TOKENS, .num_heads = 3};
  hw_module *module = NULL;
  for (size_t field = 0; field < 4; field++) {
    hw_multi_head_attention_config config = good;
    size_t *const fields[] = {&config.d_in, &config.d_out, &config.context_length, &config.num_heads};
    *fields[field] = 0;
    CHECK_STATUS(hw_multi_head_attention_create(context, &config, &module), HW_ERROR_SHAPE);
  }
  for (size_t heads = 4; heads <= 7; heads += heads == 5 ? 2 : 1) {
    hw_multi_head_attention_config config = good;
    config.num_heads = heads;
    CHECK_STATUS(hw_multi_head_attention_create(context, &config, &module), HW_ERROR_SHAPE);
  }
  const double dropouts[] = {-0.1, 2.0, (double)NAN};
  for (size_t i = 0; i < 3; i++) {
    hw_multi_head_attention_config config = good;
    config.dropout = dropouts[i];
    CHECK_STATUS(hw_multi_head_attention_create(context, &config, &module), HW_ERROR_VALUE);
  }
  CHECK(module == NULL, "left a pointer");
}

static void test_forwards(void) {
  const hw_multi_head_attention_config config = {.d_in = D_IN, .d_out = 6, .context_length = TOKENS, .num_heads = 3};
  hw_module *causal = NULL;
  hw_module *wrapper = NULL;
  hw_module *fused = NULL;
  CHECK_STATUS(hw_causal_attention_create(context, &good_head, &causal), HW_OK);
  CHECK_STATUS(make_wrapper(context, &good_head, 1, &wrapper), HW_OK);
  CHECK_STATUS(hw_multi_head_attention_create(context, &config, &fused), HW_OK);
  const size_t bad[][2] = {{1, TOKENS + 1}, {1, SIZE_MAX}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const size_t b = bad[i][0];
    const size_t t = bad[i][1];
    CHECK_STATUS(forward_tokens(context, causal, x, b, t, y, NULL), HW_ERROR_SHAPE);
    CHECK_STATUS(forward_tokens(context, wrapper, x, b, t, y, NULL), HW_ERROR_SHAPE);
    CHECK_STATUS(forward_tokens(context, fused, x, b, t, y, NULL), HW_ERROR_SHAPE);
  }
  CHECK_STATUS(forward_tokens(context, causal, x, 1, TOKENS, y, NULL), HW_OK);
  CHECK_STATUS(forward_tokens(context, wrapper, x, 1, TOKENS, y, NULL), HW_OK);
  CHECK_STATUS(forward_tokens(context, fused, x, 1, TOKENS, y, NULL), HW_OK);
  CHECK(nth_child(wrapper, "heads", 1) == NULL, "a second head");
  CHECK(!has_parameter(whole(fused), "out_proj.weight"), "an output projection");
  hw_module_destroy(causal);
  hw_module_destroy(wrapper);
  hw_module_destroy(fused);
}

/* A mask without data, and a kind that does not exist. */
static void test_forward_masks(void) {
  const hw_multi_head_attention_config config = {.d_in = D_IN, .d_out = 6, .context_length = TOKENS, .num_heads = 3};
  hw_module *causal = NULL;
  hw_module *wrapper = NULL;
  hw_module *fused = NULL;
  hw_trace *trace = NULL;
  CHECK_STATUS(hw_causal_attention_create(context, &good_head, &causal), HW_OK);
  CHECK_STATUS(make_wrapper(context, &good_head, 1, &wrapper), HW_OK);
  CHECK_STATUS(hw_multi_head_attention_create(context, &config, &fused), HW_OK);
  for (int kind = HW_MASK_FLOAT + 1; kind >= HW_MASK_BOOL; kind--) {
    hw_forward_options options = {.mask = {.kind = (hw_mask_kind)kind}};
    options.mask.data = kind > HW_MASK_FLOAT ? x : NULL;
    for (int traced = 0; traced <= 1; traced++) {
      options.trace = traced != 0 ? &trace : NULL;
      CHECK_STATUS(forward_tokens(context, causal, x, 1, 2, y, &options), HW_ERROR_VALUE);
      CHECK_STATUS(forward_tokens(context, wrapper, x, 1, 2, y, &options), HW_ERROR_VALUE);
      CHECK_STATUS(forward_tokens(context, fused, x, 1, 2, y, &options), HW_ERROR_VALUE);
      CHECK(trace == NULL, "left a trace");
    }
  }
  hw_module_destroy(causal);
  hw_module_destroy(wrapper);
  hw_module_destroy(fused);
}

static void test_trace(void) {
  hw_module *causal = NULL;
  hw_trace *trace = NULL;
  const hw_forward_options options = {.trace = &trace};
  CHECK_STATUS(hw_causal_attention_create(context, &good_head, &causal), HW_OK);
  CHECK_STATUS(forward_tokens(context, causal, x, 1, TOKENS, y, &options), HW_OK);
  CHECK_STATUS(hw_trace_weights(context, trace, 1, 0, 0, 1, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_trace_weights(context, trace, 0, 1, 0, 1, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_trace_weights(context, trace, 0, 0, 0, TOKENS + 1, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_trace_weights(context, trace, 0, 0, TOKENS, TOKENS + 1, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_trace_weights(context, trace, 0, 0, 2, 1, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_trace_weights(context, trace, 0, 0, 0, 1, NULL), HW_ERROR_VALUE);
  CHECK_STATUS(hw_trace_map(context, trace, 1, 0, 2, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_trace_map(context, trace, 0, 1, 2, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_trace_map(context, trace, 0, 0, 0, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_trace_map(context, trace, 0, 0, 2, NULL), HW_ERROR_VALUE);
  CHECK_STATUS(hw_trace_weights(context, trace, 0, 0, 0, TOKENS, y), HW_OK);
  hw_trace_destroy(trace);
  hw_module_destroy(causal);
}

/* As many heads, but narrower ones: the projection has more columns than the trace has values. */
static void test_value_norms(void) {
  enum { TWO = 2, D_OUT = 4 };
  static const hw_multi_head_attention_config narrow = {
      .d_in = 3, .d_out = D_OUT, .context_length = 4, .num_heads = TWO, .out_proj = true};
  hw_multi_head_attention_config wide = narrow;
  wide.d_out = 2 * D_OUT;
  hw_module *modules[2] = {NULL, NULL};
  hw_trace *trace = NULL;
  const float rows[4 * 3] = {1.0F, 0.5F};
  float out[4 * D_OUT];
  CHECK_STATUS(hw_multi_head_attention_create(context, &narrow, &modules[0]), HW_OK);
  CHECK_STATUS(hw_multi_head_attention_create(context, &wide, &modules[1]), HW_OK);
  CHECK_STATUS(forward_tokens(context, modules[0], rows, 1, 4, out, &(hw_forward_options){.trace = &trace}), HW_OK);
  CHECK_STATUS(hw_module_value_norms(context, modules[0], 0, trace, 0, 1, 0, 4, out), HW_OK);
  CHECK_STATUS(hw_module_value_norms(context, modules[1], 0, trace, 0, 1, 0, 4, out), HW_ERROR_VALUE);
  hw_trace_destroy(trace);
  hw_module_destroy(modules[0]);
  hw_module_destroy(modules[1]);
}

/* They would be passed over in silence. */
static void test_unsupported(void) {
  hw_module *causal = NULL;
  float numbers[2 * TOKENS * D_IN] = {0.0F};
  CHECK_STATUS(hw_causal_attention_create(context, &good_head, &causal), HW_OK);
  const hw_head_output given = {.layer = 0, .head = 0, .output = numbers, .rows = TOKENS};
  const hw_forward_options options[] = {
      {.residuals = numbers}, {.start = numbers}, {.replace = &given, .replace_count = 1}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    CHECK_STATUS(forward_tokens(context, causal, x, 1, TOKENS, y, &options[i]), HW_ERROR_VALUE);
  }
  CHECK_STATUS(forward_tokens(context, causal, x, 1, TOKENS, y, NULL), HW_OK);
  hw_module_destroy(causal);
}

int main(void) {
  check_seed(8);
  check_fill(x, sizeof x / sizeof *x);
  if (hw_context_create(&context) != HW_OK) {
    return 1;
  }
  check_run("every status has a text of its own", test_status_texts);
  check_run("NULL may be destroyed", test_null_is_destroyed);
  check_run("products of nothing are refused", test_matmul);
  check_run("uniform numbers have bounds in order, not infinitely far apart", test_uniform);
  check_run("attention refuses sizes of zero and heads that share unevenly", test_attention_sizes);
  check_run("attention refuses missing data, bad dropout, soft caps, lengths, kinds and masks", test_attention_values);
  check_run("linear layers refuse empty sizes, rows out of range and a bias they lack", test_linear);
  check_run("causal attention and wrapper refuse bad configurations", test_head_configs);
  check_run("the fused module refuses bad configurations", test_fused_configs);
  check_run("forwards refuse more tokens than the context", test_forwards);
  check_run("traces refuse what is out of range", test_trace);
  check_run("norms of values refuse a trace of narrower heads", test_value_norms);
  check_run("forwards refuse streams and replacements of modules that have none", test_unsupported);
  check_run("forwards refuse a mask without data or of no kind", test_forward_masks);
  hw_context_destroy(context);
  return check_result();
}
