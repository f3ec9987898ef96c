#include "ops/run.h"

static const hw_forward_options no_options;

static bool is_same(const hw_scratch_key *a, const hw_scratch_key *b) {
  return a->module == b->module && a->version == b->version && a->batch == b->batch && a->tokens == b->tokens &&
         a->logits == b->logits;
}

static void measure(hw_run *run, const hw_scratch_key *key, hw_forward forward, const void *call) {
  hw_arena measuring = {.measures = true};
  run->arena = &measuring;
  forward(run, call);
  run->context->last = key == NULL ? (hw_scratch_key){0} : *key;
  run->context->last_bytes = measuring.peak;
}

hw_status hw_run_forward(hw_context *context, const hw_forward_options *options, const hw_scratch_key *key,
                         hw_forward forward, const void *call) {
  if (context == NULL) {
    return HW_ERROR_VALUE;
  }
  hw_tape tape = {.entries = options == NULL ? NULL : options->trace};
  hw_run run = {
      .context = context,
      .tape = tape.entries == NULL ? NULL : &tape,
      .options = options == NULL ? &no_options : options,
  };
  if (key == NULL || !is_same(key, &context->last)) {
    measure(&run, key, forward, call);
  }
  const hw_status status = run.status == HW_OK ? hw_context_reserve(context, context->last_bytes) : run.status;
  if (status != HW_OK) {
    for (size_t i = 0; i < tape.count; i++) {
      hw_trace_destroy(tape.entries[i]);
      tape.entries[i] = NULL;
    }
    return status;
  }
  run.arena = &context->arena;
  run.layer = 0;
  tape.count = 0;
  forward(&run, call);
  return HW_OK;
}
