/* Sums, differences and products of tensors that are broadcast. */
#include "kernels/broadcast.h"

#include "ops/axes.h"

/* What a row is of an operand: the last of its axes. */
static hw_axis row_of(const hw_axis *axes, size_t count) {
  const hw_axis scalar = {1, 1, 1};
  return count == 0 ? scalar : axes[count - 1];
}

hw_status hw_broadcast(hw_binary_operation operation, size_t rank, const uint32_t *shape, const float *a,
                       const uint32_t *a_shape, const float *b, const uint32_t *b_shape, float *y) {
  if (operation > HW_BINARY_MULTIPLY || rank > HW_MOST_AXES || a == NULL || b == NULL || y == NULL ||
      (rank > 0 && (shape == NULL || a_shape == NULL || b_shape == NULL))) {
    return HW_ERROR_VALUE;
  }
  hw_axis a_axes[HW_MOST_AXES];
  hw_axis b_axes[HW_MOST_AXES];
  const size_t a_count = hw_axes_of(a_axes, rank, shape, a_shape);
  const size_t b_count = hw_axes_of(b_axes, rank, shape, b_shape);
  if (a_count == SIZE_MAX || b_count == SIZE_MAX) {
    return HW_ERROR_SHAPE;
  }
  const hw_axis a_row = row_of(a_axes, a_count);
  const hw_axis b_row = row_of(b_axes, b_count);
  /* One of the two divides the other: both are products of the last sizes. */
  const size_t columns = a_row.size < b_row.size ? a_row.size : b_row.size;
  const size_t size = hw_axes_count(a_axes, a_count);
  for (size_t at = 0; at < size; at += columns) {
    const size_t a_at = hw_axes_place(a_axes, a_count, at).other;
    const size_t b_at = hw_axes_place(b_axes, b_count, at).other;
    hw_row_binary(operation, a + a_at, a_row.other_stride, b + b_at, b_row.other_stride, y + at, columns);
  }
  return HW_OK;
}
