/* Gradients of LayerNorm and RMSNorm, against differences of sums in double. */
#include "backward_case.h"
#include "ops/layer_norm.h"

enum { LONGEST = 21 };

/* A row of doubles, one of which is moved. */
typedef struct moved_row {
  double *x;
  size_t place;
  const float *dy;
  const float *weight;
  size_t count;
  bool is_rms;
  double eps;
} moved_row;

/* The sum of dy·y as one of x moves. */
static double norm_at(double x, const void *rest) {
  const moved_row *m = rest;
  const double before = m->x[m->place];
  m->x[m->place] = x;
  double mean = 0.0;
  double square = 0.0;
  for (size_t i = 0; i < m->count && !m->is_rms; i++) {
    mean += m->x[i] / (double)m->count;
  }
  for (size_t i = 0; i < m->count; i++) {
    square += (m->x[i] - mean) * (m->x[i] - mean) / (double)m->count;
  }
  double sum = 0.0;
  for (size_t i = 0; i < m->count; i++) {
    const double weight = m->weight == NULL ? 1.0 : (double)m->weight[i];
    sum += (m->x[i] - mean) / sqrt(square + m->eps) * weight * (double)m->dy[i];
  }
  m->x[m->place] = before;
  return sum;
}

/* dx, and gradients of weight and bias added to what is there. */
static void check_norm(hw_context *context, size_t rows, size_t columns, bool is_rms, bool has_weight) {
  float *x = check_floats(rows * columns);
  float *dy = check_floats(rows * columns);
  float *weight = check_floats(columns);
  float *dx = check_guarded(rows * columns);
  float *sums = check_floats(2 * columns);
  check_fill(x, rows * columns);
  check_fill(dy, rows * columns);
  check_fill(weight, columns);
  check_fill(sums, 2 * columns);
  double *expected = case_doubles(sums, 2 * columns);
  const double eps = 1e-3;
  const float *w = has_weight ? weight : NULL;
  CHECK_STATUS(is_rms
                   ? hw_rms_normalization_backward(context, x, rows, columns, w, eps, dy, dx, sums)
                   : hw_layer_normalization_backward(context, x, rows, columns, w, eps, dy, dx, sums, sums + columns),
               HW_OK);
  float *y = check_floats(rows * columns);
  CHECK_STATUS(is_rms ? hw_rms_normalization(context, x, rows, columns, NULL, eps, y)
                      : hw_layer_normalization(context, x, rows, columns, NULL, NULL, eps, y),
               HW_OK);
  for (size_t r = 0; r < rows; r++) {
    double *row = case_doubles(x + r * columns, columns);
    moved_row moved = {row, 0, dy + r * columns, w, columns, is_rms, eps};
    for (size_t i = 0; i < columns; i++) {
      moved.place = i;
      const double slope = case_derivative(norm_at, row[i], &moved);
      CHECK(fabs((double)dx[r * columns + i] - slope) <= 2e-6 * fmax(1.0, fabs(slope)) / sqrt(eps),
            "columns=%zu rms=%d (%zu, %zu): %.9g, expected %.9g", columns, is_rms, r, i, (double)dx[r * columns + i],
            slope);
      expected[i] += (double)dy[r * columns + i] * (double)y[r * columns + i];
      expected[columns + i] += is_rms ? 0.0 : (double)dy[r * columns + i];
    }
    free(row);
  }
  for (size_t i = 0; i < 2 * columns; i++) {
    case_check_sum("weight or bias", 0, i, sums[i], expected[i], 3.0 * (double)rows, rows);
  }
  CHECK_STATUS(is_rms ? hw_rms_normalization_backward(context, x, rows, columns, w, eps, dy, dy, NULL)
                      : hw_layer_normalization_backward(context, x, rows, columns, w, eps, dy, dy, NULL, NULL),
               HW_OK);
  CHECK(memcmp(dy, dx, rows * columns * sizeof(float)) == 0, "in place");
  free(x);
  free(dy);
  free(weight);
  free(dx);
  free(sums);
  free(y);
  free(expected);
}

