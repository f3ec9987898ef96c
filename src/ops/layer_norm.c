#include "ops/layer_norm.h"

#include <math.h>

#include "kernels/layer_norm.h"

enum {
  /* Floats of one item. */
  BLOCK = 1 << 12,
  /* What an element costs, in multiply-adds of a matrix product. */
  ELEMENT_WORK = 24,
  /* Columns of an item of their sums, and what an element of these costs. */
  COLUMNS = 64,
  COLUMN_WORK = 8,
};

/* Rows of one item. */
static size_t rows_of_item(const hw_norm_settings *settings) { return hw_ceil_divide(BLOCK, settings->count); }

static hw_norm_settings settings_of(const hw_normalization *n) {
  return (hw_norm_settings){{n->weight, n->gain_offset}, n->bias, n->eps, !n->is_rms, n->columns};
}

/* What is made of each row. */
typedef struct row_job {
  void (*of_row)(const struct row_job *job, size_t row, size_t at); /* at: of the row's first element */
  hw_norm_settings settings;
  size_t rows;
  const float *x;          /* or the normalized rows of a backward */
  float *normalized;       /* NULL: not wanted */
  float *factors;          /* NULL, or where they are left */
  float *y;                /* or dx; NULL: not wanted */
  const float *dy;         /* of a backward */
  const float *of_forward; /* factors that a forward left */
  bool adds;               /* to dx */
} row_job;

static void normalize(const row_job *job, size_t row, size_t at) {
  float *normalized = hw_floats_from(job->normalized, at);
  const double factor = hw_normalize_row(&job->settings, job->x + at, normalized, hw_floats_from(job->y, at));
  if (job->factors != NULL) {
    job->factors[row] = (float)factor;
  }
}

static void scale(const row_job *job, size_t row, size_t at) {
  (void)row;
  hw_scale_normalized_row(&job->settings, job->x + at, job->y + at);
}

static void go_back(const row_job *job, size_t row, size_t at) {
  const hw_normalized_row of = {&job->settings, job->x + at, job->of_forward[row]};
  hw_normalize_row_backward(&of, job->dy + at, job->adds, job->y + at);
}

static void rows_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const row_job *r = job;
  const size_t block = rows_of_item(&r->settings);
  const size_t end = hw_min(r->rows, (item + 1) * block);
  for (size_t row = item * block; row < end; row++) {
    r->of_row(r, row, row * r->settings.count);
  }
}

static void run_rows(const hw_run *run, const row_job *job) {
  const double work = (double)job->rows * (double)job->settings.count * (double)ELEMENT_WORK;
  hw_run_items(run, work, hw_ceil_divide(job->rows, rows_of_item(&job->settings)), rows_item, job);
}

/* What is summed over all rows, of a few columns at a time, so that threads share none. */
typedef struct columns_job {
  const hw_normalization_gradient *gradient;
  const float *normalized;
  const float *dy;
  size_t rows;
  size_t columns;
} columns_job;

static void columns_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const columns_job *c = job;
  const size_t first = item * COLUMNS;
  float ignored[COLUMNS] = {0.0F};
  float *weight = c->gradient->weight == NULL ? ignored : c->gradient->weight + first;
  float *bias = c->gradient->bias == NULL ? ignored : c->gradient->bias + first;
  hw_add_norm_gradients(c->dy + first, c->normalized + first, c->columns, c->rows, hw_min(c->columns - first, COLUMNS),
                        weight, bias);
}

static void add_gradients(const hw_run *run, const columns_job *job) {
  const double work = (double)job->rows * (double)job->columns * (double)COLUMN_WORK;
  hw_run_items(run, work, hw_ceil_divide(job->columns, COLUMNS), columns_item, job);
}

void hw_normalization_forward(const hw_run *run, const hw_normalization *normalization, const float *x, size_t rows,
                              float *y) {
  hw_normalization_normalize(run, normalization, x, rows, NULL, NULL, y);
}

void hw_normalization_normalize(const hw_run *run, const hw_normalization *normalization, const float *x, size_t rows,
                                float *normalized, float *factors, float *y) {
  run_rows(run, &(row_job){normalize, settings_of(normalization), rows, x, normalized, factors, y, NULL, NULL, false});
}

void hw_normalization_scale(const hw_run *run, const hw_normalization *normalization, const float *normalized,
                            size_t rows, float *y) {
  run_rows(run, &(row_job){scale, settings_of(normalization), rows, normalized, NULL, NULL, y, NULL, NULL, false});
}

void hw_normalization_backward(const hw_run *run, const hw_normalization *normalization,
                               const hw_normalization_gradient *gradient, const float *normalized, const float *factors,
                               const float *dy, size_t rows, bool adds, float *dx) {
  /* Before dx, which may be where dy is. */
  if (gradient != NULL) {
    add_gradients(run, &(columns_job){gradient, normalized, dy, rows, normalization->columns});
  }
  if (dx != NULL) {
    run_rows(run, &(row_job){go_back, settings_of(normalization), rows, normalized, NULL, NULL, dx, dy, factors, adds});
  }
}

bool hw_eps_is_valid(double eps) { return isfinite((float)eps) && eps >= 0.0; }
