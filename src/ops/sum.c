/* Sums along some axes of a tensor. */
#include "kernels/broadcast.h"

#include "ops/axes.h"

/* Columns that are summed at a time. */
enum { COLUMNS = 64 };

/* The axes that stay and those that are summed, each in their order. */
typedef struct sum_axes {
  hw_axis kept[HW_MOST_AXES];
  hw_axis summed[HW_MOST_AXES];
  size_t kept_count;
  size_t summed_count;
} sum_axes;

static void split(const hw_axis *axes, size_t count, sum_axes *parts) {
  parts->kept_count = 0;
  parts->summed_count = 0;
  for (size_t i = 0; i < count; i++) {
    if (axes[i].other_stride == 0) {
      parts->summed[parts->summed_count++] = axes[i];
    } else {
      parts->kept[parts->kept_count++] = axes[i];
    }
  }
}

/* Elements that lie side by side are summed into one. */
static void sum_rows(sum_axes *parts, const float *x, double scale, float *y) {
  const size_t columns = parts->summed[--parts->summed_count].size;
  const size_t rows = hw_axes_count(parts->summed, parts->summed_count);
  const size_t count = hw_axes_count(parts->kept, parts->kept_count);
  for (size_t i = 0; i < count; i++) {
    const float *start = x + hw_axes_place(parts->kept, parts->kept_count, i).offset;
    double sum = 0.0;
    for (size_t r = 0; r < rows; r++) {
      sum += hw_row_sum(start + hw_axes_place(parts->summed, parts->summed_count, r).offset, columns);
    }
    y[i] = (float)(sum * scale);
  }
}

/* Elements that lie side by side stay apart. */
static void sum_columns(sum_axes *parts, const float *x, double scale, float *y) {
  const size_t width = parts->kept_count == 0 ? 1 : parts->kept[--parts->kept_count].size;
  const size_t rows = hw_axes_count(parts->summed, parts->summed_count);
  const size_t count = hw_axes_count(parts->kept, parts->kept_count);
  for (size_t i = 0; i < count; i++) {
    const float *start = x + hw_axes_place(parts->kept, parts->kept_count, i).offset;
    for (size_t column = 0; column < width; column += COLUMNS) {
      const size_t columns = width - column < COLUMNS ? width - column : COLUMNS;
      double sums[COLUMNS] = {0.0};
      for (size_t r = 0; r < rows; r++) {
        const size_t offset = hw_axes_place(parts->summed, parts->summed_count, r).offset;
        hw_row_accumulate(start + offset + column, sums, columns);
      }
      for (size_t j = 0; j < columns; j++) {
        y[i * width + column + j] = (float)(sums[j] * scale);
      }
    }
  }
}

hw_status hw_sum(size_t rank, const uint32_t *shape, const float *x, const uint32_t *y_shape, double scale, float *y) {
  if (rank > HW_MOST_AXES || x == NULL || y == NULL || (rank > 0 && (shape == NULL || y_shape == NULL))) {
    return HW_ERROR_VALUE;
  }
  hw_axis axes[HW_MOST_AXES];
  const size_t count = hw_axes_of(axes, rank, shape, y_shape);
  if (count == SIZE_MAX) {
    return HW_ERROR_SHAPE;
  }
  sum_axes parts;
  split(axes, count, &parts);
  if (count > 0 && axes[count - 1].other_stride == 0) {
    sum_rows(&parts, x, scale, y);
  } else {
    sum_columns(&parts, x, scale, y);
  }
  return HW_OK;
}
