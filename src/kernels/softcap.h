/* Soft caps of attention scores (Gemma 2, Riviere et al. 2024). */
#ifndef HW_KERNELS_SOFTCAP_H
#define HW_KERNELS_SOFTCAP_H

#include <stddef.h>

/* x[i] = softcap · tanh(x[i] / softcap), count a multiple of 4. tanh is within 3.6 ULP and 1.6e-7 of the truth
 * and at most 1; NaN stays NaN. softcap and its inverse are finite. */
void hw_row_softcap(float *x, size_t count, float softcap);

#endif
