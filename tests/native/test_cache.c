/* A forward with a cache gives, to the bit, what the same tokens give without one: at every length around the edges of
 * panels and blocks, in whatever pieces they come. The parts are compared with float64 elsewhere. */
#include "cache_case.h"

static void test_pieces(void) {
  const hw_multi_head_attention_config config = config_of(true);
  const sequences s = create_sequences(&config);
  for (size_t tokens = 1; tokens <= 17; tokens++) {
    hw_key_value_cache *cache = create_cache(s.module);
    append_pieces(&s, cache, tokens == 1 ? CONTEXT_LENGTH : HW_KEY_BLOCK + 40, tokens);
    hw_key_value_cache_destroy(cache);
  }
  destroy_sequences(&s);
}

static void test_prefill_and_decode(void) {
  const size_t edges[] = {1, 8, HW_QUERY_BLOCK, HW_KEY_BLOCK, 2 * HW_KEY_BLOCK};
  const hw_multi_head_attention_config config = config_of(true);
  const sequences s = create_sequences(&config);
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
    for (size_t prefill = edges[i] - (edges[i] > 1); prefill <= edges[i] + 1; prefill++) {
      hw_key_value_cache *cache = create_cache(s.module);
      append_causal(&s, cache, 0, prefill);
      append_pieces(&s, cache, prefill + 9, 1);
      append_causal(&s, cache, prefill + 9, CONTEXT_LENGTH - prefill - 9);
      hw_key_value_cache_destroy(cache);
    }
  }
  destroy_sequences(&s);
}

static void test_truncate(void) {
  const size_t lengths[] = {0, 1, 7, 8, 9, HW_KEY_BLOCK - 1, HW_KEY_BLOCK, HW_KEY_BLOCK + 1};
  const hw_multi_head_attention_config config = config_of(true);
  const sequences s = create_sequences(&config);
  hw_key_value_cache *cache = create_cache(s.module);
  append_pieces(&s, cache, HW_KEY_BLOCK + 30, HW_KEY_BLOCK + 30);
  for (size_t i = sizeof lengths / sizeof *lengths; i-- > 0;) {
    const size_t extra[] = {1, 8, 20, HW_KEY_BLOCK};
    CHECK_STATUS(hw_key_value_cache_truncate(cache, lengths[i]), HW_OK);
    for (size_t j = 0; j < sizeof extra / sizeof *extra; j++) {
      append_and_forget(&s, cache, lengths[i], extra[j]);
      append_causal(&s, cache, lengths[i], 3);
      CHECK_STATUS(hw_key_value_cache_truncate(cache, lengths[i]), HW_OK);
    }
  }
  hw_key_value_cache_destroy(cache);
  destroy_sequences(&s);
}

/* Bool or float over [BATCH, HEADS, tokens, keys]; every third query sees nothing. */
static void *create_mask(hw_mask_kind kind, size_t tokens, size_t keys, hw_mask *mask) {
  const size_t elements = BATCH * HEADS * tokens * keys;
  unsigned char *bytes = check_memory(elements * sizeof(float));
  for (size_t i = 0; i < elements; i++) {
    const bool allows = i / keys % 3 != 1 && check_random() % 3 != 0;
    const float added = allows ? check_random_float() : -INFINITY;
    if (kind == HW_MASK_BOOL) {
      bytes[i] = allows ? 1 : 0;
    } else {
      memcpy(bytes + i * sizeof(float), &added, sizeof added);
    }
  }
  *mask = (hw_mask){kind, bytes, HEADS * tokens * keys, tokens * keys, keys, 1};
  return bytes;
}

static void check_trace(const hw_trace *trace, const float *weights, size_t tokens, size_t keys) {
  const hw_trace_shape shape = hw_trace_get_shape(trace);
  CHECK(shape.batch == BATCH && shape.heads == HEADS && shape.query_tokens == tokens && shape.key_tokens == keys,
        "shape %zu %zu %zu %zu", shape.batch, shape.heads, shape.query_tokens, shape.key_tokens);
  float *out = check_guarded(tokens * keys);
  for (size_t head = 0; head < BATCH * HEADS; head++) {
    CHECK_STATUS(hw_trace_weights(context, trace, head / HEADS, head % HEADS, 0, tokens, out), HW_OK);
    check_same(out, weights + head * tokens * keys, tokens * keys, "trace", keys - tokens, tokens);
  }
  free(out);
}

/* One append that asks for all there is, to a cache of a type. */
static void run_options(const sequences *s, const hw_multi_head_attention_config *config, size_t first, size_t tokens,
                        hw_mask_kind kind, hw_matrix_type dtype) {
  const sequences rounded = create_rounded(s, dtype);
  const size_t keys = first + tokens;
  const size_t count = BATCH * HEADS * tokens * keys;
  hw_trace *trace = NULL;
  hw_mask mask = {0};
  void *mask_data = kind == HW_MASK_NONE ? NULL : create_mask(kind, tokens, keys, &mask);
  const hw_forward_options got = {.mask = mask, .weights = check_guarded(count), .trace = &trace};
  const hw_forward_options expected = {.mask = mask, .weights = check_guarded(count)};
  hw_key_value_cache *cache = create_cache_as(s->module, dtype);
  if (first > 0) {
    free(append(s, cache, 0, first, (hw_forward_options){0}));
  }
  hw_manual_seed(context, 5);
  float *y = append(s, cache, first, tokens, got);
  hw_manual_seed(context, 5);
  float *parts =
      by_parts(&rounded, first, tokens, config->is_causal && kind == HW_MASK_NONE, config->dropout, &expected);
  check_same(y, parts, BATCH * tokens * D_OUT, "output", first, tokens);
  check_same(got.weights, expected.weights, count, "weights", first, tokens);
  /* The trace must not need the cache. */
  hw_key_value_cache_destroy(cache);
  check_trace(trace, expected.weights, tokens, keys);
  hw_trace_destroy(trace);
  free(rounded.qkv);
  free(mask_data);
  free(y);
  free(parts);
  free(got.weights);
  free(expected.weights);
}

