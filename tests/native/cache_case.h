/* Sequences of tokens, a module and its caches, and appends that are compared with the forward of all tokens. */
#ifndef HW_TESTS_CACHE_CASE_H
#define HW_TESTS_CACHE_CASE_H

#include "core/tile.h"
#include "modules.h"
#include "ops/key_value_cache.h"

enum { D_IN = 7, BATCH = 2, HEADS = 3, WIDTH = 5, D_OUT = HEADS * WIDTH, CONTEXT_LENGTH = 2 * HW_KEY_BLOCK + 20 };

static hw_context *context;

static inline hw_multi_head_attention_config config_of(bool is_causal) {
  return (hw_multi_head_attention_config){
      .d_in = D_IN,
      .d_out = D_OUT,
      .context_length = CONTEXT_LENGTH,
      .num_heads = HEADS,
      .qkv_bias = true,
      .out_proj = true,
      .out_bias = true,
      .is_causal = is_causal,
  };
}

static inline hw_module *create_module(const hw_multi_head_attention_config *config) {
  hw_module *module = NULL;
  CHECK(hw_multi_head_attention_create(context, config, &module) == HW_OK, "create");
  return module;
}

static inline hw_key_value_cache *create_cache_as(const hw_module *module, hw_matrix_type dtype) {
  hw_key_value_cache *cache = NULL;
  CHECK(hw_module_create_cache(module, BATCH, &(hw_past){.dtype = dtype}, &cache) == HW_OK, "create");
  CHECK(hw_key_value_cache_length(cache) == 0, "not empty");
  return cache;
}

static inline hw_key_value_cache *create_cache(const hw_module *module) {
  return create_cache_as(module, HW_MATRIX_FLOAT32);
}

/* [BATCH, CONTEXT_LENGTH, D_IN] and what a module makes of it without a cache. */
typedef struct sequences {
  hw_module *module;
  float *x;
  float *qkv;    /* [BATCH, CONTEXT_LENGTH, 3 · D_OUT] */
  float *causal; /* [BATCH, CONTEXT_LENGTH, D_OUT]: a causal forward of all tokens */
} sequences;

static inline sequences create_sequences(const hw_multi_head_attention_config *config) {
  enum { rows = BATCH * CONTEXT_LENGTH };
  const sequences s = {create_module(config), check_floats(rows * D_IN), check_floats(rows * 3 * D_OUT),
                       check_floats(rows * D_OUT)};
  check_fill(s.x, rows * D_IN);
  run_qkv_part(context, whole(s.module), s.x, rows, s.qkv);
  CHECK(forward_tokens(context, s.module, s.x, BATCH, CONTEXT_LENGTH, s.causal, NULL) == HW_OK, "forward");
  return s;
}

static inline void destroy_sequences(const sequences *s) {
  hw_module_destroy(s->module);
  free(s->x);
  free(s->qkv);
  free(s->causal);
}

/* Tokens [first, first + tokens) of every sequence, one after another. */
static inline float *rows_of(const float *x, size_t width, size_t first, size_t tokens) {
  float *rows = check_floats(BATCH * tokens * width);
  for (size_t b = 0; b < BATCH; b++) {
    memcpy(rows + b * tokens * width, x + (b * CONTEXT_LENGTH + first) * width, tokens * width * sizeof(float));
  }
  return rows;
}

/* Appends tokens [first, first + tokens); the caller frees the output. */
static inline float *append(const sequences *s, hw_key_value_cache *cache, size_t first, size_t tokens,
                            hw_forward_options options) {
  float *x = rows_of(s->x, D_IN, first, tokens);
  float *y = check_guarded(BATCH * tokens * D_OUT);
  options.cache = cache;
  CHECK(forward_tokens(context, s->module, x, BATCH, tokens, y, &options) == HW_OK, "append");
  CHECK(hw_key_value_cache_length(cache) == first + tokens, "length %zu", hw_key_value_cache_length(cache));
  free(x);
  return y;
}

static inline void check_same(const float *got, const float *expected, size_t count, const char *what, size_t first,
                              size_t tokens) {
  for (size_t i = 0; i < count; i++) {
    CHECK(check_bits(got[i]) == check_bits(expected[i]), "%s of tokens %zu and %zu more, %zu: %.9g, expected %.9g",
          what, first, tokens - 1, i, (double)got[i], (double)expected[i]);
  }
}

/* Appends, and compares with the rows of the causal forward. */
static inline void append_causal(const sequences *s, hw_key_value_cache *cache, size_t first, size_t tokens) {
  float *got = append(s, cache, first, tokens, (hw_forward_options){0});
  float *expected = rows_of(s->causal, D_OUT, first, tokens);
  check_same(got, expected, BATCH * tokens * D_OUT, "output", first, tokens);
  check_case();
  free(got);
  free(expected);
}

/* In pieces of `tokens`, up to `end`. */
static inline void append_pieces(const sequences *s, hw_key_value_cache *cache, size_t end, size_t tokens) {
  for (size_t first = hw_key_value_cache_length(cache); first < end; first += tokens) {
    append_causal(s, cache, first, tokens < end - first ? tokens : end - first);
  }
}

