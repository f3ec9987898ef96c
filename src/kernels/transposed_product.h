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

/* sums[i] += x[0][i] + x[1][i] + … of x [rows, columns] at stride, in the order of the rows. */
void hw_add_column_sums(const float *x, size_t stride, size_t rows, size_t columns, float *sums);

/* sums[i] += a[0][i]·b[0][i] + a[1][i]·b[1][i] + …, likewise, both [rows, columns] at stride. */
void hw_add_column_products(const float *a, const float *b, size_t stride, size_t rows, size_t columns, float *sums);

#endif
