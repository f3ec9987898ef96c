/* Rows of floats in memory of any layout. */
#ifndef HW_OPS_ROWS_H
#define HW_OPS_ROWS_H

#include <stddef.h>

/* `stride` floats from one row to the next. */
typedef struct hw_rows {
  const float *data;
  size_t stride;
  size_t count;
} hw_rows;

/* Copies rows of `width` floats to rows that are to_stride apart. */
void hw_rows_copy(const hw_rows *rows, size_t width, float *to, size_t to_stride);

#endif
