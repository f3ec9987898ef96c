#include "ops/matmul.h"

#include "kernels/pack.h"

/* Rows that are interleaved at a time: whole items, as many as stay in the last-level cache. */
static size_t rows_at_a_time(size_t rows, size_t k) {
  const size_t item_bytes = hw_size_multiply(HW_GEMM_ROWS / HW_TILE_ROWS * sizeof(float), hw_packed_rows_floats(k));
  return hw_min(hw_ceil_divide(rows, HW_GEMM_ROWS), hw_items_within(HW_GEMM_BYTES, item_bytes)) * HW_GEMM_ROWS;
}

size_t hw_matmul_item_columns(const hw_team *team, size_t rows, size_t columns) {
  if (rows > 1) {
    return HW_GEMM_COLUMNS;
  }
  enum { STEP = HW_ROW_PANELS * HW_TILE_COLUMNS };
  return hw_ceil_divide(columns, hw_team_threads(team) * STEP) * STEP;
}

/* A product, and the rows and columns of one item. */
typedef struct gemm_job {
  const hw_gemm_product *product;
  size_t item_rows;
  size_t item_columns;
} gemm_job;

static void pack_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const gemm_job *j = job;
  const size_t row = item * j->item_rows;
  hw_gemm_pack_strips(j->product, row, hw_min(j->product->rows, row + j->item_rows));
}

/* Columns change slowest, so that their panels stay in the cache while the rows pass by. */
static void multiply_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const gemm_job *j = job;
  const hw_gemm_product *g = j->product;
  const hw_block_item rows = hw_block_item_of(item, g->rows, j->item_rows);
  const size_t column = rows.outer * j->item_columns;
  hw_gemm_block(g, rows.start, rows.end, column, hw_min(g->columns, column + j->item_columns));
}

void hw_matmul_forward(const hw_run *run, hw_gemm_product *product) {
  const size_t mark = run->arena->used;
  const size_t rows = product->rows;
  const size_t step = rows <= HW_GEMM_ROWS ? rows : rows_at_a_time(rows, product->k);
  /* For few columns interleaving would take longer than it saves. */
  const bool packs = product->columns > HW_GEMM_COLUMNS;
  product->strips =
      packs ? hw_arena_take_floats(run->arena, hw_gemm_strips_floats(hw_min(rows, step), product->k)) : NULL;
  run->arena->used = mark;
  if (hw_run_measures(run)) {
    return;
  }
  const double work = (double)rows * (double)product->k * (double)product->columns;
  hw_team *team = hw_run_team(run, work);
  const size_t item_columns = hw_matmul_item_columns(team, rows, product->columns);
  const size_t column_blocks = hw_ceil_divide(product->columns, item_columns);
  const gemm_job job = {product, team == NULL ? HW_GEMM_ROWS : HW_GEMM_ITEM_ROWS, item_columns};
  const float *a = product->a;
  float *c = product->c;
  for (size_t row = 0; row < rows; row += step) {
    product->a = a + row * product->a_stride;
    product->c = c + row * product->c_stride;
    product->rows = hw_min(rows - row, step);
    const size_t blocks = hw_ceil_divide(product->rows, job.item_rows);
    if (packs) {
      hw_parallel_for(team, work, blocks, pack_item, &job);
    }
    hw_parallel_for(team, work, blocks * column_blocks, multiply_item, &job);
  }
}

/* ---- hw_matmul ---- */

typedef struct matmul {
  const float *a;
  const float *b;
  float *c;
  size_t batch;
  const uint32_t *a_index;
  const uint32_t *b_index;
  size_t m;
  size_t k;
  size_t n;
} matmul;

static void matmul_forward(hw_run *run, const void *call) {
  const matmul *f = call;
  float *panels = hw_run_take_floats(run, hw_whole_panels(f->n), f->k);
  hw_gemm_product product = {
      .a_stride = f->k,
      .panels = panels,
      .start = hw_gemm_zeros,
      .c_stride = f->n,
      .rows = f->m,
      .k = f->k,
      .columns = f->n,
  };
  if (hw_run_measures(run)) {
    hw_matmul_forward(run, &product);
    return;
  }
  for (size_t i = 0; i < f->batch; i++) {
    if (i == 0 || f->b_index[i] != f->b_index[i - 1]) {
      hw_pack_panels(f->b + f->b_index[i] * f->k * f->n, 1, f->n, f->n, f->k, panels, f->k * HW_TILE_COLUMNS);
    }
    product.a = f->a + f->a_index[i] * f->m * f->k;
    product.c = f->c + i * f->m * f->n;
    product.rows = f->m;
    hw_matmul_forward(run, &product);
  }
}

hw_status hw_matmul(hw_context *context, const float *a, const float *b, float *c, size_t batch,
                    const uint32_t *a_index, const uint32_t *b_index, size_t m, size_t k, size_t n) {
  if (context == NULL) {
    return HW_ERROR_VALUE;
  }
  if (batch == 0 || m == 0 || n == 0) {
    return HW_OK;
  }
  if (a == NULL || b == NULL || c == NULL || a_index == NULL || b_index == NULL) {
    return HW_ERROR_VALUE;
  }
  const size_t widest = hw_max(hw_size_multiply(m, hw_max(k, n)), hw_size_multiply(k, n));
  if (hw_size_multiply(widest, sizeof(float)) == SIZE_MAX) {
    return HW_ERROR_MEMORY;
  }
  return hw_run_forward(context, NULL, NULL, matmul_forward, &(matmul){a, b, c, batch, a_index, b_index, m, k, n});
}

hw_status hw_transpose(const float *x, float *y, size_t batch, size_t rows, size_t columns) {
  const size_t size = rows * columns;
  if (batch == 0 || rows == 0 || columns == 0) {
    return HW_OK;
  }
  if (x == NULL || y == NULL) {
    return HW_ERROR_VALUE;
  }
  for (size_t i = 0; i < batch; i++) {
    for (size_t r = 0; r < rows; r++) {
      for (size_t c = 0; c < columns; c++) {
        y[i * size + c * rows + r] = x[i * size + r * columns + c];
      }
    }
  }
  return HW_OK;
}
