/* The axes that operations on whole tensors walk along. */
#ifndef HW_OPS_AXES_H
#define HW_OPS_AXES_H

#include "headwise.h"

/* An axis of the larger tensor, and how far its next element is: in a row-major tensor of this size, and in one that has
 * either the same size there or 1, where the stride is 0. */
typedef struct hw_axis {
  size_t size;
  size_t stride;
  size_t other_stride;
} hw_axis;

/* The axes of shape [rank] and other_shape [rank], as few as there can be: those of size 1 are left out, neighbours that both
 * tensors walk along alike are one. Returns how many; SIZE_MAX: a size of zero, or of the other one that is neither 1 nor
 * the same. */
size_t hw_axes_of(hw_axis axes[HW_MOST_AXES], size_t rank, const uint32_t *shape, const uint32_t *other_shape);

/* How many elements there are along all of them. */
size_t hw_axes_count(const hw_axis *axes, size_t count);

typedef struct hw_place {
  size_t offset;
  size_t other;
} hw_place;

/* Where the flat-th element is, the last axis changing fastest. */
hw_place hw_axes_place(const hw_axis *axes, size_t count, size_t flat);

#endif
