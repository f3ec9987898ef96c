#include "modules/parameter.h"

#include <string.h>

/* Floats that are drawn before they are packed: whole blocks of 16. */
enum { CHUNK = 64 };

/* The part of the matrix that is rows [row, row + rows) and columns [column, column + columns) of the parameter. */
static hw_matrix_part part_of(const hw_parameter *p, const hw_matrix_part *wanted) {
  return p->is_transposed ? (hw_matrix_part){p->first_row + wanted->column, wanted->columns, wanted->row, wanted->rows}
                          : (hw_matrix_part){p->first_row + wanted->row, wanted->rows, wanted->column, wanted->columns};
}

static void load_part(hw_team *team, const hw_parameter *p, const hw_matrix_part *wanted, hw_matrix_type type,
                      const void *source) {
  const hw_matrix_part part = part_of(p, wanted);
  const size_t columns = wanted->columns;
  const hw_weights weights = {type, source, p->is_transposed ? 1 : columns, p->is_transposed ? columns : 1};
  hw_matrix_load_weights(team, p->matrix, &part, &weights);
}

void hw_parameter_load_as(hw_team *team, const hw_parameter *parameter, size_t row, size_t rows, hw_matrix_type type,
                          const void *source) {
  const hw_parameter *p = parameter;
  if (p->matrix == NULL) {
    hw_floats_of(type, source, rows * p->columns, p->array + (p->first_row + row) * p->columns);
  } else {
    load_part(team, p, &(hw_matrix_part){row, rows, 0, p->columns}, type, source);
  }
}

void hw_parameter_load(const hw_parameter *parameter, size_t row, size_t rows, const float *source) {
  hw_parameter_load_as(NULL, parameter, row, rows, HW_MATRIX_FLOAT32, source);
}

void hw_parameter_store(const hw_parameter *parameter, size_t row, size_t rows, float *target) {
  const hw_parameter *p = parameter;
  if (p->matrix == NULL) {
    memcpy(target, p->array + (p->first_row + row) * p->columns, rows * p->columns * sizeof(float));
  } else {
    const hw_matrix_part part = part_of(p, &(hw_matrix_part){row, rows, 0, p->columns});
    hw_matrix_store(p->matrix, &part, target, p->is_transposed ? 1 : p->columns, p->is_transposed ? p->columns : 1);
  }
}

hw_parameter hw_parameter_with(const hw_parameter *parameter, float *values, hw_matrix *matrix) {
  hw_parameter other = *parameter;
  if (parameter->matrix == NULL) {
    other.array = values;
  } else {
    *matrix = hw_matrix_of_floats(parameter->matrix->rows, parameter->matrix->columns, values);
    other.matrix = matrix;
  }
  return other;
}

size_t hw_parameter_bytes(const hw_parameter *parameter) {
  const hw_matrix *matrix = parameter->matrix;
  return matrix == NULL ? parameter->array_count * sizeof(float)
                        : hw_matrix_bytes(HW_MATRIX_FLOAT32, matrix->rows, matrix->columns);
}

/* Elements from `first` on, in row-major order. */
static void load_elements(const hw_parameter *p, size_t first, const float *source, size_t count) {
  for (size_t done = 0, some; done < count; done += some) {
    const size_t row = (first + done) / p->columns;
    const size_t column = (first + done) % p->columns;
    some = hw_min(count - done, p->columns - column);
    if (p->matrix == NULL) {
      memcpy(p->array + p->first_row * p->columns + first + done, source + done, some * sizeof(float));
    } else {
      load_part(NULL, p, &(hw_matrix_part){row, 1, column, some}, HW_MATRIX_FLOAT32, source + done);
    }
  }
}

/* Chunk by chunk, the last being one of 16 normals at least if there are so many: it may end with a block that begins before
 * the last whole one ends. */
void hw_parameter_draw(const hw_parameter *parameter, hw_generator *generator) {
  const hw_parameter *p = parameter;
  const size_t total = p->drawn == HW_DRAWN_NOT ? 0 : p->rows * p->columns;
  float chunk[2 * CHUNK];
  for (size_t first = 0, count; first < total; first += count) {
    count = total - first < (size_t)2 * CHUNK ? total - first : CHUNK;
    if (p->drawn == HW_DRAWN_NORMAL) {
      hw_generator_normal(generator, chunk, count);
    } else {
      hw_generator_uniform(generator, p->from, p->to, chunk, count);
    }
    load_elements(p, first, chunk, count);
  }
}

void hw_parameter_clear(const hw_parameter *parameter) {
  static const float zeros[CHUNK];
  const size_t total = parameter->rows * parameter->columns;
  for (size_t first = 0; first < total; first += CHUNK) {
    load_elements(parameter, first, zeros, hw_min(total - first, CHUNK));
  }
}
