/* Rotary positions of one head's vector (Su et al. 2021), halves paired as in Hugging Face's rotate_half. */
#ifndef HW_KERNELS_ROTARY_H
#define HW_KERNELS_ROTARY_H

#include <stddef.h>

/* For i < pairs: y[i] = x[i]·cos[i] - x[i + pairs]·sin[i]·sign, y[i + pairs] = x[i + pairs]·cos[i] + x[i]·sin[i]·sign. A sign of -1
 * turns back, which is the gradient too. y may be x. */
void hw_rotate_row(const float *x, const float *cos, const float *sin, size_t pairs, float sign, float *y);

#endif
