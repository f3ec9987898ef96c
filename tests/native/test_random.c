/* MT19937 and what does not depend on torch's fixtures: those are compared by the package's tests. */
#include "check.h"
#include "core/random.h"
#include "headwise.h"

static hw_generator seeded(uint64_t seed) {
  hw_generator generator;
  hw_generator_seed(&generator, seed);
  return generator;
}

static void test_words(void) {
  const uint32_t of_123[] = {2991312382u, 3062119789u, 1228959102u};
  const uint32_t of_42[] = {1608637542u, 3421126067u};
  hw_generator a = seeded(123);
  hw_generator b = seeded(42);
  for (size_t i = 0; i < 3; i++) {
    const uint32_t word = hw_generator_word(&a);
    CHECK(word == of_123[i], "seed 123, word %zu: %u", i, word);
    check_case();
  }
  for (size_t i = 0; i < 2; i++) {
    const uint32_t word = hw_generator_word(&b);
    CHECK(word == of_42[i], "seed 42, word %zu: %u", i, word);
    check_case();
  }
  /* The standard's test of std::mt19937: the 10000th word of seed 5489. */
  hw_generator c = seeded(5489);
  uint32_t word = 0;
  for (size_t i = 0; i < 10000; i++) {
    word = hw_generator_word(&c);
  }
  CHECK(word == 4123659995u, "seed 5489, word 10000: %u", word);
}

static void test_seeding_again(void) {
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  float first[5];
  float again[5];
  for (uint64_t seed = 0; seed < 20; seed++) {
    hw_manual_seed(context, seed);
    hw_randn(context, first, 5); /* leaves a cached normal behind */
    hw_manual_seed(context, seed);
    hw_randn(context, again, 5);
    CHECK(memcmp(first, again, sizeof first) == 0, "seed %u", (unsigned)seed);
    check_case();
  }
  hw_context_destroy(context);
}

/* Every place in a block of words, with a kept normal and without. */
static void test_states(void) {
  hw_context *a = NULL;
  hw_context *b = NULL;
  CHECK(hw_context_create(&a) == HW_OK && hw_context_create(&b) == HW_OK, "create");
  uint64_t state[HW_RNG_STATE_WORDS];
  float from_a[40];
  float from_b[40];
  hw_manual_seed(a, 9);
  for (size_t i = 0; i < 700; i++) {
    CHECK_STATUS(hw_get_rng_state(a, state), HW_OK);
    CHECK(state[0] == 9 && state[1] >> 32 == 1, "seed, seeded");
    CHECK(state[2] + (uint32_t)state[1] == HW_MT_WORDS + 1, "next and left");
    hw_manual_seed(b, i);
    CHECK_STATUS(hw_set_rng_state(b, state), HW_OK);
    hw_randn(a, from_a, 40);
    hw_randn(b, from_b, 40);
    CHECK(memcmp(from_a, from_b, sizeof from_a) == 0, "after %zu words", i);
    CHECK_STATUS(hw_set_rng_state(a, state), HW_OK);
    hw_randn(a, from_a, 3);
    hw_set_rng_state(b, state);
    hw_randn(b, from_b, 3);
    CHECK(memcmp(from_a, from_b, 3 * sizeof(float)) == 0, "a few after %zu words", i);
    CHECK_STATUS(hw_set_rng_state(a, state), HW_OK);
    hw_rand(a, from_a, 1);
    if (i % 3 == 0) {
      hw_randn(a, from_a, 1);
    }
    check_case();
  }
  hw_context_destroy(a);
  hw_context_destroy(b);
}

