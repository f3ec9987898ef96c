#include "ops/small_matrix.h"

#include <string.h>

#include "kernels/half_panels.h"
#include "kernels/int8_panels.h"
#include "kernels/pack.h"
#include "kernels/row_panels.h"
#include "ops/matmul.h"

static hw_half half_of(hw_matrix_type type) { return type == HW_MATRIX_FLOAT16 ? HW_HALF_FLOAT16 : HW_HALF_BFLOAT16; }

static hw_small_panels panels_of(const hw_matrix *matrix) {
  return matrix->type == HW_MATRIX_INT8 ? hw_int8_panels(matrix->panels, matrix->columns)
                                        : hw_half_panels(half_of(matrix->type), matrix->panels, matrix->columns);
}

size_t hw_small_matrix_bytes(hw_matrix_type type, size_t rows, size_t columns) {
  const hw_small_panels panels = panels_of(&(hw_matrix){.type = type, .columns = columns});
  const size_t words = hw_size_multiply(panels.words, HW_WORD_BYTES);
  return hw_size_multiply(hw_ceil_divide(rows, HW_TILE_COLUMNS), hw_size_add(panels.header_bytes, words));
}

static hw_small_panel panel_at(const hw_matrix *matrix, size_t panel) {
  const hw_small_panels panels = panels_of(matrix);
  return hw_small_panel_at(&panels, panel);
}

void hw_small_matrix_begin(hw_matrix *matrix, size_t panel, size_t from, size_t to) {
  if (matrix->type == HW_MATRIX_FLOAT16) {
    const hw_small_panel at = panel_at(matrix, panel);
    hw_float16_panel_init(&at, from, to);
  }
}

void hw_small_matrix_init(hw_matrix *matrix) {
  for (size_t i = 0; i < hw_ceil_divide(matrix->rows, HW_TILE_COLUMNS); i++) {
    hw_small_matrix_begin(matrix, i, 0, HW_TILE_COLUMNS);
  }
}

void hw_small_matrix_write(hw_matrix *matrix, size_t panel, size_t from, size_t to, size_t first, size_t count,
                           const float *block, const hw_rows_range *range) {
  const hw_small_panel at = panel_at(matrix, panel);
  const hw_half half = half_of(matrix->type);
  if (matrix->type == HW_MATRIX_INT8) {
    matrix->way->write(&at, range, from, to, first, count, block);
  } else if (from == 0 && (to == HW_TILE_COLUMNS || panel * HW_TILE_COLUMNS + to == matrix->rows)) {
    hw_half_panel_write(half, &at, matrix->columns, first, count, block);
  } else {
    for (size_t i = 0; i < count * HW_TILE_COLUMNS; i++) {
      const size_t lane = i % HW_TILE_COLUMNS;
      if (lane >= from && lane < to) {
        hw_half_panel_set(half, &at, matrix->columns, first + i / HW_TILE_COLUMNS, lane, block[i]);
      }
    }
  }
}

float hw_small_matrix_get(const hw_matrix *matrix, size_t row, size_t column) {
  const hw_small_panel panel = panel_at(matrix, row / HW_TILE_COLUMNS);
  const size_t lane = row % HW_TILE_COLUMNS;
  return matrix->type == HW_MATRIX_INT8 ? matrix->way->get(&panel, column, lane)
                                        : hw_half_panel_get(half_of(matrix->type), &panel, column, lane);
}

/* ---- Products ---- */

typedef struct small_product {
  const hw_matrix *matrix;
  hw_rows x;
  const float *start; /* as a row product's */
  size_t start_stride;
  float *y;       /* [x.count, rows of the matrix] */
  size_t block;   /* columns of an item */
  int32_t *words; /* of int8: the rows of x, strip by strip */
  hw_int8_row *of_rows;
} small_product;

static double work_of(const hw_matrix *matrix, const hw_rows *x) {
  return (double)x->count * (double)matrix->rows * (double)matrix->columns;
}

static small_product product_of(const hw_run *run, const hw_matrix *matrix, const hw_rows *x, const float *bias,
                                float *y) {
  const hw_team *team = hw_run_team(run, work_of(matrix, x));
  return (small_product){
      .matrix = matrix,
      .x = *x,
      .start = bias == NULL ? hw_gemm_zeros : bias,
      .start_stride = bias == NULL ? 0 : HW_TILE_COLUMNS,
      .y = y,
      .block = hw_matmul_item_columns(team, x->count, matrix->rows),
  };
}

/* The columns of y that an item computes: those of whole panels go there; those of the matrix's last panel, if it has fewer,
 * through a buffer. */
typedef struct columns {
  size_t first;
  size_t panels; /* whole ones */
  size_t last;   /* the first column after them */
  size_t left;   /* columns from there on */
} columns;

