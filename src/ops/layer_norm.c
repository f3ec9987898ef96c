#include "ops/layer_norm.h"

#include <math.h>

#include "kernels/layer_norm.h"
#include "ops/column_sums.h"

enum {
  /* Floats of one item. */
  BLOCK = 1 << 14,
  /* What an element costs, in multiply-adds of a matrix product. */
  ELEMENT_WORK = 24,
};

/* Rows of one item. */
static size_t rows_of_item(const hw_normalization *normalization) {
  return hw_ceil_divide(BLOCK, normalization->columns);
}

static hw_gains gains_of(const hw_normalization *n) { return (hw_gains){n->weight, n->gain_offset}; }

typedef struct normalized_rows {
  const hw_normalization *normalization;
  const float *x;
  float *normalized; /* may be y, or x */
  float *factors;    /* NULL, or where they are left */
  float *y;          /* NULL: not wanted */
  size_t rows;
} normalized_rows;

static void normalize_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const normalized_rows *r = job;
  const hw_normalization *n = r->normalization;
  const size_t block = rows_of_item(n);
  const size_t end = hw_min(r->rows, (item + 1) * block);
  for (size_t row = item * block; row < end; row++) {
    const size_t at = row * n->columns;
    float *normalized = r->normalized + at;
    const double factor = hw_normalize_row(r->x + at, !n->is_rms, n->eps, normalized, n->columns);
    if (r->factors != NULL) {
      r->factors[row] = (float)factor;
    }
    if (r->y != NULL) {
      hw_scale_normalized_row(normalized, gains_of(n), n->bias, r->y + at, n->columns);
    }
  }
}

static void scale_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const normalized_rows *r = job;
  const hw_normalization *n = r->normalization;
  const size_t block = rows_of_item(n);
  const size_t end = hw_min(r->rows, (item + 1) * block);
  for (size_t row = item * block; row < end; row++) {
    hw_scale_normalized_row(r->x + row * n->columns, gains_of(n), n->bias, r->y + row * n->columns, n->columns);
  }
}

static void spread(const hw_run *run, hw_task task, const hw_normalization *normalization, size_t rows,
                   const void *job) {
  const double work = (double)rows * (double)normalization->columns * (double)ELEMENT_WORK;
  hw_parallel_for(hw_run_team(run, work), work, hw_ceil_divide(rows, rows_of_item(normalization)), task, job);
}

static void normalize_rows(const hw_run *run, hw_task task, const normalized_rows *job) {
  if (!hw_run_measures(run)) {
    spread(run, task, job->normalization, job->rows, job);
  }
}

void hw_normalization_forward(const hw_run *run, const hw_normalization *normalization, const float *x, size_t rows,
                              float *y) {
  const hw_normalization *n = normalization;
  normalize_rows(run, normalize_item, &(normalized_rows){n, x, y, NULL, y, rows});
}

void hw_normalization_normalize(const hw_run *run, const hw_normalization *normalization, const float *x, size_t rows,
                                float *normalized, float *factors, float *y) {
  const hw_normalization *n = normalization;
  normalize_rows(run, normalize_item, &(normalized_rows){n, x, normalized, factors, y, rows});
}

void hw_normalization_scale(const hw_run *run, const hw_normalization *normalization, const float *normalized,
                            size_t rows, float *y) {
  const hw_normalization *n = normalization;
  normalize_rows(run, scale_item, &(normalized_rows){n, normalized, NULL, NULL, y, rows});
}

typedef struct backward_rows {
  const hw_normalization *normalization;
  const float *normalized;
  const float *factors;
  const float *dy;
  float *dx;
  size_t rows;
  bool adds;
} backward_rows;

static void backward_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const backward_rows *r = job;
  const hw_normalization *n = r->normalization;
  const size_t block = rows_of_item(n);
  const size_t end = hw_min(r->rows, (item + 1) * block);
  for (size_t row = item * block; row < end; row++) {
    const size_t at = row * n->columns;
    const hw_normalized_row of = {r->normalized + at, gains_of(n), r->factors[row], !n->is_rms, n->columns};
    hw_normalize_row_backward(&of, r->dy + at, r->adds, r->dx + at);
  }
}

void hw_normalization_backward(const hw_run *run, const hw_normalization *normalization,
                               const hw_normalization_gradient *gradient, const float *normalized, const float *factors,
                               const float *dy, size_t rows, bool adds, float *dx) {
  const size_t columns = normalization->columns;
  /* Before dx, which may be where dy is. */
  if (gradient != NULL && gradient->weight != NULL) {
    hw_column_products_add(run, dy, normalized, rows, columns, gradient->weight);
  }
  if (gradient != NULL && gradient->bias != NULL) {
    hw_column_sums_add(run, &(hw_rows){dy, columns, rows}, columns, gradient->bias);
  }
  if (dx != NULL && !hw_run_measures(run)) {
    const backward_rows job = {normalization, normalized, factors, dy, dx, rows, adds};
    spread(run, backward_item, normalization, rows, &job);
  }
}

bool hw_eps_is_valid(double eps) { return isfinite(eps) && eps >= 0.0; }