/* What the public parts make of tokens [first, first + tokens): attention over all up to there, then the projection. */
static inline float *by_parts(const sequences *s, size_t first, size_t tokens, bool is_causal, double dropout,
                              const hw_forward_options *asked) {
  const size_t rows = BATCH * tokens;
  float *merged = check_guarded(rows * D_OUT);
  float *y = check_guarded(rows * D_OUT);
  const hw_strides strides = {.batch = (size_t)CONTEXT_LENGTH * 3 * D_OUT, .head = WIDTH, .token = (size_t)3 * D_OUT};
  const hw_attention attention = {
      .batch = BATCH,
      .heads = HEADS,
      .key_heads = HEADS,
      .query_tokens = tokens,
      .key_tokens = first + tokens,
      .key_width = WIDTH,
      .value_width = WIDTH,
      .query = s->qkv + first * strides.token,
      .key = s->qkv + D_OUT,
      .value = s->qkv + (size_t)2 * D_OUT,
      .output = merged,
      .query_strides = strides,
      .key_strides = strides,
      .value_strides = strides,
      .output_strides = {.batch = tokens * D_OUT, .head = WIDTH, .token = D_OUT},
      .scale = (float)(1.0 / sqrt((double)WIDTH)),
      .is_causal = is_causal,
      .causal_offset = (int32_t)first,
      .mask = asked->mask,
      .dropout = dropout,
      .weights = asked->weights,
      .weights_batch_stride = HEADS * tokens * (first + tokens),
  };
  CHECK_STATUS(hw_scaled_dot_product_attention(context, &attention), HW_OK);
  run_linear_part(context, part_of(whole(s->module), "out_proj"), merged, rows, y);
  free(merged);
  return y;
}

/* One of keys and values of the first tokens, as [BATCH, HEADS, tokens, WIDTH]. */
static inline float *past_of(const sequences *s, size_t part, size_t tokens) {
  float *past = check_floats(BATCH * tokens * D_OUT);
  for (size_t i = 0; i < BATCH * tokens * D_OUT; i++) {
    const size_t t = i / WIDTH % tokens;
    const size_t h = i / WIDTH / tokens % HEADS;
    const size_t b = i / WIDTH / tokens / HEADS;
    past[i] = s->qkv[(b * CONTEXT_LENGTH + t) * 3 * D_OUT + part * D_OUT + h * WIDTH + i % WIDTH];
  }
  return past;
}

/* Other tokens in the place of [first, first + tokens), with a NaN among them, come and go. */
static inline void append_and_forget(const sequences *s, hw_key_value_cache *cache, size_t first, size_t tokens) {
  sequences other = *s;
  other.x = check_floats(BATCH * CONTEXT_LENGTH * D_IN);
  check_fill(other.x, BATCH * CONTEXT_LENGTH * D_IN);
  other.x[(first + tokens / 2) * D_IN] = NAN;
  float *y = append(&other, cache, first, tokens, (hw_forward_options){0});
  CHECK(isnan(y[tokens / 2 * D_OUT]) && !isnan(y[BATCH * tokens * D_OUT - 1]), "NaN reaches its own sequence only");
  CHECK_STATUS(hw_key_value_cache_truncate(cache, first), HW_OK);
  CHECK(hw_key_value_cache_length(cache) == first, "length %zu", hw_key_value_cache_length(cache));
  free(y);
  free(other.x);
}

/* To the nearest number of the type, ties to even: by division, not by bits. */
static inline float round_to(hw_matrix_type dtype, float x) {
  const int digits = dtype == HW_MATRIX_BFLOAT16 ? 8 : 11;
  const int smallest = dtype == HW_MATRIX_BFLOAT16 ? -126 : -14;
  const double largest = dtype == HW_MATRIX_BFLOAT16 ? 0x1.fep127 : 65504.0;
  int exponent;
  (void)frexp((double)x, &exponent);
  if (dtype == HW_MATRIX_FLOAT32 || !isfinite(x) || x == 0.0F) {
    return x;
  }
  const double step = ldexp(1.0, (exponent - 1 > smallest ? exponent - 1 : smallest) - (digits - 1));
  const double rounded = nearbyint((double)x / step) * step;
  return fabs(rounded) > largest ? copysignf(INFINITY, x) : (float)rounded;
}

/* The same sequences, their keys and values rounded; the caller frees qkv. */
static inline sequences create_rounded(const sequences *s, hw_matrix_type dtype) {
  enum { row = 3 * D_OUT, count = BATCH * CONTEXT_LENGTH * row };
  sequences rounded = *s;
  rounded.qkv = check_floats(count);
  for (size_t i = 0; i < count; i++) {
    rounded.qkv[i] = i % row < D_OUT ? s->qkv[i] : round_to(dtype, s->qkv[i]);
  }
  return rounded;
}

#endif
