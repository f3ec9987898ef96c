#include "kernels/pack.h"
#include "kernels/transposed_product.h"
#include "ops/matmul.h"
#include "ops/matrix.h"

/* ---- dx = dy·W ---- */

enum {
  /* Panels of a matrix that one item transposes. */
  PANELS = 4,
};

typedef struct transposing {
  const hw_matrix *matrix;
  float *panels; /* of the transpose: columns are rows */
} transposing;

/* Eight rows or fewer of a matrix that does not hold floats. */
static void transpose_small(const transposing *t, size_t row, size_t rows) {
  const hw_matrix *m = t->matrix;
  for (size_t column = 0; column < m->columns; column += HW_TILE_COLUMNS) {
    float *panel = t->panels + column * m->rows + row * HW_TILE_COLUMNS;
    const hw_matrix_part part = {row, rows, column, hw_min(m->columns - column, HW_TILE_COLUMNS)};
    hw_fill(panel, rows * HW_TILE_COLUMNS, hw_splat(0.0F));
    hw_matrix_store(m, &part, panel, HW_TILE_COLUMNS, 1);
  }
}

/* Eight rows of the matrix are eight of every panel's. */
static void transpose_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const transposing *t = job;
  const size_t rows = t->matrix->rows;
  const size_t columns = t->matrix->columns;
  const size_t end = hw_min(rows, (item + 1) * PANELS * HW_TILE_COLUMNS);
  for (size_t row = item * PANELS * HW_TILE_COLUMNS; row < end; row += HW_TILE_COLUMNS) {
    const size_t count = hw_min(end - row, HW_TILE_COLUMNS);
    if (t->matrix->type != HW_MATRIX_FLOAT32) {
      transpose_small(t, row, count);
    } else {
      hw_pack_panels(t->matrix->panels + row * columns, HW_TILE_COLUMNS, 1, columns, count,
                     t->panels + row * HW_TILE_COLUMNS, rows * HW_TILE_COLUMNS);
    }
  }
}

hw_matrix hw_matrix_transpose(const hw_run *run, const hw_matrix *matrix) {
  float *panels = hw_run_take_floats(run, hw_whole_panels(matrix->columns), matrix->rows);
  hw_run_items(run, (double)matrix->rows * (double)matrix->columns,
               hw_ceil_divide(matrix->rows, (size_t)PANELS * HW_TILE_COLUMNS), transpose_item,
               &(transposing){matrix, panels});
  return hw_matrix_of_floats(matrix->columns, matrix->rows, panels);
}

void hw_matrix_multiply_transposed(const hw_run *run, const hw_matrix *matrix, const hw_rows *dy, bool adds,
                                   float *dx) {
  const size_t mark = run->arena->used;
  const hw_matrix transposed = hw_matrix_transpose(run, matrix);
  hw_gemm_product product = {
      .a = dy->data,
      .a_stride = dy->stride,
      .panels = transposed.panels,
      .start = hw_gemm_zeros,
      .c = dx,
      .c_stride = matrix->columns,
      .rows = dy->count,
      .k = matrix->rows,
      .columns = matrix->columns,
      .adds = adds,
  };
  hw_matmul_forward(run, &product);
  run->arena->used = mark;
}

/* ---- gradient += dyᵀ·x ---- */

/* A block of rows of x and dy; the gradient's panels have dy's columns. */
typedef struct gradient_block {
  hw_matrix *gradient;
  const float *x;
  const float *dy;
  size_t x_stride;
  size_t dy_stride;
  size_t depth;
  float *strips; /* of x, as hw_pack_column_strips leaves them; NULL: x is read where it is */
  float *panels; /* of dy */
  float *sums;   /* NULL, or to which dy's rows are added */
} gradient_block;

