/* Rows, element by element. */
#ifndef HW_KERNELS_ELEMENTWISE_H
#define HW_KERNELS_ELEMENTWISE_H

#include <stdbool.h>
#include <stddef.h>

/* y may be a or b. */
void hw_row_add(const float *a, const float *b, float *y, size_t count);
void hw_row_multiply(const float *a, const float *b, float *y, size_t count);

/* Whether all numbers are finite; count is a multiple of 8. */
bool hw_all_finite(const float *x, size_t count);

#endif
