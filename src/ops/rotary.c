#include "ops/rotary.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/sine.h"
#include "kernels/rotary.h"

enum {
  /* Tokens of one item. */
  TOKENS = 32,
  /* What an element costs, in multiply-adds of a matrix product. */
  ELEMENT_WORK = 8,
};

bool hw_factor_is_valid(double factor) { return isfinite((float)factor) && (float)factor != 0.0F; }

hw_status hw_rotary_check(const hw_rotary_config *config, size_t head_dim, size_t positions) {
  if (config->pairs > head_dim / 2) {
    return HW_ERROR_SHAPE;
  }
  const double most = HW_LARGEST_ANGLE / (double)positions;
  bool is_valid = config->frequencies != NULL && hw_factor_is_valid(config->factor);
  for (size_t i = 0; is_valid && i < config->pairs; i++) {
    is_valid = config->frequencies[i] >= 0.0 && config->frequencies[i] < most;
  }
  return is_valid ? HW_OK : HW_ERROR_VALUE;
}

hw_angles hw_angles_take(const hw_run *run, const hw_rotary_config *config, const hw_places *places) {
  const size_t pairs = config->pairs;
  const bool are_shared = places->ids == NULL && places->firsts == NULL;
  const size_t row = hw_size_multiply(places->tokens, pairs);
  const size_t count = are_shared ? row : hw_size_multiply(places->batch, row);
  float *cosines = hw_run_take_floats(run, count, 1);
  float *sines = hw_run_take_floats(run, count, 1);
  for (size_t i = 0; !hw_run_measures(run) && i < count; i++) {
    double sine;
    double cosine;
    hw_sine_cosine((double)hw_place_of(places, i / pairs) * config->frequencies[i % pairs], &sine, &cosine);
    cosines[i] = (float)(cosine * config->factor);
    sines[i] = (float)(sine * config->factor);
  }
  return (hw_angles){cosines, sines, pairs, are_shared ? 0 : row};
}

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
  const hw_angles *a = &rotary->angles;
  const size_t rotated = 2 * a->pairs;
  for (size_t head = 0; head < rotary->heads; head++) {
    const float *x = r->x + batch * r->x_strides->batch + head * r->x_strides->head + token * r->x_strides->token;
    float *y = r->y + batch * r->y_strides->batch + head * r->y_strides->head + token * r->y_strides->token;
    if (rotated > 0) {
      const size_t at = batch * a->batch_stride + token * a->pairs;
      hw_rotate_row(x, a->cos + at, a->sin + at, a->pairs, r->sign, y);
    }
    if (x != y) {
      memcpy(y + rotated, x + rotated, (rotary->width - rotated) * sizeof *y);
    }
  }
}

static void rotate_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const rotating *r = job;
  const hw_block_item tokens = hw_block_item_of(item, r->rotary->tokens, TOKENS);
  for (size_t token = tokens.start; token < tokens.end; token++) {
    rotate_token(r, tokens.outer, token);
  }
}

static void rotate(const hw_run *run, const rotating *job) {
  const hw_rotary *r = job->rotary;
  assert(2 * r->angles.pairs <= r->width);
  const double work = (double)r->batch * (double)r->heads * (double)r->tokens * (double)(r->width * ELEMENT_WORK);
  hw_run_items(run, work, r->batch * hw_ceil_divide(r->tokens, TOKENS), rotate_item, job);
}

void hw_rotary_forward(const hw_run *run, const hw_rotary *rotary, const float *x, const hw_strides *x_strides,
                       float *y, const hw_strides *y_strides) {
  rotate(run, &(rotating){rotary, x, x_strides, y, y_strides, 1.0F});
}

void hw_rotary_backward(const hw_run *run, const hw_rotary *rotary, const float *dy, const hw_strides *dy_strides,
                        float *dx, const hw_strides *dx_strides) {
  rotate(run, &(rotating){rotary, dy, dy_strides, dx, dx_strides, -1.0F});
}
