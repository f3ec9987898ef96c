#include "modules/parameter.h"

#include <string.h>

/* Floats that are drawn before they are packed. */
enum { CHUNK = 64 };

/* The part of the matrix that is rows [row, row + rows) and columns [column, column + columns) of the parameter. */
static hw_matrix_part part_of(const hw_parameter *p, const hw_matrix_part *wanted) {
  return p->is_transposed ? (hw_matrix_part){p->first_row + wanted->column, wanted->columns, wanted->row, wanted->rows}
                          : (hw_matrix_part){p->first_row + wanted->row, wanted->rows, wanted->column, wanted->columns};
}

static void load_part(const hw_parameter *p, const hw_matrix_part *wanted, const float *source) {
  const hw_matrix_part part = part_of(p, wanted);
  hw_matrix_load(p->matrix, &part, source, p->is_transposed ? 1 : wanted->columns,
                 p->is_transposed ? wanted->columns : 1);
}

void hw_parameter_load(const hw_parameter *parameter, size_t row, size_t rows, const float *source) {
  const hw_parameter *p = parameter;
  if (p->matrix == NULL) {
    memcpy(p->array + row * p->columns, source, rows * p->columns * sizeof(float));
  } else {
    load_part(p, &(hw_matrix_part){row, rows, 0, p->columns}, source);
  }
}

void hw_parameter_store(const hw_parameter *parameter, size_t row, size_t rows, float *target) {
  const hw_parameter *p = parameter;
  if (p->matrix == NULL) {
    memcpy(target, p->array + row * p->columns, rows * p->columns * sizeof(float));
  } else {
    const hw_matrix_part part = part_of(p, &(hw_matrix_part){row, rows, 0, p->columns});
    hw_matrix_store(p->matrix, &part, target, p->is_transposed ? 1 : p->columns, p->is_transposed ? p->columns : 1);
  }
}

static void draw_row(const hw_parameter *p, hw_generator *generator, size_t row) {
  float chunk[CHUNK];
  for (size_t column = 0; column < p->columns; column += CHUNK) {
    const size_t count = hw_min(p->columns - column, CHUNK);
    hw_generator_uniform(generator, p->from, p->to, chunk, count);
    load_part(p, &(hw_matrix_part){row, 1, column, count}, chunk);
  }
}

void hw_parameter_draw(const hw_parameter *parameter, hw_generator *generator) {
  const hw_parameter *p = parameter;
  if (p->drawn == HW_DRAWN_NORMAL) {
    hw_generator_normal(generator, p->array, p->rows * p->columns);
  } else if (p->drawn == HW_DRAWN_UNIFORM && p->matrix == NULL) {
    hw_generator_uniform(generator, p->from, p->to, p->array, p->rows * p->columns);
  } else if (p->drawn == HW_DRAWN_UNIFORM) {
    for (size_t row = 0; row < p->rows; row++) {
      draw_row(p, generator, row);
    }
  }
}
