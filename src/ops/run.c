#include "ops/run.h"

static const hw_forward_options no_options;

hw_status hw_run_forward(hw_context *context, const hw_forward_options *options, hw_forward forward, const void *call) {
  if (context == NULL) {
    return HW_ERROR_VALUE;
  }
  hw_arena measuring = {.measures = true};
  hw_tape tape = {.entries = options == NULL ? NULL : options->trace};
  hw_run run = {
      .context = context,
      .arena = &measuring,
      .tape = tape.entries == NULL ? NULL : &tape,
      .options = options == NULL ? &no_options : options,
  };
  forward(&run, call);
  const hw_status status = run.status == HW_OK ? hw_context_reserve(context, measuring.peak) : run.status;
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
