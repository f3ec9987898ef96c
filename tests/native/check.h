/* Test helpers: checks that go on after a failure, sweeps that must not be empty, numbers that are the same every run. */
#ifndef HW_TESTS_CHECK_H
#define HW_TESTS_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Under AddressSanitizer sweeps take larger steps. */
#if defined(__SANITIZE_ADDRESS__)
#define CHECK_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECK_SANITIZED
#endif
#endif

enum { CHECK_SHOWN_FAILURES = 10 };

static size_t check_cases;
static size_t check_failures;
static size_t check_failed_tests;

/* Condition, then a printf format with the values that matter. */
#define CHECK(condition, ...)                                  \
  do {                                                         \
    if (!(condition) && check_failed(__FILE__, __LINE__)) {    \
      printf("  %s:%d: %s: ", __FILE__, __LINE__, #condition); \
      printf(__VA_ARGS__);                                     \
      printf("\n");                                            \
    }                                                          \
  } while (0)

#define CHECK_STATUS(expression, expected)                                             \
  do {                                                                                 \
    const hw_status check_status_ = (expression);                                      \
    CHECK(check_status_ == (expected), "%s gave %d", #expression, (int)check_status_); \
    check_case();                                                                      \
  } while (0)

/* Whether this failure is still to be printed. */
static inline bool check_failed(const char *file, int line) {
  check_failures++;
  if (check_failures == CHECK_SHOWN_FAILURES + 1) {
    printf("  %s:%d: more failures, not shown\n", file, line);
  }
  return check_failures <= CHECK_SHOWN_FAILURES;
}

/* One case of a sweep has run. */
static inline void check_case(void) { check_cases++; }

static inline void check_run(const char *sentence, void (*test)(void)) {
  check_cases = 0;
  check_failures = 0;
  test();
  CHECK(check_cases > 0, "the test ran no case");
  check_failed_tests += check_failures > 0 ? 1 : 0;
  printf("%s - %s (%zu cases)\n", check_failures > 0 ? "FAILED" : "ok", sentence, check_cases);
  fflush(stdout);
}

/* main's result */
static inline int check_result(void) { return check_failed_tests > 0 ? 1 : 0; }

/* Exactly this many bytes, so that AddressSanitizer sees the first one beyond. */
static inline void *check_memory(size_t bytes) {
  void *memory = malloc(bytes);
  if (memory == NULL) {
    printf("no memory for the test itself: %zu bytes\n", bytes);
    exit(1);
  }
  memset(memory, 0xa5, bytes);
  return memory;
}

static inline float *check_floats(size_t count) { return check_memory(count * sizeof(float)); }

static inline uint32_t check_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float check_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* What nobody may read (a NaN that would show) or write over. */
static inline float check_guard(void) { return check_float(0x7fc0beefu); }

static inline bool check_is_guard(float x) { return check_bits(x) == 0x7fc0beefu; }

static inline float *check_guarded(size_t count) {
  float *x = check_floats(count);
  for (size_t i = 0; i < count; i++) {
    x[i] = check_guard();
  }
  return x;
}

/* splitmix64 (Steele, Lea & Flood 2014) */
static uint64_t check_random_state;

static inline void check_seed(uint64_t seed) { check_random_state = seed; }

static inline uint64_t check_random(void) {
  uint64_t z = (check_random_state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline size_t check_random_below(size_t end) { return (size_t)(check_random() % end); }

/* Uniform in [-1, 1). */
static inline float check_random_float(void) { return (float)(check_random() >> 40) * 0x1p-23F - 1.0F; }

static inline void check_fill(float *x, size_t count) {
  for (size_t i = 0; i < count; i++) {
    x[i] = check_random_float();
  }
}

/* A stride that no row length divides: the first prime above `width`. */
static inline size_t check_prime_above(size_t width) {
  for (size_t candidate = width + 1;; candidate++) {
    bool prime = candidate > 1;
    for (size_t d = 2; d * d <= candidate; d++) {
      prime = prime && candidate % d != 0;
    }
    if (prime) {
      return candidate;
    }
  }
}

#endif
