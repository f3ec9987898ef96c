/*
 * Key-value caches: any pieces appended, truncated and appended anew, from a past or empty, causal or not, masked or not,
 * with weights and traces; every append against float64 over all tokens so far. What does not fit is refused.
 */
#include "fuzz.h"
#include "reference_modules.h"

typedef struct session {
  hw_context *context;
  hw_multi_head_attention_config config;
  hw_module *module;
  hw_key_value_cache *cache;
  size_t batch;
  float *x; /* [batch, context_length, d_in] */
} session;

static session start(fuzz_bytes *bytes) {
  const size_t heads = fuzz_size(bytes, 1, 3);
  session s = {.config = {.d_in = fuzz_size(bytes, 1, 12),
                          .d_out = heads * fuzz_size(bytes, 1, 9),
                          .context_length = fuzz_size(bytes, 1, 45),
                          .num_heads = heads,
                          .qkv_bias = fuzz_bool(bytes),
                          .out_proj = fuzz_bool(bytes),
                          .out_bias = fuzz_bool(bytes),
                          .is_causal = fuzz_bool(bytes)},
               .batch = fuzz_size(bytes, 1, 3)};
  const size_t count = s.batch * s.config.context_length * s.config.d_in;
  CHECK(hw_context_create(&s.context) == HW_OK, "create");
  CHECK(hw_multi_head_attention_create(s.context, &s.config, &s.module) == HW_OK, "create");
  s.x = check_floats(count);
  check_fill(s.x, count);
  return s;
}

static void stop(session *s) {
  hw_key_value_cache_destroy(s->cache);
  hw_module_destroy(s->module);
  hw_context_destroy(s->context);
  free(s->x);
}

/* Tokens [first, first + tokens) of every sequence. */
static float *tokens_of(const session *s, size_t first, size_t tokens) {
  const size_t width = s->config.d_in;
  float *part = check_floats(s->batch * tokens * width);
  for (size_t b = 0; b < s->batch; b++) {
    memcpy(part + b * tokens * width, s->x + (b * s->config.context_length + first) * width,
           tokens * width * sizeof *part);
  }
  return part;
}

/* What rows [d_out, 3·d_out) of the projection make of the first tokens, as a past: key, or value. */
static float *past_of(const session *s, size_t tokens, size_t part) {
  const size_t d_out = s->config.d_out;
  const size_t head_dim = d_out / s->config.num_heads;
  const size_t rows = s->batch * tokens;
  float *x = tokens_of(s, 0, tokens);
  float *qkv = check_floats(rows * 3 * d_out);
  float *past = check_floats(rows * d_out);
  run_qkv_part(s->context, whole(s->module), x, rows, qkv);
  for (size_t i = 0; i < rows * d_out; i++) {
    const size_t head = i % d_out / head_dim;
    const size_t row = (i / d_out / tokens * s->config.num_heads + head) * tokens + i / d_out % tokens;
    past[row * head_dim + i % head_dim] = qkv[i / d_out * 3 * d_out + part * d_out + i % d_out];
  }
  free(x);
  free(qkv);
  return past;
}

/* Another cache in place of the one there is. */
static void create_cache(session *s, size_t past_tokens) {
  hw_key_value_cache_destroy(s->cache);
  float *key = past_tokens > 0 ? past_of(s, past_tokens, 1) : NULL;
  float *value = past_tokens > 0 ? past_of(s, past_tokens, 2) : NULL;
  CHECK(hw_module_create_cache(s->module, s->batch, &(hw_past){key, value, past_tokens, HW_MATRIX_FLOAT32},
                               &s->cache) == HW_OK,
        "create");
  CHECK(hw_key_value_cache_length(s->cache) == past_tokens, "length");
  free(key);
  free(value);
}

/* One key in four is masked, for all heads of all sequences or for each its own. */
static hw_mask draw_mask(fuzz_bytes *bytes, const session *s, size_t queries, size_t keys) {
  const bool own = fuzz_bool(bytes);
  const size_t heads = own ? s->batch * s->config.num_heads : 1;
  hw_mask mask = {.kind = (hw_mask_kind)(fuzz_byte(bytes) % 3), .query_stride = keys, .key_stride = 1};
  uint8_t *bits = check_memory(heads * queries * keys * sizeof(float));
  float *numbers = (float *)(void *)bits;
  for (size_t i = 0; i < heads * queries * keys; i++) {
    const bool masked = check_random() % 4 == 0;
    if (mask.kind == HW_MASK_BOOL) {
      bits[i] = masked ? 0 : 1;
    } else {
      numbers[i] = masked ? -INFINITY : 3.0F * check_random_float();
    }
  }
  mask.batch_stride = own ? s->config.num_heads * queries * keys : 0;
  mask.head_stride = own ? queries * keys : 0;
  mask.data = bits;
  return mask;
}