static void test_norms(void) {
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  for (size_t columns = 1; columns <= LONGEST; columns++) {
    for (size_t i = 0; i < 4; i++) {
      check_norm(context, 1 + columns % 3 * 9, columns, i % 2 == 0, i / 2 == 0);
    }
  }
  /* Sums of more columns than one item has. */
  for (size_t columns = 63; columns <= 130; columns += columns % 64 == 2 ? 61 : 1) {
    check_norm(context, 5, columns, columns % 2 == 0, true);
    check_norm(context, 5, columns, columns % 2 == 1, true);
  }
  float x[4] = {1.0F, 2.0F, 3.0F, 4.0F};
  CHECK_STATUS(hw_rms_normalization(context, x, 2, 0, NULL, 1e-6, x), HW_ERROR_SHAPE);
  CHECK_STATUS(hw_rms_normalization(context, x, 2, 2, NULL, -1.0, x), HW_ERROR_VALUE);
  CHECK_STATUS(hw_layer_normalization_backward(context, x, 2, 2, NULL, 1e-5, NULL, x, NULL, NULL), HW_ERROR_VALUE);
  CHECK_STATUS(hw_rms_normalization_backward(context, x, 2, 0, NULL, 1e-5, x, x, NULL), HW_ERROR_SHAPE);
  hw_context_destroy(context);
}

/* Each of the two sums alone, and those of no rows. */
static void test_one_gradient(void) {
  enum { rows = 3, columns = 70 };
  float x[rows * columns];
  float dy[rows * columns];
  float both[2 * columns] = {0.0F};
  float one[2 * columns] = {0.0F};
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  check_fill(x, (size_t)rows * columns);
  check_fill(dy, (size_t)rows * columns);
  CHECK_STATUS(hw_layer_normalization_backward(context, x, rows, columns, NULL, 1e-5, dy, NULL, both, both + columns),
               HW_OK);
  CHECK_STATUS(hw_layer_normalization_backward(context, x, rows, columns, NULL, 1e-5, dy, NULL, one, NULL), HW_OK);
  CHECK(one[columns] == 0.0F && one[2 * columns - 1] == 0.0F, "wrote beyond the weights' gradient");
  CHECK_STATUS(hw_layer_normalization_backward(context, x, rows, columns, NULL, 1e-5, dy, NULL, NULL, one + columns),
               HW_OK);
  CHECK_STATUS(hw_layer_normalization_backward(context, x, 0, columns, NULL, 1e-5, dy, NULL, one, one + columns),
               HW_OK);
  CHECK(memcmp(one, both, sizeof both) == 0, "one alone is another");
  hw_context_destroy(context);
}

/* A forward that keeps rows, its output again, and a backward that adds to dx, as blocks use them. */
typedef struct norm_call {
  hw_normalization normalization;
  const float *x;
  const float *dy;
  float *normalized;
  float *factors;
  float *y;
  float *again;
  float *dx;
  hw_normalization_gradient gradient;
  size_t rows;
} norm_call;

static void norm_steps(hw_run *run, const void *call) {
  const norm_call *f = call;
  const hw_normalization *n = &f->normalization;
  hw_normalization_normalize(run, n, f->x, f->rows, f->normalized, f->factors, f->y);
  hw_normalization_scale(run, n, f->normalized, f->rows, f->again);
  hw_normalization_backward(run, n, &f->gradient, f->normalized, f->factors, f->dy, f->rows, true, f->dx);
}

