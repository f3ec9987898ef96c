#include "kernels/softmax.h"

#include "headwise.h"

hw_status hw_softmax(const float *x, float *y, size_t rows, size_t columns) {
  if (rows == 0 || columns == 0) {
    return HW_OK;
  }
  if (x == NULL || y == NULL) {
    return HW_ERROR_VALUE;
  }
  for (size_t r = 0; r < rows; r++) {
    hw_softmax_row(x + r * columns, y + r * columns, columns);
  }
  return HW_OK;
}

hw_status hw_softmax_backward(const float *y, const float *dy, float *dx, size_t rows, size_t columns) {
  if (rows == 0 || columns == 0) {
    return HW_OK;
  }
  if (y == NULL || dy == NULL || dx == NULL) {
    return HW_ERROR_VALUE;
  }
  for (size_t r = 0; r < rows; r++) {
    hw_softmax_row_backward(y + r * columns, dy + r * columns, dx + r * columns, columns);
  }
  return HW_OK;
}
