/*
 * The machine's ceiling, for the benchmark: the most that one thread can multiply and add, and read. A module of its
 * own, no imports. A buffer may lie anywhere from __heap_base on; JavaScript grows the memory for it.
 */
#include <stddef.h>
#include <stdint.h>

#include "core/simd.h"

#ifdef __wasm__
#define HW_EXPORT(name) __attribute__((export_name(#name)))
#else
#define HW_EXPORT(name)
#endif

/*
 * Three loops, since processors differ in what keeps their adders and multipliers busiest; the ceiling is the fastest.
 *
 *   REGISTERS   chains that read no memory
 *   EIGHT, TEN  so many sums of factor × loaded vector, two of each vector: as in a kernel's tile, the ports for loads,
 *               products and additions all work
 */
enum { REGISTERS, EIGHT, TEN, LOOPS };

#if HW_FUSED
/* Chains of multiply-adds, more than two a cycle of four cycles' latency need; factor and chains fit the 15 vector
 * registers that V8 allocates on x64. */
enum { CHAINS = 14 };
#else
/* Chains of products, each added to a sum: product after sum in one chain would take more registers than V8 has. */
enum { CHAINS = 6 };
#endif

/* Vectors that the sums are of; a round begins at another one than the last. Not const: they are loaded, not known. */
enum { VECTORS = 32, MOST_SUMS = 10 };
static float vectors[(VECTORS + MOST_SUMS / 2) * HW_LANES];

static float in_registers(uint32_t rounds, float factor) {
  const hw_f32x4 factors = hw_splat(factor);
  hw_f32x4 sums[CHAINS];
  hw_f32x4 products[CHAINS];
#pragma GCC unroll 14
  for (size_t i = 0; i < CHAINS; i++) {
    sums[i] = hw_splat((float)i);
    products[i] = hw_splat(factor + (float)i);
  }
#pragma GCC unroll 1
  for (uint32_t round = 0; round < rounds; round++) {
#pragma GCC unroll 14
    for (size_t i = 0; i < CHAINS; i++) {
#if HW_FUSED
      sums[i] = hw_multiply_add(sums[i], factors, factors);
#else
      products[i] = hw_multiply(products[i], factors);
      sums[i] = hw_add(sums[i], products[i]);
#endif
    }
  }
  hw_f32x4 all = hw_splat(0);
#pragma GCC unroll 14
  for (size_t i = 0; i < CHAINS; i++) {
    all = hw_add(all, hw_add(sums[i], products[i]));
  }
  return hw_sum_lanes(all);
}

/* count sums, a constant where this is used. */
HW_INLINE float of_loaded(uint32_t rounds, float factor, size_t count) {
  const hw_f32x4 even = hw_splat(factor);
  const hw_f32x4 odd = hw_splat(factor + 1.0F);
  hw_f32x4 sums[MOST_SUMS];
  for (size_t i = 0; i < VECTORS + MOST_SUMS / 2; i++) {
    hw_store(vectors + i * HW_LANES, even);
  }
#pragma GCC unroll 10
  for (size_t i = 0; i < count; i++) {
    sums[i] = hw_splat((float)i);
  }
#pragma GCC unroll 1
  for (uint32_t round = 0; round < rounds; round++) {
    const float *first = vectors + (size_t)(round % VECTORS) * HW_LANES;
#pragma GCC unroll 5
    for (size_t i = 0; i < count; i += 2) {
      hw_order_barrier();
      const hw_f32x4 loaded = hw_load(first + i / 2 * HW_LANES);
      sums[i] = hw_multiply_add(even, loaded, sums[i]);
      sums[i + 1] = hw_multiply_add(odd, loaded, sums[i + 1]);
    }
  }
  hw_f32x4 all = hw_splat(0);
#pragma GCC unroll 10
  for (size_t i = 0; i < count; i++) {
    all = hw_add(all, sums[i]);
  }
  return hw_sum_lanes(all);
}

/* How many loops there are. */
HW_EXPORT(loops) uint32_t hw_ceiling_loops(void);
uint32_t hw_ceiling_loops(void) { return LOOPS; }

/* Runs rounds of a loop < LOOPS; factor should be 1, so that all stays finite and normal. Returns a sum of everything,
 * which is to be thrown away. */
HW_EXPORT(multiply_add) float hw_ceiling_multiply_add(uint32_t loop, uint32_t rounds, float factor);
float hw_ceiling_multiply_add(uint32_t loop, uint32_t rounds, float factor) {
  switch (loop) {
    case EIGHT:
      return of_loaded(rounds, factor, 8);
    case TEN:
      return of_loaded(rounds, factor, 10);
    default:
      return in_registers(rounds, factor);
  }
}

/* Operations of one round. */
HW_EXPORT(operations) uint32_t hw_ceiling_operations(uint32_t loop);
uint32_t hw_ceiling_operations(uint32_t loop) {
  static const uint8_t multiply_adds[LOOPS] = {CHAINS, 8, 10};
  return 2 * HW_LANES * multiply_adds[loop];
}

enum {
  /* Places read from at once: more than one keeps more of the prefetchers busy. */
  STREAMS = 4,
  /* Vectors a round from each. */
  STEPS = 2,
  SUMS = STREAMS * STEPS,
};

/* The sum of count floats, a multiple of SUMS · HW_LANES = 32: a streaming read. */
HW_EXPORT(read) float hw_ceiling_read(const float *values, size_t count);
float hw_ceiling_read(const float *values, size_t count) {
  const size_t part = count / STREAMS;
  hw_f32x4 sums[SUMS];
#pragma GCC unroll 8
  for (size_t i = 0; i < SUMS; i++) {
    sums[i] = hw_splat(0);
  }
  for (size_t at = 0; at < part; at += (size_t)STEPS * HW_LANES) {
#pragma GCC unroll 8
    for (size_t i = 0; i < SUMS; i++) {
#ifdef __wasm__
      /* Or V8 11 loads everything before it adds anything, and runs out of registers. */
      __asm__ volatile("" ::: "memory");
#endif
      const float *stream = values + i % STREAMS * part;
      sums[i] = hw_add(sums[i], hw_load(stream + at + i / STREAMS * HW_LANES));
    }
  }
  hw_f32x4 all = sums[0];
#pragma GCC unroll 8
  for (size_t i = 1; i < SUMS; i++) {
    all = hw_add(all, sums[i]);
  }
  return hw_sum_lanes(all);
}
