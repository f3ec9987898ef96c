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
  void (*kernel)(const float *x, float *y, size_t count); /* NULL: y = a + b */
} elements;

static void elements_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const elements *e = job;
  const size_t first = item * BLOCK;
  const size_t count = hw_min(e->count - first, BLOCK);
  if (e->kernel != NULL) {
    e->kernel(e->a + first, e->y + first, count);
  } else {
    hw_row_add(e->a + first, e->b + first, e->y + first, count);
  }
}

static void spread(const hw_run *run, size_t element_work, const elements *job) {
  if (!hw_run_measures(run)) {
    const double work = (double)job->count * (double)element_work;
    hw_parallel_for(hw_run_team(run, work), work, hw_ceil_divide(job->count, BLOCK), elements_item, job);
  }
}

void hw_gelu_forward(const hw_run *run, hw_gelu_approximation approximate, const float *x, float *y, size_t count) {
  spread(run, GELU_WORK, &(elements){x, NULL, y, count, approximate == HW_GELU_TANH ? hw_row_gelu_tanh : hw_row_gelu});
}

void hw_add_forward(const hw_run *run, const float *a, const float *b, float *y, size_t count) {
  spread(run, ADD_WORK, &(elements){a, b, y, count, NULL});
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
