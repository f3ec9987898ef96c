#include "kernels/attention_gradient.h"
#include "ops/attention.h"

/* What the items of a run share. */
typedef struct gradient_job {
  const hw_attention *call;
  const hw_attention_gradient *gradient;
  hw_attention_record record;
  unsigned char *scratch; /* thread_bytes for each thread */
  size_t thread_bytes;
} gradient_job;

static const float *read_at(const float *tensor, const hw_strides *strides, size_t batch, size_t head) {
  return tensor + batch * strides->batch + head * strides->head;
}

/* NULL stays NULL. */
static float *written_at(float *tensor, const hw_strides *strides, size_t batch, size_t head) {
  return tensor == NULL ? NULL : tensor + batch * strides->batch + head * strides->head;
}

static hw_gradient_keys keys_of(const gradient_job *job, size_t batch, size_t head) {
  const hw_attention *a = job->call;
  const hw_attention_gradient *g = job->gradient;
  return (hw_gradient_keys){
      .tokens = a->key_tokens,
      .visible = a->key_lengths == NULL ? a->key_tokens : a->key_lengths[batch],
      .key_width = a->key_width,
      .value_width = a->value_width,
      .key = read_at(a->key, &a->key_strides, batch, head),
      .value = read_at(a->value, &a->value_strides, batch, head),
      .key_stride = a->key_strides.token,
      .value_stride = a->value_strides.token,
      .key_gradient = written_at(g->key, &g->key_strides, batch, head),
      .value_gradient = written_at(g->value, &g->value_strides, batch, head),
      .key_gradient_stride = g->key_strides.token,
      .value_gradient_stride = g->value_strides.token,
      .scale = a->scale,
  };
}

static hw_gradient_head head_of(const gradient_job *job, size_t batch, size_t head) {
  const hw_attention *a = job->call;
  const hw_attention_gradient *g = job->gradient;
  /* Its panels are not looked at. */
  const hw_key_value_store none = {.memory = job->scratch};
  const size_t mask_at = batch * a->mask.batch_stride + head * a->mask.head_stride;
  const size_t weights_at = batch * a->weights_batch_stride + head * a->query_tokens * a->key_tokens;
  return (hw_gradient_head){
      .head = hw_attention_head_of(a, &job->record, &none, batch, head),
      .output_gradient = read_at(g->output, &g->output_strides, batch, head),
      .output_gradient_stride = g->output_strides.token,
      .query_gradient = written_at(g->query, &g->query_strides, batch, head),
      .query_gradient_stride = g->query_strides.token,
      .mask_gradient = g->mask == NULL ? NULL : g->mask + mask_at,
      .weights = hw_const_floats_from(a->weights, weights_at),
      .weights_gradient = hw_const_floats_from(g->weights, weights_at),
  };
}

/* A head of keys and values, with the heads of queries that share it one after another. */
static void gradient_item(const void *job, size_t item, size_t thread) {
  const gradient_job *all = job;
  const hw_attention *a = all->call;
  const size_t batch = hw_quotient(item, a->key_heads);
  const size_t key_head = item - batch * a->key_heads;
  const size_t sharing = a->heads / a->key_heads;
  const hw_gradient_keys keys = keys_of(all, batch, key_head);
  hw_key_gradients gradients;
  hw_start_key_gradients(&gradients, &keys, all->scratch + thread * all->thread_bytes);
  for (size_t head = key_head * sharing; head < (key_head + 1) * sharing; head++) {
    const hw_gradient_head of = head_of(all, batch, head);
    hw_add_head_gradients(&gradients, &of);
  }
  hw_finish_key_gradients(&gradients);
}

void hw_attention_backward(const hw_run *run, const hw_attention *attention, const hw_attention_gradient *gradient) {
  const hw_attention *a = attention;
  const size_t mark = run->arena->used;
  const double rows = (double)a->batch * (double)a->heads * (double)a->query_tokens;
  const double work = rows * (double)a->key_tokens * (double)(3 * a->key_width + 2 * a->value_width);
  /* Broadcast elements of a mask add up in the order of the heads: one thread. */
  hw_team *team = gradient->mask == NULL ? hw_run_team(run, work) : NULL;
  const size_t bytes = hw_attention_gradient_scratch_bytes(a->key_tokens, a->key_width, a->value_width);
  gradient_job job = {
      .call = a,
      .gradient = gradient,
      .record = {.row_maximum = a->row_maximum, .row_sum = a->row_sum, .batch_heads = a->heads},
      .thread_bytes = hw_arena_size(bytes, 1),
  };
  job.record.kept = a->dropout > 0.0 ? a->kept : NULL;
  job.scratch = hw_arena_take(run->arena, hw_team_threads(team), job.thread_bytes);
  run->arena->used = mark;
  /* A batch without tokens may be larger than any loop. */
  if (!hw_run_measures(run) && (a->query_tokens > 0 || a->key_tokens > 0)) {
    hw_parallel_for(team, work, a->batch * a->key_heads, gradient_item, &job);
  }
}

static hw_status check(const hw_attention *attention, const hw_attention_gradient *gradient) {
  const hw_attention *a = attention;
  const bool is_recorded = a->row_maximum != NULL && a->row_sum != NULL && (a->dropout == 0.0 || a->kept != NULL);
  const bool has_mask = gradient->mask == NULL || a->mask.kind == HW_MASK_FLOAT;
  const bool has_weights =
      gradient->weights == NULL || (a->weights != NULL && a->weights_kind == HW_WEIGHTS_PROBABILITIES);
  return is_recorded && has_mask && has_weights && gradient->output != NULL ? HW_OK : HW_ERROR_VALUE;
}

typedef struct backward_call {
  const hw_attention *attention;
  const hw_attention_gradient *gradient;
} backward_call;

static void backward(hw_run *run, const void *call) {
  const backward_call *f = call;
  hw_attention_backward(run, f->attention, f->gradient);
}

hw_status hw_scaled_dot_product_attention_backward(hw_context *context, const hw_attention *attention,
                                                   const hw_attention_gradient *gradient) {
  if (attention == NULL || gradient == NULL) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(hw_attention_check(attention));
  HW_TRY(check(attention, gradient));
  return hw_run_forward(context, NULL, NULL, backward, &(backward_call){attention, gradient});
}
