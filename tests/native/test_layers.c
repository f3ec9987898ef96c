/* Linear, the attention modules and their traces: each built from parts that other tests compare with float64. */
#include "core/tile.h"
#include "headwise.h"
#include "modules.h"

enum { D_IN = 7, BATCH = 2, CONTEXT_LENGTH = 600 };

static const size_t token_counts[] = {1, 2, 5, 8, 9, 23, HW_QUERY_BLOCK + 1};

static hw_context *context;

static void test_linear(void) {
  for (size_t in = 1; in <= 9; in++) {
    for (size_t out = 1; out <= 17; out += 4) {
      hw_module *linear = NULL;
      float *weight = check_floats(out * in);
      float *read = check_floats(out * in);
      float *bias = check_floats(out);
      float *x = check_floats(3 * in);
      float *y = check_guarded(3 * out);
      check_fill(weight, out * in);
      check_fill(bias, out);
      check_fill(x, 3 * in);
      CHECK(make_linear(NULL, in, out, true, &linear) == HW_OK, "create");
      for (size_t row = 0; row < out; row++) {
        CHECK(hw_module_load(linear, 0, row, 1, weight + row * in) == HW_OK, "load row %zu", row);
        CHECK(hw_module_load(linear, 1, row, 1, bias + row) == HW_OK, "load row %zu", row);
      }
      CHECK(hw_module_store(linear, 0, 0, out, read) == HW_OK, "store");
      CHECK(memcmp(weight, read, out * in * sizeof(float)) == 0, "in=%zu out=%zu: weights changed", in, out);
      CHECK(hw_module_store(linear, 1, 0, out, read) == HW_OK, "store");
      CHECK(memcmp(bias, read, out * sizeof(float)) == 0, "in=%zu out=%zu: bias changed", in, out);
      CHECK(forward_rows(context, linear, x, 3, y) == HW_OK, "forward");
      for (size_t i = 0; i < 3 * out; i++) {
        double expected = (double)bias[i % out];
        for (size_t p = 0; p < in; p++) {
          expected += (double)x[i / out * in + p] * (double)weight[i % out * in + p];
        }
        const double tolerance = (double)(in + 1) * (double)(in + 1) * 0x1p-24;
        CHECK(fabs((double)y[i] - expected) <= tolerance, "in=%zu out=%zu, %zu: %.9g, expected %.9g", in, out, i,
              (double)y[i], expected);
      }
      check_case();
      hw_module_destroy(linear);
      free(weight);
      free(read);
      free(bias);
      free(x);
      free(y);
    }
  }
}

/* Weight, then bias, uniform in ±1/√in, in row-major order. */
static void test_linear_draws(void) {
  enum { in = 5, out = 11 };
  hw_module *linear = NULL;
  float got[out * in + out];
  float expected[out * in + out];
  const float bound = (float)(1.0 / sqrt(in));
  hw_manual_seed(context, 123);
  CHECK(make_linear(context, in, out, true, &linear) == HW_OK, "create");
  hw_manual_seed(context, 123);
  hw_uniform(context, -bound, bound, expected, out * in + out);
  CHECK(hw_module_store(linear, 0, 0, out, got) == HW_OK, "store");
  CHECK(hw_module_store(linear, 1, 0, out, got + (size_t)out * in) == HW_OK, "store");
  CHECK(memcmp(got, expected, sizeof got) == 0, "drew something else");
  hw_module_destroy(linear);
  check_case();
}

static hw_module *create_fused(size_t heads, size_t width, double dropout, bool out_proj) {
  const hw_multi_head_attention_config config = {.d_in = D_IN,
                                                 .d_out = heads * width,
                                                 .context_length = CONTEXT_LENGTH,
                                                 .num_heads = heads,
                                                 .dropout = dropout,
                                                 .qkv_bias = true,
                                                 .out_proj = out_proj,
                                                 .out_bias = true,
                                                 .is_causal = true};
  hw_module *module = NULL;
  CHECK(hw_multi_head_attention_create(context, &config, &module) == HW_OK, "create");
  return module;
}

static hw_module *create_wrapper(size_t heads, size_t width, double dropout) {
  const hw_causal_attention_config config = {D_IN, width, CONTEXT_LENGTH, dropout, true, true, false};
  hw_module *module = NULL;
  CHECK(make_wrapper(context, &config, heads, &module) == HW_OK, "create");
  return module;
}

static void copy_weights(hw_module *wrapper, size_t heads, size_t width, hw_module *fused) {
  static const char *const names[] = {"W_query.weight", "W_query.bias",   "W_key.weight",
                                      "W_key.bias",     "W_value.weight", "W_value.bias"};
  for (size_t i = 0; i < heads * 6; i++) {
    float *values = stored(whole(nth_child(wrapper, "heads", i / 6)), names[i % 6]);
    const size_t to = parameter_index(whole(fused), names[i % 6]);
    CHECK(hw_module_load(fused, to, i / 6 * width, width, values) == HW_OK, "load");
    free(values);
  }
}

