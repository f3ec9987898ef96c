/* Rows, element by element. */
#ifndef HW_KERNELS_ELEMENTWISE_H
#define HW_KERNELS_ELEMENTWISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* y may be a or b. */
void hw_row_add(const float *a, const float *b, float *y, size_t count);
void hw_row_multiply(const float *a, const float *b, float *y, size_t count);

/* The sum of a[i]·b[i]. */
float hw_row_dot(const float *a, const float *b, size_t count);

/* Whether all numbers are finite; count is a multiple of 8. */
bool hw_all_finite(const float *x, size_t count);

/* y[i] = x[i]·factor where bit i of `kept` is set, else x[i]·0, so that NaN stays; y may be x. */
void hw_row_keep(const float *x, const uint32_t *kept, float factor, float *y, size_t count);

#endif
