/* What module forwards need to leave a trace behind. */
#ifndef HW_LAYERS_TRACE_H
#define HW_LAYERS_TRACE_H

#include "layers/scaled_dot_product_attention.h"

/* An empty trace for a forward whose calls look like `attention`, with `heads` heads in all (a wrapper fills it with
 * one call per head). Copies the mask, whose head 0 is the trace's head 0. */
hw_status hw_trace_create(const hw_attention *attention, size_t heads, hw_trace **trace);

/* Copies the call's queries into the trace, as heads first_head and up, and returns where the call must record. */
hw_attention_record hw_trace_record(hw_trace *trace, const hw_attention *attention, size_t first_head);

#endif
