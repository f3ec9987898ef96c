/*
 * The machine's ceiling, for the benchmark: the most that one thread can multiply and add, and read. A module of its
 * own, two exports, no imports. A buffer may lie anywhere from __heap_base on; JavaScript grows the memory for it.
 */
#include <stddef.h>
#include <stdint.h>

#include "core/simd.h"

#ifdef __wasm__
#define HW_EXPORT(name) __attribute__((export_name(#name)))
#else
#define HW_EXPORT(name)
#endif

enum {
  /* Independent chains: with the factor they fill the 15 vector registers that V8 allocates on x64, and 14 hide the
   * latency of a multiplication and an addition one after the other (3 + 3 cycles, two of each a cycle: 12). */
  CHAINS = 14,
  /* Sums for the read, and loads for each a round; they fit the registers even if every load comes first. */
  SUMS = 4,
  LOADS = 2,
};

/* chain = chain·factor + factor, rounds times in CHAINS × HW_LANES lanes that start at 0, 1, 2, …; their sum.
 * 2 · CHAINS · HW_LANES = 112 operations a round, registers only. */
HW_EXPORT(multiply_add) float hw_ceiling_multiply_add(uint32_t rounds, float factor);
float hw_ceiling_multiply_add(uint32_t rounds, float factor) {
  static const float lane_numbers[HW_LANES] = {0, 1, 2, 3};
  const hw_f32x4 factors = hw_splat(factor);
  hw_f32x4 chain[CHAINS];
#pragma GCC unroll 14
  for (size_t i = 0; i < CHAINS; i++) {
    chain[i] = hw_add(hw_load(lane_numbers), hw_splat((float)(i * HW_LANES)));
  }
  for (uint32_t round = 0; round < rounds; round++) {
#pragma GCC unroll 14
    for (size_t i = 0; i < CHAINS; i++) {
      chain[i] = hw_multiply_add(chain[i], factors, factors);
    }
  }
  hw_f32x4 sum = chain[0];
#pragma GCC unroll 14
  for (size_t i = 1; i < CHAINS; i++) {
    sum = hw_add(sum, chain[i]);
  }
  return hw_sum_lanes(sum);
}

/* The sum of count floats, a multiple of LOADS · SUMS · HW_LANES = 32: a streaming read. */
HW_EXPORT(read) float hw_ceiling_read(const float *values, size_t count);
float hw_ceiling_read(const float *values, size_t count) {
  hw_f32x4 sums[SUMS];
#pragma GCC unroll 4
  for (size_t i = 0; i < SUMS; i++) {
    sums[i] = hw_splat(0);
  }
  for (size_t at = 0; at < count; at += (size_t)LOADS * SUMS * HW_LANES) {
#pragma GCC unroll 8
    for (size_t i = 0; i < LOADS * SUMS; i++) {
      sums[i % SUMS] = hw_add(sums[i % SUMS], hw_load(values + at + i * HW_LANES));
    }
  }
  return hw_sum_lanes(hw_add(hw_add(sums[0], sums[1]), hw_add(sums[2], sums[3])));
}
