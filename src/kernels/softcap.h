/* Soft caps of attention scores (Gemma 2, Riviere et al. 2024). */
#ifndef HW_KERNELS_SOFTCAP_H
#define HW_KERNELS_SOFTCAP_H

#include <stddef.h>

/* x[i] = softcap · tanh(x[i] / softcap), count a multiple of 4 (kernels/tanh.h). softcap and its inverse are finite. */
void hw_row_softcap(float *x, size_t count, float softcap);

#endif
