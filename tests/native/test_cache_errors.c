/* What caches and forwards with a cache refuse, and that they leave everything as it was. */
#include "cache_case.h"

static void test_create_errors(void) {
  hw_multi_head_attention_config config = config_of(true);
  hw_module *module = create_module(&config);
  hw_key_value_cache *cache = (hw_key_value_cache *)(uintptr_t)64;
  const float past[D_OUT] = {0.0F};
  const size_t too_many = CONTEXT_LENGTH + 1;
  CHECK_STATUS(hw_module_create_cache(module, 0, NULL, &cache), HW_ERROR_SHAPE);
  CHECK(cache == NULL, "left a pointer");
  CHECK_STATUS(hw_module_create_cache(module, 1, &(hw_past){past, past, too_many, HW_MATRIX_FLOAT32}, &cache),
               HW_ERROR_VALUE);
  CHECK_STATUS(hw_module_create_cache(module, 1, &(hw_past){past, past, SIZE_MAX, HW_MATRIX_FLOAT32}, &cache),
               HW_ERROR_VALUE);
  CHECK_STATUS(hw_module_create_cache(module, 1, &(hw_past){NULL, past, 1, HW_MATRIX_FLOAT32}, &cache), HW_ERROR_VALUE);
  CHECK_STATUS(hw_module_create_cache(module, 1, &(hw_past){past, NULL, 1, HW_MATRIX_FLOAT32}, &cache), HW_ERROR_VALUE);
  CHECK_STATUS(hw_module_create_cache(module, 1, &(hw_past){.dtype = HW_MATRIX_INT8}, &cache), HW_ERROR_VALUE);
  CHECK_STATUS(hw_module_create_cache(module, 1, &(hw_past){.dtype = (hw_matrix_type)99}, &cache), HW_ERROR_VALUE);
  CHECK_STATUS(hw_module_create_cache(module, SIZE_MAX, NULL, &cache), HW_ERROR_MEMORY);
  CHECK(cache == NULL, "left a pointer");
  hw_module_destroy(module);
  const size_t lengths[] = {(size_t)INT32_MAX + 1, SIZE_MAX / 4 * 3, SIZE_MAX};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    config.context_length = lengths[i];
    module = create_module(&config);
    CHECK_STATUS(hw_module_create_cache(module, 1, NULL, &cache), HW_ERROR_MEMORY);
    CHECK(cache == NULL, "left a pointer");
    hw_module_destroy(module);
  }
  hw_key_value_cache_destroy(NULL);
}

/* Tries a forward that must be refused; the cache, to its last byte, is as it was. */
static void expect_refused(hw_module *module, hw_key_value_cache *cache, size_t batch, size_t tokens,
                           hw_status expected) {
  const hw_key_value_store *store = &cache->stores[0];
  const size_t bytes = BATCH * HEADS * store->head_bytes;
  const size_t length = cache->length;
  unsigned char *before = check_memory(bytes);
  memcpy(before, store->memory, bytes);
  const hw_forward_options options = {.cache = cache};
  float x[D_IN] = {0.0F};
  float y[1];
  CHECK_STATUS(forward_tokens(context, module, x, batch, tokens, y, &options), expected);
  CHECK(cache->length == length && memcmp(before, store->memory, bytes) == 0, "the cache changed");
  free(before);
}

static void test_forward_errors(void) {
  hw_multi_head_attention_config config = config_of(true);
  const sequences s = create_sequences(&config);
  hw_key_value_cache *cache = create_cache(s.module);
  append_pieces(&s, cache, CONTEXT_LENGTH - 2, CONTEXT_LENGTH - 2);
  expect_refused(s.module, cache, BATCH, 3, HW_ERROR_VALUE);
  expect_refused(s.module, cache, BATCH, CONTEXT_LENGTH + 1, HW_ERROR_SHAPE);
  expect_refused(s.module, cache, BATCH, SIZE_MAX, HW_ERROR_MEMORY);
  expect_refused(s.module, cache, BATCH + 1, 1, HW_ERROR_SHAPE);
  /* No tokens are appended. */
  expect_refused(s.module, cache, BATCH, 0, HW_OK);
  for (size_t field = 0; field < 3; field++) {
    hw_multi_head_attention_config other = config;
    other.num_heads += field == 0 ? 2 : 0;
    other.d_out *= field == 1 ? 2 : 1;
    other.context_length += field == 2 ? 1 : 0;
    hw_module *module = create_module(&other);
    expect_refused(module, cache, BATCH, 1, HW_ERROR_SHAPE);
    hw_module_destroy(module);
  }
  CHECK_STATUS(hw_key_value_cache_truncate(cache, CONTEXT_LENGTH - 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_key_value_cache_truncate(cache, SIZE_MAX), HW_ERROR_VALUE);
  append_pieces(&s, cache, CONTEXT_LENGTH, 1);
  expect_refused(s.module, cache, BATCH, 1, HW_ERROR_VALUE);
  hw_key_value_cache_destroy(cache);
  destroy_sequences(&s);
}

/* The modules that have no caches refuse one. */
static void test_other_modules(void) {
  const hw_multi_head_attention_config config = config_of(true);
  const hw_causal_attention_config head = {D_IN, D_OUT, CONTEXT_LENGTH, 0.0, true, true, false};
  hw_module *module = create_module(&config);
  hw_module *causal = NULL;
  hw_module *wrapper = NULL;
  const hw_forward_options options = {.cache = create_cache(module)};
  float x[BATCH * D_IN] = {0.0F};
  float y[BATCH * D_OUT];
  CHECK_STATUS(hw_causal_attention_create(context, &head, &causal), HW_OK);
  CHECK_STATUS(make_wrapper(context, &head, 1, &wrapper), HW_OK);
  CHECK_STATUS(forward_tokens(context, causal, x, BATCH, 1, y, &options), HW_ERROR_VALUE);
  CHECK_STATUS(forward_tokens(context, wrapper, x, BATCH, 1, y, &options), HW_ERROR_VALUE);
  CHECK(hw_key_value_cache_length(options.cache) == 0, "appended");
  hw_key_value_cache_destroy(options.cache);
  hw_module_destroy(causal);
  hw_module_destroy(wrapper);
  hw_module_destroy(module);
}

int main(void) {
  check_seed(13);
  CHECK(hw_context_create(&context) == HW_OK, "create");
  check_run("caches of bad sizes or pasts are refused", test_create_errors);
  check_run("a refused forward leaves the cache as it was", test_forward_errors);
  check_run("modules without caches refuse one", test_other_modules);
  hw_context_destroy(context);
  return check_result();
}
