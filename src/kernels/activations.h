/* ReLU, SiLU (Hendrycks & Gimpel 2016; Ramachandran et al. 2017) and tanh, and what they make of gradients. */
#ifndef HW_KERNELS_ACTIVATIONS_H
#define HW_KERNELS_ACTIVATIONS_H

#include <stddef.h>

/* y[i] = max(x[i], 0), x[i]/(1 + exp(-x[i])) or tanh(x[i]); y may be x. NaN stays NaN; SiLU of -inf is 0. */
void hw_row_relu(const float *x, float *y, size_t count);
void hw_row_silu(const float *x, float *y, size_t count);
void hw_row_tanh(const float *x, float *y, size_t count);

/* dx[i] = dy[i]·f'(x[i]); dx may be dy or x. ReLU's slope is 0 at 0 and, as in torch, 1 at NaN. y, if it is not NULL, is what
 * the function gives, to the same bits; it is none of the others. */
void hw_row_relu_backward(const float *x, const float *dy, float *dx, float *y, size_t count);
void hw_row_silu_backward(const float *x, const float *dy, float *dx, float *y, size_t count);
void hw_row_tanh_backward(const float *x, const float *dy, float *dx, float *y, size_t count);

#endif
