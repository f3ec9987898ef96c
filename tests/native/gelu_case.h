/* Values of GELU against float64. */
#ifndef HW_TESTS_GELU_CASE_H
#define HW_TESTS_GELU_CASE_H

#include "check.h"
#include "kernels/gelu.h"

typedef void gelu_row(const float *x, float *y, size_t count);
typedef double gelu_tail(double a);

/* The probability that a standard normal is above a. */
static inline double normal_tail(double a) { return 0.5 * erfc(a / sqrt(2.0)); }

static inline double tanh_tail(double a) {
  const double u = sqrt(2.0 / acos(-1.0)) * (a + 0.044715 * a * a * a);
  return 1.0 / (1.0 + exp(2.0 * u));
}

typedef struct gelu_form {
  const char *name;
  gelu_row *row;
  gelu_tail *tail;
  double ulps_per_bit; /* of the tail */
} gelu_form;

static const gelu_form gelu_forms[] = {{"exact", hw_row_gelu, normal_tail, 0.0},
                                       {"tanh", hw_row_gelu_tanh, tanh_tail, 2.0}};

static inline double exact_gelu(const gelu_form *f, double x) { return fmax(x, 0.0) - fabs(x) * f->tail(fabs(x)); }

static inline double ulp_of(double y) {
  int exponent;
  (void)frexp(fabs(y), &exponent);
  return ldexp(1.0, (exponent < -125 ? -125 : exponent) - 24);
}

/* The error in ULP, where it is not below 2^-122. */
static inline double check_gelu(const gelu_form *f, float x, float y) {
  if (isnan(x) || isinf(x)) {
    CHECK(isnan(x) ? isnan(y) : y == fmaxf(x, 0.0F), "%s %g: %g", f->name, (double)x, (double)y);
    return 0.0;
  }
  const double exact = exact_gelu(f, (double)x);
  const double error = fabs((double)y - exact);
  const double bits = x < 0.0F ? fmin(-log2(f->tail(-(double)x)), 200.0) : 0.0;
  const double bound = 8.0 + bits * f->ulps_per_bit;
  const double ulps = error / ulp_of(exact);
  CHECK(ulps <= bound || (error <= 0x1p-122 && x < -1.0F), "%s %a: %a, expected %a: %g ULP", f->name, (double)x,
        (double)y, exact, ulps);
  return error <= 0x1p-122 ? 0.0 : ulps;
}

#endif
