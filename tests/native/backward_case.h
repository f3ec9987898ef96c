/* Rows among guards, runs of operations on contexts of their own, and comparisons with doubles: what tests of gradients share. */
#ifndef HW_TESTS_BACKWARD_CASE_H
#define HW_TESTS_BACKWARD_CASE_H

#include "check.h"
#include "ops/matrix.h"
#include "ops/run.h"

/* Elements at row · stride + column; what lies between is guards. */
typedef struct case_rows {
  float *data;
  size_t count;
  size_t columns;
  size_t stride;
} case_rows;

static inline size_t case_rows_floats(const case_rows *rows) {
  return (rows->count - 1) * rows->stride + rows->columns;
}

/* Guards only, at a stride that no length divides. */
static inline case_rows case_rows_empty(size_t count, size_t columns) {
  case_rows rows = {NULL, count, columns, check_prime_above(columns)};
  rows.data = check_guarded(case_rows_floats(&rows));
  return rows;
}

/* Copies floats into a part of a matrix; element (i, j) of it is at i·row_stride + j·column_stride, one of which is 1. */
static inline void matrix_load(hw_matrix *matrix, const hw_matrix_part *part, const float *source, size_t row_stride,
                               size_t column_stride) {
  const hw_weights weights = {HW_MATRIX_FLOAT32, source, row_stride, column_stride};
  hw_matrix_load_weights(NULL, matrix, part, &weights);
}

/* Guards only, one row right behind the other. */
static inline case_rows case_rows_dense(size_t count, size_t columns) {
  return (case_rows){check_guarded(count * columns), count, columns, columns};
}

static inline case_rows case_rows_random(size_t count, size_t columns) {
  const case_rows rows = case_rows_empty(count, columns);
  for (size_t r = 0; r < count; r++) {
    check_fill(rows.data + r * rows.stride, columns);
  }
  return rows;
}

static inline case_rows case_rows_copy(const case_rows *from) {
  case_rows rows = *from;
  rows.data = check_floats(case_rows_floats(from));
  memcpy(rows.data, from->data, case_rows_floats(from) * sizeof(float));
  return rows;
}

static inline double case_element(const case_rows *rows, size_t row, size_t column) {
  return (double)rows->data[row * rows->stride + column];
}

/* Whether nothing but the elements was written. */
static inline void case_rows_check_guards(const case_rows *rows, const char *name) {
  for (size_t i = 0; i < case_rows_floats(rows); i++) {
    CHECK(i % rows->stride < rows->columns || check_is_guard(rows->data[i]), "%s: wrote between rows, at %zu", name, i);
  }
}

/* A number beside the double that it should be; `terms` is the sum of the magnitudes of what was added up in `count` steps. */
static inline void case_check_sum(const char *name, size_t row, size_t column, float got, double expected, double terms,
                                  size_t count) {
  const double tolerance = (double)(count + 4) * 0x1p-24 * terms + 0x1p-126;
  CHECK(fabs((double)got - expected) <= tolerance, "%s (%zu, %zu): %.9g, expected %.9g ± %.2g", name, row, column,
        (double)got, expected, tolerance);
}

/* The caller frees them. */
static inline double *case_doubles(const float *x, size_t count) {
  double *y = check_memory(count * sizeof *y);
  for (size_t i = 0; i < count; i++) {
    y[i] = (double)x[i];
  }
  return y;
}

/* The derivative of a function of doubles by central differences of fourth order, about eleven digits of it. */
typedef double case_function(double x, const void *rest);

static inline double case_derivative(case_function *f, double x, const void *rest) {
  const double h = 1e-3 * fmax(1.0, fabs(x));
  const double near = f(x + h, rest) - f(x - h, rest);
  const double far = f(x + 2.0 * h, rest) - f(x - 2.0 * h, rest);
  return (8.0 * near - far) / (12.0 * h);
}

/* Runs an operation on a context of its own, so that scratch is sized exactly. */
static inline void case_run_on(size_t threads, hw_forward forward, const void *call) {
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  CHECK(hw_context_set_threads(context, threads) == HW_OK, "threads");
  const hw_status status = hw_run_forward(context, NULL, NULL, forward, call);
  CHECK(status == HW_OK, "status %d", (int)status);
  hw_context_destroy(context);
}

/* Numbers of threads that must give the same bits as one. */
static const size_t case_threads[] = {2, 3, 5};

enum { CASE_THREADS = sizeof case_threads / sizeof *case_threads };

#endif
