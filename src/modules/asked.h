/* The tokens of each sequence whose logits a call asks for. */
#ifndef HW_MODULES_ASKED_H
#define HW_MODULES_ASKED_H

#include "ops/run.h"

/* Of each sequence. */
size_t hw_asked_tokens(const hw_input *input);

/* The first of a sequence. */
size_t hw_first_asked(const hw_input *input, size_t batch);

/* Copies `width` floats of each asked token's row, one after another; rows of both are `stride` apart, and may be the same. */
void hw_copy_asked(const hw_run *run, const hw_input *input, const float *x, size_t width, size_t stride, float *asked);

/* In a layer that gives only the asked tokens' rows: leaves a call of attention those queries, moved to the first rows, unless more
 * is wanted of the others. What comes out keeps its bits. */
void hw_drop_queries(const hw_run *run, const hw_input *input, hw_attention *attention);

/* There, moves the asked tokens' outputs to the first rows, unless those are all. Returns how many rows are left. */
size_t hw_keep_outputs(const hw_run *run, const hw_input *input, hw_attention *attention);

#endif
