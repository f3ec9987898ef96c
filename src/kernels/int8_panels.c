#include "kernels/int8_panels.h"

#include <math.h>

#include "core/memory.h"
#include "core/tile.h"

enum {
  LARGEST_WEIGHT = 127,
  BIAS = 128, /* of columns 0 to 3 */
};

static unsigned char *element(const hw_small_panel *panel, size_t k, size_t column) {
  return panel->words + k / 2 * HW_WORD_BYTES + column % HW_LANES * 4 + k % 2 * 2 + column / HW_LANES;
}

/* Two k of eight columns; to columns [from, to) of a panel. */
static void write_word(const hw_small_panel *panel, size_t k, size_t from, size_t to, hw_f32x4 word) {
  if (to - from == HW_TILE_COLUMNS) {
    hw_store((float *)element(panel, k, 0), word);
    return;
  }
  unsigned char bytes[HW_WORD_BYTES];
  hw_store((float *)bytes, word);
  for (size_t c = from; c < to; c++) {
    const size_t at = c % HW_LANES * 4 + c / HW_LANES;
    element(panel, k, c)[0] = bytes[at];
    element(panel, k, c)[2] = bytes[at + 2];
  }
}

/* Four columns' integers. */
HW_INLINE hw_f32x4 quantized(const float *row, const float *inverse) {
  return hw_round_to_integers(hw_multiply(hw_load(row), hw_load(inverse)));
}

void hw_int8_panel_write(const hw_small_panel *panel, const hw_rows_range *range, size_t from, size_t to, size_t first,
                         size_t count, const float *block) {
  static const float zeros[HW_TILE_COLUMNS];
  float inverse[HW_TILE_COLUMNS] = {0.0F};
  for (size_t c = from; c < to; c++) {
    const float most = range->largest[c];
    panel->header[c] = most / (float)LARGEST_WEIGHT + range->zero[c];
    /* Of less, the inverse is infinite. */
    inverse[c] = most >= 0x1p-120F && range->zero[c] == 0.0F ? (float)LARGEST_WEIGHT / most : 0.0F;
  }
  for (size_t k = 0; k < count; k += 2) {
    const float *even = block + k * HW_TILE_COLUMNS;
    const float *odd = k + 1 < count ? even + HW_TILE_COLUMNS : zeros;
    const hw_f32x4 word = hw_four_bytes(hw_add_integers(quantized(even, inverse), hw_splat_integer(BIAS)),
                                        quantized(even + HW_LANES, inverse + HW_LANES),
                                        hw_add_integers(quantized(odd, inverse), hw_splat_integer(BIAS)),
                                        quantized(odd + HW_LANES, inverse + HW_LANES));
    write_word(panel, first + k, from, to, word);
  }
}

float hw_int8_panel_get(const hw_small_panel *panel, size_t k, size_t column) {
  const float scale = panel->header[column];
  const unsigned char byte = *element(panel, k, column);
  return (float)(column < HW_LANES ? byte - BIAS : (int8_t)byte) * scale;
}

/* The largest integer of the form 2^b - 1 whose products with k weights sum to less than 2^31, at most 13 bits. */
static int32_t largest_activation(size_t k) {
  int32_t largest = 4095;
  while ((uint64_t)largest * LARGEST_WEIGHT * k > INT32_MAX) {
    largest /= 2;
  }
  return largest;
}

typedef struct row_range {
  float largest;
  float zero; /* NaN if an element is not finite */
} row_range;

static row_range range_of(const float *row, size_t k) {
  hw_f32x4 most = hw_splat(0.0F);
  hw_f32x4 zero = hw_splat(0.0F);
  size_t i = 0;
  for (; i + HW_LANES <= k; i += HW_LANES) {
    const hw_f32x4 x = hw_load(row + i);
    most = hw_larger(most, hw_absolute(x));
    zero = hw_add(zero, hw_multiply(x, hw_splat(0.0F)));
  }
  if (i < k) {
    const hw_f32x4 x = hw_load_lanes(row + i, k - i);
    most = hw_larger(most, hw_absolute(x));
    zero = hw_add(zero, hw_multiply(x, hw_splat(0.0F)));
  }
  return (row_range){hw_largest_lane(most), hw_sum_lanes(zero)};
}

