#include "ops/column_sums.h"

#include "kernels/transposed_product.h"

enum {
  /* Of one item. */
  COLUMNS = 64,
  /* What an element costs, in multiply-adds of a matrix product. */
  ELEMENT_WORK = 4,
};

typedef struct sums_job {
  hw_rows rows;
  const float *factors; /* NULL, or what each element is multiplied by */
  size_t columns;
  float *sums;
} sums_job;

static void sums_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const sums_job *s = job;
  const size_t column = item * COLUMNS;
  const size_t columns = hw_min(s->columns - column, COLUMNS);
  if (s->factors == NULL) {
    hw_add_column_sums(s->rows.data + column, s->rows.stride, s->rows.count, columns, s->sums + column);
  } else {
    hw_add_column_products(s->rows.data + column, s->factors + column, s->rows.stride, s->rows.count, columns,
                           s->sums + column);
  }
}

static void add(const hw_run *run, const sums_job *job) {
  const double work = (double)job->rows.count * (double)job->columns * (double)ELEMENT_WORK;
  hw_run_items(run, work, hw_ceil_divide(job->columns, COLUMNS), sums_item, job);
}

void hw_column_sums_add(const hw_run *run, const hw_rows *rows, size_t columns, float *sums) {
  add(run, &(sums_job){*rows, NULL, columns, sums});
}

void hw_column_products_add(const hw_run *run, const float *a, const float *b, size_t rows, size_t columns,
                            float *sums) {
  add(run, &(sums_job){{a, columns, rows}, b, columns, sums});
}
