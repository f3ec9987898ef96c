/* hw_exp2 against exp2 in double. Without sanitizers every float of [-127, 0] is tried, with them every 97th. */
#include "check.h"
#include "kernels/exp2.h"

#ifdef CHECK_SANITIZED
enum { BIT_STRIDE = 97 };
#else
enum { BIT_STRIDE = 1 };
#endif

static const uint32_t bits_of_minus_0 = 0x80000000u;
static const uint32_t bits_of_minus_126 = 0xc2fc0000u;
static const uint32_t bits_of_minus_127 = 0xc2fe0000u;

static double worst_ulp;

/* Four neighbours of the sweep at a time, as the kernels use it. */
static void powers(uint32_t first, uint32_t step, float x[HW_LANES], float y[HW_LANES]) {
  const hw_exp2_constants constants = hw_load_exp2_constants();
  for (uint32_t i = 0; i < HW_LANES; i++) {
    x[i] = check_float(first + i * step);
  }
  hw_store(y, hw_exp2(&constants, hw_load(x)));
}

static float power(float x) {
  const hw_exp2_constants constants = hw_load_exp2_constants();
  return hw_first_lane(hw_exp2(&constants, hw_splat(x)));
}

/* Distance to the next float above y, for y a power of two and up to the next; y normal. */
static double ulp_of(double y) {
  float rounded = (float)y;
  if ((double)rounded > y) {
    rounded = nextafterf(rounded, 0.0F);
  }
  return (double)check_float((check_bits(rounded) & 0x7f800000u)) * 0x1p-23;
}

static void check_normal(float x, float y) {
  const double exact = exp2((double)x);
  const double ulps = fabs((double)y - exact) / ulp_of(exact);
  worst_ulp = ulps > worst_ulp ? ulps : worst_ulp;
  CHECK(ulps <= 2.3, "2^%a is %a, expected %a: %g ULP", (double)x, (double)y, exact, ulps);
  CHECK(y <= 1.0F, "2^%a is %a, above 1", (double)x, (double)y);
}

static void sweep_normal(uint32_t first, uint32_t last, uint32_t step) {
  for (uint64_t bits = first; bits <= last; bits += (uint64_t)HW_LANES * step) {
    float x[HW_LANES];
    float y[HW_LANES];
    powers((uint32_t)bits, step, x, y);
    for (size_t i = 0; i < HW_LANES; i++) {
      if (bits + i * step <= last) {
        check_normal(x[i], y[i]);
        check_case();
      }
    }
  }
}

static void test_whole_range(void) {
  worst_ulp = 0.0;
  sweep_normal(bits_of_minus_0, bits_of_minus_126, BIT_STRIDE);
  printf("  largest error: %.3f ULP, every %d. float\n", worst_ulp, (int)BIT_STRIDE);
}

/* Every float of [-2, -1] and of (-64, -63], and both sides of every half-integer, where the polynomial is worst. */
static void test_chosen_ranges(void) {
  sweep_normal(check_bits(-1.0F), check_bits(-2.0F), 1);
  sweep_normal(check_bits(-63.0F), check_bits(-64.0F), 1);
  for (float half = -0.5F; half >= -126.0F; half -= 0.5F) {
    sweep_normal(check_bits(half) - 500, check_bits(half) + (half > -126.0F ? 500 : 0), 1);
  }
}

static void test_below_the_normal_range(void) {
  for (uint32_t bits = bits_of_minus_126; bits <= bits_of_minus_127 + 100000; bits++) {
    const float x = check_float(bits);
    const float y = power(x);
    CHECK(fabs((double)y - exp2((double)x)) <= 0x1p-126, "2^%a is %a", (double)x, (double)y);
    check_case();
  }
  const float far[] = {-127.5F, -128.0F, -149.0F, -150.0F, -1000.0F, -1e20F, -3.4e38F};
  for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
    CHECK(check_bits(power(far[i])) == 0, "2^%g is %a", (double)far[i], (double)power(far[i]));
    check_case();
  }
}

static void test_exact_values(void) {
  CHECK(power(0.0F) == 1.0F, "2^0 is %a", (double)power(0.0F));
  CHECK(power(-0.0F) == 1.0F, "2^-0 is %a", (double)power(-0.0F));
  CHECK(check_bits(power(-INFINITY)) == 0, "2^-inf is %a", (double)power(-INFINITY));
  for (int n = 0; n <= 126; n++) {
    const float y = power((float)-n);
    CHECK(y == ldexpf(1.0F, -n), "2^-%d is %a", n, (double)y);
    check_case();
  }
}

static void test_nan(void) {
  const hw_exp2_constants constants = hw_load_exp2_constants();
  const uint32_t payloads[] = {0x00000001u, 0x00000100u, 0x003fffffu, 0x00400000u, 0x00400001u,
                               0x0040beefu, 0x00555555u, 0x007fffffu, 0x00600000u, 0x000000ffu};
  for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
    for (uint32_t sign = 0; sign <= 1; sign++) {
      const uint32_t bits = sign << 31 | 0x7f800000u | payloads[i];
      for (size_t lane = 0; lane < HW_LANES; lane++) {
        float x[HW_LANES] = {-1.0F, -1.0F, -1.0F, -1.0F};
        float y[HW_LANES];
        memcpy(&x[lane], &bits, sizeof bits);
        hw_store(y, hw_exp2(&constants, hw_load(x)));
        for (size_t l = 0; l < HW_LANES; l++) {
          CHECK(l == lane ? isnan(y[l]) : y[l] == 0.5F, "NaN %08x, lane %zu: %a", (unsigned)bits, l, (double)y[l]);
        }
        check_case();
      }
    }
  }
}

int main(void) {
  check_run("2^x is within 2.3 ULP over [-126, 0]", test_whole_range);
  check_run("2^x is within 2.3 ULP for every float of two octaves and around every half-integer", test_chosen_ranges);
  check_run("below -126 it is within 2^-126, and far below exactly 0", test_below_the_normal_range);
  check_run("integers are exact, 0 and -0 give 1, -inf gives 0", test_exact_values);
  check_run("NaN of any payload and sign stays NaN in its lane", test_nan);
  return check_result();
}