static void test_norm_steps(void) {
  enum { rows = 1501, columns = 67, count = rows * columns };
  float *all = check_floats((size_t)11 * count);
  float first[3 * columns];
  check_fill(all, (size_t)11 * count);
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  const float *weight = all;
  float *base = all + 2 * count;
  for (size_t t = 0; t <= CASE_THREADS; t++) {
    float *out = t == 0 ? all + 3 * count : all + 6 * count;
    float sums[3 * columns] = {0.0F};
    memcpy(out, base, count * sizeof(float));
    const hw_normalization n = {.weight = weight, .bias = weight + columns, .eps = 1e-5, .columns = columns};
    const norm_call call = {n,
                            all + count,
                            all + 9 * count,
                            out + count,
                            all + 2 * columns,
                            out + 2 * count,
                            all + 10 * count,
                            out,
                            {sums, sums + columns},
                            rows};
    case_run_on(t == 0 ? 1 : case_threads[t - 1], norm_steps, &call);
    if (t == 0) {
      memcpy(first, sums, sizeof sums);
    }
    CHECK(memcmp(out, all + 3 * count, (size_t)3 * count * sizeof(float)) == 0, "threads %zu", t);
    CHECK(memcmp(sums, first, sizeof sums) == 0, "sums, threads %zu", t);
    CHECK(memcmp(all + 10 * count, out + 2 * count, count * sizeof(float)) == 0, "again, threads %zu", t);
    check_case();
  }
  float *y = check_floats(count);
  float *dx = check_floats(count);
  float *x = all + count;
  CHECK_STATUS(hw_layer_normalization(context, x, rows, columns, weight, weight + columns, 1e-5, y), HW_OK);
  CHECK(memcmp(y, all + 5 * count, count * sizeof(float)) == 0, "two steps give other bits than one");
  CHECK_STATUS(
      hw_layer_normalization_backward(context, x, rows, columns, weight, 1e-5, all + 9 * count, dx, NULL, NULL), HW_OK);
  for (size_t i = 0; i < count; i++) {
    CHECK(all[3 * count + i] == base[i] + dx[i], "%zu: does not add", i);
  }
  free(all);
  free(y);
  free(dx);
  hw_context_destroy(context);
}

/* Without an eps a row times 2^n has the same normalized row, and gradients times 2^-n: numbers whose squares are no floats are
 * normalized at another scale. */
static void test_magnitudes(void) {
  enum { columns = 13 };
  const int exponents[] = {-110, -60, 60, 110};
  float x[columns];
  float dy[columns];
  float moved[columns];
  float expected[columns];
  float dx[columns];
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  check_fill(x, columns);
  check_fill(dy, columns);
  for (size_t i = 0; i < 2 * sizeof exponents / sizeof *exponents; i++) {
    const int exponent = exponents[i / 2];
    for (size_t c = 0; c < columns; c++) {
      moved[c] = ldexpf(x[c], exponent);
    }
    CHECK_STATUS(i % 2 == 0
                     ? hw_rms_normalization_backward(context, x, 1, columns, NULL, 0.0, dy, expected, NULL)
                     : hw_layer_normalization_backward(context, x, 1, columns, NULL, 0.0, dy, expected, NULL, NULL),
                 HW_OK);
    CHECK_STATUS(i % 2 == 0
                     ? hw_rms_normalization_backward(context, moved, 1, columns, NULL, 0.0, dy, dx, NULL)
                     : hw_layer_normalization_backward(context, moved, 1, columns, NULL, 0.0, dy, dx, NULL, NULL),
                 HW_OK);
    for (size_t c = 0; c < columns; c++) {
      const double got = ldexp((double)dx[c], exponent);
      CHECK(fabs(got - (double)expected[c]) <= 1e-5, "2^%d, %zu: %g, expected %g", exponent, c, got,
            (double)expected[c]);
    }
    check_case();
  }
  hw_context_destroy(context);
}

int main(void) {
  check_seed(34);
  check_run("gradients of norms equal double's differences, and weights' and biases' are added", test_norms);
  check_run("gradients of norms of very large and very small numbers are those at another scale", test_magnitudes);
  check_run("either of the two gradients may be wanted alone", test_one_gradient);
  check_run("norms in two steps give the bits of one, on all threads, and add to dx", test_norm_steps);
  return check_result();
}
