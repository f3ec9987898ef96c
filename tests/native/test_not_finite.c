/* NaN and infinities in attention: masked ones reach nobody, visible ones exactly their queries. */
#include "attention_case.h"
#include "core/tile.h"

enum { QUERIES = HW_TILE_ROWS + 2, KEYS = HW_KEY_BLOCK + 11, KEY_WIDTH = 5, VALUE_WIDTH = 9 };

static const float poisons[] = {NAN, INFINITY, -INFINITY};

typedef void poison_fn(hw_attention *a, size_t key, float poison);

static void poison_key(hw_attention *a, size_t key, float poison) {
  ((float *)(uintptr_t)a->key)[key * a->key_strides.token + 2] = poison;
}

static void poison_value(hw_attention *a, size_t key, float poison) {
  ((float *)(uintptr_t)a->value)[key * a->value_strides.token + 2] = poison;
}

static bool sees(const hw_attention *a, size_t query, size_t key) {
  return reference_mask(a, 0, 0, query, key) != (double)-INFINITY;
}

static float *output_row(const hw_attention *a, size_t query) { return a->output + query * a->output_strides.token; }

/* Runs with clean numbers and with the poison: queries that may not see the key give the same numbers. */
static void run_poison(attention_case c, size_t key, float poison, poison_fn *apply) {
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  attention_buffers buffers = case_create(&c);
  hw_attention *a = &buffers.call;
  float *clean = check_floats(buffers.output_floats);
  CHECK(hw_scaled_dot_product_attention(context, a) == HW_OK, "run");
  memcpy(clean, a->output, buffers.output_floats * sizeof(float));
  apply(a, key, poison);
  CHECK(hw_scaled_dot_product_attention(context, a) == HW_OK, "run");
  for (size_t i = 0; i < c.queries; i++) {
    bool same = true;
    bool finite = true;
    for (size_t v = 0; v < c.value_width; v++) {
      const float got = output_row(a, i)[v];
      same = same && fabsf(got - clean[i * a->output_strides.token + v]) <= 1e-5F;
      finite = finite && isfinite(got);
    }
    if (!sees(a, i, key)) {
      CHECK(same, "query %zu changed by masked key %zu", i, key);
    } else if (apply == poison_value) {
      const float got = output_row(a, i)[2];
      CHECK(isnan(poison) ? isnan(got) : got == poison, "query %zu sees key %zu: %g", i, key, (double)got);
    } else if (isnan(poison)) {
      CHECK(!finite, "query %zu does not show the NaN of key %zu", i, key);
    }
  }
  check_case();
  free(clean);
  case_destroy(&buffers);
  hw_context_destroy(context);
}

static void run_everywhere(attention_case c, poison_fn *apply) {
  const size_t keys[] = {0, 1, 7, 8, HW_KEY_BLOCK - 1, HW_KEY_BLOCK, KEYS - 1};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    for (size_t p = 0; p < sizeof poisons / sizeof *poisons; p++) {
      run_poison(c, keys[k], poisons[p], apply);
    }
  }
}

static void run_masks(poison_fn *apply) {
  attention_case c = {.batch = 1,
                      .heads = 1,
                      .queries = QUERIES,
                      .keys = KEYS,
                      .key_width = KEY_WIDTH,
                      .value_width = VALUE_WIDTH,
                      .records = true};
  run_everywhere(c, apply);
  for (c.mask = HW_MASK_BOOL; c.mask <= HW_MASK_FLOAT; c.mask++) {
    run_everywhere(c, apply);
  }
  c.mask = HW_MASK_NONE;
  c.is_causal = true;
  const int32_t offsets[] = {0, 4, HW_KEY_BLOCK - 4, KEYS - QUERIES};
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    c.causal_offset = offsets[i];
    run_everywhere(c, apply);
  }
  c.softcap = 1.5F;
  run_everywhere(c, apply);
  c.offset_from_end = true;
  c.has_lengths = true;
  c.is_windowed = true;
  c.window_left = HW_KEY_BLOCK / 4;
  run_everywhere(c, apply);
}

