/* hw_eigenvalues of matrices whose eigenvalues are known: made of blocks, hidden by a similarity, or from their invariants. */
#include "check.h"
#include "kernels/eigenvalues.h"

enum { MOST = 96 };

static double a[MOST * MOST];
static double out[2 * MOST];

/* a becomes S·a·S⁻¹ with the product S of many shears and swaps, whose entries stay small. */
static void hide(size_t n) {
  for (size_t k = 0; n > 1 && k < 3 * n; k++) {
    const size_t i = check_random_below(n);
    const size_t j = (i + 1 + check_random_below(n - 1)) % n;
    const double factor = 0.5 * (double)check_random_float();
    for (size_t c = 0; c < n; c++) {
      a[i * n + c] += factor * a[j * n + c];
    }
    for (size_t r = 0; r < n; r++) {
      a[r * n + j] -= factor * a[r * n + i];
    }
  }
}

static bool has_value(size_t n, double re, double im, double tolerance) {
  for (size_t i = 0; i < n; i++) {
    if (hypot(out[2 * i] - re, out[2 * i + 1] - im) <= tolerance) {
      return true;
    }
  }
  return false;
}

static void check_order(size_t n) {
  for (size_t i = 0; i + 1 < n; i++) {
    const double size = hypot(out[2 * i], out[2 * i + 1]);
    CHECK(size >= hypot(out[2 * i + 2], out[2 * i + 3]) * (1.0 - 1e-15), "number %zu of %zu is larger", i + 1, n);
    if (out[2 * i + 1] > 0.0) {
      CHECK(out[2 * i + 2] == out[2 * i] && out[2 * i + 3] == -out[2 * i + 1], "number %zu has no conjugate", i);
      i++;
    }
  }
}

/* Diagonal blocks: real numbers, then pairs. */
static void run_blocks(size_t n, size_t pairs) {
  double expected[2 * MOST] = {0};
  memset(a, 0, sizeof a);
  for (size_t i = 0; i < n; i++) {
    a[i * n + i] = (double)check_random_float();
    expected[2 * i] = a[i * n + i];
  }
  for (size_t p = 0; p < pairs; p++) {
    const size_t i = 2 * p;
    const double im = 0.25 + fabs((double)check_random_float());
    a[(i + 1) * n + i + 1] = a[i * n + i];
    a[i * n + i + 1] = im;
    a[(i + 1) * n + i] = -im;
    expected[2 * i + 1] = im;
    expected[2 * i + 2] = a[i * n + i];
    expected[2 * i + 3] = -im;
  }
  hide(n);
  hw_eigenvalues(a, n, out);
  for (size_t i = 0; i < n; i++) {
    CHECK(has_value(n, expected[2 * i], expected[2 * i + 1], 1e-6), "n=%zu pairs=%zu: %g + %gi is missing", n, pairs,
          expected[2 * i], expected[2 * i + 1]);
  }
  check_order(n);
}

static void test_blocks(void) {
  const size_t sizes[] = {1, 2, 3, 4, 5, 8, 13, 32};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    for (size_t pairs = 0; pairs <= sizes[i] / 2; pairs += 1 + sizes[i] / 8) {
      run_blocks(sizes[i], pairs);
      check_case();
    }
  }
}

/* Sums of eigenvalues and of their squares are traces of the matrix and its square. */
static void run_random(size_t n) {
  double trace = 0.0;
  double square = 0.0;
  for (size_t i = 0; i < n * n; i++) {
    a[i] = (double)check_random_float();
  }
  for (size_t i = 0; i < n; i++) {
    trace += a[i * n + i];
    for (size_t j = 0; j < n; j++) {
      square += a[i * n + j] * a[j * n + i];
    }
  }
  hw_eigenvalues(a, n, out);
  double imaginary = 0.0;
  for (size_t i = 0; i < n; i++) {
    trace -= out[2 * i];
    imaginary += out[2 * i + 1];
    square -= out[2 * i] * out[2 * i] - out[2 * i + 1] * out[2 * i + 1];
  }
  CHECK(fabs(trace) <= 1e-12 * (double)n, "n=%zu: the sum is off by %g", n, trace);
  CHECK(fabs(square) <= 1e-11 * (double)n, "n=%zu: the sum of squares is off by %g", n, square);
  CHECK(imaginary == 0.0, "n=%zu: imaginary parts add up to %g", n, imaginary);
  check_order(n);
}