/* Four floats to two words; adds the integers to sums. */
HW_INLINE hw_f32x4 scale_four(hw_f32x4 x, hw_f32x4 factor, int32_t *words, size_t step, hw_f32x4 sums) {
  const hw_f32x4 integers = hw_round_to_integers(hw_multiply(x, factor));
  hw_store_word_pairs(integers, words, words + step);
  return hw_add_integers(sums, integers);
}

/* -BIAS times the sum of the lanes, modulo 2^32. */
static int32_t offset_of(hw_f32x4 sums) {
  uint32_t lanes[HW_LANES];
  hw_store((float *)lanes, sums);
  return (int32_t)(0U - BIAS * (lanes[0] + lanes[1] + lanes[2] + lanes[3]));
}

hw_int8_row hw_int8_scale_row(const float *row, size_t k, int32_t *words, size_t step) {
  const row_range range = range_of(row, k);
  const float largest = (float)largest_activation(k);
  /* Of less, the factor is infinite. */
  const bool scales = range.largest >= 0x1p-110F && range.zero == 0.0F;
  const hw_f32x4 factor = hw_splat(scales ? largest / range.largest : 0.0F);
  hw_f32x4 sums = hw_splat_integer(0);
  size_t i = 0;
  for (; i + HW_LANES <= k; i += HW_LANES) {
    sums = scale_four(hw_load(row + i), factor, words + i / 2 * step, step, sums);
  }
  if (i < k) {
    int32_t last[2];
    sums = scale_four(hw_load_lanes(row + i, k - i), factor, last, 1, sums);
    for (size_t w = i / 2; w < hw_int8_words(k); w++) {
      words[w * step] = last[w - i / 2];
    }
  }
  return (hw_int8_row){range.largest / largest + range.zero, offset_of(sums)};
}

/* What a sum of integers is as a float, plus where it starts: product and sum are rounded apart, so that all builds give the
 * same. */
HW_INLINE hw_f32x4 float_of(hw_f32x4 sum, const float *scales, float scale, const float *start) {
  const hw_f32x4 factor = hw_multiply(hw_load(scales), hw_splat(scale));
  return hw_add(hw_multiply(hw_float_of_integer(sum), factor), hw_load(start));
}

/* sums: of the 16 bits that columns 0 to 3 share with 4 to 7, and of the upper bytes. */
HW_INLINE void finish(const int32_t *sums, const float *scales, const hw_int8_row *row, const float *start, float *y) {
  const hw_f32x4 upper = hw_load((const float *)sums + HW_LANES);
  const hw_f32x4 lower = hw_subtract_integers(hw_load((const float *)sums), hw_shift_left(upper, 8));
  hw_store(y, float_of(hw_add_integers(lower, hw_splat_integer(row->offset)), scales, row->scale, start));
  hw_store(y + HW_LANES, float_of(upper, scales + HW_LANES, row->scale, start + HW_LANES));
}