/* As torch writes a generator that was seeded and has drawn nothing, and what no generator is. */
static void test_foreign_states(void) {
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  uint64_t state[HW_RNG_STATE_WORDS];
  float expected[5];
  float got[5];
  hw_manual_seed(context, 123);
  CHECK_STATUS(hw_get_rng_state(context, state), HW_OK);
  hw_rand(context, expected, 5);
  state[2] = 0;
  CHECK_STATUS(hw_set_rng_state(context, state), HW_OK);
  hw_rand(context, got, 5);
  CHECK(memcmp(expected, got, sizeof got) == 0, "torch's first state");
  hw_set_rng_state(context, state);
  const double not_finite = (double)NAN;
  uint64_t nan_bits;
  memcpy(&nan_bits, &not_finite, sizeof nan_bits);
  const struct {
    size_t word;
    uint64_t value;
  } wrong[] = {
      {1, 1},                              /* not seeded */
      {1, (uint64_t)1 << 32},              /* no words left, where a twist is due */
      {1, (uint64_t)1 << 32 | 7},          /* others left than its place says */
      {1, (uint64_t)1 << 32 | UINT32_MAX}, /* below 0 */
      {HW_RNG_STATE_WORDS - 4, nan_bits},  /* a normal that is none */
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const uint64_t before = state[wrong[i].word];
    state[wrong[i].word] = wrong[i].value;
    state[2] = HW_MT_WORDS;
    CHECK_STATUS(hw_set_rng_state(context, state), HW_ERROR_VALUE);
    state[wrong[i].word] = before;
  }
  state[2] = UINT64_MAX;
  state[1] = (uint64_t)1 << 32 | (HW_MT_WORDS + 2);
  CHECK_STATUS(hw_set_rng_state(context, state), HW_ERROR_VALUE);
  CHECK_STATUS(hw_set_rng_state(context, NULL), HW_ERROR_VALUE);
  CHECK_STATUS(hw_set_rng_state(NULL, state), HW_ERROR_VALUE);
  CHECK_STATUS(hw_get_rng_state(context, NULL), HW_ERROR_VALUE);
  hw_rand(context, got, 5);
  CHECK(memcmp(expected, got, sizeof got) == 0, "a refused state changes nothing");
  hw_context_destroy(context);
}

/* torch's default generator starts from 67280421310721, of which MT19937 takes the low 32 bits. */
static void test_default_seed(void) {
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  float expected[3];
  float got[3];
  hw_rand(context, got, 3);
  hw_manual_seed(context, 67280421310721u);
  hw_rand(context, expected, 3);
  CHECK(memcmp(got, expected, sizeof got) == 0, "the default seed");
  check_case();
  hw_context_destroy(context);
}

static void test_uniform_splits(void) {
  enum { count = 700 }; /* beyond one twist */
  float whole[count];
  float parts[count];
  for (size_t split = 0; split <= count; split += 7) {
    hw_generator a = seeded(split);
    hw_generator b = seeded(split);
    hw_generator_uniform(&a, -0.3F, 0.7F, whole, count);
    hw_generator_uniform(&b, -0.3F, 0.7F, parts, split);
    hw_generator_uniform(&b, -0.3F, 0.7F, parts + split, count - split);
    CHECK(memcmp(whole, parts, sizeof whole) == 0, "split at %zu", split);
    check_case();
  }
}

static void test_uniform_range(void) {
  enum { count = 100000 };
  float *x = check_floats(count);
  hw_generator generator = seeded(3);
  hw_generator_uniform(&generator, 0.0F, 1.0F, x, count);
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) {
    CHECK(x[i] >= 0.0F && x[i] < 1.0F, "%zu: %a", i, (double)x[i]);
    sum += (double)x[i];
    check_case();
  }
  CHECK(fabs(sum / count - 0.5) < 0.005, "mean %g", sum / count);
  free(x);
}

static void test_small_normals_split(void) {
  enum { count = 15 };
  for (size_t split = 0; split <= count; split++) {
    float whole[count];
    float parts[count];
    hw_generator a = seeded(100 + split);
    hw_generator b = seeded(100 + split);
    hw_generator_normal(&a, whole, count);
    hw_generator_normal(&b, parts, split);
    hw_generator_normal(&b, parts + split, count - split);
    CHECK(memcmp(whole, parts, sizeof whole) == 0, "split at %zu", split);
    check_case();
  }
}

