#include "kernels/half_panels.h"

#include <math.h>
#include <stdint.h>

#include "core/half.h"
#include "core/memory.h"
#include "core/tile.h"
#include "kernels/weights.h"

/* Half of what a float16's bits lack as a float's: on the row before the sum and on the sum, so that neither comes near the
 * ends of what floats can hold. */
static const float half_scale = 0x1p56F;

/* What a float16 is multiplied by, if no weight of its row is too large. */
static const float first_factor = 0x1p10F;

static const float largest = 65504.0F;

/* Not constant: see hw_exp2_table. */
uint32_t hw_upper_halves = 0xffff0000U;

void hw_float16_panel_init(const hw_small_panel *panel, size_t from, size_t to) {
  for (size_t column = from; column < to; column++) {
    panel->header[column] = half_scale / first_factor;
  }
}

static uint16_t *element(const hw_small_panel *panel, size_t k, size_t column) {
  return (uint16_t *)(void *)(panel->words + k * HW_WORD_BYTES) + column % HW_LANES * 2 + column / HW_LANES;
}

/* Keeps a column's weights times another power of two. */
static void rescale(const hw_small_panel *panel, size_t rows, size_t column, float scale) {
  const float factor = panel->header[column] / scale;
  for (size_t k = 0; k < rows; k++) {
    uint16_t *kept = element(panel, k, column);
    *kept = hw_float16_of(hw_float_of_float16(*kept) * factor);
  }
  panel->header[column] = scale;
}

/* Makes room for a value, or for what is not finite. */
static void fit(const hw_small_panel *panel, size_t rows, size_t column, float most) {
  float *scale = panel->header + column;
  if (!isfinite(most)) {
    *scale = NAN; /* so that the row's products are NaN, as with floats */
  }
  while (fabsf(most) * (half_scale / *scale) > largest) {
    rescale(panel, rows, column, *scale * 2.0F);
  }
}

void hw_half_panel_set(hw_half half, const hw_small_panel *panel, size_t rows, size_t k, size_t column, float value) {
  uint16_t *kept = element(panel, k, column);
  if (half == HW_HALF_FLOAT16) {
    fit(panel, rows, column, value);
    *kept = hw_float16_of(value * (half_scale / panel->header[column]));
  } else {
    *kept = hw_bfloat16_of(value);
  }
}

/* In the upper half of each lane, as hw_bfloat16_of; below are other bits. */
HW_INLINE hw_f32x4 to_bfloat16(hw_f32x4 x) {
  const hw_f32x4 odd = hw_and(hw_shift_right(x, 16), hw_splat_integer(1));
  const hw_f32x4 rounded = hw_add_integers(x, hw_add_integers(odd, hw_splat_integer(0x7fff)));
  return hw_choose(hw_equal(x, x), rounded, hw_or(x, hw_splat_integer(0x400000)));
}

/* The same as hw_float16_of, of what is not larger than a float16. */
HW_INLINE hw_f32x4 to_float16(hw_f32x4 x) {
  const hw_f32x4 size = hw_absolute(x);
  const hw_f32x4 odd = hw_and(hw_shift_right(size, 13), hw_splat_integer(1));
  const hw_f32x4 normal = hw_add_integers(size, hw_add_integers(odd, hw_splat_integer(0xfff - (112 << 23))));
  const hw_f32x4 small = hw_add_integers(hw_add(size, hw_splat(0.5F)), hw_splat_integer(-0x3f000000));
  const hw_f32x4 bits =
      hw_choose(hw_above(hw_splat(0x1p-14F), size), hw_shift_left(small, 16), hw_shift_left(normal, 3));
  return hw_copy_sign(bits, x);
}

