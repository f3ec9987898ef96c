/* Products of matrices, shared among threads. */
#ifndef HW_OPS_MATMUL_H
#define HW_OPS_MATMUL_H

#include "kernels/gemm.h"
#include "ops/run.h"

/* The product, but for its strips, which come from the run's arena; the others of its fields may change. columns is at
 * least 1; with a k of 0, c becomes what its sums begin with. The result does not depend on the number of threads. */
void hw_matmul_forward(const hw_run *run, hw_gemm_product *product);

/* Columns of an item of a product of so many rows: what the second-level cache holds while they pass by. A single row reads all
 * weights once, from places that lie as far apart as a thread's share of the columns allows: see hw_row_times_panels. */
size_t hw_matmul_item_columns(const hw_team *team, size_t rows, size_t columns);

#endif
