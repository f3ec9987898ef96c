#include "ops/embedding.h"

#include <string.h>

#include "kernels/elementwise.h"

enum {
  /* Columns of one item: all rows in their order, so that threads share none. */
  COLUMNS = 32,
  /* What an element costs, in multiply-adds of a matrix product. */
  ELEMENT_WORK = 16,
};

void hw_embedding_forward(const hw_run *run, const hw_matrix *table, const uint32_t *ids, size_t count, float *y) {
  for (size_t i = 0; !hw_run_measures(run) && i < count; i++) {
    hw_matrix_row(table, ids[i], false, y + i * table->columns);
  }
}

void hw_positions_forward(const hw_run *run, const hw_matrix *table, const hw_places *places, float *y) {
  for (size_t i = 0; !hw_run_measures(run) && i < places->batch * places->tokens; i++) {
    hw_matrix_row(table, hw_place_of(places, i), true, y + i * table->columns);
  }
}

typedef struct scattering {
  hw_matrix *gradient;
  const hw_places *rows;
  const float *dy;
} scattering;

static void scatter_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const scattering *s = job;
  const size_t all = s->gradient->columns;
  const size_t column = item * COLUMNS;
  for (size_t i = 0; i < s->rows->batch * s->rows->tokens; i++) {
    const size_t row = hw_place_of(s->rows, i);
    hw_matrix_add_to_row(s->gradient, row, column, hw_min(all - column, COLUMNS), s->dy + i * all + column);
  }
}

void hw_positions_backward(const hw_run *run, hw_matrix *gradient, const hw_places *places, const float *dy) {
  const size_t columns = gradient->columns;
  const double work = (double)(places->batch * places->tokens) * (double)columns * (double)ELEMENT_WORK;
  hw_run_items(run, work, hw_ceil_divide(columns, COLUMNS), scatter_item, &(scattering){gradient, places, dy});
}

void hw_embedding_backward(const hw_run *run, hw_matrix *gradient, const uint32_t *ids, size_t count, const float *dy) {
  hw_positions_backward(run, gradient, &(hw_places){.ids = ids, .batch = 1, .tokens = count}, dy);
}

/* ---- Tables of plain rows ---- */

static hw_status check(const uint32_t *ids, size_t count, size_t rows, size_t columns) {
  if (columns == 0) {
    return HW_ERROR_SHAPE;
  }
  for (size_t i = 0; ids != NULL && i < count; i++) {
    if (ids[i] >= rows) {
      return HW_ERROR_VALUE;
    }
  }
  return ids == NULL ? HW_ERROR_VALUE : HW_OK;
}

hw_status hw_embed(const float *table, size_t rows, size_t columns, const uint32_t *ids, size_t count, float *y) {
  HW_TRY(check(ids, count, rows, columns));
  if (table == NULL || y == NULL) {
    return HW_ERROR_VALUE;
  }
  for (size_t i = 0; i < count; i++) {
    memcpy(y + i * columns, table + ids[i] * columns, columns * sizeof *y);
  }
  return HW_OK;
}

hw_status hw_embed_backward(const uint32_t *ids, size_t count, const float *dy, size_t rows, size_t columns,
                            float *d_table) {
  HW_TRY(check(ids, count, rows, columns));
  if (dy == NULL || d_table == NULL) {
    return HW_ERROR_VALUE;
  }
  for (size_t i = 0; i < count; i++) {
    float *row = d_table + ids[i] * columns;
    hw_row_add(row, dy + i * columns, row, columns);
  }
  return HW_OK;
}