/* Half is a constant where this is called. */
HW_INLINE void write_block(hw_half half, const hw_small_panel *panel, size_t first, size_t count, const float *block) {
  unsigned char *to = panel->words + first * HW_WORD_BYTES;
  hw_f32x4 low = hw_splat(1.0F);
  hw_f32x4 high = low;
  if (half == HW_HALF_FLOAT16) {
    low = hw_divide(hw_splat(half_scale), hw_load(panel->header));
    high = hw_divide(hw_splat(half_scale), hw_load(panel->header + HW_LANES));
  }
  for (size_t k = 0; k < count; k++) {
    hw_f32x4 a = hw_load(block + k * HW_TILE_COLUMNS);
    hw_f32x4 b = hw_load(block + k * HW_TILE_COLUMNS + HW_LANES);
    a = half == HW_HALF_FLOAT16 ? to_float16(hw_multiply(a, low)) : to_bfloat16(a);
    b = half == HW_HALF_FLOAT16 ? to_float16(hw_multiply(b, high)) : to_bfloat16(b);
    const hw_f32x4 upper = hw_and(b, hw_splat_integer((int32_t)0xffff0000U));
    hw_store(to + k * HW_WORD_BYTES, hw_or(hw_shift_right(a, 16), upper));
  }
}

void hw_half_panel_write(hw_half half, const hw_small_panel *panel, size_t rows, size_t first, size_t count,
                         const float *block) {
  if (half == HW_HALF_BFLOAT16) {
    write_block(HW_HALF_BFLOAT16, panel, first, count, block);
    return;
  }
  hw_rows_range range = {{0.0F}, {0.0F}};
  hw_widen_range(block, count, &range);
  for (size_t column = 0; column < HW_TILE_COLUMNS; column++) {
    fit(panel, rows, column, range.largest[column] + range.zero[column]);
  }
  write_block(HW_HALF_FLOAT16, panel, first, count, block);
}

float hw_half_panel_get(hw_half half, const hw_small_panel *panel, size_t k, size_t column) {
  const uint16_t kept = *element(panel, k, column);
  return half == HW_HALF_BFLOAT16 ? hw_float_of_bfloat16(kept)
                                  : hw_float_of_float16(kept) * (panel->header[column] / half_scale);
}

/* Columns 0 to 3, and 4 to 7: as floats, or for a float16 times 2^(exponent - 112). */
HW_INLINE hw_f32x4 low_of(hw_half half, hw_f32x4 lanes) {
  const hw_f32x4 bits = hw_shift_left(lanes, 16);
  return half == HW_HALF_BFLOAT16 ? bits : hw_float16_bits_to_float(bits);
}

HW_INLINE hw_f32x4 high_of(hw_half half, hw_f32x4 lanes, hw_f32x4 upper) {
  return half == HW_HALF_BFLOAT16 ? hw_and(lanes, upper) : hw_float16_bits_to_float(lanes);
}

HW_INLINE void expand(hw_half half, const hw_small_panel *panel, size_t words, float *floats) {
  hw_f32x4 scales[HW_TILE_VECTORS] = {hw_splat(1.0F), hw_splat(1.0F)};
  if (half == HW_HALF_FLOAT16) {
    scales[0] = hw_multiply(hw_load(panel->header), hw_splat(half_scale));
    scales[1] = hw_multiply(hw_load(panel->header + HW_LANES), hw_splat(half_scale));
  }
  const hw_f32x4 upper = hw_load_splat(&hw_upper_halves);
  const unsigned char *word = panel->words;
  for (; words != 0; words--) {
    const hw_f32x4 lanes = hw_load(word);
    const hw_f32x4 low = low_of(half, lanes);
    const hw_f32x4 high = high_of(half, lanes, upper);
    hw_store(floats, half == HW_HALF_FLOAT16 ? hw_multiply(low, scales[0]) : low);
    hw_store(floats + HW_LANES, half == HW_HALF_FLOAT16 ? hw_multiply(high, scales[1]) : high);
    word += HW_WORD_BYTES;
    floats += HW_TILE_COLUMNS;
  }
}

