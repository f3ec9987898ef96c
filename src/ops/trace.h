/* What attention leaves on a tape, and what is recomputed from it. */
#ifndef HW_OPS_TRACE_H
#define HW_OPS_TRACE_H

#include "ops/attention.h"

/* The tape's next entry, for calls that look like `attention` and have `heads` heads in all (a wrapper fills it with one call
 * per head); NULL without a tape. A run that is measured allocates it, with a copy of the mask, whose head 0 is the trace's
 * head 0. */
hw_trace *hw_trace_push(hw_run *run, const hw_attention *attention, size_t heads);

/* Copies a call's queries into the trace, as heads first_head and up. */
void hw_trace_copy_queries(hw_trace *trace, const hw_attention *attention, size_t first_head);

/* Where that call must record. */
hw_attention_record hw_trace_record(const hw_trace *trace, size_t first_head);

#endif
