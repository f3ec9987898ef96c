#include "core/random.h"

#include <string.h>

enum { mt_middle = 397 };

void hw_generator_seed(hw_generator *generator, uint64_t seed) {
  uint32_t *s = generator->state;
  s[0] = (uint32_t)seed;
  for (uint32_t j = 1; j < HW_MT_WORDS; j++) {
    s[j] = 1812433253u * (s[j - 1] ^ (s[j - 1] >> 30)) + j;
  }
  generator->next = HW_MT_WORDS;
  generator->has_cached_normal = false;
  generator->cached_normal = 0.0;
}

static uint32_t mix(uint32_t u, uint32_t v) {
  const uint32_t y = (u & 0x80000000u) | (v & 0x7fffffffu);
  return (y >> 1) ^ ((v & 1u) != 0 ? 0x9908b0dfu : 0u);
}

static void twist(hw_generator *generator) {
  uint32_t *s = generator->state;
  for (uint32_t j = 0; j < HW_MT_WORDS; j++) {
    const uint32_t next = j + 1 < HW_MT_WORDS ? j + 1 : 0;
    const uint32_t far = j + mt_middle < HW_MT_WORDS ? j + mt_middle : j + mt_middle - HW_MT_WORDS;
    s[j] = s[far] ^ mix(s[j], s[next]);
  }
  generator->next = 0;
}

uint32_t hw_generator_word(hw_generator *generator) {
  if (generator->next == HW_MT_WORDS) {
    twist(generator);
  }
  uint32_t y = generator->state[generator->next++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
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

bool hw_generator_keeps(hw_generator *generator, double dropout) {
  return dropout < 1.0 && hw_generator_double(generator) < 1.0 - dropout;
}

void hw_generator_draw_kept(hw_generator *generator, double dropout, uint32_t *bits, size_t rows, size_t columns) {
  const size_t words = hw_kept_words(columns);
  memset(bits, 0, rows * words * sizeof *bits);
  for (size_t row = 0; row < rows; row++) {
    for (size_t column = 0; column < columns; column++) {
      if (hw_generator_keeps(generator, dropout)) {
        bits[row * words + column / 32] |= 1u << (column % 32);
      }
    }
  }
}
