#include <float.h>
#include <math.h>

#include "kernels/cross_entropy.h"
#include "kernels/softmax.h"
#include "ops/run.h"

typedef struct sampling_call {
  const float *logits;
  size_t count;
  const hw_sampling *sampling;
  size_t likeliest;
  uint32_t *id;
  double *log_probability;
} sampling_call;

/* The first of the largest; `count`: one is NaN. */
static size_t likeliest_of(const float *logits, size_t count) {
  size_t best = 0;
  for (size_t i = 0; i < count; i++) {
    if (!(logits[i] <= logits[best])) {
      if (isnan(logits[i])) {
        return count;
      }
      best = i;
    }
  }
  return best;
}

/* Puts a value at a place of a heap whose root is the largest, or below it. */
static void sift_down(float *heap, size_t count, size_t place, float value) {
  for (size_t child; (child = 2 * place + 1) < count; place = child) {
    child += child + 1 < count && heap[child + 1] > heap[child];
    if (heap[child] <= value) {
      break;
    }
    heap[place] = heap[child];
  }
  heap[place] = value;
}

/* The least of the k largest. */
static float least_of_largest(const float *x, size_t count, size_t k, float *heap) {
  for (size_t i = 0; i < k; i++) {
    heap[i] = INFINITY;
  }
  for (size_t i = 0; i < count; i++) {
    if (-x[i] < heap[0]) {
      sift_down(heap, k, 0, -x[i]);
    }
  }
  return -heap[0];
}

/* Weights above `edge`, and the first `tied` of those that equal it. */
typedef struct nucleus {
  double sum; /* of them */
  float edge;
  size_t tied;
} nucleus;

/* The fewest of the largest weights that have the share of their sum. */
static nucleus nucleus_of(const float *weights, size_t count, double sum, double share, float *heap) {
  /* All weights below this have less than the rest of the sum together. */
  const double least = (1.0 - share) * sum / (2.0 * (double)count);
  size_t candidates = 0;
  for (size_t i = 0; i < count; i++) {
    if ((double)weights[i] >= least) {
      heap[candidates++] = weights[i];
    }
  }
  for (size_t place = candidates / 2; place-- > 0;) {
    sift_down(heap, candidates, place, heap[place]);
  }
  nucleus kept = {(double)heap[0], heap[0], 1};
  while (kept.sum < share * sum && candidates > 1) {
    candidates--;
    sift_down(heap, candidates, 0, heap[candidates]);
    kept.tied = heap[0] == kept.edge ? kept.tied + 1 : 1;
    kept.edge = heap[0];
    kept.sum += (double)kept.edge;
  }
  return kept;
}

static size_t draw(const sampling_call *c, float *weights, float *scratch) {
  const hw_sampling *s = c->sampling;
  const float top = c->logits[c->likeliest];
  const float least = s->top_k < c->count ? least_of_largest(c->logits, c->count, s->top_k, scratch) : -INFINITY;
  /* Neither 0 nor infinite: times an infinite difference or none it would be NaN. */
  const double rate = 1.0 / s->temperature;
  const float factor = rate > (double)FLT_MAX ? FLT_MAX : rate < (double)FLT_MIN ? FLT_MIN : (float)rate;
  for (size_t i = 0; i < c->count; i++) {
    weights[i] = c->logits[i] >= least ? (c->logits[i] - top) * factor : -INFINITY;
  }
  nucleus among = {hw_row_exp(weights, weights, c->count, 0.0F), 0.0F, 0};
  if (s->top_p < 1.0) {
    among = nucleus_of(weights, c->count, among.sum, s->top_p, scratch);
  }
  /* Of rounding at the end of the sum the last token that may be drawn gets the rest. */
  size_t chosen = c->likeliest;
  double left = s->uniform * among.sum;
  for (size_t i = 0; i < c->count && left >= 0.0; i++) {
    const bool is_tied = weights[i] == among.edge && among.tied > 0;
    among.tied -= is_tied;
    if (is_tied || weights[i] > among.edge) {
      chosen = i;
      left -= (double)weights[i];
    }
  }
  return chosen;
}

static void forward(hw_run *run, const void *call) {
  const sampling_call *c = call;
  float *weights = hw_run_take_floats(run, 2, c->count);
  if (hw_run_measures(run)) {
    return;
  }
  const bool is_drawn = c->sampling->temperature > 0.0 && isfinite(c->logits[c->likeliest]);
  const size_t id = is_drawn ? draw(c, weights, weights + c->count) : c->likeliest;
  *c->id = (uint32_t)id;
  if (c->log_probability != NULL) {
    *c->log_probability = -hw_cross_entropy_row(c->logits, c->count, id, 0.0F, 1.0F, weights);
  }
}

/* NaN is in no range. */
static bool is_sampling(const hw_sampling *s) {
  return isfinite(s->temperature) && s->temperature >= 0.0 && s->top_k >= 1 && s->top_p >= 0.0 && s->top_p <= 1.0 &&
         s->uniform >= 0.0 && s->uniform < 1.0;
}

hw_status hw_sample(hw_context *context, const float *logits, size_t count, const hw_sampling *sampling, uint32_t *id,
                    double *log_probability) {
  if (count == 0) {
    return HW_ERROR_SHAPE;
  }
  if (logits == NULL || sampling == NULL || id == NULL || !is_sampling(sampling)) {
    return HW_ERROR_VALUE;
  }
  const size_t likeliest = likeliest_of(logits, count);
  if (likeliest == count) {
    return HW_ERROR_VALUE;
  }
  const sampling_call call = {logits, count, sampling, likeliest, id, log_probability};
  return hw_run_forward(context, NULL, NULL, forward, &call);
}
