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

static inline hw_key_value_cache *create_cache(const hw_module *module) {
  hw_key_value_cache *cache = NULL;
  CHECK(hw_module_create_cache(module, BATCH, NULL, &cache) == HW_OK, "create");
  CHECK(hw_key_value_cache_length(cache) == 0, "not empty");
  return cache;
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

#endif