/* Row r times the panels first, first + apart, … of them HW_ROW_PANELS. */
static __attribute__((noinline)) void row_times(const hw_int8_product *product, size_t r, size_t first, size_t apart) {
  const hw_small_panel panel = hw_small_panel_at(&product->panels, first);
  const size_t stride = apart * hw_small_panel_bytes(&product->panels);
  const unsigned char *word = panel.words;
  const int32_t *integers = product->words + r * product->panels.words;
  hw_f32x4 sums[HW_ROW_PANELS][HW_TILE_VECTORS];
#pragma GCC unroll 4
  for (size_t i = 0; i < HW_ROW_PANELS; i++) {
    sums[i][0] = hw_splat_integer(0);
    sums[i][1] = hw_splat_integer(0);
  }
  for (size_t left = product->panels.words; left != 0; left--) {
    const hw_f32x4 two = hw_load_splat((const float *)integers);
#pragma GCC unroll 4
    for (size_t i = 0; i < HW_ROW_PANELS; i++) {
      const hw_f32x4 bytes = hw_load((const float *)(word + i * stride));
      sums[i][0] = hw_add_pairs(two, bytes, sums[i][0]);
      sums[i][1] = hw_add_pairs(two, hw_upper_bytes(bytes), sums[i][1]);
    }
    integers += 1;
    word += HW_WORD_BYTES;
  }
  int32_t out[HW_ROW_PANELS * HW_TILE_COLUMNS];
#pragma GCC unroll 4
  for (size_t i = 0; i < HW_ROW_PANELS; i++) {
    hw_store((float *)out + i * HW_TILE_COLUMNS, sums[i][0]);
    hw_store((float *)out + i * HW_TILE_COLUMNS + HW_LANES, sums[i][1]);
  }
#pragma GCC unroll 1
  for (size_t i = 0; i < HW_ROW_PANELS; i++) {
    const size_t number = first + i * apart;
    finish(out + i * HW_TILE_COLUMNS, hw_small_panel_at(&product->panels, number).header, product->of_rows + r,
           product->start + number * product->start_stride,
           product->y + r * product->y_stride + number * HW_TILE_COLUMNS);
  }
}

/* As hw_row_times_half_panels. */
void hw_few_rows_times_int8_panels(const hw_int8_product *product) {
  const size_t apart = product->count / HW_ROW_PANELS;
  for (size_t r = 0; r < product->rows; r++) {
    for (size_t panel = 0; panel < apart; panel++) {
      row_times(product, r, panel, apart);
    }
    for (size_t panel = apart * HW_ROW_PANELS; panel < product->count; panel++) {
      row_times(product, r, panel, 0);
    }
  }
}

/* The integer sums of HW_INT8_ROWS rows and a panel. No hw_order_barrier between rows: Node 20's V8 would hoist broadcasts. */
static __attribute__((noinline)) void sum_tile(const int32_t *words, const unsigned char *row, size_t left,
                                               int32_t *out) {
  hw_f32x4 sums[HW_INT8_ROWS][HW_TILE_VECTORS];
#pragma GCC unroll 8
  for (size_t r = 0; r < HW_INT8_ROWS; r++) {
    sums[r][0] = hw_splat_integer(0);
    sums[r][1] = hw_splat_integer(0);
  }
  for (; left != 0; left--) {
    const hw_f32x4 bytes = hw_load((const float *)row);
    const hw_f32x4 upper = hw_upper_bytes(bytes);
    hw_order_barrier(); /* or LLVM would put all lower products before the upper ones, with five words in registers */
#pragma GCC unroll 8
    for (size_t r = 0; r < HW_INT8_ROWS; r++) {
      const hw_f32x4 word = hw_load_splat((const float *)words + r);
      sums[r][0] = hw_add_pairs(word, bytes, sums[r][0]);
      sums[r][1] = hw_add_pairs(word, upper, sums[r][1]);
    }
    words += HW_INT8_ROWS;
    row += HW_WORD_BYTES;
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < HW_INT8_ROWS; r++) {
    hw_store((float *)out + r * HW_TILE_COLUMNS, sums[r][0]);
    hw_store((float *)out + r * HW_TILE_COLUMNS + HW_LANES, sums[r][1]);
  }
}

void hw_rows_times_int8_panels(const hw_int8_product *product) {
  const hw_int8_product *p = product;
  int32_t sums[HW_INT8_ROWS * HW_TILE_COLUMNS];
  for (size_t number = 0; number < p->count; number++) {
    const hw_small_panel panel = hw_small_panel_at(&p->panels, number);
    sum_tile(p->words, panel.words, p->panels.words, sums);
    for (size_t r = 0; r < p->rows; r++) {
      finish(sums + r * HW_TILE_COLUMNS, panel.header, p->of_rows + r, p->start + number * p->start_stride,
             p->y + r * p->y_stride + number * HW_TILE_COLUMNS);
    }
  }
}
