/* Rows, element by element. */
#ifndef HW_KERNELS_ELEMENTWISE_H
#define HW_KERNELS_ELEMENTWISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* y may be a or b. */
void hw_row_add(const float *a, const float *b, float *y, size_t count);
void hw_row_multiply(const float *a, const float *b, float *y, size_t count);

/* y[i] = x[i]·factor, y may be x. */
void hw_row_scale(const float *x, float *y, size_t count, float factor);

/* Rows, `stride` apart. */
typedef struct hw_float_rows {
  const float *data;
  size_t stride;
  size_t rows;
  size_t columns;
} hw_float_rows;

/* The same of rows; those of y are y_stride apart. */
void hw_rows_scale(const hw_float_rows *x, float factor, float *y, size_t y_stride);

/* The sum of a[i]·b[i]. */
float hw_row_dot(const float *a, const float *b, size_t count);

/* Whether all numbers are finite; count is a multiple of 8. */
bool hw_all_finite(const float *x, size_t count);

/* y[i] = x[i]·factor where bit i of `kept` is set, else x[i]·0, so that NaN stays; y may be x. */
void hw_row_keep(const float *x, const uint32_t *kept, float factor, float *y, size_t count);

#endif
