/* Rows of a table by their numbers. */
#ifndef HW_OPS_EMBEDDING_H
#define HW_OPS_EMBEDDING_H

#include "ops/matrix.h"

/* y [count, columns]: row ids[i] of the table. */
void hw_embedding_forward(const hw_run *run, const hw_matrix *table, const uint32_t *ids, size_t count, float *y);

/* y [count, columns] += row first + i % tokens of the table: positions of sequences of so many tokens. */
void hw_positions_forward(const hw_run *run, const hw_matrix *table, size_t first, size_t tokens, size_t count,
                          float *y);

#endif
