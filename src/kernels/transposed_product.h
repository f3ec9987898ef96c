/*
 * Products with a transposed left-hand side, added to what is there: what gradients of weights, keys and values are made of.
 *
 *   a: k rows of `rows` elements         c[r][j] += sum over p of a[p][r] · B[p][j]
 */
#ifndef HW_KERNELS_TRANSPOSED_PRODUCT_H
#define HW_KERNELS_TRANSPOSED_PRODUCT_H

#include <stddef.h>

/* c += aᵀ·B: a [k, rows] at a_stride; B [k, count·8] in `count` panels of eight columns, panel_stride floats apart, the rows of
 * each at b_stride: HW_TILE_COLUMNS where they are packed (kernels/pack.h). Row r of panel j's eight columns is in c at
 * r·c_stride + j·c_panel_stride. Sums run in the order of k. */
typedef struct hw_transposed_product {
  const float *a;
  size_t a_stride;
  const float *panels;
  size_t panel_stride;
  size_t b_stride;
  size_t count;
  float *c;
  size_t c_stride;
  size_t c_panel_stride;
  size_t rows;
  size_t k;
} hw_transposed_product;

void hw_add_transposed_product(const hw_transposed_product *product);

/* Copies columns of a [k, columns] at a_stride, strip by strip of HW_TILE_ROWS, as [k][HW_TILE_ROWS] each: the product reads
 * them faster. Only whole strips. */
void hw_pack_column_strips(const float *a, size_t a_stride, size_t k, size_t columns, float *strips);

/* Packs k rows of so many columns into panels one after another, and adds what is in each column to its sum, in the order of the
 * rows. sums: of whole panels, NULL: not wanted. */
void hw_pack_summed_panels(const float *source, size_t stride, size_t columns, size_t k, float *panels, float *sums);

#endif
