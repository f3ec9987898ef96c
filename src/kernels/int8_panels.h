/*
 * Panels of weights in eight bits, times rows of thirteen: "A13".
 *
 *   header: scales s0 … s7      word, two k each: | c0 k0, c4 k0, c0 k1, c4 k1, c1 k0 … c3 k1, c7 k1 |, in bytes
 *
 * A weight is a byte in -127…127 times its column's scale. Of 16 bits, columns 4 to 7 have the upper byte, which a shift makes
 * a number. Columns 0 to 3 have the lower one, plus 128. Their sums are those of the 16 bits less 256 times the upper bytes',
 * modulo 2^32, and less 128 times the row's sum.
 * A row of activations is scaled by its largest to integers that leave room for the sum over k in 32 bits: 13 bits up to
 * k = 4,128. All sums are exact, so the numbers are the same in every build, and rows do not depend on each other.
 */
#ifndef HW_KERNELS_INT8_PANELS_H
#define HW_KERNELS_INT8_PANELS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/small_panels.h"
#include "kernels/weights.h"

/* Words of a row or a panel: two k each. */
static inline size_t hw_int8_words(size_t k) { return k / 2 + k % 2; }

/* Panels of k rows. */
static inline hw_small_panels hw_int8_panels(void *data, size_t k) {
  return (hw_small_panels){data, HW_TILE_COLUMNS * sizeof(float), hw_int8_words(k)};
}

/* Writes rows [first, first + count) of columns [from, to) from a block [count][8], and the columns' scales. range: of all rows,
 * so that they are scaled alike. first is even, and count is if more rows follow. */
void hw_int8_panel_write(const hw_small_panel *panel, const hw_rows_range *range, size_t from, size_t to, size_t first,
                         size_t count, const float *block);
float hw_int8_panel_get(const hw_small_panel *panel, size_t k, size_t column);

typedef struct hw_int8_row {
  float scale;    /* takes a row's integers back to floats; NaN if a float was not finite */
  int32_t offset; /* of the sums of columns 0 to 3: -128 times the row's integers, modulo 2^32 */
} hw_int8_row;

/* Scales a row of k floats to integers and writes word w at words[w · step]. */
hw_int8_row hw_int8_scale_row(const float *row, size_t k, int32_t *words, size_t step);

/* y = start + a · panels. */
typedef struct hw_int8_product {
  const int32_t *words; /* [rows, panels.words]; or [panels.words, HW_INT8_ROWS]: interleaved */
  const hw_int8_row *of_rows;
  size_t rows; /* 1 to HW_INT8_ROWS */
  hw_small_panels panels;
  size_t count;       /* of them */
  const float *start; /* eight sums of each panel, start_stride floats apart */
  size_t start_stride;
  float *y; /* [rows, count · 8] at y_stride */
  size_t y_stride;
} hw_int8_product;

/* Rows that lie one after another, one by one. */
void hw_few_rows_times_int8_panels(const hw_int8_product *product);

/* Interleaved rows; missing ones may hold anything. */
void hw_rows_times_int8_panels(const hw_int8_product *product);

#endif
