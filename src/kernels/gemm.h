/* Matrix product with a packed right-hand side: what one thread does of it. */
#ifndef HW_KERNELS_GEMM_H
#define HW_KERNELS_GEMM_H

#include <stdbool.h>
#include <stddef.h>

/* c = start + a·B: a [rows, k] at a_stride, B [k, columns] in panels as hw_pack_panels leaves them one after another, c
 * [rows, columns] at c_stride. Sums begin with `start`, eight floats for each panel start_stride apart, or with c itself if
 * `adds`, and run in the order of k. */
typedef struct hw_gemm_product {
  const float *a;
  size_t a_stride;
  const float *panels;
  const float *start;
  size_t start_stride;
  float *c;
  size_t c_stride;
  size_t rows;
  size_t k;
  size_t columns;
  float *strips; /* hw_gemm_strips_floats, at HW_ALIGNMENT; NULL: rows are read where they lie */
  bool adds;     /* c += a·B; start is not read */
} hw_gemm_product;

/* Eight zeros: the start of a product without a bias, at a start_stride of 0. */
extern const float hw_gemm_zeros[];

/* HW_TILE_ROWS rows of c = start + those of a, a_stride apart, times a panel; start: eight floats, NULL: what c holds. */
void hw_gemm_tile(const float *a, size_t a_stride, const float *panel, const float *start, size_t k, float *c,
                  size_t c_stride);

/* Floats of a product's interleaved rows; SIZE_MAX if that does not fit. */
size_t hw_gemm_strips_floats(size_t rows, size_t k);

/* Interleaves the whole strips of HW_TILE_ROWS among rows [row, end); row is a multiple of HW_TILE_ROWS. */
void hw_gemm_pack_strips(const hw_gemm_product *g, size_t row, size_t end);

/* Rows [row, row_end) and columns [column, column_end) of c, from strips that are packed; row is a multiple of HW_TILE_ROWS,
 * column of HW_TILE_COLUMNS. Reads and writes exactly the product's elements. */
void hw_gemm_block(const hw_gemm_product *g, size_t row, size_t row_end, size_t column, size_t column_end);

#endif
