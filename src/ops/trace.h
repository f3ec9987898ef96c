/* What a call of attention leaves, from which its weights are recomputed. */
#ifndef HW_OPS_TRACE_H
#define HW_OPS_TRACE_H

#include "ops/attention_call.h"

struct hw_trace {
  hw_arena memory;
  hw_attention call; /* query and mask point into memory; key, value and output are unused */
  hw_attention_record record;
  float *query;
};

/* A trace of all of `heads`, which calls for some of them may share, with a copy of the mask. On an error *trace is NULL.
 * HW_ERROR_MEMORY. */
hw_status hw_trace_create(const hw_attention *attention, size_t heads, hw_matrix_type dtype, hw_trace **trace);

/* Copies a call's queries into the trace, as heads first_head and up. */
void hw_trace_copy_queries(hw_trace *trace, const hw_attention *attention, size_t first_head);

/* Where that call must record. */
hw_attention_record hw_trace_record(const hw_trace *trace, size_t first_head);

#endif
