/* torch's CPU generator: MT19937 (Matsumoto & Nishimura 1998) and torch's ways of drawing from it. */
#ifndef HW_CORE_RANDOM_H
#define HW_CORE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HW_MT_WORDS 624

enum { HW_KEPT_BITS = 32 };

typedef struct hw_generator {
  uint64_t seed;
  uint32_t state[HW_MT_WORDS + 4]; /* and its first words again */
  uint32_t next;                   /* index of the next word; HW_MT_WORDS: twist first */
  bool has_cached_normal;
  double cached_normal;
} hw_generator;

void hw_generator_seed(hw_generator *generator, uint64_t seed);

/* The state as torch writes it, [HW_RNG_STATE_WORDS]. */
void hw_generator_store(const hw_generator *generator, uint64_t *state);

/* Returns false, and changes nothing, if it is no state of a generator that draws what torch's draws. */
bool hw_generator_load(hw_generator *generator, const uint64_t *state);

uint32_t hw_generator_word(hw_generator *generator);

/* Two words: uniform in [0, 1) with 53 bits. */
double hw_generator_double(hw_generator *generator);

/* fmaf without a library call: the double product is exact, and the double sum rounds to the same float in
 * every case that torch's generator can reach. */
static inline float hw_fused(float a, float b, float c) { return (float)((double)a * (double)b + (double)c); }

/* One word a value: from + u·(to - from), u of 24 bits. */
void hw_generator_uniform(hw_generator *generator, float from, float to, float *out, size_t count);

/* randn. Fewer than 16: Box-Muller in double, the second normal cached across calls. 16 and more: blocks of 16
 * in single precision, as torch's AVX2 build computes them; the cache is left alone. */
void hw_generator_normal(hw_generator *generator, float *out, size_t count);

/* Dropout's mask: bit i of a row is 1 if element i is kept. Every row takes whole 32-bit words,
 * hw_kept_words(columns) of them; elements are drawn in row-major order, by two words each, none if dropout is 1, as in
 * torch. */
void hw_generator_draw_kept(hw_generator *generator, double dropout, uint32_t *bits, size_t rows, size_t columns);
static inline size_t hw_kept_words(size_t columns) { return columns / HW_KEPT_BITS + (columns % HW_KEPT_BITS != 0); }

static inline bool hw_dropout_is_valid(double dropout) { return dropout >= 0.0 && dropout <= 1.0; }

/* Factor of kept elements; 0 if dropout is 1. */
static inline float hw_kept_scale(double dropout) { return dropout < 1.0 ? 1.0F / (float)(1.0 - dropout) : 0.0F; }

#endif
