/* Gradients of parameters: beside the values, in their layout. */
#ifndef HW_OPS_GRADIENT_H
#define HW_OPS_GRADIENT_H

#include "core/memory.h"

typedef struct hw_gradient {
  float *values; /* NULL until first needed; then the sum of the backwards since the last clear */
  uint32_t
      present; /* a bit for each parameter that is a part of the value: whether it has a gradient; else its part is 0 */
} hw_gradient;

static inline void hw_gradient_release(hw_gradient *gradient) {
  hw_release(gradient->values);
  *gradient = (hw_gradient){0};
}

#endif
