/* Rows of a table by their numbers. */
#ifndef HW_OPS_EMBEDDING_H
#define HW_OPS_EMBEDDING_H

#include "ops/matrix.h"
#include "ops/places.h"

/* y [count, columns]: row ids[i] of the table. */
void hw_embedding_forward(const hw_run *run, const hw_matrix *table, const uint32_t *ids, size_t count, float *y);

/* y [batch, tokens, columns] += the table's rows of their positions. */
void hw_positions_forward(const hw_run *run, const hw_matrix *table, const hw_places *places, float *y);

/* Their gradients: what the forward read += dy, row after row. */
void hw_embedding_backward(const hw_run *run, hw_matrix *gradient, const uint32_t *ids, size_t count, const float *dy);
void hw_positions_backward(const hw_run *run, hw_matrix *gradient, const hw_places *places, const float *dy);

#endif