/* A mask per head of the module; every third query of a head sees nothing. */
static float *create_mask(size_t heads, size_t tokens, hw_mask *mask) {
  float *data = check_floats(heads * tokens * tokens);
  for (size_t i = 0; i < heads * tokens * tokens; i++) {
    const bool hidden = i / tokens % 3 == 1 || check_random() % 3 == 0;
    data[i] = hidden ? -INFINITY : check_random_float();
  }
  *mask = (hw_mask){HW_MASK_FLOAT, data, 0, tokens * tokens, tokens, 1};
  return data;
}

static void compare(const float *a, const float *b, size_t count, const char *what, size_t tokens) {
  for (size_t i = 0; i < count; i++) {
    CHECK(fabsf(a[i] - b[i]) <= 2e-6F, "%s, tokens=%zu, %zu: wrapper %.9g, fused %.9g", what, tokens, i, (double)a[i],
          (double)b[i]);
  }
}

static void run_wrapper_and_fused(size_t heads, size_t width, size_t tokens, bool masked) {
  hw_module *wrapper = create_wrapper(heads, width, 0.0);
  hw_module *fused = create_fused(heads, width, 0.0, false);
  copy_weights(wrapper, heads, width, fused);
  const size_t floats = BATCH * tokens * heads * width;
  const size_t weights = BATCH * heads * tokens * tokens;
  float *x = check_floats(BATCH * tokens * D_IN);
  float *y[2] = {check_guarded(floats), check_guarded(floats)};
  float *w[2] = {check_guarded(weights), check_guarded(weights)};
  check_fill(x, BATCH * tokens * D_IN);
  hw_forward_options options = {0};
  float *mask = masked ? create_mask(heads, tokens, &options.mask) : NULL;
  options.weights = w[0];
  CHECK_STATUS(forward_tokens(context, wrapper, x, BATCH, tokens, y[0], &options), HW_OK);
  options.weights = w[1];
  CHECK_STATUS(forward_tokens(context, fused, x, BATCH, tokens, y[1], &options), HW_OK);
  compare(y[0], y[1], floats, "output", tokens);
  compare(w[0], w[1], weights, "weights", tokens);
  hw_module_destroy(wrapper);
  hw_module_destroy(fused);
  free(mask);
  free(x);
  for (size_t i = 0; i < 2; i++) {
    free(y[i]);
    free(w[i]);
  }
}

static void test_wrapper_equals_fused(void) {
  for (size_t t = 0; t < sizeof token_counts / sizeof *token_counts; t++) {
    for (size_t heads = 1; heads <= 3; heads++) {
      run_wrapper_and_fused(heads, 5, token_counts[t], false);
      run_wrapper_and_fused(heads, 8, token_counts[t], true);
    }
  }
}

/* A mask with causality is the same mask with -inf written above the diagonal. */
static void test_mask_and_causality(void) {
  enum { heads = 2, width = 4, tokens = 23, scores = heads * tokens * tokens, floats = tokens * heads * width };
  hw_module *fused = create_fused(heads, width, 0.0, true);
  float x[tokens * D_IN];
  float y[floats];
  float expected[2][floats]; /* by the mask alone, and by mask and causality */
  check_fill(x, sizeof x / sizeof *x);
  hw_forward_options options = {0};
  float *mask = create_mask(heads, tokens, &options.mask);
  float *causal = check_floats(scores);
  for (size_t i = 0; i < scores; i++) {
    causal[i] = i % tokens > i / tokens % tokens ? -INFINITY : mask[i];
  }
  const float *written[] = {mask, causal};
  for (size_t i = 0; i < 2; i++) {
    options.mask.data = written[i];
    CHECK_STATUS(forward_tokens(context, fused, x, 1, tokens, expected[i], &options), HW_OK);
  }
  options.mask.data = mask;
  const bool hides_later[] = {
      [HW_CAUSALITY_DEFAULT] = false, [HW_CAUSALITY_OFF] = false, [HW_CAUSALITY_ON] = true, [HW_CAUSALITY_OWN] = true};
  for (int causality = HW_CAUSALITY_DEFAULT; causality <= HW_CAUSALITY_OWN; causality++) {
    options.causality = (hw_causality)causality;
    CHECK_STATUS(forward_tokens(context, fused, x, 1, tokens, y, &options), HW_OK);
    const float *right = expected[hides_later[causality] ? 1 : 0];
    CHECK(memcmp(y, right, sizeof y) == 0, "causality %d: y[0] %g, expected %g", causality, (double)y[0],
          (double)right[0]);
    check_case();
  }
  options.causality = (hw_causality)(HW_CAUSALITY_OWN + 1);
  CHECK_STATUS(forward_tokens(context, fused, x, 1, tokens, y, &options), HW_ERROR_VALUE);
  hw_module_destroy(fused);
  free(mask);
  free(causal);
}

