#include "kernels/lanes.h"

void hw_row_of_vectors(hw_vectors_function *vectors, const float *x, const float *dy, float *y, size_t count) {
  const size_t rest = count % HW_LANES;
  const size_t whole = count - rest;
  vectors(x, dy, y, whole);
  if (rest != 0) {
    float last[HW_LANES];
    float last_dy[HW_LANES];
    hw_store(last, hw_load_lanes(x + whole, rest));
    hw_store(last_dy, dy == NULL ? hw_splat(0.0F) : hw_load_lanes(dy + whole, rest));
    vectors(last, last_dy, last, HW_LANES);
    hw_store_lanes(y + whole, hw_load(last), rest);
  }
}
