/*
 * GELU (Hendrycks & Gimpel 2016), four at a time: x times the probability that a standard normal is below x.
 *
 * Computed as max(x, 0) - |x|·Q(|x|), Q the upper tail, and the tanh form as x/(1 + exp(-2u)), so that nothing cancels
 * where x is negative: at most 8 ULP, the tanh form for negative x 2·log2(1/Q) more, or 2^-122 where that is more. NaN stays
 * NaN, inf stays inf, -inf gives 0.
 */
#ifndef HW_KERNELS_GELU_H
#define HW_KERNELS_GELU_H

#include <stddef.h>

/* y[i] = x[i]·Φ(x[i]); y may be x. */
void hw_row_gelu(const float *x, float *y, size_t count);

/* y[i] = x[i]/2·(1 + tanh(√(2/π)·(x[i] + 0.044715·x[i]³))); y may be x. */
void hw_row_gelu_tanh(const float *x, float *y, size_t count);

/* dx[i] = dy[i] times the slope at x[i], which is within 3e-7 of the truth; dx may be dy or x. y, if it is not NULL, is
 * what the function gives, to the same bits; it is none of the others. */
void hw_row_gelu_backward(const float *x, const float *dy, float *dx, float *y, size_t count);
void hw_row_gelu_tanh_backward(const float *x, const float *dy, float *dx, float *y, size_t count);

#endif
