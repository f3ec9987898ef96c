/* Records of attention on a tape, and the weights recomputed from them. */
#ifndef HW_OPS_TRACE_H
#define HW_OPS_TRACE_H

#include "ops/attention.h"

/* The tape's entry for a call: a new one if it has the first of the heads that share it, else the last. NULL without a
 * tape. A run that is measured allocates it, with a copy of the mask. */
hw_trace *hw_trace_on_tape(hw_run *run, const hw_attention *attention, const hw_attention_state *state);

/* Copies a call's queries into the trace, as heads first_head and up. */
void hw_trace_copy_queries(hw_trace *trace, const hw_attention *attention, size_t first_head);

/* Where that call must record. */
hw_attention_record hw_trace_record(const hw_trace *trace, size_t first_head);

#endif
