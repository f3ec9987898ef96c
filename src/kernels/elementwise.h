/* Sums and products of rows, element by element. y may be a or b. */
#ifndef HW_KERNELS_ELEMENTWISE_H
#define HW_KERNELS_ELEMENTWISE_H

#include <stddef.h>

void hw_row_add(const float *a, const float *b, float *y, size_t count);
void hw_row_multiply(const float *a, const float *b, float *y, size_t count);

#endif