static void test_options(void) {
  const size_t firsts[] = {0, 3, 8, 21, HW_KEY_BLOCK - 2};
  for (size_t i = 0; i < 5 * sizeof firsts / sizeof *firsts; i++) {
    hw_multi_head_attention_config config = config_of(i % 2 == 0);
    config.dropout = i % 3 == 0 ? 0.3 : 0.0;
    const sequences s = create_sequences(&config);
    for (int kind = HW_MASK_NONE; kind <= HW_MASK_FLOAT; kind++) {
      for (int dtype = HW_MATRIX_FLOAT32; dtype <= HW_MATRIX_FLOAT16; dtype++) {
        run_options(&s, &config, firsts[i % 5], i / 5 * 2 + 1, (hw_mask_kind)kind, (hw_matrix_type)dtype);
      }
    }
    destroy_sequences(&s);
  }
}

static void test_past(void) {
  const size_t lengths[] = {1, 7, 8, 9, HW_KEY_BLOCK - 1, HW_KEY_BLOCK, HW_KEY_BLOCK + 1, CONTEXT_LENGTH - 3};
  const hw_multi_head_attention_config config = config_of(true);
  const sequences s = create_sequences(&config);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    float *key = past_of(&s, 1, lengths[i]);
    float *value = past_of(&s, 2, lengths[i]);
    hw_key_value_cache *cache = NULL;
    CHECK_STATUS(hw_module_create_cache(s.module, BATCH, &(hw_past){key, value, lengths[i], HW_MATRIX_FLOAT32}, &cache),
                 HW_OK);
    free(key);
    free(value);
    CHECK(hw_key_value_cache_length(cache) == lengths[i], "length %zu", hw_key_value_cache_length(cache));
    append_pieces(&s, cache, lengths[i] + 3, 1);
    hw_key_value_cache_destroy(cache);
  }
  destroy_sequences(&s);
}

/* A NaN in a token that the mask hides must not matter, in the run in which it comes and in later ones. */
static void test_hidden_nan(void) {
  enum { tokens = 11, hidden = 4 };
  const hw_multi_head_attention_config config = config_of(true);
  const sequences s = create_sequences(&config);
  uint8_t allows[tokens + 1];
  memset(allows, 1, sizeof allows);
  allows[hidden] = 0;
  const hw_forward_options options = {.mask = {.kind = HW_MASK_BOOL, .data = allows, .key_stride = 1}};
  float *expected[2] = {NULL, NULL};
  for (size_t poisoned = 0; poisoned < 2; poisoned++) {
    s.x[hidden * D_IN] = poisoned == 0 ? 0.5F : NAN;
    hw_key_value_cache *cache = create_cache(s.module);
    float *all = append(&s, cache, 0, tokens, options);
    float *next = append(&s, cache, tokens, 1, options);
    if (poisoned == 0) {
      expected[0] = all;
      expected[1] = next;
    } else {
      const size_t before = (size_t)hidden * D_OUT;
      const size_t after = before + D_OUT;
      check_same(all, expected[0], before, "output before the NaN", 0, tokens);
      check_same(all + after, expected[0] + after, BATCH * tokens * D_OUT - after, "output after it", 0, tokens);
      check_same(next, expected[1], BATCH * D_OUT, "output", tokens, 1);
      free(all);
      free(next);
    }
    hw_key_value_cache_destroy(cache);
    check_case();
  }
  free(expected[0]);
  free(expected[1]);
  destroy_sequences(&s);
}

/* Whether the values count as finite decides only how fast they are summed, so the outputs do not show it. */
static void test_finite_again(void) {
  const hw_multi_head_attention_config config = config_of(true);
  const sequences s = create_sequences(&config);
  hw_key_value_cache *cache = create_cache(s.module);
  append_pieces(&s, cache, 9, 9);
  append_and_forget(&s, cache, 9, 2);
  for (size_t head = 0; head < BATCH * HEADS; head++) {
    const hw_key_value_panels panels = hw_key_value_store_head(&cache->stores[0], head);
    CHECK(hw_values_are_finite(&panels, 0, 9), "head %zu", head);
    check_case();
  }
  hw_key_value_cache_destroy(cache);
  destroy_sequences(&s);
}

int main(void) {
  check_seed(12);
  CHECK(hw_context_create(&context) == HW_OK, "create");
  check_run("token by token and in pieces up to 17, outputs are the causal forward's", test_pieces);
  check_run("so they are after a prefill that ends around a panel, a query block or a key block",
            test_prefill_and_decode);
  check_run("truncated tokens leave no trace, NaN or not", test_truncate);
  check_run("weights, traces, masks and dropout are those of the parts", test_options);
  check_run("a cache goes on from given keys and values", test_past);
  check_run("a NaN behind a mask does not matter", test_hidden_nan);
  check_run("values count as finite again when a NaN is truncated away", test_finite_again);
  hw_context_destroy(context);
  return check_result();
}