static void test_random(void) {
  for (size_t n = 1; n <= MOST; n += 1 + n / 8) {
    run_random(n);
    check_case();
  }
}

/* x^n = 1: the companion matrix, on which shifts from the last rows alone go in circles. */
static void test_circle(void) {
  for (size_t n = 2; n <= 32; n++) {
    memset(a, 0, sizeof a);
    for (size_t i = 0; i < n; i++) {
      a[(i + 1) % n * n + i] = 1.0;
    }
    hw_eigenvalues(a, n, out);
    for (size_t i = 0; i < n; i++) {
      const double angle = 2.0 * acos(-1.0) * (double)i / (double)n;
      CHECK(has_value(n, cos(angle), sin(angle), 1e-12), "n=%zu: root %zu is missing", n, i);
    }
    check_case();
  }
}

/* One eigenvector for all eigenvalues: they are as exact as the n-th root of what is rounded. */
static void test_defective(void) {
  for (size_t n = 1; n <= 8; n++) {
    for (int is_lower = 0; is_lower < 2; is_lower++) {
      memset(a, 0, sizeof a);
      for (size_t i = 0; i < n; i++) {
        a[i * n + i] = 0.5;
        if (i + 1 < n) {
          a[is_lower ? (i + 1) * n + i : i * n + i + 1] = 1.0;
        }
      }
      hw_eigenvalues(a, n, out);
      for (size_t i = 0; i < n; i++) {
        CHECK(hypot(out[2 * i] - 0.5, out[2 * i + 1]) <= 3.0 * pow(1e-15, 1.0 / (double)n), "n=%zu: %g + %gi", n,
              out[2 * i], out[2 * i + 1]);
      }
      check_case();
    }
  }
}

static void test_zeros(void) {
  for (size_t n = 1; n <= MOST; n += 19) {
    memset(a, 0, sizeof a);
    hw_eigenvalues(a, n, out);
    for (size_t i = 0; i < 2 * n; i++) {
      CHECK(out[i] == 0.0, "n=%zu: %g", n, out[i]);
    }
    /* Nothing but a corner: nilpotent. */
    a[n - 1] = n > 1 ? 3.0 : 0.0;
    hw_eigenvalues(a, n, out);
    CHECK(out[0] == 0.0 && out[2 * n - 1] == 0.0, "n=%zu: %g", n, out[0]);
    check_case();
  }
}

/* A triangular matrix, or one of random numbers, with such a number in every place in turn. A triangular one falls apart at once,
 * before its number has reached the others. */
static void run_not_finite(double number, size_t n, bool is_triangular) {
  for (size_t place = 0; place < n * n; place++) {
    for (size_t i = 0; i < n * n; i++) {
      const double random = (double)check_random_float();
      a[i] = is_triangular && i / n > i % n ? 0.0 : random;
    }
    a[place] = number;
    hw_eigenvalues(a, n, out);
    for (size_t i = 0; i < n; i++) {
      CHECK(isnan(out[2 * i]), "n=%zu: %g at %zu: %g + %gi", n, number, place, out[2 * i], out[2 * i + 1]);
    }
    check_case();
  }
}

static void test_not_finite(void) {
  const double numbers[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e300};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    for (size_t n = 1; n <= 7; n++) {
      run_not_finite(numbers[i], n, true);
      run_not_finite(numbers[i], n, false);
    }
  }
}

int main(void) {
  check_seed(17);
  check_run("blocks of known eigenvalues, real ones and pairs, are found behind a similarity", test_blocks);
  check_run("eigenvalues of random matrices have their traces' sums", test_random);
  check_run("the roots of 1 are found", test_circle);
  check_run("defective matrices have the one eigenvalue that they have", test_defective);
  check_run("zeros and nilpotent matrices have zeros", test_zeros);
  check_run("of numbers that are not finite, or whose squares are not, all are NaN", test_not_finite);
  return check_result();
}
