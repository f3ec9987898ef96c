/*
 * int8 by dots of four bytes, where processors have them.
 *
 *   words 2i and 2i + 1, four k each: | c0 k0 … k3, c1 k0 … c3 k3 | c4 k0 … c7 k3 |, in bytes
 *
 * Dots are the same everywhere for bytes times numbers of seven bits. So a row's integers, plus 4096, are two of these each: word
 * 2i has the upper seven bits of four, word 2i + 1 the lower ones. A column's sum is that of the upper ones times 128, plus that
 * of the lower ones, less 4096 times the column's weights, whose sum is in the panel's header after the scales.
 */
#include "core/memory.h"
#include "core/tile.h"
#include "kernels/int8_panels.h"

#if HW_DOTS

enum {
  DEPTH = 4, /* k of a word */
  PLANES = 2,
  OFFSET_BITS = 12,
  PANELS = 3, /* that a single row is multiplied by at once */
  ROWS = 3,
};

_Static_assert(ROWS *PLANES *HW_TILE_VECTORS + HW_TILE_VECTORS + 1 <= 15, "a tile fits V8's registers");
_Static_assert(PANELS *PLANES *HW_TILE_VECTORS + PLANES + 1 <= 15, "a single row fits the registers");

static int32_t *sums_of(float *header) { return (int32_t *)(void *)(header + HW_TILE_COLUMNS); }

static unsigned char *element(const hw_small_panel *panel, size_t k, size_t column) {
  return panel->words + (k / DEPTH * HW_TILE_COLUMNS + column) * DEPTH + k % DEPTH;
}

static void write(const hw_small_panel *panel, const hw_rows_range *range, size_t from, size_t to, size_t first,
                  size_t count, const float *block) {
  float inverse[HW_TILE_COLUMNS];
  hw_int8_inverse_scales(panel, range, from, to, inverse);
  for (size_t c = from; c < to; c++) {
    int32_t sum = first == 0 ? 0 : sums_of(panel->header)[c];
    for (size_t k = 0; k < count; k++) {
      int32_t integers[HW_LANES];
      hw_store(integers, hw_int8_integers(hw_splat(block[k * HW_TILE_COLUMNS + c]), hw_splat(inverse[c])));
      *element(panel, first + k, c) = (unsigned char)integers[0];
      sum += integers[0];
    }
    sums_of(panel->header)[c] = sum;
  }
}

static float get(const hw_small_panel *panel, size_t k, size_t column) {
  return (float)(int8_t)*element(panel, k, column) * panel->header[column];
}

static hw_int8_row scale_row(const float *row, size_t k, int32_t *words, size_t r, size_t rows) {
  const hw_int8_scale of = hw_int8_scale_of(row, k);
  const hw_f32x4 factor = hw_splat(of.factor);
  for (size_t i = 0; i < k; i += DEPTH) {
    const hw_f32x4 integers = hw_int8_integers(hw_load_lanes(row + i, hw_min(k - i, HW_LANES)), factor);
    hw_store_sevens(hw_add_integers(integers, hw_splat_integer(1 << OFFSET_BITS)),
                    words + (i / DEPTH * rows + r) * PLANES);
  }
  return (hw_int8_row){of.scale, 0};
}

/* sums of a panel: of the upper bits and of the lower ones. */
HW_INLINE void finish(const int32_t *sums, float *header, float scale, const float *start, float *y) {
#pragma GCC unroll 2
  for (size_t at = 0; at < HW_TILE_COLUMNS; at += HW_LANES) {
    const hw_f32x4 upper = hw_shift_left(hw_load(sums + at), 7);
    const hw_f32x4 both = hw_add_integers(upper, hw_load(sums + HW_TILE_COLUMNS + at));
    const hw_f32x4 offset = hw_shift_left(hw_load(sums_of(header) + at), OFFSET_BITS);
    hw_store(y + at, hw_int8_float_of(hw_subtract_integers(both, offset), header + at, scale, start + at));
  }
}

