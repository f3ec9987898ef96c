/*
 * Panels of weights in eight bits, times rows of thirteen: "A13".
 *
 * A weight is a byte in -127…127 times its column's scale. A row of activations is scaled by its largest to integers that leave
 * room for the sum over k in 32 bits: 13 bits up to k = 4,128. All sums are exact, so the numbers are the same in every build and
 * by either way, and rows do not depend on each other.
 *
 * Two ways, because processors that multiply bytes do so twice as fast as 16 bits, and others slower. What lies where depends on
 * the way; of both a panel's header begins with its scales, and four k are two words.
 */
#ifndef HW_KERNELS_INT8_PANELS_H
#define HW_KERNELS_INT8_PANELS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/row_panels.h"
#include "kernels/small_panels.h"
#include "kernels/weights.h"

/* Words of a row or a panel. */
static inline size_t hw_int8_words(size_t k) { return (k / 4 + (k % 4 > 0)) * 2; }

/* Floats of a panel's header. */
enum { HW_INT8_HEADER = 2 * HW_TILE_COLUMNS };

/* Panels of k rows. */
static inline hw_small_panels hw_int8_panels(void *data, size_t k) {
  return (hw_small_panels){data, HW_INT8_HEADER * sizeof(float), hw_int8_words(k)};
}

typedef struct hw_int8_row {
  float scale;    /* takes a row's integers back to floats; NaN if a float was not finite */
  int32_t offset; /* of sums, modulo 2^32 */
} hw_int8_row;

/* y = start + a · panels. */
typedef struct hw_int8_product {
  const int32_t *words; /* [rows, panels.words]; or a strip of interleaved rows */
  const hw_int8_row *of_rows;
  size_t rows; /* 1 to those of a strip */
  hw_small_panels panels;
  size_t count;        /* of them */
  const float *start;  /* eight sums of each panel, or eight for all */
  size_t start_stride; /* 8 or 0 */
  float *y;            /* [rows, count · 8] at y_stride */
  size_t y_stride;
  float *headers; /* HW_INT8_HEADER floats of each of some panels: see hw_int8_row_by_row */
} hw_int8_product;

typedef struct hw_int8_way {
  size_t strip_rows; /* that are multiplied together, at most HW_INT8_ROWS */

  /* Writes rows [first, first + count) of columns [from, to) from a block [count][8], and the columns' scales. range: of all rows,
   * so that they are scaled alike. first is a multiple of 4, and count is if more rows follow; blocks come in the order of k. */
  void (*write)(const hw_small_panel *panel, const hw_rows_range *range, size_t from, size_t to, size_t first,
                size_t count, const float *block);
  float (*get)(const hw_small_panel *panel, size_t k, size_t column);

  /* Scales a row of k floats to integers: the words of row r of `rows` interleaved ones. */
  hw_int8_row (*scale_row)(const float *row, size_t k, int32_t *words, size_t r, size_t rows);

  /* Rows that lie one after another, one by one. */
  void (*few_rows_times)(const hw_int8_product *product);

  /* A strip of strip_rows interleaved rows; missing ones may hold anything. */
  void (*strip_times)(const hw_int8_product *product);
} hw_int8_way;

extern const hw_int8_way hw_int8_pairs;
#if HW_DOTS
extern const hw_int8_way hw_int8_dots;
#endif

/* The one that is fast here: told by what the processor's dots give where they may differ. Always the same. */
const hw_int8_way *hw_int8_fast_way(void);

/* ---- For the ways ---- */

/* What weights of a column are multiplied by to become bytes. */
void hw_int8_inverse_scales(const hw_small_panel *panel, const hw_rows_range *range, size_t from, size_t to,
                            float inverse[HW_TILE_COLUMNS]);

/* What floats of a row are multiplied by to become integers, and back. */
typedef struct hw_int8_scale {
  float factor;
  float scale;
} hw_int8_scale;

hw_int8_scale hw_int8_scale_of(const float *row, size_t k);

/* Calls times for every row, whose sums y then holds the starts of, and for `width` panels at a time that lie far apart: see
 * hw_row_times_panels. Of those that remain each counts as all of them: they are few. Between the panels' streams headers would be
 * waited for, an eighth of the time: they are copied before what lies behind them is read. Inlined, so that times is called by no
 * pointer: see half_panels.c. */
HW_INLINE void hw_int8_row_by_row(const hw_int8_product *product, size_t width,
                                  void (*times)(const hw_int8_product *product, size_t r, size_t first, size_t apart)) {
  const size_t apart = product->count / width;
  float headers[HW_ROW_PANELS * HW_INT8_HEADER];
  hw_int8_product with_headers = *product;
  with_headers.headers = headers;
  for (size_t r = 0; r < product->rows; r++) {
    hw_row_start(product->start, product->start_stride, product->count, product->y + r * product->y_stride);
    for (size_t panel = 0; panel < product->count;) {
      const size_t step = panel < apart ? apart : 0;
      float *header = headers;
      for (size_t i = 0; i < width; i++) {
        const float *from = hw_small_panel_at(&product->panels, panel + i * step).header;
        for (const float *end = from + HW_INT8_HEADER; from < end; from += HW_LANES) {
          hw_store(header, hw_load(from));
          header += HW_LANES;
        }
      }
      times(&with_headers, r, panel, step);
      panel++;
      if (panel == apart) {
        panel *= width;
      }
    }
  }
}

/* Four floats as integers. */
HW_INLINE hw_f32x4 hw_int8_integers(hw_f32x4 x, hw_f32x4 factor) {
  return hw_round_to_integers(hw_multiply(x, factor));
}

/* What a sum of integers is as a float, plus where it starts: product and sum are rounded apart, so that all builds give the
 * same. */
HW_INLINE hw_f32x4 hw_int8_float_of(hw_f32x4 sum, const float *scales, float scale, const float *start) {
  const hw_f32x4 factor = hw_multiply(hw_load(scales), hw_splat(scale));
  return hw_add(hw_multiply(hw_float_of_integer(sum), factor), hw_load(start));
}

#endif
