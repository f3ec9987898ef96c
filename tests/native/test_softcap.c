/* The soft cap's tanh against tanh in double. Every 7th float below 10 is tried, with sanitizers every 997th. */
#include "check.h"
#include "core/simd.h"
#include "kernels/softcap.h"

#ifdef CHECK_SANITIZED
enum { BIT_STRIDE = 997 };
#else
enum { BIT_STRIDE = 7 };
#endif

static double worst_ulp;
static double worst_error;

/* y normal */
static void check_tanh(float x, float y) {
  const double exact = tanh((double)x);
  const double ulp = (double)check_float(check_bits((float)exact) & 0x7f800000u) * 0x1p-23;
  const double ulps = fabs((double)y - exact) / ulp;
  worst_ulp = ulps > worst_ulp ? ulps : worst_ulp;
  worst_error = fabs((double)y - exact) > worst_error ? fabs((double)y - exact) : worst_error;
  CHECK(ulps <= 3.6 && fabs((double)y - exact) <= 1.6e-7, "tanh(%a) is %a, expected %a: %g ULP", (double)x, (double)y,
        exact, ulps);
  CHECK(fabsf(y) <= 1.0F, "tanh(%a) is %a, above 1", (double)x, (double)y);
}

static void test_whole_range(void) {
  enum { N = 2 * HW_LANES };
  worst_ulp = worst_error = 0.0;
  for (uint32_t bits = check_bits(0x1p-126F); bits < check_bits(10.0F) - N * BIT_STRIDE; bits += N * BIT_STRIDE) {
    float x[N];
    float y[N];
    for (uint32_t i = 0; i < N; i++) {
      x[i] = y[i] = i % 2 == 0 ? check_float(bits + i * BIT_STRIDE) : -check_float(bits + i * BIT_STRIDE);
    }
    hw_row_softcap(y, N, 1.0F);
    for (size_t i = 0; i < N; i++) {
      check_tanh(x[i], y[i]);
    }
    check_case();
  }
  printf("  largest error: %.3f ULP, %.2g, every %d. float\n", worst_ulp, worst_error, (int)BIT_STRIDE);
}

static void test_special_values(void) {
  const float caps[] = {1e-30F, 0.5F, 30.0F, 1e30F};
  for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
    float x[] = {0.0F, -0.0F, INFINITY, -INFINITY, NAN, 3e38F, -3e38F, 0x1p-149F};
    hw_row_softcap(x, 8, caps[i]);
    CHECK(check_bits(x[0]) == 0 && check_bits(x[1]) == 0x80000000u, "zeros became %g and %g", (double)x[0],
          (double)x[1]);
    CHECK(x[2] == caps[i] && x[3] == -caps[i], "infinities became %g and %g", (double)x[2], (double)x[3]);
    CHECK(isnan(x[4]), "NaN became %g", (double)x[4]);
    CHECK(x[5] == caps[i] && x[6] == -caps[i], "large numbers became %g and %g", (double)x[5], (double)x[6]);
    CHECK(x[7] >= 0.0F && x[7] <= 0x1p-148F, "the smallest became %g", (double)x[7]);
    check_case();
  }
}

static void test_neighbours(void) {
  float x[12];
  for (size_t i = 0; i < 12; i++) {
    x[i] = i < 4 ? 2.0F : check_guard();
  }
  hw_row_softcap(x, 4, 3.0F);
  for (size_t i = 0; i < 12; i++) {
    CHECK(i < 4 ? fabs((double)x[i] - 3.0 * tanh(2.0 / 3.0)) < 1e-6 : check_is_guard(x[i]), "element %zu", i);
  }
  check_case();
}

int main(void) {
  check_run("tanh is right within 3.6 ULP and 1.6e-7, and never above 1", test_whole_range);
  check_run("zeros, infinities and NaN go where tanh has them", test_special_values);
  check_run("only the row is touched", test_neighbours);
  return check_result();
}
