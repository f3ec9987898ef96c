/* Caches of 16 bits: appends attend, to the bit, as over keys and values that were rounded before. */
#include "cache_case.h"
#include "kernels/attention.h"

/* Appends, and compares with what the parts make of rounded keys and values. */
static void append_rounded(const sequences *s, const sequences *rounded, hw_key_value_cache *cache, size_t tokens) {
  const size_t first = hw_key_value_cache_length(cache);
  float *got = append(s, cache, first, tokens, (hw_forward_options){0});
  float *expected = by_parts(rounded, first, tokens, true, 0.0, &(hw_forward_options){0});
  check_same(got, expected, BATCH * tokens * D_OUT, "output", first, tokens);
  check_case();
  free(got);
  free(expected);
}

static void run_pieces(const sequences *s, const sequences *rounded, hw_matrix_type dtype, size_t prefill) {
  const size_t pieces[] = {1, 1, 3, 9, 1};
  hw_key_value_cache *cache = create_cache_as(s->module, dtype);
  append_rounded(s, rounded, cache, prefill);
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    append_rounded(s, rounded, cache, pieces[i]);
  }
  CHECK_STATUS(hw_key_value_cache_truncate(cache, prefill + 2), HW_OK);
  append_and_forget(s, cache, prefill + 2, 4);
  append_rounded(s, rounded, cache, 2);
  append_rounded(s, rounded, cache, 1);
  hw_key_value_cache_destroy(cache);
}

static void test_pieces(void) {
  const size_t prefills[] = {1, 8, 255, HW_KEY_BLOCK - 1, HW_KEY_BLOCK + 1, CONTEXT_LENGTH - 30};
  const hw_multi_head_attention_config config = config_of(true);
  const sequences s = create_sequences(&config);
  for (int dtype = HW_MATRIX_BFLOAT16; dtype <= HW_MATRIX_FLOAT16; dtype++) {
    const sequences rounded = create_rounded(&s, (hw_matrix_type)dtype);
    for (size_t i = 0; i < sizeof prefills / sizeof *prefills; i++) {
      run_pieces(&s, &rounded, (hw_matrix_type)dtype, prefills[i]);
    }
    free(rounded.qkv);
  }
  destroy_sequences(&s);
}

static void test_past(void) {
  const size_t lengths[] = {1, 9, HW_KEY_BLOCK + 1};
  const hw_multi_head_attention_config config = config_of(true);
  const sequences s = create_sequences(&config);
  for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
    const hw_matrix_type dtype = i % 2 == 0 ? HW_MATRIX_BFLOAT16 : HW_MATRIX_FLOAT16;
    const size_t tokens = lengths[i / 2];
    const sequences rounded = create_rounded(&s, dtype);
    float *key = past_of(&s, 1, tokens);
    float *value = past_of(&s, 2, tokens);
    hw_key_value_cache *cache = NULL;
    CHECK_STATUS(hw_module_create_cache(s.module, BATCH, &(hw_past){key, value, tokens, dtype}, &cache), HW_OK);
    append_rounded(&s, &rounded, cache, 1);
    append_rounded(&s, &rounded, cache, 5);
    hw_key_value_cache_destroy(cache);
    free(key);
    free(value);
    free(rounded.qkv);
  }
  destroy_sequences(&s);
}

/* Ties, numbers below the smallest normal ones, the largest, and what is larger. */
static void test_rounding(void) {
  const float values[] = {0.0F,      -0.0F,      1.0F,     0x1.01p0F,   0x1.03p0F,   -0x1.002p0F, 0x1.006p0F,
                          0x1p-14F,  0x1p-15F,   0x1p-24F, 0x1p-25F,    0x1.8p-25F,  0x1p-130F,   -0x1.8p-133F,
                          65504.0F,  65519.996F, 65520.0F, -65520.0F,   1e38F,       3.4e38F,     INFINITY,
                          -INFINITY, NAN,        1.0e-45F, 0x1.ffep15F, 0x1.fffp15F, 0x1.7p-14F,  -3.14159F};
  enum { count = sizeof values / sizeof *values };
  for (int dtype = HW_MATRIX_BFLOAT16; dtype <= HW_MATRIX_FLOAT16; dtype++) {
    hw_key_value_store store = hw_key_value_store_of((hw_matrix_type)dtype, count, 1, 1);
    store.memory = check_memory(store.head_bytes);
    memset(store.memory, 0, store.head_bytes);
    const hw_key_value_panels panels = hw_key_value_store_head(&store, 0);
    float got[count];
    for (size_t i = 0; i < count; i++) {
      const float expected = round_to((hw_matrix_type)dtype, values[i]);
      hw_pack_values(&panels, 0, 1, values + i, 1);
      hw_unpack_values(&panels, 1, got);
      CHECK(isnan(expected) ? isnan(got[0]) : check_bits(got[0]) == check_bits(expected), "%a is %a, expected %a",
            (double)values[i], (double)got[0], (double)expected);
      CHECK(hw_values_are_finite(&panels, 0, 1) == (isfinite(expected) != 0), "%a", (double)values[i]);
      check_case();
    }
    hw_pack_values(&panels, 0, count, values, 1);
    CHECK(!hw_values_are_finite(&panels, 0, count), "NaN among them");
    free(store.memory);
  }
}

/* 16 bits are half of 32. */
static void test_size(void) {
  const hw_key_value_store floats = hw_key_value_store_of(HW_MATRIX_FLOAT32, HW_KEY_BLOCK, 64, 64);
  const hw_key_value_store halves = hw_key_value_store_of(HW_MATRIX_BFLOAT16, HW_KEY_BLOCK, 64, 64);
  CHECK(2 * halves.finite_at == floats.finite_at, "%zu bytes", halves.finite_at);
  CHECK(hw_attention_scratch_of(HW_MATRIX_FLOAT16, 128, 128).bytes < 1U << 20, "scratch");
  check_case();
}

int main(void) {
  check_seed(14);
  CHECK(hw_context_create(&context) == HW_OK, "create");
  check_run("appends to a cache of 16 bits are those over rounded keys and values", test_pieces);
  check_run("so they are behind given keys and values", test_past);
  check_run("values are rounded to nearest, ties to even, and beyond the largest to infinity", test_rounding);
  check_run("a cache of 16 bits has half the bytes", test_size);
  hw_context_destroy(context);
  return check_result();
}
