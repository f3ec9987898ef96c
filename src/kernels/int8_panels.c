#include "kernels/int8_panels.h"

#include "core/memory.h"
#include "core/tile.h"

enum { LARGEST_WEIGHT = 127 };

void hw_int8_inverse_scales(const hw_small_panel *panel, const hw_rows_range *range, size_t from, size_t to,
                            float inverse[HW_TILE_COLUMNS]) {
  for (size_t c = 0; c < HW_TILE_COLUMNS; c++) {
    inverse[c] = 0.0F;
  }
  for (size_t c = from; c < to; c++) {
    const float most = range->largest[c];
    panel->header[c] = most / (float)LARGEST_WEIGHT + range->zero[c];
    /* Of less, the inverse is infinite. */
    inverse[c] = most >= 0x1p-120F && range->zero[c] == 0.0F ? (float)LARGEST_WEIGHT / most : 0.0F;
  }
}

/* The largest integer of the form 2^b - 1 whose products with k weights sum to less than 2^31, at most 13 bits. */
static int32_t largest_activation(size_t k) {
  int32_t largest = 4095;
  while ((uint64_t)largest * LARGEST_WEIGHT * k > INT32_MAX) {
    largest /= 2;
  }
  return largest;
}

hw_int8_scale hw_int8_scale_of(const float *row, size_t k) {
  hw_f32x4 lanes = hw_splat(0.0F);
  hw_f32x4 zeros = hw_splat(0.0F);
  for (size_t i = 0; i < k; i += HW_LANES) {
    const hw_f32x4 x = hw_load_lanes(row + i, hw_min(k - i, HW_LANES));
    lanes = hw_larger(lanes, hw_absolute(x));
    zeros = hw_add(zeros, hw_multiply(x, hw_splat(0.0F)));
  }
  const float most = hw_largest_lane(lanes);
  const float zero = hw_sum_lanes(zeros); /* NaN if an element is not finite */
  const float largest = (float)largest_activation(k);
  /* Of less, the factor is infinite. */
  const float factor = most >= 0x1p-110F && zero == 0.0F ? largest / most : 0.0F;
  return (hw_int8_scale){factor, most / largest + zero};
}

const hw_int8_way *hw_int8_fast_way(void) {
#if HW_FUSED
  /* Beyond seven bits dots may differ. Of 127 by 255 those of AVX-VNNI have the exact sum, 4 · 127 · 255; those that processors
   * without it put together, and wrong ones of Node 20's first compiler, do not. */
  static int32_t bytes[2] = {0x7f7f7f7f, -1};
  __asm__ volatile("" : "+m"(bytes));
  const hw_f32x4 sums = hw_add_dots(hw_load_splat(bytes), hw_load_splat(bytes + 1), hw_splat_integer(0));
  int32_t lanes[HW_LANES];
  hw_store(lanes, sums);
  return lanes[0] == 4 * 127 * 255 ? &hw_int8_dots : &hw_int8_pairs;
#else
  return &hw_int8_pairs;
#endif
}
