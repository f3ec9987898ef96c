#include "ops/pointwise.h"

#include "kernels/elementwise.h"
#include "kernels/gelu.h"

enum {
  /* Floats of one item. */
  BLOCK = 1 << 14,
  /* What an element costs, in multiply-adds of a matrix product. */
  GELU_WORK = 24,
  ADD_WORK = 8,
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

static void spread(const hw_run *run, size_t element_work, hw_task task, const elements *job) {
  if (!hw_run_measures(run)) {
    const double work = (double)job->count * (double)element_work;
    hw_parallel_for(hw_run_team(run, work), work, hw_ceil_divide(job->count, BLOCK), task, job);
  }
}

void hw_gelu_forward(const hw_run *run, hw_gelu_approximation approximate, const float *x, float *y, size_t count) {
  const elements job = {.a = x, .y = y, .count = count};
  spread(run, GELU_WORK, approximate == HW_GELU_TANH ? gelu_tanh_item : gelu_item, &job);
}

void hw_add_forward(const hw_run *run, const float *a, const float *b, float *y, size_t count) {
  const elements job = {a, b, y, count};
  spread(run, ADD_WORK, add_item, &job);
}

/* One element after another: they are drawn in torch's order. */
void hw_dropout_forward(const hw_run *run, double dropout, float *x, size_t count) {
  if (dropout == 0.0 || hw_run_measures(run)) {
    return;
  }
  const float scale = hw_kept_scale(dropout);
  for (size_t i = 0; i < count; i++) {
    x[i] *= hw_generator_keeps(&run->context->generator, dropout) ? scale : 0.0F;
  }
}

typedef struct gelu_call {
  hw_gelu_approximation approximate;
  const float *x;
  float *y;
  size_t count;
} gelu_call;

static void gelu_forward(hw_run *run, const void *call) {
  const gelu_call *f = call;
  hw_gelu_forward(run, f->approximate, f->x, f->y, f->count);
}

hw_status hw_gelu(hw_context *context, const float *x, float *y, size_t count, hw_gelu_approximation approximate) {
  if (!hw_gelu_is_known(approximate) || (count > 0 && (x == NULL || y == NULL))) {
    return HW_ERROR_VALUE;
  }
  return hw_run_forward(context, NULL, NULL, gelu_forward, &(gelu_call){approximate, x, y, count});
}
