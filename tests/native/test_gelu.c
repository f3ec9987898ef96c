/* GELU against float64: the whole range of floats, every 251st of them (under sanitizers every 9973rd), and all lengths
 * around the vector. */
#include "gelu_case.h"
#include "headwise.h"

#ifdef CHECK_SANITIZED
enum { BIT_STRIDE = 9973 };
#else
enum { BIT_STRIDE = 251 };
#endif

enum { ROW = 64, LONGEST = 40 };

static const uint32_t bits_of_infinity = 0x7f800000u;

static void sweep(const gelu_form *f, uint32_t sign) {
  float x[ROW];
  float y[ROW];
  double worst = 0.0;
  for (uint32_t bits = 0; bits < bits_of_infinity - ROW * BIT_STRIDE; bits += ROW * BIT_STRIDE) {
    for (uint32_t i = 0; i < ROW; i++) {
      x[i] = check_float((bits + i * BIT_STRIDE) | sign << 31);
    }
    f->row(x, y, ROW);
    for (uint32_t i = 0; i < ROW; i++) {
      worst = fmax(worst, check_gelu(f, x[i], y[i]));
    }
    check_case();
  }
  printf("  %s, %s: at most %.2f ULP\n", f->name, sign != 0 ? "negative" : "positive", worst);
}

static void test_whole_range(void) {
  for (size_t i = 0; i < 2; i++) {
    sweep(&gelu_forms[i], 0);
    sweep(&gelu_forms[i], 1);
  }
}

static void test_lengths(void) {
  for (size_t i = 0; i < 2; i++) {
    for (size_t count = 1; count <= LONGEST; count++) {
      float *x = check_floats(count);
      float *y = check_guarded(count);
      for (size_t j = 0; j < count; j++) {
        x[j] = check_random_float() * 6.0F;
      }
      gelu_forms[i].row(x, y, count);
      for (size_t j = 0; j < count; j++) {
        (void)check_gelu(&gelu_forms[i], x[j], y[j]);
      }
      gelu_forms[i].row(x, x, count);
      CHECK(memcmp(x, y, count * sizeof(float)) == 0, "%s, count=%zu: in place differs", gelu_forms[i].name, count);
      check_case();
      free(x);
      free(y);
    }
  }
}

static void test_limits(void) {
  const float inputs[] = {INFINITY, -INFINITY, 3.4e38F, -3.4e38F, 0.0F, 20.0F, -20.0F};
  const float outputs[] = {INFINITY, 0.0F, 3.4e38F, 0.0F, 0.0F, 20.0F, 0.0F};
  for (size_t i = 0; i < 2; i++) {
    float y[7];
    gelu_forms[i].row(inputs, y, 7);
    for (size_t j = 0; j < 7; j++) {
      CHECK(y[j] == outputs[j], "%s %g: %g", gelu_forms[i].name, (double)inputs[j], (double)y[j]);
    }
    check_case();
  }
}

/* NaN of either sign at every place: that element, and no other. */
static void test_nan(void) {
  for (size_t i = 0; i < 4; i++) {
    for (size_t place = 0; place < 11; place++) {
      float x[11] = {0};
      x[place] = i % 2 == 0 ? NAN : -NAN;
      gelu_forms[i / 2].row(x, x, 11);
      for (size_t j = 0; j < 11; j++) {
        CHECK(j == place ? isnan(x[j]) : x[j] == 0.0F, "NaN at %zu, %zu: %g", place, j, (double)x[j]);
      }
      check_case();
    }
  }
}

/* The public function cuts its input into blocks. */
static void test_function(void) {
  enum { count = (1 << 15) + 5 };
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  float *x = check_floats(count);
  float *y = check_guarded(count);
  float *expected = check_floats(count);
  check_fill(x, count);
  for (size_t i = 0; i < 2; i++) {
    gelu_forms[i].row(x, expected, count);
    CHECK_STATUS(hw_gelu(context, x, y, count, (hw_gelu_approximation)i), HW_OK);
    CHECK(memcmp(y, expected, count * sizeof(float)) == 0, "%s", gelu_forms[i].name);
  }
  CHECK_STATUS(hw_gelu(context, x, y, count, (hw_gelu_approximation)2), HW_ERROR_VALUE);
  free(x);
  free(y);
  free(expected);
  hw_context_destroy(context);
}

int main(void) {
  check_seed(12);
  check_run("GELU is within 8 ULP over all floats, its tanh form within 8 and 2 for every bit of the tail",
            test_whole_range);
  check_run("GELU of 1 to 40 values equals float64's, in place too", test_lengths);
  check_run("large values and infinities give themselves or 0", test_limits);
  check_run("NaN stays NaN in its place", test_nan);
  check_run("the function gives the rows' numbers and refuses other forms", test_function);
  return check_result();
}
