/* Rows of a table by their numbers. */
#ifndef HW_OPS_EMBEDDING_H
#define HW_OPS_EMBEDDING_H

#include "ops/matrix.h"

/* y [count, columns]: row ids[i] of the table. */
void hw_embedding_forward(const hw_run *run, const hw_matrix *table, const uint32_t *ids, size_t count, float *y);

/* y [count, columns] += row first + i % tokens of the table: positions of sequences of so many tokens. */
void hw_positions_forward(const hw_run *run, const hw_matrix *table, size_t first, size_t tokens, size_t count,
                          float *y);

/* Their gradients: gradient's row ids[i], or first + i % tokens, += row i of dy [count, columns], in the order of i. */
void hw_embedding_backward(const hw_run *run, hw_matrix *gradient, const uint32_t *ids, size_t count, const float *dy);
void hw_positions_backward(const hw_run *run, hw_matrix *gradient, size_t first, size_t tokens, size_t count,
                           const float *dy);

#endif
