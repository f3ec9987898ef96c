#include "kernels/update.h"

#include "core/simd.h"

/* The lanes that are there of the vector at i; the others are 0. */
HW_INLINE hw_f32x4 load(const float *p, size_t i, size_t count) {
  return i + HW_LANES <= count ? hw_load(p + i) : hw_load_lanes(p + i, count - i);
}

HW_INLINE void store(float *p, size_t i, size_t count, hw_f32x4 x) {
  if (i + HW_LANES <= count) {
    hw_store(p + i, x);
  } else {
    hw_store_lanes(p + i, x, count - i);
  }
}

float hw_update_adamw(const hw_update *update, const hw_update_arrays *arrays, size_t count) {
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
    const hw_f32x4 gradient = load(a->gradient, i, count);
    const hw_f32x4 square = hw_multiply(hw_multiply(gradient, gradient), added_second);
    const hw_f32x4 first =
        hw_multiply_add(kept_first, load(a->moments[0], i, count), hw_multiply(added_first, gradient));
    const hw_f32x4 second = hw_multiply_add(kept_second, load(a->moments[1], i, count), square);
    const hw_f32x4 step = hw_divide(first, hw_multiply_add(hw_square_root(second), root_factor, eps));
    store(a->moments[0], i, count, first);
    store(a->moments[1], i, count, second);
    store(a->value, i, count, hw_multiply_add(rate, step, hw_multiply(load(a->value, i, count), decay)));
  }
  return 0.0F;
}

float hw_update_sgd(const hw_update *update, const hw_update_arrays *arrays, size_t count) {
  const hw_f32x4 rate = hw_splat(-update->rate);
  const hw_f32x4 decay = hw_splat(update->decay);
  const hw_f32x4 kept = hw_splat(update->kept[0]);
  float *moment = arrays->moments[0];
  for (size_t i = 0; i < count; i += HW_LANES) {
    const hw_f32x4 value = load(arrays->value, i, count);
    hw_f32x4 step = hw_multiply_add(decay, value, load(arrays->gradient, i, count));
    if (moment != NULL) {
      const hw_f32x4 next = hw_multiply_add(kept, load(moment, i, count), step);
      store(moment, i, count, next);
      step = update->nesterov ? hw_multiply_add(kept, next, step) : next;
    }
    store(arrays->value, i, count, hw_multiply_add(rate, step, value));
  }
  return 0.0F;
}

float hw_update_scale(const hw_update *update, const hw_update_arrays *arrays, size_t count) {
  const hw_f32x4 scale = hw_splat(update->scale);
  for (size_t i = 0; i < count; i += HW_LANES) {
    store(arrays->value, i, count, hw_multiply(load(arrays->value, i, count), scale));
  }
  return 0.0F;
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
    const hw_f32x4 rest = load(arrays->gradient, i, count);
    even = hw_multiply_add(rest, rest, even);
  }
  return hw_sum_lanes(hw_add(even, odd));
}
