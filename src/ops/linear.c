#include "ops/linear.h"

#include "kernels/pack.h"

hw_status hw_linear_init(size_t in_features, size_t out_features, bool bias, hw_linear *linear) {
  HW_TRY(hw_matrix_create(out_features, in_features, &linear->weight));
  if (bias) {
    linear->bias = hw_allocate_zeroed(hw_whole_panels(out_features) * sizeof(float));
    return linear->bias == NULL ? HW_ERROR_MEMORY : HW_OK;
  }
  return HW_OK;
}

void hw_linear_release(hw_linear *linear) {
  hw_matrix_release(&linear->weight);
  hw_release(linear->bias);
}
