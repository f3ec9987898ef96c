#include <math.h>
#include <string.h>

#include "core/random.h"
#include "core/sine.h"

static float normal_single(hw_generator *generator) {
  if (generator->has_cached_normal) {
    generator->has_cached_normal = false;
    return (float)generator->cached_normal;
  }
  const double u1 = hw_generator_double(generator);
  const double u2 = hw_generator_double(generator);
  const double radius = sqrt(-2.0 * log1p(-u2));
  double sine;
  double cosine;
  hw_sine_cosine(2.0 * 3.14159265358979323846 * u1, &sine, &cosine);
  generator->cached_normal = radius * sine;
  generator->has_cached_normal = true;
  return (float)(radius * cosine);
}

static float polynomial(const float *coefficients, size_t count, float x) {
  float y = coefficients[0];
  for (size_t i = 1; i < count; i++) {
    y = hw_fused(y, x, coefficients[i]);
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
  y = hw_fused(y, z, e * -2.12194440e-4F);
  y = hw_fused(-z, 0.5F, y);
  return hw_fused(e, 0.693359375F, x + y);
}

/* Cephes' sinf and cosf as avx_mathfun.h computes them, angle >= 0. */
static void sine_cosine(float angle, float *sine, float *cosine) {
  static const float cosine_coefficients[] = {2.443315711809948e-5F, -1.388731625493765e-3F, 4.166664568298827e-2F};
  static const float sine_coefficients[] = {-1.9515295891e-4F, 8.3321608736e-3F, -1.6666654611e-1F};
  const int32_t octant = ((int32_t)(angle * 1.27323954473516F) + 1) & ~1;
  const float y = (float)octant;
  float x = hw_fused(y, -0.78515625F, angle);
  x = hw_fused(y, -2.4187564849853515625e-4F, x);
  x = hw_fused(y, -3.77489497744594108e-8F, x);
  const float z = x * x;
  const float c = hw_fused(polynomial(cosine_coefficients, 3, z) * z, z, -(0.5F * z)) + 1.0F;
  const float s = hw_fused(polynomial(sine_coefficients, 3, z) * z, x, x);
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
