/*
 * Modules of any size in any order of calls: forward, appends to a cache, truncation, traces, changes of mode and calls
 * that must be refused. What a cache gives is compared with a forward of all tokens, a trace with the weights.
 */
#include "fuzz.h"
#include "headwise.h"
#include "modules.h"

typedef struct session {
  hw_context *context;
  hw_module *module;
  hw_key_value_cache *cache;
  size_t batch;
  size_t d_in;
  size_t d_out;
  size_t heads;
  size_t context_length;
  float *x;   /* [batch, context_length, d_in] */
  float *all; /* what the module makes of it at once, [batch, context_length, d_out] */
} session;

static void close_to(float got, float expected, const char *what, size_t at) {
  CHECK(fabsf(got - expected) <= 1e-4F + 1e-4F * fabsf(expected), "%s %zu: %g, not %g", what, at, (double)got,
        (double)expected);
}

static session start(fuzz_bytes *bytes) {
  session s = {.batch = fuzz_size(bytes, 1, 3),
               .d_in = fuzz_size(bytes, 1, 20),
               .heads = fuzz_size(bytes, 1, 4),
               .context_length = fuzz_size(bytes, 1, 60)};
  s.d_out = s.heads * fuzz_size(bytes, 1, 12);
  const hw_multi_head_attention_config config = {.d_in = s.d_in,
                                                 .d_out = s.d_out,
                                                 .context_length = s.context_length,
                                                 .num_heads = s.heads,
                                                 .qkv_bias = fuzz_bool(bytes),
                                                 .out_proj = fuzz_bool(bytes),
                                                 .out_bias = fuzz_bool(bytes),
                                                 .is_causal = true,
                                                 .packed_qkv = fuzz_bool(bytes)};
  CHECK(hw_context_create(&s.context) == HW_OK, "create");
  CHECK(hw_multi_head_attention_create(s.context, &config, &s.module) == HW_OK, "create");
  CHECK(hw_module_create_cache(s.module, s.batch, NULL, &s.cache) == HW_OK, "create");
  s.x = check_floats(s.batch * s.context_length * s.d_in);
  s.all = check_guarded(s.batch * s.context_length * s.d_out);
  check_fill(s.x, s.batch * s.context_length * s.d_in);
  CHECK(forward_tokens(s.context, s.module, s.x, s.batch, s.context_length, s.all, NULL) == HW_OK, "forward");
  return s;
}

static void stop(session *s) {
  hw_key_value_cache_destroy(s->cache);
  hw_module_destroy(s->module);
  hw_context_destroy(s->context);
  free(s->x);
  free(s->all);
}

/* Appends, or is refused for want of room. */
static void append(session *s, size_t tokens) {
  const size_t length = hw_key_value_cache_length(s->cache);
  float *x = check_floats(s->batch * tokens * s->d_in);
  float *y = check_guarded(s->batch * tokens * s->d_out);
  const bool fits = tokens <= s->context_length - length;
  check_fill(x, s->batch * tokens * s->d_in);
  for (size_t b = 0; b < s->batch && fits; b++) {
    memcpy(x + b * tokens * s->d_in, s->x + (b * s->context_length + length) * s->d_in,
           tokens * s->d_in * sizeof(float));
  }
  const hw_forward_options options = {.cache = s->cache};
  const hw_status status = forward_tokens(s->context, s->module, x, s->batch, tokens, y, &options);
  CHECK((status == HW_OK) == fits, "status %d for %zu after %zu of %zu", (int)status, tokens, length,
        s->context_length);
  CHECK(hw_key_value_cache_length(s->cache) == length + (fits ? tokens : 0), "length");
  for (size_t i = 0; i < s->batch * tokens * s->d_out && fits; i++) {
    const size_t row = i / s->d_out / tokens * s->context_length + length + i / s->d_out % tokens;
    close_to(y[i], s->all[row * s->d_out + i % s->d_out], "appended", i);
  }
  free(x);
  free(y);
}

static void truncate_cache(session *s, size_t kept) {
  const size_t length = hw_key_value_cache_length(s->cache);
  const hw_status status = hw_key_value_cache_truncate(s->cache, kept);
  CHECK(status == (kept <= length ? HW_OK : HW_ERROR_VALUE), "status %d", (int)status);
}

/* A forward of the first tokens, its weights and its trace. */
static void trace(session *s, size_t tokens, size_t map_size) {
  const size_t cells = tokens * tokens;
  float *y = check_guarded(tokens * s->d_out);
  float *weights = check_guarded(s->heads * cells);
  float *recomputed = check_guarded(cells);
  float *map = check_guarded(map_size * map_size);
  hw_trace *kept = NULL;
  const hw_forward_options options = {.weights = weights, .trace = &kept};
  CHECK(forward_tokens(s->context, s->module, s->x, 1, tokens, y, &options) == HW_OK, "forward");
  for (size_t head = 0; head < s->heads; head++) {
    CHECK(hw_trace_weights(s->context, kept, 0, head, 0, tokens, recomputed) == HW_OK, "weights");
    float largest = 0.0F;
    for (size_t i = 0; i < cells; i++) {
      close_to(recomputed[i], weights[head * cells + i], "traced", i);
      largest = fmaxf(largest, recomputed[i]);
    }
    CHECK(hw_trace_map(s->context, kept, 0, head, map_size, map) == HW_OK, "map");
    float most = 0.0F;
    for (size_t i = 0; i < map_size * map_size; i++) {
      most = fmaxf(most, map[i]);
    }
    close_to(most, largest, "largest of map", head);
  }
  CHECK(hw_trace_weights(s->context, kept, 0, s->heads, 0, 1, recomputed) == HW_ERROR_VALUE, "a head too far");
  CHECK(hw_trace_weights(s->context, kept, 0, 0, 0, tokens + 1, recomputed) == HW_ERROR_VALUE, "a row too far");
  hw_trace_destroy(kept);
  free(y);
  free(weights);
  free(recomputed);
  free(map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes bytes = {data, size};
  check_seed(fuzz_byte(&bytes));
  session s = start(&bytes);
  for (size_t step = 0; step < 12 && bytes.left > 0; step++) {
    switch (fuzz_byte(&bytes) % 4) {
      case 0:
        truncate_cache(&s, fuzz_size(&bytes, 0, s.context_length + 1));
        break;
      case 1:
        trace(&s, fuzz_size(&bytes, 1, s.context_length), fuzz_size(&bytes, 1, 12));
        break;
      default:
        append(&s, fuzz_size(&bytes, 1, s.context_length));
        break;
    }
  }
  stop(&s);
  return fuzz_end();
}
