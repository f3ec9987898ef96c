/* Sums over rows: gradients of a vector that is added to every row. */
#ifndef HW_OPS_COLUMN_SUMS_H
#define HW_OPS_COLUMN_SUMS_H

#include "ops/matrix.h"

/* sums [columns] += the sum of the rows, in their order. */
void hw_column_sums_add(const hw_run *run, const hw_rows *rows, size_t columns, float *sums);

/* sums [columns] += the sum of the products of a's rows and b's, both [rows, columns] without gaps. */
void hw_column_products_add(const hw_run *run, const float *a, const float *b, size_t rows, size_t columns,
                            float *sums);

#endif
