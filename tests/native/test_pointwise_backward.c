/* Gradients of activations, gates and dropout, against differences of the functions in double. */
#include "backward_case.h"
#include "ops/pointwise.h"

enum { LONGEST = 35, MANY = 100003 };

static const hw_activation kinds[] = {HW_ACTIVATION_GELU, HW_ACTIVATION_GELU_TANH, HW_ACTIVATION_RELU,
                                      HW_ACTIVATION_SILU, HW_ACTIVATION_TANH};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* As headwise.h defines them; rest points to the hw_activation. */
static double activation(double x, const void *rest) {
  switch (*(const hw_activation *)rest) {
    case HW_ACTIVATION_GELU:
      return x * 0.5 * erfc(-x / sqrt(2.0));
    case HW_ACTIVATION_GELU_TANH:
      return 0.5 * x * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case HW_ACTIVATION_RELU:
      return fmax(x, 0.0);
    case HW_ACTIVATION_SILU:
      return x / (1.0 + exp(-x));
    default:
      return tanh(x);
  }
}

/* Elements of all magnitudes, none next to ReLU's corner. */
static float *inputs(size_t count) {
  float *x = check_floats(count);
  for (size_t i = 0; i < count; i++) {
    const float magnitude = i % 3 == 0 ? 1.0F : i % 3 == 1 ? 4.0F : 25.0F;
    x[i] = check_random_float() * magnitude;
    x[i] += x[i] < 0.0F ? -0.02F * magnitude : 0.02F * magnitude;
  }
  return x;
}

static float *randoms(size_t count) {
  float *x = check_floats(count);
  check_fill(x, count);
  return x;
}

static void check_slopes(hw_context *context, hw_activation kind, size_t count) {
  float *x = inputs(count);
  float *dy = randoms(count);
  float *y = check_guarded(count);
  float *dx = check_guarded(count);
  CHECK_STATUS(hw_activate(context, kind, x, y, count), HW_OK);
  CHECK_STATUS(hw_activation_backward(context, kind, x, dy, dx, count), HW_OK);
  for (size_t i = 0; i < count; i++) {
    const double exact = activation((double)x[i], &kind);
    const double slope = case_derivative(activation, (double)x[i], &kind);
    const double expected = (double)dy[i] * slope;
    CHECK(fabs((double)y[i] - exact) <= 4e-7 * fmin(1.0, fabs((double)x[i])) + 6e-7 * fabs(exact),
          "activation %d of %g: %.9g, expected %.9g", (int)kind, (double)x[i], (double)y[i], exact);
    CHECK(fabs((double)dx[i] - expected) <= 3e-7 * fabs((double)dy[i]) + 2e-7 * fabs(expected),
          "slope of %d at %g: %.9g, expected %.9g", (int)kind, (double)x[i], (double)dx[i], expected);
  }
  CHECK_STATUS(hw_activation_backward(context, kind, x, dy, dy, count), HW_OK);
  CHECK_STATUS(hw_activate(context, kind, x, x, count), HW_OK);
  CHECK(memcmp(dy, dx, count * sizeof(float)) == 0 && memcmp(x, y, count * sizeof(float)) == 0, "in place");
  free(x);
  free(dy);
  free(y);
  free(dx);
}

typedef struct again_call {
  hw_activation kind;
  const float *x;
  float *dx;
  float *y;
  size_t count;
} again_call;

static void back_with_value(hw_run *run, const void *call) {
  const again_call *f = call;
  hw_activation_backward_of(run, f->kind, f->x, f->dx, f->dx, f->y, f->count);
}

/* What a backward leaves of the function itself. */
static void check_value_again(hw_context *context, hw_activation kind, size_t count) {
  float *x = inputs(count);
  float *dx = randoms(count);
  float *y = check_guarded(count);
  float *expected = check_floats(count);
  CHECK_STATUS(hw_activate(context, kind, x, expected, count), HW_OK);
  case_run_on(1, back_with_value, &(again_call){kind, x, dx, y, count});
  CHECK(memcmp(y, expected, count * sizeof(float)) == 0, "activation %d of %zu elements differs", (int)kind, count);
  free(x);
  free(dx);
  free(y);
  free(expected);
}

