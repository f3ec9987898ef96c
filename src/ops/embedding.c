#include "ops/embedding.h"

void hw_embedding_forward(const hw_run *run, const hw_matrix *table, const uint32_t *ids, size_t count, float *y) {
  for (size_t i = 0; !hw_run_measures(run) && i < count; i++) {
    hw_matrix_row(table, ids[i], false, y + i * table->columns);
  }
}

void hw_positions_forward(const hw_run *run, const hw_matrix *table, size_t first, size_t tokens, size_t count,
                          float *y) {
  for (size_t i = 0; !hw_run_measures(run) && i < count; i++) {
    hw_matrix_row(table, first + i % tokens, true, y + i * table->columns);
  }
}