static void test_keys(void) { run_masks(poison_key); }

static void test_values(void) { run_masks(poison_value); }

/* NaN in one query is that query's alone. */
static void test_queries(void) {
  attention_case c = {.batch = 1, .heads = 1, .queries = QUERIES, .keys = 9, .key_width = 5, .value_width = 3};
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  for (size_t query = 0; query < QUERIES; query++) {
    attention_buffers buffers = case_create(&c);
    ((float *)(uintptr_t)buffers.call.query)[query * buffers.call.query_strides.token] = NAN;
    CHECK_STATUS(hw_scaled_dot_product_attention(context, &buffers.call), HW_OK);
    case_compare(&buffers, NULL);
    case_destroy(&buffers);
  }
  hw_context_destroy(context);
}

/* A float mask's own NaN and +inf are scores like others, its -inf forbids. */
static void test_mask_values(void) {
  attention_case c = {
      .batch = 1, .heads = 1, .queries = QUERIES, .keys = KEYS, .key_width = 5, .value_width = 3, .records = true};
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  for (size_t key = 0; key < KEYS; key += HW_KEY_BLOCK / 2) {
    for (size_t p = 0; p < 3; p++) {
      attention_buffers buffers = case_create(&c);
      float *mask = check_memory((size_t)QUERIES * KEYS * sizeof(float));
      for (size_t i = 0; i < (size_t)QUERIES * KEYS; i++) {
        mask[i] = i == 2 * (size_t)KEYS + key ? poisons[p] : -0.5F;
      }
      buffers.call.mask = (hw_mask){.kind = HW_MASK_FLOAT, .data = mask, .query_stride = KEYS, .key_stride = 1};
      CHECK_STATUS(hw_scaled_dot_product_attention(context, &buffers.call), HW_OK);
      case_compare(&buffers, NULL);
      case_destroy(&buffers); /* frees the mask */
    }
  }
  hw_context_destroy(context);
}

/* What an output is divided by comes last: before that, sums of such values are above the largest float. */
static void test_large_values(void) {
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  for (size_t i = 0; i < 4; i++) {
    attention_case c = {.batch = 1, .heads = 2, .queries = i < 2 ? 1 : QUERIES, .keys = KEYS, .is_causal = i % 2 == 1};
    c.key_width = KEY_WIDTH;
    c.value_width = VALUE_WIDTH;
    c.causal_offset = KEYS - QUERIES;
    c.records = true;
    attention_buffers buffers = case_create(&c);
    float *value = (float *)(uintptr_t)buffers.call.value;
    for (size_t t = 0; t < KEYS * buffers.call.value_strides.token; t++) {
      value[t] = fabsf(value[t]);
    }
    CHECK_STATUS(hw_scaled_dot_product_attention(context, &buffers.call), HW_OK);
    float *small = check_floats(buffers.output_floats);
    memcpy(small, buffers.call.output, buffers.output_floats * sizeof(float));
    for (size_t t = 0; t < KEYS * buffers.call.value_strides.token; t++) {
      value[t] = value[t] * 0x1p127F;
    }
    CHECK_STATUS(hw_scaled_dot_product_attention(context, &buffers.call), HW_OK);
    for (size_t query = 0; query < c.queries; query++) {
      for (size_t v = 0; v < VALUE_WIDTH; v++) {
        const float expected = small[query * buffers.call.output_strides.token + v];
        const float got = output_row(&buffers.call, query)[v] * 0x1p-127F;
        CHECK(fabsf(got - expected) <= 1e-6F, "query %zu: %g times 2^127, expected %g", query, (double)got,
              (double)expected);
      }
    }
    check_case();
    free(small);
    case_destroy(&buffers);
  }
  hw_context_destroy(context);
}

