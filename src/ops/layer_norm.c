#include "ops/layer_norm.h"

#include <math.h>

#include "kernels/layer_norm.h"

enum {
  /* Floats of one item. */
  BLOCK = 1 << 14,
  /* What an element costs, in multiply-adds of a matrix product. */
  ELEMENT_WORK = 24,
};

typedef struct normalized_rows {
  const hw_normalization *normalization;
  const float *x;
  float *y;
  size_t rows;
  size_t block; /* rows of one item */
} normalized_rows;

static void normalization_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const normalized_rows *r = job;
  const hw_normalization *n = r->normalization;
  const size_t end = hw_min(r->rows, (item + 1) * r->block);
  for (size_t row = item * r->block; row < end; row++) {
    hw_layer_norm_row(r->x + row * n->columns, n->weight, n->bias, n->eps, r->y + row * n->columns, n->columns);
  }
}

void hw_normalization_forward(const hw_run *run, const hw_normalization *normalization, const float *x, size_t rows,
                              float *y) {
  if (hw_run_measures(run)) {
    return;
  }
  const size_t columns = normalization->columns;
  const normalized_rows job = {normalization, x, y, rows, hw_ceil_divide(BLOCK, columns)};
  const double work = (double)rows * (double)columns * (double)ELEMENT_WORK;
  hw_parallel_for(hw_run_team(run, work), work, hw_ceil_divide(rows, job.block), normalization_item, &job);
}

bool hw_eps_is_valid(double eps) { return isfinite(eps) && eps >= 0.0; }

typedef struct normalization_call {
  hw_normalization normalization;
  const float *x;
  size_t rows;
  float *y;
} normalization_call;

static void forward(hw_run *run, const void *call) {
  const normalization_call *f = call;
  hw_normalization_forward(run, &f->normalization, f->x, f->rows, f->y);
}

hw_status hw_layer_normalization(hw_context *context, const float *x, size_t rows, size_t columns, const float *weight,
                                 const float *bias, double eps, float *y) {
  if (rows == 0 || columns == 0) {
    return HW_ERROR_SHAPE;
  }
  if (!hw_eps_is_valid(eps) || x == NULL || y == NULL) {
    return HW_ERROR_VALUE;
  }
  return hw_run_forward(context, NULL, NULL, forward, &(normalization_call){{weight, bias, eps, columns}, x, rows, y});
}
