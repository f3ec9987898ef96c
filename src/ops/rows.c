#include "ops/rows.h"

#include <string.h>

void hw_rows_copy(const hw_rows *rows, size_t width, float *to, size_t to_stride) {
  for (size_t row = 0; row < rows->count; row++) {
    memcpy(to + row * to_stride, rows->data + row * rows->stride, width * sizeof(float));
  }
}
