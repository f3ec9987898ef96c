#include "ops/run.h"

static const hw_forward_options no_options;

static bool is_same(const hw_scratch_key *a, const hw_scratch_key *b) {
  return a->module == b->module && a->version == b->version && a->batch == b->batch && a->tokens == b->tokens &&
         a->logits == b->logits && a->is_head == b->is_head;
}

static void measure(hw_run *run, hw_forward forward, const void *call) {
  hw_arena measuring = {.measures = true};
  run->arena = &measuring;
  forward(run, call);
  run->context->last = (hw_scratch_key){0};
  run->context->last_bytes = measuring.peak;
}

static hw_run begin(hw_context *context, const hw_forward_options *options) {
  return (hw_run){
      .context = context,
      .tape.traces = options == NULL ? NULL : options->trace,
      .options = options == NULL ? &no_options : options,
  };
}

static void drop_traces(hw_tape *tape) {
  for (size_t i = 0; i < tape->count; i++) {
    hw_trace_destroy(tape->traces[i]);
    tape->traces[i] = NULL;
  }
}

/* After the run has been measured. */
static hw_status compute(hw_run *run, hw_forward forward, const void *call) {
  const hw_status status =
      run->status == HW_OK ? hw_context_reserve(run->context, run->context->last_bytes) : run->status;
  if (status != HW_OK) {
    drop_traces(&run->tape);
    return status;
  }
  run->arena = &run->context->arena;
  run->layer = 0;
  run->tape.count = 0;
  forward(run, call);
  return HW_OK;
}

hw_status hw_run_forward(hw_context *context, const hw_forward_options *options, const hw_scratch_key *key,
                         hw_forward forward, const void *call) {
  if (context == NULL) {
    return HW_ERROR_VALUE;
  }
  hw_run run = begin(context, options);
  if (key == NULL || !is_same(key, &context->last)) {
    measure(&run, forward, call);
    context->last = key == NULL ? (hw_scratch_key){0} : *key;
  }
  return compute(&run, forward, call);
}

hw_status hw_run_recorded(hw_context *context, const hw_forward_options *options, hw_arena *kept, hw_forward forward,
                          const void *call) {
  if (context == NULL) {
    return HW_ERROR_VALUE;
  }
  hw_run run = begin(context, options);
  hw_arena measuring = {.measures = true};
  run.tape.kept = &measuring;
  measure(&run, forward, call);
  run.tape.kept = kept;
  if (run.status == HW_OK) {
    const size_t bytes = hw_size_add(measuring.used, run.tape.recomputed_bytes);
    run.status = hw_arena_reserve(kept, hw_max(measuring.peak, bytes));
  }
  const hw_status status = compute(&run, forward, call);
  if (status != HW_OK) {
    hw_arena_release(kept);
  }
  return status;
}

hw_status hw_run_backward(hw_context *context, const hw_forward_options *options, hw_arena *kept, hw_forward backward,
                          const void *call) {
  if (context == NULL) {
    return HW_ERROR_VALUE;
  }
  const size_t full = kept->used;
  hw_run run = begin(context, options);
  run.tape.kept = kept;
  run.tape.recomputed_start = full;
  measure(&run, backward, call);
  kept->used = full;
  const hw_status status = compute(&run, backward, call);
  assert(status != HW_OK || kept->used == 0);
  kept->used = full;
  return status;
}

void hw_run_items(const hw_run *run, double work, size_t items, hw_task task, const void *job) {
  if (!hw_run_measures(run)) {
    hw_parallel_for(hw_run_team(run, work), work, items, task, job);
  }
}
