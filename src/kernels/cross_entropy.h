/* Cross-entropy of one row of logits, and its gradient. */
#ifndef HW_KERNELS_CROSS_ENTROPY_H
#define HW_KERNELS_CROSS_ENTROPY_H

#include <stddef.h>

/* log(sum of exp(x)) - (1 - smoothing)·x[target] - smoothing·mean(x), and gradient [count] = scale times the loss's gradient:
 * softmax(x) - (1 - smoothing)·[target] - smoothing/count. gradient may be x. */
double hw_cross_entropy_row(const float *x, size_t count, size_t target, float smoothing, float scale, float *gradient);

#endif