static columns columns_of(const small_product *p, size_t block) {
  const size_t first = block * p->block;
  const size_t count = hw_min(p->matrix->rows - first, p->block);
  const size_t left = count % HW_TILE_COLUMNS;
  return (columns){first, count / HW_TILE_COLUMNS, first + count - left, left};
}

static size_t column_blocks(const small_product *p) { return hw_ceil_divide(p->matrix->rows, p->block); }

static const float *start_of(const small_product *p, size_t column) {
  return p->start + column / HW_TILE_COLUMNS * p->start_stride;
}

/* From the one on that begins with this column. */
static hw_small_panels panels_from(const small_product *p, size_t column) {
  hw_small_panels panels = panels_of(p->matrix);
  panels.data += column / HW_TILE_COLUMNS * hw_small_panel_bytes(&panels);
  return panels;
}

/* ---- 16 bits, row by row ---- */

/* Columns change slowest, so that their panels stay in the cache while the rows pass by. */
static void half_row_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const small_product *p = job;
  const size_t column_block = hw_quotient(item, p->x.count);
  const size_t row = item - column_block * p->x.count;
  const columns c = columns_of(p, column_block);
  float *y = p->y + row * p->matrix->rows;
  hw_half_row_product product = {
      .half = half_of(p->matrix->type),
      .a = p->x.data + row * p->x.stride,
      .panels = panels_from(p, c.first),
      .count = c.panels,
      .start = y + c.first,
      .start_stride = HW_TILE_COLUMNS,
      .y = y + c.first,
  };
  hw_row_start(start_of(p, c.first), p->start_stride, c.panels, product.y);
  hw_row_times_half_panels(&product);
  if (c.left > 0) {
    float narrow[HW_TILE_COLUMNS];
    product.panels = panels_from(p, c.last);
    product.count = 1;
    product.start = start_of(p, c.last);
    product.y = narrow;
    hw_row_times_half_panels(&product);
    memcpy(y + c.last, narrow, c.left * sizeof(float));
  }
}

/* ---- 16 bits, through floats ---- */

typedef struct expansion {
  const hw_matrix *matrix;
  size_t first_row;
  float *panels;
} expansion;

static void expand_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const expansion *e = job;
  const size_t floats = e->matrix->columns * HW_TILE_COLUMNS;
  const hw_small_panel panel = panel_at(e->matrix, e->first_row / HW_TILE_COLUMNS + item);
  hw_half_panel_expand(half_of(e->matrix->type), &panel, e->matrix->columns, e->panels + item * floats);
}

/* Rows of the matrix that are floats at a time: whole blocks of a product's columns. */
static size_t rows_at_a_time(const hw_matrix *matrix) {
  const size_t block_bytes = hw_size_multiply(HW_GEMM_COLUMNS * sizeof(float), matrix->columns);
  return hw_min(matrix->rows, hw_items_within(HW_EXPANDED_BYTES, block_bytes) * HW_GEMM_COLUMNS);
}

static void multiply_expanded(const hw_run *run, const small_product *p) {
  const hw_matrix *matrix = p->matrix;
  const size_t mark = run->arena->used;
  const size_t step = rows_at_a_time(matrix);
  float *panels = hw_run_take_floats(run, hw_whole_panels(step), matrix->columns);
  for (size_t row = 0; row < matrix->rows; row += step) {
    hw_gemm_product product = {
        .a = p->x.data,
        .a_stride = p->x.stride,
        .panels = panels,
        .start = start_of(p, row),
        .start_stride = p->start_stride,
        .c = hw_run_measures(run) ? NULL : p->y + row,
        .c_stride = p->matrix->rows,
        .rows = p->x.count,
        .k = matrix->columns,
        .columns = hw_min(matrix->rows - row, step),
    };
    hw_run_items(run, (double)product.columns * (double)matrix->columns,
                 hw_ceil_divide(product.columns, HW_TILE_COLUMNS), expand_item, &(expansion){matrix, row, panels});
    hw_matmul_forward(run, &product);
  }
  run->arena->used = mark;
}

/* ---- 8 bits ---- */

/* Strips of rows that one item scales or multiplies. */
enum { ITEM_STRIPS = 16 };

static size_t strip_rows(const small_product *p) { return p->matrix->way->strip_rows; }
static size_t item_rows(const small_product *p) { return ITEM_STRIPS * strip_rows(p); }

/* Rows of a strip that there are. */
static size_t rows_of(const small_product *p, size_t strip) {
  return hw_min(p->x.count - strip * strip_rows(p), strip_rows(p));
}

/* A tile of few rows takes longer than these take one by one: they are not interleaved. */
static bool is_tile(const small_product *p, size_t rows) { return rows > strip_rows(p) / 2 + 1; }

