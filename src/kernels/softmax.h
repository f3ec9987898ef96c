/* Softmax over rows. */
#ifndef HW_KERNELS_SOFTMAX_H
#define HW_KERNELS_SOFTMAX_H

#include <stddef.h>

/* y = softmax(x) for one row; y may be x. All -inf gives zeros; NaN or +inf gives NaN. */
void hw_softmax_row(const float *x, float *y, size_t count);

/* Largest of count values (-inf if none), NaN passed over. */
float hw_row_maximum(const float *x, size_t count);

/* y[i] = 2^((x[i] - shift)·scale), y may be x; returns the sum. (x[i] - shift)·scale must not exceed 0. */
float hw_row_exp2(const float *x, float *y, size_t count, float shift, float scale);

/* x[i] = 2^(x[i] - shift), count a multiple of 8; returns the sum. x[i] - shift must not exceed 0. */
float hw_row_exp2_shifted(float *x, size_t count, float shift);

/* y[i] = x[i]·factor, y may be x. */
void hw_row_scale(const float *x, float *y, size_t count, float factor);

#endif
