#include "kernels/update.h"

#include "core/memory.h"
#include "core/simd.h"

hw_update_arrays hw_update_arrays_from(const hw_update_arrays *arrays, size_t first) {
  hw_update_arrays from = *arrays;
  from.value = hw_floats_from(from.value, first);
  from.gradient = hw_const_floats_from(from.gradient, first);
  from.moments[0] = hw_floats_from(from.moments[0], first);
  from.moments[1] = hw_floats_from(from.moments[1], first);
  return from;
}

typedef void vectors_function(const hw_update *update, const hw_update_arrays *arrays, size_t count);

/* An update that is written for whole vectors, of any count. */
static float update_vectors(vectors_function *vectors, const hw_update *update, const hw_update_arrays *arrays,
                            size_t count) {
  enum { ARRAYS = 4 };
  const size_t rest = count % HW_LANES;
  vectors(update, arrays, count - rest);
  if (rest != 0) {
    const hw_update_arrays from = hw_update_arrays_from(arrays, count - rest);
    const float *const sources[ARRAYS] = {from.value, from.gradient, from.moments[0], from.moments[1]};
    float last[ARRAYS][HW_LANES];
    float *lanes[ARRAYS];
    for (size_t i = 0; i < ARRAYS; i++) {
      lanes[i] = sources[i] == NULL ? NULL : last[i];
      hw_store(last[i], sources[i] == NULL ? hw_splat(0.0F) : hw_load_few(sources[i], rest));
    }
    vectors(update, &(hw_update_arrays){lanes[0], lanes[1], {lanes[2], lanes[3]}}, HW_LANES);
    float *const targets[ARRAYS] = {from.value, NULL, from.moments[0], from.moments[1]};
    for (size_t i = 0; i < ARRAYS; i++) {
      if (targets[i] != NULL) {
        hw_store_few(targets[i], hw_load(last[i]), rest);
      }
    }
  }
  return 0.0F;
}

static void adamw(const hw_update *update, const hw_update_arrays *arrays, size_t count) {
  const hw_update *u = update;
  const hw_update_arrays *a = arrays;
  const hw_f32x4 rate = hw_splat(-u->rate);
  const hw_f32x4 decay = hw_splat(u->decay);
  const hw_f32x4 kept_first = hw_splat(u->kept[0]);
  const hw_f32x4 kept_second = hw_splat(u->kept[1]);
  const hw_f32x4 added_first = hw_splat(u->added[0]);
  const hw_f32x4 added_second = hw_splat(u->added[1]);
  const hw_f32x4 root_factor = hw_splat(u->root_factor);
  const hw_f32x4 eps = hw_splat(u->eps);
  for (size_t i = 0; i < count; i += HW_LANES) {
    const hw_f32x4 gradient = hw_load(a->gradient + i);
    const hw_f32x4 square = hw_multiply(hw_multiply(gradient, gradient), added_second);
    const hw_f32x4 first = hw_multiply_add(kept_first, hw_load(a->moments[0] + i), hw_multiply(added_first, gradient));
    const hw_f32x4 second = hw_multiply_add(kept_second, hw_load(a->moments[1] + i), square);
    const hw_f32x4 step = hw_divide(first, hw_multiply_add(hw_square_root(second), root_factor, eps));
    hw_store(a->moments[0] + i, first);
    hw_store(a->moments[1] + i, second);
    hw_store(a->value + i, hw_multiply_add(rate, step, hw_multiply(hw_load(a->value + i), decay)));
  }
}

static void sgd(const hw_update *update, const hw_update_arrays *arrays, size_t count) {
  const hw_f32x4 rate = hw_splat(-update->rate);
  const hw_f32x4 decay = hw_splat(update->decay);
  const hw_f32x4 kept = hw_splat(update->kept[0]);
  float *moment = arrays->moments[0];
  for (size_t i = 0; i < count; i += HW_LANES) {
    const hw_f32x4 value = hw_load(arrays->value + i);
    hw_f32x4 step = hw_multiply_add(decay, value, hw_load(arrays->gradient + i));
    if (moment != NULL) {
      const hw_f32x4 next = hw_multiply_add(kept, hw_load(moment + i), step);
      hw_store(moment + i, next);
      step = update->nesterov ? hw_multiply_add(kept, next, step) : next;
    }
    hw_store(arrays->value + i, hw_multiply_add(rate, step, value));
  }
}

static void scale(const hw_update *update, const hw_update_arrays *arrays, size_t count) {
  const hw_f32x4 factor = hw_splat(update->scale);
  for (size_t i = 0; i < count; i += HW_LANES) {
    hw_store(arrays->value + i, hw_multiply(hw_load(arrays->value + i), factor));
  }
}

float hw_update_adamw(const hw_update *update, const hw_update_arrays *arrays, size_t count) {
  return update_vectors(adamw, update, arrays, count);
}

float hw_update_sgd(const hw_update *update, const hw_update_arrays *arrays, size_t count) {
  return update_vectors(sgd, update, arrays, count);
}

float hw_update_scale(const hw_update *update, const hw_update_arrays *arrays, size_t count) {
  return update_vectors(scale, update, arrays, count);
}

float hw_update_squares(const hw_update *update, const hw_update_arrays *arrays, size_t count) {
  (void)update;
  hw_f32x4 even = hw_splat(0.0F);
  hw_f32x4 odd = even;
  size_t i = 0;
  for (; i + (size_t)2 * HW_LANES <= count; i += (size_t)2 * HW_LANES) {
    const hw_f32x4 low = hw_load(arrays->gradient + i);
    const hw_f32x4 high = hw_load(arrays->gradient + i + HW_LANES);
    even = hw_multiply_add(low, low, even);
    odd = hw_multiply_add(high, high, odd);
  }
  for (; i < count; i += HW_LANES) {
    const hw_f32x4 rest = hw_load_lanes(arrays->gradient + i, count - i);
    even = hw_multiply_add(rest, rest, even);
  }
  return hw_sum_lanes(hw_add(even, odd));
}
