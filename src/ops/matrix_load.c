/* Weights on their way into a matrix: converted and packed in one pass, block by block. */
#include <string.h>

#include "kernels/pack.h"
#include "kernels/weights.h"
#include "ops/matrix.h"
#include "ops/small_matrix.h"

typedef struct loading {
  hw_matrix *matrix;
  hw_matrix_part part;
  hw_weights source;
  size_t panels; /* of an item */
} loading;

/* Rows [from, to) of a panel that are in the part, whose rows they are from `row` on. */
typedef struct lanes {
  size_t panel;
  size_t from;
  size_t to;
  size_t row;
} lanes;

static size_t first_panel(const loading *l) { return l->part.row / HW_TILE_COLUMNS; }
static size_t end_panel(const loading *l) { return hw_ceil_divide(l->part.row + l->part.rows, HW_TILE_COLUMNS); }

static lanes lanes_of(const loading *l, size_t panel) {
  const size_t begin = panel * HW_TILE_COLUMNS;
  const size_t from = begin < l->part.row ? l->part.row - begin : 0;
  const size_t to = hw_min(HW_TILE_COLUMNS, l->part.row + l->part.rows - begin);
  return (lanes){panel, from, to, begin + from - l->part.row};
}

/* The block of a panel, its rows in their lanes. */
static void read_block(const loading *l, const lanes *at, size_t column, size_t columns, float *block) {
  hw_read_block(&l->source, at->row, at->to - at->from, column, columns, block);
  if (at->from > 0) {
    memmove(block + at->from, block, (columns * HW_TILE_COLUMNS - at->from) * sizeof(float));
  }
}

static void write_floats(const loading *l, const lanes *at, size_t column, size_t columns) {
  float *panel = l->matrix->panels + (at->panel * l->matrix->columns + l->part.column + column) * HW_TILE_COLUMNS;
  if (at->from == 0 && (at->to == HW_TILE_COLUMNS || at->panel * HW_TILE_COLUMNS + at->to == l->matrix->rows)) {
    hw_read_block(&l->source, at->row, at->to, column, columns, panel);
    return;
  }
  float block[HW_LOAD_COLUMNS * HW_TILE_COLUMNS];
  read_block(l, at, column, columns, block);
  for (size_t p = 0; p < columns; p++) {
    memcpy(panel + p * HW_TILE_COLUMNS + at->from, block + p * HW_TILE_COLUMNS + at->from,
           (at->to - at->from) * sizeof(float));
  }
}

/* Some columns of a panel; those of int8 are looked at before they are written. */
static void load_block(const loading *l, const lanes *at, size_t column, bool looks, hw_rows_range *range) {
  const size_t columns = hw_min(l->part.columns - column, HW_LOAD_COLUMNS);
  if (l->matrix->type == HW_MATRIX_FLOAT32) {
    write_floats(l, at, column, columns);
    return;
  }
  float block[HW_LOAD_COLUMNS * HW_TILE_COLUMNS];
  read_block(l, at, column, columns, block);
  if (looks) {
    hw_widen_range(block, columns, range);
  } else {
    if (l->part.columns == l->matrix->columns && column == 0) {
      hw_small_matrix_begin(l->matrix, at->panel, at->from, at->to);
    }
    hw_small_matrix_write(l->matrix, at->panel, at->from, at->to, l->part.column + column, columns, block, range);
  }
}

static void load_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const loading *l = job;
  const size_t first = first_panel(l) + item * l->panels;
  const size_t end = hw_min(first + l->panels, end_panel(l));
  hw_rows_range ranges[HW_LOAD_PANELS];
  memset(ranges, 0, sizeof ranges);
  for (int looks = l->matrix->type == HW_MATRIX_INT8; looks >= 0; looks--) {
    for (size_t column = 0; column < l->part.columns; column += HW_LOAD_COLUMNS) {
      for (size_t panel = first; panel < end; panel++) {
        const lanes at = lanes_of(l, panel);
        load_block(l, &at, column, looks > 0, &ranges[panel - first]);
      }
    }
  }
}

void hw_matrix_load_weights(hw_team *team, hw_matrix *matrix, const hw_matrix_part *part, const hw_weights *source) {
  assert(matrix->type != HW_MATRIX_INT8 || part->columns == matrix->columns);
  /* Rows that lie one after another are read one panel at a time; rows side by side, by whole cache lines. */
  const loading l = {matrix, *part, *source, source->column_stride == 1 ? 1 : HW_LOAD_PANELS};
  const double work = (double)part->rows * (double)part->columns;
  hw_parallel_for(work >= (double)HW_PARALLEL_WORK ? team : NULL, work,
                  hw_ceil_divide(end_panel(&l) - first_panel(&l), l.panels), load_item, &l);
}