/* dy's columns come first, then x's. */
static void pack_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const gradient_block *g = job;
  const size_t dy_items = hw_ceil_divide(g->gradient->rows, HW_GRADIENT_COLUMNS);
  if (item < dy_items) {
    const size_t column = item * HW_GRADIENT_COLUMNS;
    hw_pack_summed_panels(g->dy + column, g->dy_stride, hw_min(g->gradient->rows - column, HW_GRADIENT_COLUMNS),
                          g->depth, g->panels + column * g->depth, hw_floats_from(g->sums, column));
  } else if (g->strips != NULL) {
    const size_t column = (item - dy_items) * HW_GRADIENT_ROWS;
    hw_pack_column_strips(g->x + column, g->x_stride, g->depth, hw_min(g->gradient->columns - column, HW_GRADIENT_ROWS),
                          g->strips + column * g->depth);
  }
}

/* A strip of x's columns, or the few that are left, times the panels [first, first + count). */
static void add_strip(const gradient_block *g, size_t column, size_t columns, size_t first, size_t count) {
  const bool is_packed = g->strips != NULL && columns == HW_TILE_ROWS;
  hw_add_transposed_product(&(hw_transposed_product){
      .a = is_packed ? g->strips + column * g->depth : g->x + column,
      .a_stride = is_packed ? HW_TILE_ROWS : g->x_stride,
      .panels = g->panels + first * g->depth * HW_TILE_COLUMNS,
      .panel_stride = g->depth * HW_TILE_COLUMNS,
      .b_stride = HW_TILE_COLUMNS,
      .count = count,
      .c = g->gradient->panels + (first * g->gradient->columns + column) * HW_TILE_COLUMNS,
      .c_stride = HW_TILE_COLUMNS,
      .c_panel_stride = g->gradient->columns * HW_TILE_COLUMNS,
      .rows = columns,
      .k = g->depth,
  });
}

static void gradient_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const gradient_block *g = job;
  const hw_block_item of = hw_block_item_of(item, g->gradient->columns, HW_GRADIENT_ROWS);
  const size_t first = of.outer * (HW_GRADIENT_COLUMNS / HW_TILE_COLUMNS);
  const size_t count = hw_min(hw_panel_count(g->gradient->rows) - first, HW_GRADIENT_COLUMNS / HW_TILE_COLUMNS);
  for (size_t column = of.start; column < of.end; column += HW_TILE_ROWS) {
    add_strip(g, column, hw_min(of.end - column, HW_TILE_ROWS), first, count);
  }
}

/* Rows that are summed over at a time: fewer of a wide dy, whose copy would take much memory. */
static size_t depth_of(const hw_matrix *gradient) {
  const size_t bytes = hw_size_multiply(hw_whole_panels(gradient->rows), HW_GRADIENT_DEPTH * sizeof(float));
  return bytes <= HW_GEMM_BYTES ? HW_GRADIENT_DEPTH : HW_GRADIENT_DEPTH / 2;
}

void hw_matrix_add_gradient(const hw_run *run, hw_matrix *gradient, const hw_rows *x, const hw_rows *dy, float *sums) {
  const size_t mark = run->arena->used;
  const size_t depth = depth_of(gradient);
  const size_t most = hw_min(x->count, depth);
  gradient_block block = {
      .gradient = gradient,
      .x_stride = x->stride,
      .dy_stride = dy->stride,
      .strips = x->stride > HW_SHORT_ROW ? hw_run_take_floats(run, gradient->columns, most) : NULL,
      .panels = hw_run_take_floats(run, hw_whole_panels(gradient->rows), most),
      .sums = sums,
  };
  run->arena->used = mark;
  if (hw_run_measures(run)) {
    return;
  }
  const double work = (double)most * (double)gradient->rows * (double)gradient->columns;
  hw_team *team = hw_run_team(run, work);
  const size_t row_blocks = hw_ceil_divide(gradient->columns, HW_GRADIENT_ROWS);
  const size_t column_blocks = hw_ceil_divide(gradient->rows, HW_GRADIENT_COLUMNS);
  for (size_t row = 0; row < x->count; row += depth) {
    block.depth = hw_min(x->count - row, depth);
    block.x = x->data + row * x->stride;
    block.dy = dy->data + row * dy->stride;
    hw_parallel_for(team, work, row_blocks + column_blocks, pack_item, &block);
    hw_parallel_for(team, work, row_blocks * column_blocks, gradient_item, &block);
  }
}
