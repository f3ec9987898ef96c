#include "ops/matrix.h"

#include <string.h>

#include "kernels/int8_panels.h"
#include "kernels/pack.h"
#include "ops/matmul.h"
#include "ops/small_matrix.h"

static bool is_small(const hw_matrix *matrix) { return matrix->type != HW_MATRIX_FLOAT32; }

size_t hw_matrix_bytes(hw_matrix_type type, size_t rows, size_t columns) {
  if (type == HW_MATRIX_FLOAT32) {
    return hw_size_multiply(hw_size_multiply(hw_whole_panels(rows), columns), sizeof(float));
  }
  return hw_small_matrix_bytes(type, rows, columns);
}

hw_status hw_matrix_create(hw_matrix_type type, size_t rows, size_t columns, hw_matrix *matrix) {
  if (rows == 0 || columns == 0) {
    return HW_ERROR_SHAPE;
  }
  *matrix = (hw_matrix){type, rows, columns, hw_allocate_zeroed(hw_matrix_bytes(type, rows, columns)),
                        type == HW_MATRIX_INT8 ? hw_int8_fast_way() : NULL};
  if (matrix->panels == NULL) {
    return HW_ERROR_MEMORY;
  }
  if (is_small(matrix)) {
    hw_small_matrix_init(matrix);
  }
  return HW_OK;
}

void hw_matrix_release(hw_matrix *matrix) {
  hw_release(matrix->panels);
  matrix->panels = NULL;
}

static float *element(const hw_matrix *matrix, size_t row, size_t column) {
  return matrix->panels + row / HW_TILE_COLUMNS * HW_TILE_COLUMNS * matrix->columns + column * HW_TILE_COLUMNS +
         row % HW_TILE_COLUMNS;
}

static float value_of(const hw_matrix *matrix, size_t row, size_t column) {
  return is_small(matrix) ? hw_small_matrix_get(matrix, row, column) : *element(matrix, row, column);
}

void hw_matrix_store(const hw_matrix *matrix, const hw_matrix_part *part, float *target, size_t row_stride,
                     size_t column_stride) {
  for (size_t i = 0; i < part->rows; i++) {
    for (size_t j = 0; j < part->columns; j++) {
      target[i * row_stride + j * column_stride] = value_of(matrix, part->row + i, part->column + j);
    }
  }
}

void hw_matrix_row(const hw_matrix *matrix, size_t row, bool adds, float *out) {
  const size_t columns = matrix->columns;
  if (is_small(matrix)) {
    for (size_t j = 0; j < columns; j++) {
      const float rounded = hw_small_matrix_get(matrix, row, j);
      out[j] = adds ? out[j] + rounded : rounded;
    }
    return;
  }
  const float *value = element(matrix, row, 0);
#pragma GCC unroll 4
  for (size_t j = 0; j < columns; j++) {
    out[j] = adds ? out[j] + *value : *value;
    value += HW_TILE_COLUMNS;
  }
}

void hw_matrix_add_to_row(hw_matrix *matrix, size_t row, size_t column, size_t columns, const float *values) {
  float *target = element(matrix, row, column);
#pragma GCC unroll 4
  for (size_t j = 0; j < columns; j++) {
    target[j * HW_TILE_COLUMNS] += values[j];
  }
}

hw_matrix hw_matrix_copy(const hw_run *run, const hw_matrix *matrix, const hw_matrix_part *part) {
  float *panels = hw_run_take_floats(run, hw_whole_panels(part->rows), part->columns);
  const hw_matrix copy = hw_matrix_of_floats(part->rows, part->columns, panels);
  for (size_t i = 0; !hw_run_measures(run) && i < hw_whole_panels(part->rows); i++) {
    for (size_t j = 0; j < part->columns; j++) {
      *element(&copy, i, j) = i < part->rows ? value_of(matrix, part->row + i, part->column + j) : 0.0F;
    }
  }
  return copy;
}

void hw_matrix_multiply(const hw_run *run, const hw_matrix *matrix, const hw_rows *x, const float *bias, float *y) {
  if (is_small(matrix)) {
    hw_small_matrix_multiply(run, matrix, x, bias, y);
    return;
  }
  hw_gemm_product product = {
      .a = x->data,
      .a_stride = x->stride,
      .panels = matrix->panels,
      .start = bias == NULL ? hw_gemm_zeros : bias,
      .start_stride = bias == NULL ? 0 : HW_TILE_COLUMNS,
      .c = y,
      .c_stride = matrix->rows,
      .rows = x->count,
      .k = matrix->columns,
      .columns = matrix->rows,
  };
  hw_matmul_forward(run, &product);
}
