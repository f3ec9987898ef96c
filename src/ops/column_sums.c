#include "ops/column_sums.h"

#include "kernels/transposed_product.h"

enum {
  /* Of one item. */
  COLUMNS = 256,
  /* What an element costs, in multiply-adds of a matrix product. */
  ELEMENT_WORK = 4,
};

typedef struct sums_job {
  const hw_rows *rows;
  size_t columns;
  float *sums;
} sums_job;

static void sums_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const sums_job *s = job;
  const size_t column = item * COLUMNS;
  hw_add_column_sums(s->rows->data + column, s->rows->stride, s->rows->count, hw_min(s->columns - column, COLUMNS),
                     s->sums + column);
}

void hw_column_sums_add(const hw_run *run, const hw_rows *rows, size_t columns, float *sums) {
  if (hw_run_measures(run)) {
    return;
  }
  const double work = (double)rows->count * (double)columns * (double)ELEMENT_WORK;
  hw_parallel_for(hw_run_team(run, work), work, hw_ceil_divide(columns, COLUMNS), sums_item,
                  &(sums_job){rows, columns, sums});
}
