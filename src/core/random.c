#include "core/random.h"

#include "core/memory.h"
#include "core/simd.h"

enum { mt_middle = 397 };

void hw_generator_seed(hw_generator *generator, uint64_t seed) {
  uint32_t *s = generator->state;
  generator->seed = seed;
  s[0] = (uint32_t)seed;
  for (uint32_t j = 1; j < HW_MT_WORDS; j++) {
    s[j] = 1812433253u * (s[j - 1] ^ (s[j - 1] >> 30)) + j;
  }
  generator->next = HW_MT_WORDS;
  generator->has_cached_normal = false;
  generator->cached_normal = 0.0;
}

static hw_f32x4 splat(uint32_t x) { return hw_splat_integer((int32_t)x); }

/* The next 624 words, four at a time. What follows the state is its first four words again. */
static void twist(hw_generator *generator) {
  uint32_t *s = generator->state;
  for (size_t j = 0; j < HW_MT_WORDS; j += HW_LANES) {
    const hw_f32x4 following = hw_load(s + j + 1);
    const hw_f32x4 y = hw_choose(splat(0x80000000u), hw_load(s + j), following);
    const hw_f32x4 odd = hw_subtract_integers(splat(0), hw_and(following, splat(1)));
    const hw_f32x4 far = hw_load(s + j + mt_middle - (j < HW_MT_WORDS - mt_middle ? 0 : HW_MT_WORDS));
    hw_store(s + j, hw_xor(hw_xor(far, hw_shift_right(y, 1)), hw_and(odd, splat(0x9908b0dfu))));
    if (j == 0) {
      hw_store(s + HW_MT_WORDS, hw_load(s));
    }
  }
  generator->next = 0;
}

/* The next words, and room for three more. */
static void draw_words(hw_generator *generator, uint32_t *words, size_t count) {
  for (size_t i = 0, some; i < count; i += some) {
    if (generator->next == HW_MT_WORDS) {
      twist(generator);
    }
    hw_f32x4 y = hw_load(generator->state + generator->next);
    y = hw_xor(y, hw_shift_right(y, 11));
    y = hw_xor(y, hw_and(hw_shift_left(y, 7), splat(0x9d2c5680u)));
    y = hw_xor(y, hw_and(hw_shift_left(y, 15), splat(0xefc60000u)));
    hw_store(words + i, hw_xor(y, hw_shift_right(y, 18)));
    some = hw_min(hw_min(count - i, HW_LANES), HW_MT_WORDS - generator->next);
    generator->next += (uint32_t)some;
  }
}

uint32_t hw_generator_word(hw_generator *generator) {
  uint32_t words[HW_LANES];
  draw_words(generator, words, 1);
  return words[0];
}

static float uniform_float(hw_generator *generator) {
  return (float)(hw_generator_word(generator) & 0xffffffu) * 0x1p-24F;
}

double hw_generator_double(hw_generator *generator) {
  const uint64_t high = hw_generator_word(generator);
  const uint64_t low = hw_generator_word(generator);
  return (double)(((high << 32) | low) & 0x1fffffffffffffu) * 0x1p-53;
}

void hw_generator_uniform(hw_generator *generator, float from, float to, float *out, size_t count) {
  const float width = to - from;
  for (size_t i = 0; i < count; i++) {
    out[i] = hw_fused(uniform_float(generator), width, from);
  }
}

/* A bit for each element whose hw_generator_double is below 1 - dropout, which is a multiple of 2^-53. */
static uint32_t draw_bits(hw_generator *generator, double dropout, size_t count) {
  const uint64_t limit = (uint64_t)((1.0 - dropout) * 0x1p53);
  uint32_t words[2 * HW_KEPT_BITS + HW_LANES] = {0};
  uint32_t bits = 0;
  draw_words(generator, words, 2 * count);
  for (size_t i = 0; i < count; i++) {
    const uint64_t high = words[2 * i] & 0x1fffffu;
    bits |= (uint32_t)((high << 32 | words[2 * i + 1]) < limit) << i;
  }
  return bits;
}

void hw_generator_draw_kept(hw_generator *generator, double dropout, uint32_t *bits, size_t rows, size_t columns) {
  for (size_t row = 0; row < rows; row++) {
    for (size_t column = 0; column < columns; column += HW_KEPT_BITS) {
      *bits++ = dropout < 1.0 ? draw_bits(generator, dropout, hw_min(columns - column, HW_KEPT_BITS)) : 0;
    }
  }
}