/* Row r times the panels first, first + apart, … of them PANELS. */
static __attribute__((noinline)) void row_times(const hw_int8_product *product, size_t r, size_t first, size_t apart) {
  const hw_small_panel panel = hw_small_panel_at(&product->panels, first);
  const size_t stride = apart * hw_small_panel_bytes(&product->panels);
  const unsigned char *word = panel.words;
  const int32_t *integers = product->words + r * product->panels.words;
  hw_f32x4 sums[PANELS][PLANES][HW_TILE_VECTORS];
#pragma GCC unroll 12
  for (size_t i = 0; i < (size_t)PANELS * PLANES * HW_TILE_VECTORS; i++) {
    sums[i / 4][i / 2 % 2][i % 2] = hw_splat_integer(0);
  }
  for (size_t left = product->panels.words; left != 0; left -= PLANES) {
    const hw_f32x4 upper = hw_load_splat(integers);
    const hw_f32x4 lower = hw_load_splat(integers + 1);
#pragma GCC unroll 6
    for (size_t i = 0; i < (size_t)PANELS * HW_TILE_VECTORS; i++) {
      const hw_f32x4 bytes = hw_load(word + i / 2 * stride + i % 2 * HW_WORD_BYTES);
      sums[i / 2][0][i % 2] = hw_add_dots(bytes, upper, sums[i / 2][0][i % 2]);
      sums[i / 2][1][i % 2] = hw_add_dots(bytes, lower, sums[i / 2][1][i % 2]);
    }
    integers += PLANES;
    word += (size_t)HW_TILE_VECTORS * HW_WORD_BYTES;
  }
  int32_t out[PANELS * PLANES * HW_TILE_COLUMNS];
#pragma GCC unroll 12
  for (size_t i = 0; i < (size_t)PANELS * PLANES * HW_TILE_VECTORS; i++) {
    hw_store(out + i * HW_LANES, sums[i / 4][i / 2 % 2][i % 2]);
  }
  const size_t panels = apart == 0 ? 1 : PANELS;
#pragma GCC unroll 1
  for (size_t i = 0; i < panels; i++) {
    float *y = product->y + r * product->y_stride + (first + i * apart) * HW_TILE_COLUMNS;
    finish(out + i * PLANES * HW_TILE_COLUMNS, product->headers + i * HW_INT8_HEADER, product->of_rows[r].scale, y, y);
  }
}

static void few_rows_times(const hw_int8_product *product) { hw_int8_row_by_row(product, PANELS, row_times); }

/* The sums of ROWS rows and a panel. */
static __attribute__((noinline)) void sum_tile(const int32_t *words, const unsigned char *row, size_t left,
                                               int32_t *out) {
  hw_f32x4 sums[ROWS * PLANES][HW_TILE_VECTORS];
#pragma GCC unroll 6
  for (size_t i = 0; i < (size_t)ROWS * PLANES; i++) {
    sums[i][0] = hw_splat_integer(0);
    sums[i][1] = hw_splat_integer(0);
  }
  for (; left != 0; left -= PLANES) {
    const hw_f32x4 low = hw_load(row);
    const hw_f32x4 high = hw_load(row + HW_WORD_BYTES);
#pragma GCC unroll 6
    for (size_t i = 0; i < (size_t)ROWS * PLANES; i++) {
      hw_order_barrier();
      const hw_f32x4 word = hw_load_splat(words + i);
      sums[i][0] = hw_add_dots(low, word, sums[i][0]);
      sums[i][1] = hw_add_dots(high, word, sums[i][1]);
    }
    words += (size_t)ROWS * PLANES;
    row += (size_t)HW_TILE_VECTORS * HW_WORD_BYTES;
  }
#pragma GCC unroll 6
  for (size_t i = 0; i < (size_t)ROWS * PLANES; i++) {
    hw_store(out + i * HW_TILE_COLUMNS, sums[i][0]);
    hw_store(out + i * HW_TILE_COLUMNS + HW_LANES, sums[i][1]);
  }
}

static void strip_times(const hw_int8_product *product) {
  int32_t sums[ROWS * PLANES * HW_TILE_COLUMNS];
  for (size_t number = 0; number < product->count; number++) {
    const hw_small_panel panel = hw_small_panel_at(&product->panels, number);
    sum_tile(product->words, panel.words, product->panels.words, sums);
    for (size_t r = 0; r < product->rows; r++) {
      finish(sums + r * PLANES * HW_TILE_COLUMNS, panel.header, product->of_rows[r].scale,
             product->start + number * product->start_stride,
             product->y + r * product->y_stride + number * HW_TILE_COLUMNS);
    }
  }
}

const hw_int8_way hw_int8_dots = {ROWS, write, get, scale_row, few_rows_times, strip_times};

#endif
