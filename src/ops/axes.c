#include "ops/axes.h"

size_t hw_axes_of(hw_axis axes[HW_MOST_AXES], size_t rank, const uint32_t *shape, const uint32_t *other_shape) {
  size_t count = 0;
  size_t stride = 1;
  size_t other_stride = 1;
  /* From the last one on, then turned around. */
  for (size_t axis = rank; axis-- > 0;) {
    const size_t size = shape[axis];
    if (size == 0 || (other_shape[axis] != size && other_shape[axis] != 1)) {
      return SIZE_MAX;
    }
    const hw_axis next = {size, stride, other_shape[axis] == 1 ? 0 : other_stride};
    stride *= size;
    other_stride *= other_shape[axis];
    if (size == 1) {
      continue;
    }
    if (count > 0 && (axes[count - 1].other_stride == 0) == (next.other_stride == 0)) {
      axes[count - 1].size *= size;
    } else {
      axes[count++] = next;
    }
  }
  for (size_t i = 0; i < count / 2; i++) {
    const hw_axis first = axes[i];
    axes[i] = axes[count - 1 - i];
    axes[count - 1 - i] = first;
  }
  return count;
}

size_t hw_axes_count(const hw_axis *axes, size_t count) {
  size_t product = 1;
  for (size_t i = 0; i < count; i++) {
    product *= axes[i].size;
  }
  return product;
}

hw_place hw_axes_place(const hw_axis *axes, size_t count, size_t flat) {
  hw_place place = {0, 0};
  for (size_t i = count; i-- > 0;) {
    const size_t index = flat % axes[i].size;
    place.offset += index * axes[i].stride;
    place.other += index * axes[i].other_stride;
    flat /= axes[i].size;
  }
  return place;
}
