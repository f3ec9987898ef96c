/* Matrix product with packed right-hand side. */
#ifndef HW_KERNELS_GEMM_H
#define HW_KERNELS_GEMM_H

#include <stddef.h>

#include "core/parallel.h"

/*
 * A packed matrix: per panel one row of eight biases, then k rows.
 *
 *   | bias0 … bias7 |
 *   | k=0: c0 … c7  |
 *   |      …        |      hw_gemm_panel_stride(k) floats a panel
 */
size_t hw_gemm_panel_stride(size_t k);

/* Floats that a packed matrix of `columns` columns takes; SIZE_MAX if that does not fit. */
size_t hw_gemm_packed_floats(size_t columns, size_t k);

/* As hw_pack_panels, with the bias rows zero. */
void hw_gemm_pack(const float *source, size_t column_stride, size_t k_stride, size_t columns, size_t k, float *packed);

/* c = a·B + bias: a [rows, k] at a_stride, packed B [k, columns], c [rows, columns] at c_stride. */
typedef struct hw_gemm_product {
  const float *a;
  size_t a_stride;
  const float *packed;
  float *c;
  size_t c_stride;
  size_t rows;
  size_t k;
  size_t columns;
  float *scratch; /* hw_gemm_scratch_bytes, at HW_ALIGNMENT */
} hw_gemm_product;

/* SIZE_MAX if that does not fit. */
size_t hw_gemm_scratch_bytes(size_t rows, size_t k);

/* Reads and writes exactly the product's elements; rows, k and columns are at least 1. The result does not depend on
 * the team. */
void hw_gemm(hw_team *team, const hw_gemm_product *product);

#endif