static void compare_traces(const session *s, const hw_trace *trace, size_t queries, size_t keys, const float *weights) {
  const hw_trace_shape shape = hw_trace_get_shape(trace);
  CHECK(shape.query_tokens == queries && shape.key_tokens == keys, "[%zu, %zu]", shape.query_tokens, shape.key_tokens);
  float *rows = check_guarded(queries * keys);
  for (size_t i = 0; i < s->batch * s->config.num_heads; i++) {
    const size_t batch = i / s->config.num_heads;
    CHECK(hw_trace_weights(s->context, trace, batch, i % s->config.num_heads, 0, queries, rows) == HW_OK, "trace");
    for (size_t j = 0; j < queries * keys; j++) {
      const float expected = weights[i * queries * keys + j];
      CHECK(fabsf(rows[j] - expected) <= 1e-6F, "traced, %zu: %g, not %g", j, (double)rows[j], (double)expected);
    }
  }
  free(rows);
}

/* y and weights of an append that fitted, against all tokens so far. */
static void compare(const session *s, const reference_tokens *t, const hw_forward_options *asked, const float *y,
                    const float *weights) {
  const size_t queries = t->tokens - t->first;
  const size_t outputs = s->batch * queries * s->config.d_out;
  const size_t cells = s->batch * s->config.num_heads * queries * t->tokens;
  float *all = tokens_of(s, 0, t->tokens);
  double *wide = reference_widen(all, s->batch * t->tokens * s->config.d_in);
  double *exact = reference_doubles(outputs);
  double *exact_weights = reference_doubles(cells);
  double *noisy = reference_doubles(outputs);
  double *noisy_weights = reference_doubles(cells);
  double moved = 0.0;
  double moved_weights = 0.0;
  reference_multi_head_attention(whole(s->module), &s->config, wide, t, asked, exact, exact_weights, 0.0);
  for (size_t run = 0; run < REFERENCE_RUNS; run++) {
    reference_multi_head_attention(whole(s->module), &s->config, wide, t, asked, noisy, noisy_weights, REFERENCE_NOISE);
    moved = fmax(moved, reference_distance(exact, noisy, outputs));
    moved_weights = fmax(moved_weights, reference_distance(exact_weights, noisy_weights, cells));
  }
  reference_compare(y, exact, moved, outputs, "output");
  reference_compare(weights, exact_weights, moved_weights, cells, "weights");
  free(exact);
  free(exact_weights);
  free(noisy);
  free(noisy_weights);
  free(wide);
  free(all);
}

static void append(fuzz_bytes *bytes, session *s) {
  const size_t length = hw_key_value_cache_length(s->cache);
  const size_t most = s->config.context_length;
  const size_t queries = fuzz_size(bytes, 1, fuzz_bool(bytes) && most > 3 ? 3 : most);
  const size_t keys = length + queries;
  const bool fits = keys <= most;
  float *x = tokens_of(s, fits ? length : 0, queries);
  float *y = check_guarded(s->batch * queries * s->config.d_out);
  float *weights = check_guarded(s->batch * s->config.num_heads * queries * keys);
  const hw_mask mask = draw_mask(bytes, s, queries, keys);
  void *mask_data = (void *)(uintptr_t)mask.data;
  hw_trace *trace = NULL;
  const float head_mask[] = {check_random_float(), 0.0F, check_random_float()};
  const hw_forward_options options = {.mask = mask,
                                      .weights = weights,
                                      .trace = &trace,
                                      .cache = s->cache,
                                      .head_mask = fuzz_bool(bytes) ? head_mask : NULL};
  const hw_status status = forward_tokens(s->context, s->module, x, s->batch, queries, y, &options);
  CHECK(status == (fits ? HW_OK : HW_ERROR_VALUE), "status %d for %zu after %zu", (int)status, queries, length);
  CHECK(hw_key_value_cache_length(s->cache) == (fits ? keys : length), "length");
  CHECK((trace != NULL) == fits, "a trace or none");
  if (fits) {
    const reference_tokens t = {.batch = s->batch, .tokens = keys, .first = length};
    compare(s, &t, &options, y, weights);
    compare_traces(s, trace, queries, keys, weights);
  }
  hw_trace_destroy(trace);
  free(mask_data);
  free(x);
  free(y);
  free(weights);
}

static void truncate_cache(fuzz_bytes *bytes, const session *s) {
  const size_t length = hw_key_value_cache_length(s->cache);
  const size_t kept = fuzz_size(bytes, 0, s->config.context_length + 1);
  const hw_status status = hw_key_value_cache_truncate(s->cache, kept);
  CHECK(status == (kept <= length ? HW_OK : HW_ERROR_VALUE), "status %d", (int)status);
  CHECK(hw_key_value_cache_length(s->cache) == (kept <= length ? kept : length), "length");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes bytes = {data, size};
  check_seed(fuzz_byte(&bytes));
  session s = start(&bytes);
  create_cache(&s, 0);
  for (size_t step = 0; step < 8 && bytes.left > 0; step++) {
    const uint32_t kind = fuzz_byte(&bytes) % 8;
    if (kind == 0) {
      create_cache(&s, fuzz_size(&bytes, 0, s.config.context_length));
    } else if (kind < 3) {
      truncate_cache(&bytes, &s);
    } else {
      append(&bytes, &s);
    }
  }
  stop(&s);
  return fuzz_end();
}