void hw_half_panel_expand(hw_half half, const hw_small_panel *panel, size_t words, float *floats) {
  if (half == HW_HALF_FLOAT16) {
    expand(HW_HALF_FLOAT16, panel, words, floats);
  } else {
    expand(HW_HALF_BFLOAT16, panel, words, floats);
  }
}

/* The panels first, first + apart, … of them HW_ROW_PANELS; half is a constant where this is called. */
HW_INLINE void row_times(hw_half half, const hw_half_row_product *product, size_t first, size_t apart) {
  const hw_small_panel panel = hw_small_panel_at(&product->panels, first);
  const size_t stride = apart * hw_small_panel_bytes(&product->panels);
  const float *a = product->a;
  const unsigned char *word = panel.words;
  const bool scaled = half == HW_HALF_FLOAT16;
  const hw_f32x4 upper = hw_load_splat(&hw_upper_halves);
  hw_f32x4 sums[HW_ROW_PANELS][HW_TILE_VECTORS];
#pragma GCC unroll 4
  for (size_t i = 0; i < HW_ROW_PANELS; i++) {
    const float *start = product->start + (first + i * apart) * product->start_stride;
    const float *scales = (const float *)(const void *)((const unsigned char *)panel.header + i * stride);
    sums[i][0] = scaled ? hw_divide(hw_load(start), hw_load(scales)) : hw_load(start);
    sums[i][1] = scaled ? hw_divide(hw_load(start + HW_LANES), hw_load(scales + HW_LANES)) : hw_load(start + HW_LANES);
  }
  for (size_t left = product->panels.words; left != 0; left--) {
    const hw_f32x4 loaded = hw_load_splat(a);
    const hw_f32x4 e = scaled ? hw_multiply(loaded, hw_splat(half_scale)) : loaded;
#pragma GCC unroll 4
    for (size_t i = 0; i < HW_ROW_PANELS; i++) {
      const hw_f32x4 lanes = hw_load(word + i * stride);
      sums[i][0] = hw_multiply_add(e, low_of(half, lanes), sums[i][0]);
      sums[i][1] = hw_multiply_add(e, high_of(half, lanes, upper), sums[i][1]);
    }
    a += 1;
    word += HW_WORD_BYTES;
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < HW_ROW_PANELS; i++) {
    float *y = product->y + (first + i * apart) * HW_TILE_COLUMNS;
    const float *scales = (const float *)(const void *)((const unsigned char *)panel.header + i * stride);
#pragma GCC unroll 2
    for (size_t v = 0; v < HW_TILE_VECTORS; v++) {
      const hw_f32x4 sum = sums[i][v];
      hw_store(y + v * HW_LANES, scaled ? hw_multiply(sum, hw_load(scales + v * HW_LANES)) : sum);
    }
  }
}

static __attribute__((noinline)) void bfloat16_times(const hw_half_row_product *product, size_t first, size_t apart) {
  row_times(HW_HALF_BFLOAT16, product, first, apart);
}

static __attribute__((noinline)) void float16_times(const hw_half_row_product *product, size_t first, size_t apart) {
  row_times(HW_HALF_FLOAT16, product, first, apart);
}

/* By no pointer: what is looked up for such a call has left the caches while the panels before were read, and each row of panels
 * would wait for it, a quarter of the time. */
static void half_times(const hw_half_row_product *product, size_t first, size_t apart) {
  if (product->half == HW_HALF_FLOAT16) {
    float16_times(product, first, apart);
  } else {
    bfloat16_times(product, first, apart);
  }
}

/* Panels that are multiplied together lie far apart: see hw_row_times_panels. Of those that remain each counts as all of them:
 * they are few. */
void hw_row_times_half_panels(const hw_half_row_product *product) {
  const size_t apart = product->count / HW_ROW_PANELS;
  for (size_t panel = 0; panel < apart; panel++) {
    half_times(product, panel, apart);
  }
  for (size_t panel = apart * HW_ROW_PANELS; panel < product->count; panel++) {
    half_times(product, panel, 0);
  }
}