static size_t row_words(const small_product *p) { return hw_int8_words(p->matrix->columns); }

static int32_t *words_of(const small_product *p, size_t strip) {
  return p->words + strip * strip_rows(p) * row_words(p);
}

static void scale_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const small_product *p = job;
  const hw_int8_way *way = p->matrix->way;
  const size_t k = p->matrix->columns;
  const size_t end = hw_min(p->x.count, (item + 1) * item_rows(p));
  for (size_t row = item * item_rows(p); row < end; row++) {
    const size_t strip = row / way->strip_rows;
    const size_t r = row % way->strip_rows;
    const float *x = p->x.data + row * p->x.stride;
    int32_t *words = words_of(p, strip);
    p->of_rows[row] = is_tile(p, rows_of(p, strip)) ? way->scale_row(x, k, words, r, way->strip_rows)
                                                    : way->scale_row(x, k, words + r * row_words(p), 0, 1);
  }
}

static void multiply_strip(const small_product *p, size_t strip, const columns *c) {
  const hw_int8_way *way = p->matrix->way;
  const size_t first = strip * way->strip_rows;
  const size_t rows = rows_of(p, strip);
  void (*times)(const hw_int8_product *) = is_tile(p, rows) ? way->strip_times : way->few_rows_times;
  float *y = p->y + first * p->matrix->rows;
  hw_int8_product product = {
      .words = words_of(p, strip),
      .of_rows = p->of_rows + first,
      .rows = rows,
      .panels = panels_from(p, c->first),
      .count = c->panels,
      .start = start_of(p, c->first),
      .start_stride = p->start_stride,
      .y = y + c->first,
      .y_stride = p->matrix->rows,
  };
  times(&product);
  if (c->left > 0) {
    float narrow[HW_INT8_ROWS * HW_TILE_COLUMNS];
    product.panels = panels_from(p, c->last);
    product.count = 1;
    product.start = start_of(p, c->last);
    product.y = narrow;
    product.y_stride = HW_TILE_COLUMNS;
    times(&product);
    for (size_t r = 0; r < rows; r++) {
      memcpy(y + r * p->matrix->rows + c->last, narrow + r * HW_TILE_COLUMNS, c->left * sizeof(float));
    }
  }
}

/* Columns change slowest, so that their panels stay in the cache while the rows pass by. */
static void int8_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const small_product *p = job;
  const hw_block_item strips = hw_block_item_of(item, hw_ceil_divide(p->x.count, strip_rows(p)), ITEM_STRIPS);
  const columns c = columns_of(p, strips.outer);
  for (size_t strip = strips.start; strip < strips.end; strip++) {
    multiply_strip(p, strip, &c);
  }
}

/* Rows that are integers at a time: whole items, as many as stay in the last-level cache. */
static size_t int8_rows_at_a_time(const small_product *p) {
  const size_t item_bytes = hw_size_multiply(row_words(p), item_rows(p) * sizeof(int32_t));
  return hw_min(p->x.count, hw_items_within(HW_GEMM_BYTES, item_bytes) * item_rows(p));
}

static void multiply_int8(const hw_run *run, const small_product *all) {
  const size_t mark = run->arena->used;
  const size_t step = int8_rows_at_a_time(all);
  small_product part = *all;
  const size_t whole = hw_ceil_divide(step, strip_rows(all)) * strip_rows(all);
  part.words = hw_arena_take(run->arena, hw_size_multiply(whole, row_words(all)), sizeof(int32_t));
  part.of_rows = hw_arena_take(run->arena, step, sizeof(hw_int8_row));
  run->arena->used = mark;
  for (size_t row = 0; !hw_run_measures(run) && row < all->x.count; row += step) {
    part.x.data = all->x.data + row * all->x.stride;
    part.x.count = hw_min(all->x.count - row, step);
    part.y = all->y + row * all->matrix->rows;
    const double work = work_of(part.matrix, &part.x);
    const size_t blocks = hw_ceil_divide(part.x.count, item_rows(&part));
    hw_team *team = hw_run_team(run, work);
    hw_parallel_for(team, work, blocks, scale_item, &part);
    hw_parallel_for(team, work, blocks * column_blocks(&part), int8_item, &part);
  }
}

void hw_small_matrix_multiply(const hw_run *run, const hw_matrix *matrix, const hw_rows *x, const float *bias,
                              float *y) {
  const small_product product = product_of(run, matrix, x, bias, y);
  if (matrix->type == HW_MATRIX_INT8) {
    multiply_int8(run, &product);
  } else if (x->count >= HW_TILE_ROWS) {
    multiply_expanded(run, &product);
  } else {
    hw_run_items(run, work_of(matrix, x), x->count * column_blocks(&product), half_row_item, &product);
  }
}
