#include "kernels/lanes.h"

void hw_row_of_vectors(hw_vectors_function *vectors, const float *x, float *y, size_t count) {
  const size_t rest = count % HW_LANES;
  const size_t whole = count - rest;
  vectors(x, y, whole);
  if (rest != 0) {
    float last[HW_LANES];
    hw_store(last, hw_load_lanes(x + whole, rest));
    vectors(last, last, HW_LANES);
    hw_store_lanes(y + whole, hw_load(last), rest);
  }
}

void hw_row_of_gradients(hw_vectors_gradient *vectors, const float *x, const float *dy, float *dx, float *y,
                         size_t count) {
  const size_t rest = count % HW_LANES;
  const size_t whole = count - rest;
  vectors(x, dy, dx, y, whole);
  if (rest != 0) {
    float last[HW_LANES];
    float last_dx[HW_LANES];
    float last_y[HW_LANES];
    hw_store(last, hw_load_lanes(x + whole, rest));
    hw_store(last_dx, hw_load_lanes(dy + whole, rest));
    vectors(last, last_dx, last_dx, last_y, HW_LANES);
    hw_store_lanes(dx + whole, hw_load(last_dx), rest);
    if (y != NULL) {
      hw_store_lanes(y + whole, hw_load(last_y), rest);
    }
  }
}
