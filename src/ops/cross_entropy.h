/* Cross-entropy of rows of logits, with its gradient, shared among threads. */
#ifndef HW_OPS_CROSS_ENTROPY_H
#define HW_OPS_CROSS_ENTROPY_H

#include "ops/run.h"

/* The call is one that hw_cross_entropy takes, but for its pointers while the run is measured. Rows are independent, so
 * a head may pass them in chunks. */
void hw_cross_entropy_forward(const hw_run *run, const hw_cross_entropy_call *call);

/* Whether a target is a class, or ignored. */
static inline bool hw_target_fits(int32_t target, int32_t ignore_index, size_t classes) {
  return target == ignore_index || (target >= 0 && (size_t)target < classes);
}

#endif
