/*
 * int8 by products of 16 bits.
 *
 *   word, two k each: | c0 k0, c4 k0, c0 k1, c4 k1, c1 k0 … c3 k1, c7 k1 |, in bytes
 *
 * Of 16 bits, columns 4 to 7 have the upper byte, which a shift makes a number. Columns 0 to 3 have the lower one, plus 128. Their
 * sums are those of the 16 bits less 256 times the upper bytes', modulo 2^32, and less 128 times the row's sum.
 */
#include "core/memory.h"
#include "core/tile.h"
#include "kernels/gemm.h"
#include "kernels/int8_panels.h"

enum { BIAS = 128 /* of columns 0 to 3 */ };

static unsigned char *element(const hw_small_panel *panel, size_t k, size_t column) {
  return panel->words + k / 2 * HW_WORD_BYTES + column % HW_LANES * 4 + k % 2 * 2 + column / HW_LANES;
}

/* Two k of eight columns; to columns [from, to) of a panel. */
static void write_word(const hw_small_panel *panel, size_t k, size_t from, size_t to, hw_f32x4 word) {
  if (to - from == HW_TILE_COLUMNS) {
    hw_store(element(panel, k, 0), word);
    return;
  }
  unsigned char bytes[HW_WORD_BYTES];
  hw_store(bytes, word);
  for (size_t c = from; c < to; c++) {
    const size_t at = c % HW_LANES * 4 + c / HW_LANES;
    element(panel, k, c)[0] = bytes[at];
    element(panel, k, c)[2] = bytes[at + 2];
  }
}

static void write(const hw_small_panel *panel, const hw_rows_range *range, size_t from, size_t to, size_t first,
                  size_t count, const float *block) {
  float inverse[HW_TILE_COLUMNS];
  hw_int8_inverse_scales(panel, range, from, to, inverse);
  const hw_f32x4 low = hw_load(inverse);
  const hw_f32x4 high = hw_load(inverse + HW_LANES);
  for (size_t k = 0; k < count; k += 2) {
    const float *even = block + k * HW_TILE_COLUMNS;
    const float *odd = k + 1 < count ? even + HW_TILE_COLUMNS : hw_gemm_zeros;
    const hw_f32x4 word = hw_four_bytes(hw_add_integers(hw_int8_integers(hw_load(even), low), hw_splat_integer(BIAS)),
                                        hw_int8_integers(hw_load(even + HW_LANES), high),
                                        hw_add_integers(hw_int8_integers(hw_load(odd), low), hw_splat_integer(BIAS)),
                                        hw_int8_integers(hw_load(odd + HW_LANES), high));
    write_word(panel, first + k, from, to, word);
  }
}

static float get(const hw_small_panel *panel, size_t k, size_t column) {
  const float scale = panel->header[column];
  const unsigned char byte = *element(panel, k, column);
  return (float)(column < HW_LANES ? byte - BIAS : (int8_t)byte) * scale;
}

/* -BIAS times the sum of the lanes, modulo 2^32. */
static int32_t offset_of(hw_f32x4 sums) {
  uint32_t lanes[HW_LANES];
  hw_store(lanes, sums);
  return (int32_t)(0U - BIAS * (lanes[0] + lanes[1] + lanes[2] + lanes[3]));
}

static hw_int8_row scale_row(const float *row, size_t k, int32_t *words, size_t r, size_t rows) {
  const hw_int8_scale of = hw_int8_scale_of(row, k);
  const hw_f32x4 factor = hw_splat(of.factor);
  hw_f32x4 sums = hw_splat_integer(0);
  for (size_t i = 0; i < k; i += HW_LANES) {
    const hw_f32x4 integers = hw_int8_integers(hw_load_lanes(row + i, hw_min(k - i, HW_LANES)), factor);
    int32_t *to = words + i / 2 * rows + r;
    hw_store_word_pairs(integers, to, to + rows);
    sums = hw_add_integers(sums, integers);
  }
  return (hw_int8_row){of.scale, offset_of(sums)};
}

/* sums: of the 16 bits that columns 0 to 3 share with 4 to 7, and of the upper bytes. */
HW_INLINE void finish(const int32_t *sums, const float *scales, const hw_int8_row *row, const float *start, float *y) {
  const hw_f32x4 upper = hw_load(sums + HW_LANES);
  const hw_f32x4 lower = hw_subtract_integers(hw_load(sums), hw_shift_left(upper, 8));
  hw_store(y, hw_int8_float_of(hw_add_integers(lower, hw_splat_integer(row->offset)), scales, row->scale, start));
  hw_store(y + HW_LANES, hw_int8_float_of(upper, scales + HW_LANES, row->scale, start + HW_LANES));
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
    const hw_f32x4 two = hw_load_splat(integers);
#pragma GCC unroll 4
    for (size_t i = 0; i < HW_ROW_PANELS; i++) {
      hw_order_barrier();
      const hw_f32x4 bytes = hw_load(word + i * stride);
      sums[i][0] = hw_add_pairs(two, bytes, sums[i][0]);
      sums[i][1] = hw_add_pairs(two, hw_upper_bytes(bytes), sums[i][1]);
    }
    integers += 1;
    word += HW_WORD_BYTES;
  }
  int32_t out[HW_ROW_PANELS * HW_TILE_COLUMNS];
#pragma GCC unroll 4
  for (size_t i = 0; i < HW_ROW_PANELS; i++) {
    hw_store(out + i * HW_TILE_COLUMNS, sums[i][0]);
    hw_store(out + i * HW_TILE_COLUMNS + HW_LANES, sums[i][1]);
  }
  const size_t panels = apart == 0 ? 1 : HW_ROW_PANELS;
#pragma GCC unroll 1
  for (size_t i = 0; i < panels; i++) {
    float *y = product->y + r * product->y_stride + (first + i * apart) * HW_TILE_COLUMNS;
    finish(out + i * HW_TILE_COLUMNS, product->headers + i * HW_INT8_HEADER, product->of_rows + r, y, y);
  }
}

static void few_rows_times(const hw_int8_product *product) { hw_int8_row_by_row(product, HW_ROW_PANELS, row_times); }

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
    const hw_f32x4 bytes = hw_load(row);
    const hw_f32x4 upper = hw_upper_bytes(bytes);
    hw_order_barrier(); /* or LLVM would put all lower products before the upper ones, with five words in registers */
#pragma GCC unroll 8
    for (size_t r = 0; r < HW_INT8_ROWS; r++) {
      const hw_f32x4 word = hw_load_splat(words + r);
      sums[r][0] = hw_add_pairs(word, bytes, sums[r][0]);
      sums[r][1] = hw_add_pairs(word, upper, sums[r][1]);
    }
    words += HW_INT8_ROWS;
    row += HW_WORD_BYTES;
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < HW_INT8_ROWS; r++) {
    hw_store(out + r * HW_TILE_COLUMNS, sums[r][0]);
    hw_store(out + r * HW_TILE_COLUMNS + HW_LANES, sums[r][1]);
  }
}

static void strip_times(const hw_int8_product *product) {
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

const hw_int8_way hw_int8_pairs = {HW_INT8_ROWS, write, get, scale_row, few_rows_times, strip_times};
