/* What all modules share: modes of parts, traces after errors, sizes that wrap, options that a module does not have. */
#include "core/tile.h"
#include "modules.h"

enum { TOKENS = 512, WIDTH = 8, HEADS = 2, COUNT = TOKENS * WIDTH, WRAPPED = TOKENS * HEADS * WIDTH };

static hw_context *context;
static float x[COUNT];

/* A head whose own mode is another than the wrapper's: one scratch and one trace serve all heads. */
static void test_mode_of_heads(void) {
  const hw_causal_attention_config config = {WIDTH, WIDTH, TOKENS, 0.5, false, true, false};
  static float expected[WRAPPED];
  static float y[WRAPPED];
  hw_module *wrapper = NULL;
  CHECK_STATUS(make_wrapper(context, &config, HEADS, &wrapper), HW_OK);
  for (int training = 0; training < 2; training++) {
    hw_trace *trace = NULL;
    const hw_forward_options options = {.trace = &trace};
    hw_module_train(wrapper, training != 0);
    hw_manual_seed(context, 3);
    CHECK_STATUS(forward_tokens(context, wrapper, x, 1, TOKENS, expected, NULL), HW_OK);
    hw_module_train(nth_child(wrapper, "heads", 1), training == 0);
    hw_manual_seed(context, 3);
    CHECK_STATUS(forward_tokens(context, wrapper, x, 1, TOKENS, y, NULL), HW_OK);
    CHECK(memcmp(y, expected, sizeof y) == 0, "a head's own mode counts");
    hw_manual_seed(context, 3);
    CHECK_STATUS(forward_tokens(context, wrapper, x, 1, TOKENS, y, &options), HW_OK);
    CHECK(memcmp(y, expected, sizeof y) == 0, "a head's own mode counts in a trace");
    hw_trace_destroy(trace);
    check_case();
  }
  hw_module_destroy(wrapper);
}

static void test_trace_after_errors(void) {
  const hw_causal_attention_config config = {WIDTH, WIDTH, TOKENS, 0.0, false, true, false};
  hw_module *module = NULL;
  hw_trace *trace = (hw_trace *)(uintptr_t)64;
  const hw_forward_options options = {.trace = &trace};
  float y[COUNT];
  CHECK_STATUS(hw_causal_attention_create(context, &config, &module), HW_OK);
  CHECK_STATUS(hw_module_forward(context, module, NULL, y, &options), HW_ERROR_VALUE);
  CHECK(trace == NULL, "left a trace");
  hw_module_destroy(module);
  check_case();
}

static void test_sizes_that_wrap(void) {
  static const uint32_t ids[1];
  float y[WIDTH];
  hw_module *modules[4] = {NULL};
  const hw_feed_forward_config ffn = {.d_model = WIDTH, .d_ff = WIDTH};
  CHECK_STATUS(make_linear(context, WIDTH, WIDTH, true, &modules[0]), HW_OK);
  CHECK_STATUS(make_layer_norm(WIDTH, HW_LAYER_NORM_EPS, &modules[1]), HW_OK);
  CHECK_STATUS(hw_feed_forward_create(context, &ffn, &modules[2]), HW_OK);
  CHECK_STATUS(make_embedding(context, 3, WIDTH, &modules[3]), HW_OK);
  for (size_t i = 0; i < 4; i++) {
    hw_input input = {.x = x, .ids = ids, .batch = SIZE_MAX / 2 + 1, .tokens = 2};
    CHECK_STATUS(hw_module_forward(context, modules[i], &input, y, NULL), HW_ERROR_MEMORY);
    input.tokens = SIZE_MAX;
    CHECK_STATUS(hw_module_forward(context, modules[i], &input, y, NULL), HW_ERROR_MEMORY);
    hw_module_destroy(modules[i]);
    check_case();
  }
  const size_t half = (size_t)1 << (sizeof(size_t) * 4);
  CHECK_STATUS(hw_softmax(NULL, NULL, half, half), HW_ERROR_VALUE);
  CHECK_STATUS(hw_softmax(x, y, SIZE_MAX, 0), HW_OK);
  CHECK_STATUS(hw_transpose(NULL, NULL, half, half, 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_transpose(x, y, SIZE_MAX, SIZE_MAX, 0), HW_OK);
}

static void test_options_of_others(void) {
  hw_module *linear = NULL;
  float y[COUNT];
  float weights[1];
  CHECK_STATUS(make_linear(context, WIDTH, WIDTH, true, &linear), HW_OK);
  const hw_forward_options options[] = {{.causality = HW_CAUSALITY_ON},
                                        {.weights = weights},
                                        {.head_mask = x},
                                        {.mask = {.kind = HW_MASK_FLOAT, .data = x}}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    CHECK_STATUS(forward_tokens(context, linear, x, 1, 1, y, &options[i]), HW_ERROR_VALUE);
    check_case();
  }
  hw_module_destroy(linear);
}

int main(void) {
  check_seed(23);
  check_fill(x, COUNT);
  if (hw_context_create(&context) != HW_OK) {
    return 1;
  }
  check_run("a wrapper's mode holds for all heads", test_mode_of_heads);
  check_run("after any error there is no trace", test_trace_after_errors);
  check_run("sizes whose product wraps are refused", test_sizes_that_wrap);
  check_run("a linear layer refuses the options of attention", test_options_of_others);
  hw_context_destroy(context);
  return check_result();
}