/* Multiples of 16 are blocks on their own; any other count draws its last 16 anew. */
static void test_large_normals(void) {
  for (size_t count = 16; count <= 80; count++) {
    float *whole = check_floats(count);
    float *parts = check_floats(count);
    hw_generator a = seeded(count);
    hw_generator b = seeded(count);
    hw_generator_normal(&a, whole, count);
    const size_t blocks = count / 16 * 16;
    hw_generator_normal(&b, parts, blocks);
    const size_t kept = count % 16 == 0 ? count : count - 16;
    CHECK(memcmp(whole, parts, kept * sizeof(float)) == 0, "count=%zu", count);
    for (size_t i = 0; i < count; i++) {
      CHECK(isfinite(whole[i]) && fabsf(whole[i]) < 6.0F, "count=%zu, %zu: %g", count, i, (double)whole[i]);
    }
    if (count % 16 != 0) {
      float tail[16];
      float words[16];
      hw_generator_uniform(&b, 0.0F, 1.0F, words, count % 16);
      hw_generator_normal(&b, tail, 16);
      CHECK(memcmp(whole + count - 16, tail, sizeof tail) == 0, "count=%zu: the last 16", count);
    }
    CHECK(hw_generator_word(&a) == hw_generator_word(&b), "count=%zu: words drawn", count);
    check_case();
    free(whole);
    free(parts);
  }
}

/* A cached normal survives a large draw, as in torch. */
static void test_cached_normal(void) {
  float pair[2];
  float large[32];
  hw_generator a = seeded(9);
  hw_generator b = seeded(9);
  hw_generator_normal(&a, pair, 2);
  float first;
  float second;
  hw_generator_normal(&b, &first, 1);
  hw_generator_normal(&b, large, 32);
  hw_generator_normal(&b, &second, 1);
  CHECK(first == pair[0] && second == pair[1], "%g %g, expected %g %g", (double)first, (double)second, (double)pair[0],
        (double)pair[1]);
  check_case();
}

static void test_keep(void) {
  for (size_t columns = 1; columns <= 70; columns++) {
    enum { rows = 3 };
    const size_t words = hw_kept_words(columns);
    uint32_t *bits = check_memory(rows * words * sizeof *bits);
    uint32_t *none = check_memory(rows * words * sizeof *bits);
    hw_generator a = seeded(columns);
    hw_generator b = seeded(columns);
    hw_generator_draw_kept(&a, 0.5, bits, rows, columns);
    for (size_t i = 0; i < rows * words * 32; i++) {
      const size_t row = i / (words * 32);
      const size_t column = i % (words * 32);
      const bool kept = (bits[row * words + column / 32] >> (column % 32) & 1u) != 0;
      /* u of 53 bits of which the highest is bit 20 of the first word: below 1/2 without it. */
      const bool expected = column < columns && (hw_generator_word(&b) >> 20 & 1u) == 0;
      if (column < columns) {
        (void)hw_generator_word(&b);
      }
      CHECK(kept == expected, "columns=%zu, row %zu, column %zu", columns, row, column);
    }
    CHECK(hw_generator_word(&a) == hw_generator_word(&b), "columns=%zu: words drawn", columns);
    hw_generator_draw_kept(&a, 1.0, none, rows, columns);
    for (size_t i = 0; i < rows * words; i++) {
      CHECK(none[i] == 0, "columns=%zu: dropout 1 keeps something", columns);
    }
    check_case();
    free(bits);
    free(none);
  }
}

int main(void) {
  check_run("the generator's words are MT19937's", test_words);
  check_run("seeding again repeats everything, a cached normal is forgotten", test_seeding_again);
  check_run("a new context has torch's default seed", test_default_seed);
  check_run("uniform values do not depend on how the draw is split", test_uniform_splits);
  check_run("uniform values lie in [0, 1) around one half", test_uniform_range);
  check_run("fewer than 16 normals do not depend on how the draw is split", test_small_normals_split);
  check_run("16 and more normals are blocks of 16, the last 16 drawn anew", test_large_normals);
  check_run("a large draw leaves the cached normal alone", test_cached_normal);
  check_run("dropout's mask draws two words an element, in row-major order", test_keep);
  check_run("a generator continues from its state, as torch writes it", test_states);
  check_run("torch's first state is read, and what is no state is refused", test_foreign_states);
  return check_result();
}
