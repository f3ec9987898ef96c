/* Rows of two operands, each of which may be one number, and sums in double precision. */
#ifndef HW_KERNELS_BROADCAST_H
#define HW_KERNELS_BROADCAST_H

#include "headwise.h"

/* y[i] = a[i·a_stride] (operation) b[i·b_stride] for i < count; strides are 0 or 1. */
void hw_row_binary(hw_binary_operation operation, const float *a, size_t a_stride, const float *b, size_t b_stride,
                   float *y, size_t count);

/* sums[i] += x[i] for i < count */
void hw_row_accumulate(const float *x, double *sums, size_t count);

/* The sum of x[0 .. count), in an order that depends on the count alone. */
double hw_row_sum(const float *x, size_t count);

#endif