/* A wrapper of one head is CausalAttention, bit for bit. */
static void test_causal_is_one_head(void) {
  enum { width = 5, tokens = 9 };
  float x[BATCH * tokens * D_IN];
  float alone[BATCH * tokens * width];
  float wrapped[BATCH * tokens * width];
  hw_module *wrapper = create_wrapper(1, width, 0.5);
  check_fill(x, sizeof x / sizeof *x);
  for (uint64_t seed = 0; seed < 5; seed++) {
    hw_manual_seed(context, seed);
    CHECK_STATUS(forward_tokens(context, wrapper, x, BATCH, tokens, wrapped, NULL), HW_OK);
    hw_manual_seed(context, seed);
    hw_module *head = nth_child(wrapper, "heads", 0);
    CHECK_STATUS(forward_tokens(context, head, x, BATCH, tokens, alone, NULL), HW_OK);
    CHECK(memcmp(alone, wrapped, sizeof alone) == 0, "seed %u", (unsigned)seed);
  }
  hw_module_destroy(wrapper);
}

/* The projections, the function and the output projection, one after another. */
static void test_fused_is_its_parts(void) {
  enum { heads = 3, width = 5, d_out = heads * width, tokens = 9 };
  hw_module *module = create_fused(heads, width, 0.0, true);
  float x[tokens * D_IN];
  float y[tokens * d_out];
  float qkv[tokens * 3 * d_out];
  float merged[tokens * d_out];
  float expected[tokens * d_out];
  check_fill(x, sizeof x / sizeof *x);
  CHECK_STATUS(forward_tokens(context, module, x, 1, tokens, y, NULL), HW_OK);
  run_qkv_part(context, whole(module), x, tokens, qkv);
  const hw_strides strides = {.head = width, .token = 3 * d_out};
  const hw_attention attention = {.batch = 1,
                                  .heads = heads,
                                  .key_heads = heads,
                                  .query_tokens = tokens,
                                  .key_tokens = tokens,
                                  .key_width = width,
                                  .value_width = width,
                                  .query = qkv,
                                  .key = qkv + d_out,
                                  .value = qkv + 2 * d_out,
                                  .output = merged,
                                  .query_strides = strides,
                                  .key_strides = strides,
                                  .value_strides = strides,
                                  .output_strides = {.head = width, .token = d_out},
                                  .scale = (float)(1.0 / sqrt(width)),
                                  .is_causal = true};
  CHECK_STATUS(hw_scaled_dot_product_attention(context, &attention), HW_OK);
  run_linear_part(context, part_of(whole(module), "out_proj"), merged, tokens, expected);
  CHECK(memcmp(y, expected, sizeof y) == 0, "y[0] %g, expected %g", (double)y[0], (double)expected[0]);
  hw_module_destroy(module);
}

static void test_training(void) {
  enum { tokens = 9, width = 8 };
  hw_module *module = create_fused(1, width, 0.5, false);
  float x[tokens * D_IN];
  float first[tokens * width];
  float second[tokens * width];
  check_fill(x, sizeof x / sizeof *x);
  CHECK_STATUS(forward_tokens(context, module, x, 1, tokens, first, NULL), HW_OK);
  CHECK_STATUS(forward_tokens(context, module, x, 1, tokens, second, NULL), HW_OK);
  CHECK(memcmp(first, second, sizeof first) != 0, "a new module is not in training mode");
  hw_module_train(module, false);
  CHECK_STATUS(forward_tokens(context, module, x, 1, tokens, first, NULL), HW_OK);
  CHECK_STATUS(forward_tokens(context, module, x, 1, tokens, second, NULL), HW_OK);
  CHECK(memcmp(first, second, sizeof first) == 0, "dropout outside training mode");
  hw_module_destroy(module);
}

int main(void) {
  check_seed(5);
  if (hw_context_create(&context) != HW_OK) {
    return 1;
  }
  check_run("a linear layer keeps what it is loaded with and multiplies by it", test_linear);
  check_run("a linear layer draws weight, then bias", test_linear_draws);
  check_run("wrapper and fused module agree on the same weights", test_wrapper_equals_fused);
  check_run("a mask with causality hides what both hide", test_mask_and_causality);
  check_run("a wrapper of one head is CausalAttention to the bit", test_causal_is_one_head);
  check_run("the fused module is its projections around the function, to the bit", test_fused_is_its_parts);
  check_run("dropout works in training mode only, and a new module is in it", test_training);
  hw_context_destroy(context);
  return check_result();
}
