/* Cross-entropy of rows of logits, with its gradient, shared among threads. */
#ifndef HW_OPS_CROSS_ENTROPY_H
#define HW_OPS_CROSS_ENTROPY_H

#include "ops/run.h"

/* Of a call that has passed hw_cross_entropy_check, but for its pointers while the run is measured. Each row is treated alone, so
 * that a head may take its rows in chunks. */
void hw_cross_entropy_forward(const hw_run *run, const hw_cross_entropy_call *call);

hw_status hw_cross_entropy_check(const hw_cross_entropy_call *call);

#endif
