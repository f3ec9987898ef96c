/*
 * Panels of weights in 16 bits: bfloat16 or float16.
 *
 *   header, of float16: scales s0 … s7      word, one k each: | c0 c4 c1 c5 c2 c6 c3 c7 |
 *
 * A 32-bit lane holds column j in its lower half and column j + 4 in its upper one: a shift or a mask makes a bfloat16 a float.
 * A float16's bits, shifted into a float's place, are its value times 2^-112. What is kept is the weight times a power of two
 * that keeps it out of the subnormals, which processors multiply slowly: 2^10, or less where a row has large weights. The scale
 * of a column takes both back.
 */
#ifndef HW_KERNELS_HALF_PANELS_H
#define HW_KERNELS_HALF_PANELS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/small_panels.h"

typedef enum hw_half { HW_HALF_BFLOAT16, HW_HALF_FLOAT16 } hw_half;

/* Panels of k rows. */
static inline hw_small_panels hw_half_panels(hw_half half, void *data, size_t k) {
  return (hw_small_panels){data, half == HW_HALF_FLOAT16 ? HW_TILE_COLUMNS * sizeof(float) : 0, k};
}

/* Columns [from, to) of a panel of float16 forget how large their weights were; one of bfloat16 does not know. */
void hw_float16_panel_init(const hw_small_panel *panel, size_t from, size_t to);

/* Writes or reads element (k, column) of a panel of `rows` rows. A float16 larger than its column's others may round the
 * smallest of these again. */
void hw_half_panel_set(hw_half half, const hw_small_panel *panel, size_t rows, size_t k, size_t column, float value);

/* Writes rows [first, first + count) from a block [count][8] of floats. */
void hw_half_panel_write(hw_half half, const hw_small_panel *panel, size_t rows, size_t first, size_t count,
                         const float *block);

float hw_half_panel_get(hw_half half, const hw_small_panel *panel, size_t k, size_t column);

/* A panel as panels of floats have it, words · 8 of them. */
void hw_half_panel_expand(hw_half half, const hw_small_panel *panel, size_t words, float *floats);

/* y = start + a · panels, each sum in the order of k. */
typedef struct hw_half_row_product {
  hw_half half;
  const float *a; /* [panels.words] */
  hw_small_panels panels;
  size_t count;       /* of them */
  const float *start; /* eight sums of each panel, start_stride floats apart; y is fastest: see hw_row_start */
  size_t start_stride;
  float *y; /* [count · 8] */
} hw_half_row_product;

void hw_row_times_half_panels(const hw_half_row_product *product);

#endif
