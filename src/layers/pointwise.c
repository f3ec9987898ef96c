#include "layers/pointwise.h"

#include <math.h>

#include "kernels/elementwise.h"
#include "kernels/gelu.h"
#include "kernels/layer_norm.h"

enum {
  /* Floats of one item. */
  BLOCK = 1 << 14,
  /* What an element costs, in multiply-adds of a matrix product. */
  GELU_WORK = 24,
  ADD_WORK = 8,
  NORMALIZATION_WORK = 24,
};

typedef struct elements {
  const float *a;
  const float *b;
  float *y;
  size_t count;
} elements;

static size_t block_length(const elements *e, size_t item) { return hw_min(e->count - item * BLOCK, BLOCK); }

static void gelu_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const elements *e = job;
  hw_row_gelu(e->a + item * BLOCK, e->y + item * BLOCK, block_length(e, item));
}

static void gelu_tanh_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const elements *e = job;
  hw_row_gelu_tanh(e->a + item * BLOCK, e->y + item * BLOCK, block_length(e, item));
}

static void add_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const elements *e = job;
  hw_row_add(e->a + item * BLOCK, e->b + item * BLOCK, e->y + item * BLOCK, block_length(e, item));
}

static void run(const hw_context *context, size_t work, hw_task task, const elements *job) {
  hw_team *team = hw_context_team(context, (double)job->count * (double)work);
  hw_parallel_for(team, hw_ceil_divide(job->count, BLOCK), task, job);
}

void hw_gelu_run(const hw_context *context, hw_gelu_approximation approximate, const float *x, float *y, size_t count) {
  const elements job = {.a = x, .y = y, .count = count};
  run(context, GELU_WORK, approximate == HW_GELU_TANH ? gelu_tanh_item : gelu_item, &job);
}

void hw_add_run(const hw_context *context, const float *a, const float *b, float *y, size_t count) {
  const elements job = {a, b, y, count};
  run(context, ADD_WORK, add_item, &job);
}

hw_status hw_gelu(hw_context *context, const float *x, float *y, size_t count, hw_gelu_approximation approximate) {
  if (!hw_gelu_is_known(approximate)) {
    return HW_ERROR_VALUE;
  }
  hw_gelu_run(context, approximate, x, y, count);
  return HW_OK;
}

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

void hw_normalization_run(const hw_context *context, const hw_normalization *normalization, const float *x, size_t rows,
                          float *y) {
  const size_t columns = normalization->columns;
  const normalized_rows job = {normalization, x, y, rows, hw_ceil_divide(BLOCK, columns)};
  hw_team *team = hw_context_team(context, (double)rows * (double)columns * (double)NORMALIZATION_WORK);
  hw_parallel_for(team, hw_ceil_divide(rows, job.block), normalization_item, &job);
}

bool hw_eps_is_valid(double eps) { return isfinite(eps) && eps >= 0.0; }

hw_status hw_layer_normalization(hw_context *context, const float *x, size_t rows, size_t columns, const float *weight,
                                 const float *bias, double eps, float *y) {
  if (rows == 0 || columns == 0) {
    return HW_ERROR_SHAPE;
  }
  if (!hw_eps_is_valid(eps)) {
    return HW_ERROR_VALUE;
  }
  const hw_normalization normalization = {weight, bias, eps, columns};
  hw_normalization_run(context, &normalization, x, rows, y);
  return HW_OK;
}
