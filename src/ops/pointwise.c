#include "ops/pointwise.h"

#include "kernels/activations.h"
#include "kernels/elementwise.h"
#include "kernels/gelu.h"

enum {
  /* Floats of one item: whole words of dropout's mask. */
  BLOCK = 1 << 12,
  /* What an element costs, in multiply-adds of a matrix product. */
  ACTIVATION_WORK = 24,
  ADD_WORK = 8,
};

typedef void forward_row(const float *x, float *y, size_t count);
typedef void backward_row(const float *x, const float *dy, float *dx, float *y, size_t count);

/* By hw_activation: the function, and the gradient of its x from x and the function's. */
typedef struct activation_rows {
  forward_row *forward;
  backward_row *backward;
} activation_rows;

static const activation_rows activations[] = {
    [HW_ACTIVATION_GELU] = {hw_row_gelu, hw_row_gelu_backward},
    [HW_ACTIVATION_GELU_TANH] = {hw_row_gelu_tanh, hw_row_gelu_tanh_backward},
    [HW_ACTIVATION_RELU] = {hw_row_relu, hw_row_relu_backward},
    [HW_ACTIVATION_SILU] = {hw_row_silu, hw_row_silu_backward},
    [HW_ACTIVATION_TANH] = {hw_row_tanh, hw_row_tanh_backward},
};

/* One of the two rows is set, or y is a + b. */
typedef struct elements {
  const float *a;
  const float *b;
  float *y;
  float *value; /* of a backward: NULL, or what the function gives */
  size_t count;
  forward_row *forward;
  backward_row *backward;
} elements;

static void elements_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const elements *e = job;
  const size_t first = item * BLOCK;
  const size_t count = hw_min(e->count - first, BLOCK);
  if (e->forward != NULL) {
    e->forward(e->a + first, e->y + first, count);
  } else if (e->backward != NULL) {
    e->backward(e->a + first, e->b + first, e->y + first, hw_floats_from(e->value, first), count);
  } else {
    hw_row_add(e->a + first, e->b + first, e->y + first, count);
  }
}

static void spread(const hw_run *run, size_t element_work, hw_task task, size_t count, const void *job) {
  hw_run_items(run, (double)count * (double)element_work, hw_ceil_divide(count, BLOCK), task, job);
}

void hw_activation_forward(const hw_run *run, hw_activation activation, const float *x, float *y, size_t count) {
  spread(run, ACTIVATION_WORK, elements_item, count,
         &(elements){.a = x, .y = y, .count = count, .forward = activations[activation].forward});
}

void hw_activation_backward_of(const hw_run *run, hw_activation activation, const float *x, const float *dy, float *dx,
                               float *y, size_t count) {
  spread(
      run, ACTIVATION_WORK, elements_item, count,
      &(elements){.a = x, .b = dy, .y = dx, .value = y, .count = count, .backward = activations[activation].backward});
}

void hw_add_forward(const hw_run *run, const float *a, const float *b, float *y, size_t count) {
  spread(run, ADD_WORK, elements_item, count, &(elements){.a = a, .b = b, .y = y, .count = count});
}

/* ---- Gated ---- */

typedef struct gated {
  const activation_rows *rows;
  const float *gate;
  const float *x;
  const float *dy; /* NULL: forward */
  float *d_gate;
  float *dx;
  float *y;
  size_t count;
} gated;

/* Some elements of an item, so that what is between two steps stays in the first-level cache. */
static void gated_part(const gated *g, size_t first, size_t count) {
  enum { PART = 256 };
  for (size_t i = first; i < first + count; i += PART) {
    const size_t part = hw_min(first + count - i, PART);
    float activated[PART];
    float d_activated[PART];
    if (g->dy == NULL) {
      g->rows->forward(g->gate + i, activated, part);
    } else {
      hw_row_multiply(g->dy + i, g->x + i, d_activated, part);
      g->rows->backward(g->gate + i, d_activated, g->d_gate + i, activated, part);
    }
    hw_row_multiply(activated, g->x + i, g->y + i, part);
    if (g->dy != NULL) {
      hw_row_multiply(g->dy + i, activated, g->dx + i, part);
    }
  }
}

static void gated_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const gated *g = job;
  const size_t first = item * BLOCK;
  gated_part(g, first, hw_min(g->count - first, BLOCK));
}

void hw_gated_forward(const hw_run *run, hw_activation activation, const float *gate, const float *x, float *y,
                      size_t count) {
  spread(run, ACTIVATION_WORK, gated_item, count,
         &(gated){.rows = &activations[activation], .gate = gate, .x = x, .y = y, .count = count});
}

void hw_gated_backward(const hw_run *run, hw_activation activation, const float *gate, const float *x, const float *dy,
                       float *d_gate, float *dx, float *y, size_t count) {
  spread(run, ACTIVATION_WORK, gated_item, count,
         &(gated){&activations[activation], gate, x, dy, d_gate, dx, y, count});
}

/* ---- Dropout ---- */

typedef struct dropping {
  const uint32_t *kept;
  const float *x;
  float *y;
  size_t count;
  float scale;
} dropping;

static void dropout_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const dropping *d = job;
  const size_t first = item * BLOCK;
  hw_row_keep(d->x + first, d->kept + first / 32, d->scale, d->y + first, hw_min(d->count - first, BLOCK));
}

void hw_dropout_apply(const hw_run *run, double dropout, const uint32_t *kept, const float *x, float *y, size_t count) {
  spread(run, ADD_WORK, dropout_item, count, &(dropping){kept, x, y, count, hw_kept_scale(dropout)});
}

/* Elements are drawn one after another, in torch's order. */
void hw_dropout_forward(const hw_run *run, double dropout, uint32_t *kept, float *x, size_t count) {
  const size_t mark = run->arena->used;
  if (dropout == 0.0) {
    return;
  }
  if (kept == NULL) {
    kept = hw_arena_take(run->arena, hw_kept_words(count), sizeof *kept);
  }
  if (!hw_run_measures(run)) {
    hw_generator_draw_kept(&run->context->generator, dropout, kept, 1, count);
    hw_dropout_apply(run, dropout, kept, x, x, count);
  }
  run->arena->used = mark;
}
