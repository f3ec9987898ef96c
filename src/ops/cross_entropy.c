#include "ops/cross_entropy.h"

#include <math.h>
#include <string.h>

#include "kernels/cross_entropy.h"

enum {
  /* Floats of one item. */
  BLOCK = 1 << 12,
  /* What an element costs, in multiply-adds of a matrix product. */
  ELEMENT_WORK = 24,
};

typedef struct entropy_job {
  const hw_cross_entropy_call *call;
  float *scratch; /* a row for each thread, where no gradient is wanted */
} entropy_job;

static size_t rows_of_item(const hw_cross_entropy_call *call) { return hw_ceil_divide(BLOCK, call->classes); }

static void treat_row(const hw_cross_entropy_call *c, size_t row, float *gradient) {
  double loss = 0.0;
  if (c->targets[row] != c->ignore_index) {
    const float scale = c->row_scales == NULL ? c->scale : c->scale * c->row_scales[row];
    loss = hw_cross_entropy_row(c->logits + row * c->classes, c->classes, (size_t)c->targets[row], c->label_smoothing,
                                scale, gradient);
  } else if (c->gradient != NULL) {
    memset(gradient, 0, c->classes * sizeof *gradient);
  }
  if (c->losses != NULL) {
    c->losses[row] = (float)loss;
  }
}

static void entropy_item(const void *job, size_t item, size_t thread) {
  const entropy_job *all = job;
  const hw_cross_entropy_call *c = all->call;
  const size_t block = rows_of_item(c);
  const size_t end = hw_min(c->rows, (item + 1) * block);
  for (size_t row = item * block; row < end; row++) {
    treat_row(c, row, c->gradient == NULL ? all->scratch + thread * c->classes : c->gradient + row * c->classes);
  }
}

void hw_cross_entropy_forward(const hw_run *run, const hw_cross_entropy_call *call) {
  const size_t mark = run->arena->used;
  const double work = (double)call->rows * (double)call->classes * (double)ELEMENT_WORK;
  hw_team *team = hw_run_team(run, work);
  const size_t threads = call->gradient == NULL ? hw_team_threads(team) : 0;
  const entropy_job job = {call, hw_run_take_floats(run, threads, call->classes)};
  run->arena->used = mark;
  if (!hw_run_measures(run)) {
    hw_parallel_for(team, work, hw_ceil_divide(call->rows, rows_of_item(call)), entropy_item, &job);
  }
}

static hw_status check(const hw_cross_entropy_call *call) {
  if (call->classes == 0) {
    return HW_ERROR_SHAPE;
  }
  /* NaN is in no range. */
  const bool smoothing = call->label_smoothing >= 0.0F && call->label_smoothing <= 1.0F;
  if (!smoothing || call->logits == NULL || call->targets == NULL) {
    return HW_ERROR_VALUE;
  }
  for (size_t i = 0; i < call->rows; i++) {
    if (!hw_target_fits(call->targets[i], call->ignore_index, call->classes)) {
      return HW_ERROR_VALUE;
    }
  }
  return HW_OK;
}

static void forward(hw_run *run, const void *call) { hw_cross_entropy_forward(run, call); }

hw_status hw_cross_entropy(hw_context *context, const hw_cross_entropy_call *call) {
  if (call == NULL) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(check(call));
  return hw_run_forward(context, NULL, NULL, forward, call);
}
