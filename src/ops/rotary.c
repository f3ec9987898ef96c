#include "ops/rotary.h"

#include <assert.h>
#include <string.h>

#include "kernels/rotary.h"

enum {
  /* Tokens of one item. */
  TOKENS = 32,
  /* What an element costs, in multiply-adds of a matrix product. */
  ELEMENT_WORK = 8,
};

typedef struct rotating {
  const hw_rotary *rotary;
  const float *x;
  const hw_strides *x_strides;
  float *y;
  const hw_strides *y_strides;
  float sign;
} rotating;

static void rotate_token(const rotating *r, size_t batch, size_t token) {
  const hw_rotary *rotary = r->rotary;
  const size_t rotated = 2 * rotary->half;
  for (size_t head = 0; head < rotary->heads; head++) {
    const float *x = r->x + batch * r->x_strides->batch + head * r->x_strides->head + token * r->x_strides->token;
    float *y = r->y + batch * r->y_strides->batch + head * r->y_strides->head + token * r->y_strides->token;
    hw_rotate_row(x, rotary->cos + token * rotary->half, rotary->sin + token * rotary->half, rotary->half, r->sign, y);
    if (x != y) {
      memcpy(y + rotated, x + rotated, (rotary->width - rotated) * sizeof *y);
    }
  }
}

static void rotate_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const rotating *r = job;
  const size_t blocks = hw_ceil_divide(r->rotary->tokens, TOKENS);
  const size_t batch = hw_quotient(item, blocks);
  const size_t first = (item - batch * blocks) * TOKENS;
  const size_t end = hw_min(r->rotary->tokens, first + TOKENS);
  for (size_t token = first; token < end; token++) {
    rotate_token(r, batch, token);
  }
}

static void rotate(const hw_run *run, const rotating *job) {
  const hw_rotary *r = job->rotary;
  assert(2 * r->half <= r->width);
  if (!hw_run_measures(run)) {
    const double work = (double)r->batch * (double)r->heads * (double)r->tokens * (double)(r->width * ELEMENT_WORK);
    hw_parallel_for(hw_run_team(run, work), work, r->batch * hw_ceil_divide(r->tokens, TOKENS), rotate_item, job);
  }
}

void hw_rotary_forward(const hw_run *run, const hw_rotary *rotary, const float *x, const hw_strides *x_strides,
                       float *y, const hw_strides *y_strides) {
  rotate(run, &(rotating){rotary, x, x_strides, y, y_strides, 1.0F});
}

void hw_rotary_backward(const hw_run *run, const hw_rotary *rotary, const float *dy, const hw_strides *dy_strides,
                        float *dx, const hw_strides *dx_strides) {
  rotate(run, &(rotating){rotary, dy, dy_strides, dx, dx_strides, -1.0F});
}
