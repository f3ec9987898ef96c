/* Softmax rows of every length around the vector, against float64. */
#include "check.h"
#include "headwise.h"
#include "kernels/cross_entropy.h"
#include "kernels/softmax.h"

enum { LONGEST = 40 };

static void check_row(const float *x, const float *y, size_t count) {
  double largest = -(double)INFINITY;
  for (size_t i = 0; i < count; i++) {
    largest = fmax(largest, (double)x[i]);
  }
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) {
    sum += exp((double)x[i] - largest);
  }
  for (size_t i = 0; i < count; i++) {
    /* Two roundings of the argument, which is a power's exponent: relative error |argument|; exp2; sum; quotient. */
    const double argument = fabs((double)x[i] - largest);
    const double exact = exp((double)x[i] - largest) / sum;
    const double relative = (3.0 * argument + 10.0) * 0x1p-24;
    CHECK(fabs((double)y[i] - exact) <= exact * relative + 0x1p-125, "count=%zu, %zu: %.9g, expected %.9g", count, i,
          (double)y[i], exact);
  }
}

/* x times magnitude through hw_softmax_row, both into another row and in place. */
static void run_row(size_t count, float magnitude, float offset) {
  float *x = check_floats(count);
  float *y = check_guarded(count);
  for (size_t i = 0; i < count; i++) {
    x[i] = check_random_float() * magnitude + offset;
  }
  hw_softmax_row(x, y, count);
  check_row(x, y, count);
  hw_softmax_row(x, x, count);
  CHECK(memcmp(x, y, count * sizeof(float)) == 0, "count=%zu: in place differs", count);
  check_case();
  free(x);
  free(y);
}

static void test_lengths(void) {
  for (size_t count = 1; count <= LONGEST; count++) {
    run_row(count, 1.0F, 0.0F);
    run_row(count, 5.0F, -3.0F);
  }
  run_row(1021, 3.0F, 0.0F);
}

/* As the logits of a large vocabulary whose model is sure: the many small ones are a share of the sum. */
static void test_sure_rows(void) {
  enum { count = 150001 };
  float *x = check_floats(count);
  float *y = check_floats(count);
  for (float gap = 14.0F; gap <= 22.0F; gap += 2.0F) {
    check_fill(x, count);
    x[count / 2] = gap;
    hw_softmax_row(x, y, count);
    check_row(x, y, count);
    double rest = 0.0;
    for (size_t i = 0; i < count; i++) {
      rest += i == count / 2 ? 0.0 : exp((double)x[i] - (double)gap);
    }
    const double loss = hw_cross_entropy_row(x, count, count / 2, 0.0F, 1.0F, y);
    CHECK(fabs(loss - log1p(rest)) <= 1e-5 * log1p(rest), "gap %g: loss %.9g, expected %.9g", (double)gap, loss,
          log1p(rest));
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
      sum += (double)y[i];
    }
    check_case();
    CHECK(fabs(sum) <= 1e-6, "gap %g: the gradient's sum is %g", (double)gap, sum);
  }
  free(x);
  free(y);
}

static void test_large_values(void) {
  for (size_t count = 1; count <= LONGEST; count++) {
    run_row(count, 100.0F, 0.0F);
    run_row(count, 1e4F, 0.0F);
    run_row(count, 1.0F, 1e6F);
    run_row(count, 1e30F, 0.0F);
    run_row(count, 3e38F, 0.0F);
    run_row(count, 1.0F, -3e38F);
  }
}

static void test_minus_infinity(void) {
  for (size_t count = 1; count <= LONGEST; count++) {
    float *x = check_floats(count);
    float *y = check_floats(count);
    for (size_t i = 0; i < count; i++) {
      x[i] = -INFINITY;
    }
    hw_softmax_row(x, y, count);
    for (size_t i = 0; i < count; i++) {
      CHECK(y[i] == 0.0F, "count=%zu, %zu: %g", count, i, (double)y[i]);
    }
    for (size_t seen = 0; seen < count; seen++) {
      x[seen] = 1.5F;
      hw_softmax_row(x, y, count);
      for (size_t i = 0; i < count; i++) {
        CHECK(y[i] == (i == seen ? 1.0F : 0.0F), "count=%zu, only %zu seen, %zu: %g", count, seen, i, (double)y[i]);
      }
      x[seen] = -INFINITY;
    }
    check_case();
    free(x);
    free(y);
  }
}

static void test_nan_and_infinity(void) {
  const float inputs[] = {NAN, -NAN, INFINITY};
  const float fillings[] = {0.25F, -INFINITY};
  for (size_t count = 1; count <= LONGEST; count++) {
    float *x = check_floats(count);
    for (size_t place = 0; place < count; place++) {
      for (size_t v = 0; v < 6; v++) {
        for (size_t i = 0; i < count; i++) {
          x[i] = i == place ? inputs[v % 3] : fillings[v / 3];
        }
        hw_softmax_row(x, x, count);
        for (size_t i = 0; i < count; i++) {
          CHECK(isnan(x[i]), "count=%zu, %g at %zu, %zu: %g", count, (double)inputs[v % 3], place, i, (double)x[i]);
        }
        check_case();
      }
    }
    free(x);
  }
}

static void test_rows(void) {
  enum { rows = 3, columns = 7 };
  float *x = check_floats((size_t)rows * columns);
  float *y = check_guarded((size_t)rows * columns);
  check_fill(x, (size_t)rows * columns);
  x[columns] = NAN;
  hw_softmax(x, y, rows, columns);
  check_row(x, y, columns);
  check_row(x + 2 * columns, y + 2 * columns, columns);
  CHECK(isnan(y[columns]) && isnan(y[2 * columns - 1]), "the row with NaN");
  hw_softmax(x, x, rows, columns);
  CHECK(memcmp(x, y, columns * sizeof(float)) == 0, "in place differs");
  check_case();
  free(x);
  free(y);
}

int main(void) {
  check_seed(2);
  check_run("a sum of many small beside a large one loses none of them", test_sure_rows);
  check_run("softmax rows of 1 to 40 equal float64's, in place too", test_lengths);
  check_run("large values neither overflow nor lose a row", test_large_values);
  check_run("a row of -inf gives zeros, a single other value gives 1", test_minus_infinity);
  check_run("NaN or +inf anywhere makes its row NaN", test_nan_and_infinity);
  check_run("softmax of a matrix treats every row alone", test_rows);
  return check_result();
}