/* Scores of 0, but for the last key's, which is `gap`; large values, but for the last key's, which is 1. */
static void set_gap(hw_attention *a, float gap, float large) {
  float *query = (float *)(uintptr_t)a->query;
  float *key = (float *)(uintptr_t)a->key;
  float *value = (float *)(uintptr_t)a->value;
  a->scale = 1.0F;
  for (size_t i = 0; i < a->query_tokens * a->key_width; i++) {
    query[i / a->key_width * a->query_strides.token + i % a->key_width] = i % a->key_width == 0 ? 1.0F : 0.0F;
  }
  for (size_t t = 0; t < a->key_tokens; t++) {
    const bool last = t + 1 == a->key_tokens;
    for (size_t i = 0; i < a->key_width; i++) {
      key[t * a->key_strides.token + i] = last && i == 0 ? gap : 0.0F;
    }
    for (size_t i = 0; i < a->value_width; i++) {
      value[t * a->value_strides.token + i] = last ? 1.0F : large;
    }
  }
}

static void check_gap(const attention_buffers *buffers, const uint32_t *keep, float gap, double large) {
  const hw_attention *a = &buffers->call;
  const double others = (double)a->key_tokens - 1.0;
  const double weight = exp(-(double)gap);
  for (size_t query = 0; query < a->query_tokens; query++) {
    double kept = 0.0;
    for (size_t t = 0; t + 1 < a->key_tokens; t++) {
      kept += reference_is_kept(a, keep, query, t) ? 1.0 : 0.0;
    }
    const double last = reference_is_kept(a, keep, query, a->key_tokens - 1) ? 1.0 : 0.0;
    const double scale = keep == NULL ? 1.0 : 1.0 / (1.0 - a->dropout);
    const double expected = scale * (kept * weight * large + last) / (others * weight + 1.0);
    /* A weight is exact to some roundings or to 2^-126. */
    const double tolerance = expected * 1e-4 + others * large * 0x1p-125;
    for (size_t i = 0; i < a->value_width; i++) {
      const double got = (double)output_row(a, query)[i];
      CHECK(fabs(got - expected) <= tolerance, "gap=%g queries=%zu keys=%zu dropout=%g, query %zu: %g, expected %g",
            (double)gap, a->query_tokens, a->key_tokens, a->dropout, query, got, expected);
    }
  }
}

static void test_reduced_values(void) {
  static const size_t queries[] = {1, 2, HW_TILE_ROWS + 1};
  static const size_t keys[] = {HW_KEY_BLOCK + 1, 2 * HW_KEY_BLOCK + 3, HW_ROW_KEYS + 9};
  static const float gaps[] = {0.0F, 20.0F, 60.0F, 80.0F, 87.0F, 95.0F, 120.0F, 200.0F};
  static const float larges[] = {1e38F, 3e38F};
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  for (size_t i = 0; i < 3 * 3 * 8 * 2 * 2; i++) {
    attention_case c = {.batch = 1, .heads = 1, .key_width = KEY_WIDTH, .value_width = VALUE_WIDTH};
    c.queries = queries[i % 3];
    c.keys = keys[i / 3 % 3];
    c.dropout = i / 9 % 2 == 0 ? 0.0 : 0.25;
    const float gap = gaps[i / 18 % 8];
    const float large = larges[i / 144];
    attention_buffers buffers = case_create(&c);
    set_gap(&buffers.call, gap, large);
    uint32_t *keep = c.dropout > 0.0 ? reference_keep(&buffers.call, context->generator) : NULL;
    CHECK_STATUS(hw_scaled_dot_product_attention(context, &buffers.call), HW_OK);
    /* Dropout's factor may take the output itself beyond the largest float. */
    if (gap > 1.0F || keep == NULL) {
      check_gap(&buffers, keep, gap, (double)large);
    }
    free(keep);
    case_destroy(&buffers);
  }
  hw_context_destroy(context);
}

int main(void) {
  check_seed(4);
  check_run("what a masked key holds reaches no query, a visible NaN does", test_keys);
  check_run("what a masked key's value holds reaches no query, a visible one does", test_values);
  check_run("a query's NaN stays in its row", test_queries);
  check_run("a float mask's NaN and +inf make their row NaN, its -inf forbids", test_mask_values);
  check_run("values near the largest float are averaged, not added up first", test_large_values);
  check_run("values near the largest float under weights that later keys make small or 0 give the mean, not NaN",
            test_reduced_values);
  return check_result();
}
