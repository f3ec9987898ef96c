/* Layer normalisation of every length around the vector, against long double. */
#include "headwise.h"
#include "kernels/layer_norm.h"
#include "layer_norm_case.h"

enum { LONGEST = 40 };

static const double default_eps = HW_LAYER_NORM_EPS;

static void layer_norm_row(const float *x, const float *weight, const float *bias, double eps, float *y, size_t count) {
  const hw_norm_settings settings = {{.weight = weight}, bias, eps, true, count};
  hw_normalize_row(&settings, x, NULL, y);
}

static void run_row(size_t count, float magnitude, float offset, double eps) {
  float *x = check_floats(count);
  float *weight = check_floats(count);
  float *bias = check_floats(count);
  check_fill(weight, count);
  check_fill(bias, count);
  for (size_t i = 0; i < count; i++) {
    x[i] = check_random_float() * magnitude + offset;
  }
  for (size_t i = 0; i < 4; i++) {
    const float *w = i % 2 == 0 ? NULL : weight;
    const float *b = i / 2 == 0 ? NULL : bias;
    float *y = check_guarded(count);
    float *in_place = check_floats(count);
    memcpy(in_place, x, count * sizeof(float));
    layer_norm_row(x, w, b, eps, y, count);
    check_layer_norm_row(x, w, b, eps, y, count);
    layer_norm_row(in_place, w, b, eps, in_place, count);
    CHECK(memcmp(in_place, y, count * sizeof(float)) == 0, "count=%zu: in place differs", count);
    check_case();
    free(y);
    free(in_place);
  }
  free(x);
  free(weight);
  free(bias);
}

static void test_lengths(void) {
  for (size_t count = 1; count <= LONGEST; count++) {
    run_row(count, 1.0F, 0.0F, default_eps);
    run_row(count, 5.0F, -3.0F, 0.1);
    run_row(count, 1.0F, 1.5F, default_eps);
  }
  run_row(768, 3.0F, 0.0F, default_eps);
  run_row(1021, 3.0F, 1.0F, default_eps);
  run_row(1021, 1.0F, 2.0F, default_eps);
}

/* Two random numbers differ: with an eps of 0 only rows of one are undefined. */
static void test_magnitudes(void) {
  const float magnitudes[] = {1e-44F, 1e-38F, 1e-20F, 1e-3F, 1e4F, 1e30F, 3e38F};
  for (size_t i = 0; i < sizeof magnitudes / sizeof *magnitudes; i++) {
    for (size_t count = 7; count <= LONGEST; count += 3) {
      run_row(count, magnitudes[i], 0.0F, default_eps);
      run_row(count, magnitudes[i], 0.0F, 0.0);
      run_row(count, magnitudes[i], 0.0F, 1e30);
    }
  }
  for (size_t count = 7; count <= LONGEST; count++) {
    run_row(count, 1.0F, 1e6F, default_eps);
    run_row(count, 1.0F, -1e6F, 0.0);
    run_row(count, 1e30F, 1e36F, default_eps);
  }
}

static void test_constant_rows(void) {
  const double epsilons[] = {HW_LAYER_NORM_EPS, 1e-78, 1e-138, 5e-324, 1e30, 1e300};
  const float constants[] = {0.0F, -0.0F, 0.1F, -3.7F, 1e6F, 1e-40F, 3.4e38F};
  for (size_t count = 1; count <= 1000; count += count < LONGEST ? 1 : 53) {
    float *x = check_floats(count);
    float *bias = check_floats(count);
    float *y = check_guarded(count);
    check_fill(bias, count);
    for (size_t c = 0; c < sizeof constants / sizeof *constants; c++) {
      for (size_t i = 0; i < count; i++) {
        x[i] = constants[c];
      }
      for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
        layer_norm_row(x, NULL, bias, epsilons[e], y, count);
        for (size_t i = 0; i < count; i++) {
          CHECK(y[i] == bias[i], "count=%zu, all %g, eps %g: %g, expected the bias %g", count, (double)constants[c],
                epsilons[e], (double)y[i], (double)bias[i]);
        }
      }
      layer_norm_row(x, NULL, bias, 0.0, y, count);
      CHECK(isnan(y[0]) && isnan(y[count - 1]), "count=%zu, all %g, eps 0: %g", count, (double)constants[c],
            (double)y[0]);
      check_case();
    }
    free(x);
    free(bias);
    free(y);
  }
}

static void test_nan_and_infinity(void) {
  const float poisons[] = {NAN, INFINITY, -INFINITY};
  for (size_t count = 1; count <= LONGEST; count++) {
    float *x = check_floats(count);
    for (size_t place = 0; place < count; place++) {
      for (size_t p = 0; p < 3; p++) {
        check_fill(x, count);
        x[place] = poisons[p];
        layer_norm_row(x, NULL, NULL, default_eps, x, count);
        for (size_t i = 0; i < count; i++) {
          CHECK(isnan(x[i]), "count=%zu, %g at %zu, %zu: %g", count, (double)poisons[p], place, i, (double)x[i]);
        }
        check_case();
      }
    }
    free(x);
  }
}

/* Enough rows for several blocks; each is treated alone. */
static void test_rows(void) {
  enum { rows = 501, columns = 77 };
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  float *x = check_floats((size_t)rows * columns);
  float *y = check_guarded((size_t)rows * columns);
  float weight[columns];
  float bias[columns];
  check_fill(x, (size_t)rows * columns);
  check_fill(weight, columns);
  check_fill(bias, columns);
  x[columns] = NAN;
  CHECK_STATUS(hw_layer_normalization(context, x, rows, columns, weight, bias, default_eps, y), HW_OK);
  for (size_t row = 0; row < rows; row++) {
    if (row == 1) {
      CHECK(isnan(y[columns]) && isnan(y[2 * columns - 1]), "the row with NaN");
    } else {
      check_layer_norm_row(x + row * columns, weight, bias, default_eps, y + row * columns, columns);
    }
  }
  CHECK_STATUS(hw_layer_normalization(context, x, rows, 0, NULL, NULL, default_eps, y), HW_ERROR_SHAPE);
  const double bad[] = {-1e-9, (double)NAN, (double)INFINITY};
  for (size_t i = 0; i < 3; i++) {
    CHECK_STATUS(hw_layer_normalization(context, x, 1, columns, NULL, NULL, bad[i], y), HW_ERROR_VALUE);
  }
  free(x);
  free(y);
  hw_context_destroy(context);
}

int main(void) {
  check_seed(13);
  check_run("rows of 1 to 40 and of model widths equal long double's, in place too", test_lengths);
  check_run("denormals, large numbers and large offsets lose no digits", test_magnitudes);
  check_run("a constant row gives exactly its bias", test_constant_rows);
  check_run("NaN or an infinity anywhere makes its row NaN", test_nan_and_infinity);
  check_run("every row of a matrix is treated alone, and bad arguments are refused", test_rows);
  return check_result();
}