/* Where slopes are small: tail - a·fall, a = -x, each of which is exact to a few roundings. */
static void test_small_slopes(void) {
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  const float one = 1.0F;
  for (float x = -0.05F; x > -12.0F; x -= 0.17F) {
    const double a = -(double)x;
    const double logistic = 1.0 / (1.0 + exp(a));
    const double normal = 0.5 * erfc(a / sqrt(2.0));
    const struct {
      hw_activation kind;
      double tail;
      double fall;
    } cases[] = {{HW_ACTIVATION_SILU, logistic, logistic * (1.0 - logistic)},
                 {HW_ACTIVATION_GELU, normal, exp(-0.5 * a * a) / sqrt(2.0 * acos(-1.0))}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      const double tail = cases[i].tail;
      const double terms = a * cases[i].fall;
      float slope = 0.0F;
      CHECK_STATUS(hw_activation_backward(context, cases[i].kind, &x, &one, &slope, 1), HW_OK);
      CHECK(fabs((double)slope - (tail - terms)) <= 2e-6 * (tail + terms), "slope of %d at %g: %.9g, expected %.9g",
            (int)cases[i].kind, (double)x, (double)slope, tail - terms);
    }
  }
  hw_context_destroy(context);
}

static void test_activations(void) {
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  for (size_t k = 0; k < KINDS; k++) {
    for (size_t count = 1; count <= LONGEST; count++) {
      check_slopes(context, kinds[k], count);
      check_value_again(context, kinds[k], count);
    }
    check_slopes(context, kinds[k], 4001);
  }
  float one = 1.0F;
  CHECK_STATUS(hw_activate(context, (hw_activation)5, &one, &one, 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_activation_backward(context, HW_ACTIVATION_RELU, &one, NULL, &one, 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_activation_backward(context, HW_ACTIVATION_RELU, NULL, NULL, NULL, 0), HW_OK);
  hw_context_destroy(context);
}

/* At the ends, where a product of 0 and inf would be NaN, and at NaN. */
static void test_limits(void) {
  const float ends[] = {-INFINITY, -3e38F, -200.0F, 200.0F, 3e38F, INFINITY, NAN};
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  for (size_t k = 0; k < KINDS; k++) {
    for (size_t i = 0; i < 7; i++) {
      const float dy = 2.0F;
      float y = 0.0F;
      float dx = 0.0F;
      CHECK_STATUS(hw_activate(context, kinds[k], ends + i, &y, 1), HW_OK);
      CHECK_STATUS(hw_activation_backward(context, kinds[k], ends + i, &dy, &dx, 1), HW_OK);
      const bool is_tanh = kinds[k] == HW_ACTIVATION_TANH;
      const bool is_relu = kinds[k] == HW_ACTIVATION_RELU; /* as in torch, whose slope is 1 but where x <= 0 */
      const float slope = is_tanh || i < 3 ? 0.0F : 2.0F;
      const float value = is_tanh ? (i < 3 ? -1.0F : 1.0F) : fmaxf(ends[i], 0.0F);
      CHECK(i == 6 ? isnan(y) : y == value, "activation %d of %g: %g", (int)kinds[k], (double)ends[i], (double)y);
      CHECK(i == 6 && !is_relu ? isnan(dx) : fabsf(dx - slope) <= 1e-6F, "slope of %d at %g: %g", (int)kinds[k],
            (double)ends[i], (double)dx);
    }
  }
  hw_context_destroy(context);
}

typedef struct gated_call {
  hw_activation kind;
  const float *gate;
  const float *x;
  const float *dy;
  float *y;
  float *d_gate;
  float *dx;
  float *y_again;
  size_t count;
} gated_call;

static void gated(hw_run *run, const void *call) {
  const gated_call *f = call;
  hw_gated_forward(run, f->kind, f->gate, f->x, f->y, f->count);
  hw_gated_backward(run, f->kind, f->gate, f->x, f->dy, f->d_gate, f->dx, f->y_again, f->count);
}

static void check_gated(hw_activation kind, size_t count) {
  float *gate = inputs(count);
  float *x = randoms(count);
  float *dy = randoms(count);
  const gated_call call = {
      kind, gate, x, dy, check_guarded(count), check_guarded(count), check_guarded(count), check_guarded(count), count,
  };
  case_run_on(1, gated, &call);
  CHECK(memcmp(call.y_again, call.y, count * sizeof(float)) == 0, "y again");
  for (size_t i = 0; i < count; i++) {
    const double g = activation((double)gate[i], &kind);
    const double slope = case_derivative(activation, (double)gate[i], &kind);
    const double bound = 8e-7 * (fabs(g) + fmin(1.0, fabs((double)gate[i])));
    CHECK(fabs((double)call.y[i] - g * (double)x[i]) <= bound, "y %zu: %g", i, (double)call.y[i]);
    CHECK(fabs((double)call.dx[i] - g * (double)dy[i]) <= bound, "dx %zu: %g", i, (double)call.dx[i]);
    CHECK(fabs((double)call.d_gate[i] - slope * (double)dy[i] * (double)x[i]) <= 6e-7, "d_gate %zu: %g", i,
          (double)call.d_gate[i]);
  }
  for (size_t t = 0; t < CASE_THREADS && count == MANY; t++) {
    const gated_call many = {
        kind, gate, x, dy, check_floats(count), check_floats(count), check_floats(count), check_floats(count), count,
    };
    case_run_on(case_threads[t], gated, &many);
    CHECK(memcmp(many.d_gate, call.d_gate, count * sizeof(float)) == 0, "threads");
    CHECK(memcmp(many.dx, call.dx, count * sizeof(float)) == 0, "threads");
    free(many.y);
    free(many.d_gate);
    free(many.dx);
    free(many.y_again);
  }
  check_case();
  free(gate);
  free(x);
  free(dy);
  free(call.y);
  free(call.d_gate);
  free(call.dx);
  free(call.y_again);
}

static void test_gated(void) {
  for (size_t k = 0; k < KINDS; k++) {
    for (size_t count = 1; count < LONGEST; count += 3) {
      check_gated(kinds[k], count);
    }
    check_gated(kinds[k], 1021);
  }
  check_gated(HW_ACTIVATION_SILU, MANY);
}

typedef struct dropout_call {
  double dropout;
  const float *x;
  float *y;
  uint32_t *kept;
  size_t count;
} dropout_call;

static void drop(hw_run *run, const void *call) {
  const dropout_call *f = call;
  if (f->y != f->x && !hw_run_measures(run)) {
    memcpy(f->y, f->x, f->count * sizeof(float));
  }
  hw_dropout_forward(run, f->dropout, f->kept, f->y, f->count);
}

/* The elements that the generator keeps, with 1/(1 - p). */
static void check_dropout(size_t threads, double p, size_t count, bool keeps) {
  float *x = randoms(count);
  uint32_t *kept = keeps ? check_memory(hw_kept_words(count) * sizeof *kept) : NULL;
  const dropout_call call = {p, x, check_guarded(count), kept, count};
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  CHECK_STATUS(hw_context_set_threads(context, threads), HW_OK);
  hw_generator generator = context->generator;
  CHECK_STATUS(hw_run_forward(context, NULL, NULL, drop, &call), HW_OK);
  for (size_t i = 0; i < count; i++) {
    const bool is_kept = p == 0.0 || (p < 1.0 && hw_generator_double(&generator) < 1.0 - p);
    const float expected = is_kept ? x[i] * hw_kept_scale(p) : 0.0F;
    CHECK(call.y[i] == expected, "p=%g, %zu of %zu: %g", p, i, count, (double)call.y[i]);
    CHECK(p == 0.0 || kept == NULL || (kept[i / 32] >> i % 32 & 1u) == (is_kept ? 1u : 0u), "bit %zu", i);
  }
  CHECK(memcmp(&generator, &context->generator, sizeof generator) == 0, "another number of draws");
  hw_context_destroy(context);
  free(x);
  free(call.y);
  free(kept);
}

static void test_dropout(void) {
  const double rates[] = {0.0, 0.1, 0.5, 1.0};
  for (size_t i = 0; i < 4; i++) {
    for (size_t count = 1; count <= 70; count += 3) {
      check_dropout(1, rates[i], count, true);
      check_dropout(1, rates[i], count, false);
    }
    check_dropout(3, rates[i], MANY, true);
    check_dropout(3, rates[i], MANY, false);
  }
  float x[2] = {NAN, 1.0F};
  uint32_t kept = 0;
  case_run_on(1, drop, &(dropout_call){1.0, x, x, &kept, 2});
  CHECK(isnan(x[0]) && x[1] == 0.0F, "NaN that is dropped stays: %g", (double)x[0]);
}

int main(void) {
  check_seed(32);
  check_run("slopes far below 0 are as exact as those above", test_small_slopes);
  check_run("activations and their slopes of 1 to 35 and more equal double's, in place too", test_activations);
  check_run("at the ends slopes are 0 or 1, and NaN stays", test_limits);
  check_run("gates and their gradients equal double's, with the same bits on all threads", test_gated);
  check_run("dropout keeps what the generator says", test_dropout);
  return check_result();
}
