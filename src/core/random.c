#include "core/random.h"

#include <math.h>
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

static double uniform_double(hw_generator *generator) {
  const uint64_t high = hw_generator_word(generator);
  const uint64_t low = hw_generator_word(generator);
  return (double)(((high << 32) | low) & 0x1fffffffffffffu) * 0x1p-53;
}

/* fmaf without a library call: the double product is exact, and the double sum rounds to the same float in
 * every case that torch's generator can reach. */
static float fused(float a, float b, float c) { return (float)((double)a * (double)b + (double)c); }

void hw_generator_uniform(hw_generator *generator, float from, float to, float *out, size_t count) {
  const float width = to - from;
  for (size_t i = 0; i < count; i++) {
    out[i] = fused(uniform_float(generator), width, from);
  }
}

/* fdlibm's kernels, for 0 <= angle < 2 pi: the C library's sin and cos bring 6 KB for larger angles. */
static void sine_cosine_double(double angle, double *sine, double *cosine) {
  static const double sine_coefficients[] = {1.58969099521155010221e-10, -2.50507602534068634195e-08,
                                             2.75573137070700676789e-06, -1.98412698298579493134e-04,
                                             8.33333333332248946124e-03, -1.66666666666666324348e-01};
  static const double cosine_coefficients[] = {-1.13596475577881948265e-11, 2.08757232129817482790e-09,
                                               -2.75573143513906633035e-07, 2.48015872894767294178e-05,
                                               -1.38888888888741095749e-03, 4.16666666666666019037e-02};
  const uint32_t quarter = (uint32_t)(angle * 6.36619772367581382433e-01 + 0.5);
  /* Half of pi in two parts; quarter times the first is exact. */
  const double x = (angle - quarter * 1.57079632673412561417) - quarter * 6.07710050650619224932e-11;
  const double z = x * x;
  double s = sine_coefficients[0];
  double c = cosine_coefficients[0];
  for (size_t i = 1; i < 6; i++) {
    s = s * z + sine_coefficients[i];
    c = c * z + cosine_coefficients[i];
  }
  s = x + x * z * s;
  c = 1.0 - (0.5 * z - z * z * c);
  const bool swapped = (quarter & 1) != 0;
  *sine = ((quarter & 2) != 0 ? -1.0 : 1.0) * (swapped ? c : s);
  *cosine = (((quarter + 1) & 2) != 0 ? -1.0 : 1.0) * (swapped ? s : c);
}

static float normal_single(hw_generator *generator) {
  if (generator->has_cached_normal) {
    generator->has_cached_normal = false;
    return (float)generator->cached_normal;
  }
  const double u1 = uniform_double(generator);
  const double u2 = uniform_double(generator);
  const double radius = sqrt(-2.0 * log1p(-u2));
  double sine;
  double cosine;
  sine_cosine_double(2.0 * 3.14159265358979323846 * u1, &sine, &cosine);
  generator->cached_normal = radius * sine;
  generator->has_cached_normal = true;
  return (float)(radius * cosine);
}

static float polynomial(const float *coefficients, size_t count, float x) {
  float y = coefficients[0];
  for (size_t i = 1; i < count; i++) {
    y = fused(y, x, coefficients[i]);
  }
  return y;
}

/* Cephes' logf as avx_mathfun.h computes it, u in (0, 1]. */
static float natural_log(float u) {
  static const float coefficients[] = {7.0376836292e-2F,  -1.1514610310e-1F, 1.1676998740e-1F,
                                       -1.2420140846e-1F, 1.4249322787e-1F,  -1.6668057665e-1F,
                                       2.0000714765e-1F,  -2.4999993993e-1F, 3.3333331174e-1F};
  uint32_t bits;
  memcpy(&bits, &u, sizeof bits);
  float e = (float)((int32_t)(bits >> 23) - 126);
  bits = (bits & 0x007fffffu) | 0x3f000000u;
  float m;
  memcpy(&m, &bits, sizeof m);
  const bool low = m < 0.70710678118654752F;
  e -= low ? 1.0F : 0.0F;
  const float x = (m - 1.0F) + (low ? m : 0.0F);
  const float z = x * x;
  float y = polynomial(coefficients, sizeof coefficients / sizeof *coefficients, x) * x;
  y = fused(y, z, e * -2.12194440e-4F);
  y = fused(-z, 0.5F, y);
  return fused(e, 0.693359375F, x + y);
}

/* Cephes' sinf and cosf as avx_mathfun.h computes them, angle >= 0. */
static void sine_cosine(float angle, float *sine, float *cosine) {
  static const float cosine_coefficients[] = {2.443315711809948e-5F, -1.388731625493765e-3F, 4.166664568298827e-2F};
  static const float sine_coefficients[] = {-1.9515295891e-4F, 8.3321608736e-3F, -1.6666654611e-1F};
  const int32_t octant = ((int32_t)(angle * 1.27323954473516F) + 1) & ~1;
  const float y = (float)octant;
  float x = fused(y, -0.78515625F, angle);
  x = fused(y, -2.4187564849853515625e-4F, x);
  x = fused(y, -3.77489497744594108e-8F, x);
  const float z = x * x;
  const float c = fused(polynomial(cosine_coefficients, 3, z) * z, z, -(0.5F * z)) + 1.0F;
  const float s = fused(polynomial(sine_coefficients, 3, z) * z, x, x);
  const bool swapped = (octant & 2) != 0;
  *sine = ((octant & 4) != 0 ? -1.0F : 1.0F) * (swapped ? c : s);
  *cosine = ((~(octant - 2) & 4) != 0 ? -1.0F : 1.0F) * (swapped ? s : c);
}

static void normal_block(float *d) {
  for (size_t j = 0; j < 8; j++) {
    const float radius = sqrtf(-2.0F * natural_log(1.0F - d[j]));
    float sine;
    float cosine;
    sine_cosine(6.2831855F * d[j + 8], &sine, &cosine);
    d[j] = radius * cosine;
    d[j + 8] = radius * sine;
  }
}

void hw_generator_normal(hw_generator *generator, float *out, size_t count) {
  if (count < 16) {
    for (size_t i = 0; i < count; i++) {
      out[i] = normal_single(generator);
    }
    return;
  }
  hw_generator_uniform(generator, 0.0F, 1.0F, out, count);
  for (size_t i = 0; i + 16 <= count; i += 16) {
    normal_block(out + i);
  }
  if (count % 16 != 0) {
    hw_generator_uniform(generator, 0.0F, 1.0F, out + count - 16, 16);
    normal_block(out + count - 16);
  }
}

/* Whether the next element is kept. */
static bool is_kept(hw_generator *generator, double dropout) {
  return dropout < 1.0 && uniform_double(generator) < 1.0 - dropout;
}

void hw_generator_keep(hw_generator *generator, double dropout, uint32_t *bits, size_t rows, size_t columns) {
  const size_t words = hw_keep_words(columns);
  memset(bits, 0, rows * words * sizeof *bits);
  for (size_t row = 0; row < rows; row++) {
    for (size_t column = 0; column < columns; column++) {
      if (is_kept(generator, dropout)) {
        bits[row * words + column / 32] |= 1u << (column % 32);
      }
    }
  }
}

void hw_generator_dropout(hw_generator *generator, double dropout, float *x, size_t count) {
  if (dropout == 0.0) {
    return;
  }
  const float scale = hw_keep_scale(dropout);
  for (size_t i = 0; i < count; i++) {
    x[i] *= is_kept(generator, dropout) ? scale : 0.0F;
  }
}
