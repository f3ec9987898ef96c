/* Gradients of a linear layer around the tile and its blocks, with strides and guards, against float64. */
#include "kernels/transposed_product.h"
#include "linear_case.h"

static void test_tile_edges(void) {
  for (size_t out = 1; out <= 17; out += out == 9 ? 6 : 1) {
    for (size_t in = 1; in <= (size_t)2 * HW_TILE_ROWS + 1; in++) {
      linear_case_run((linear_case){1 + (in * out) % 15, in, out, in % 2 == 0});
    }
  }
  /* Rows that are not short are copied strip by strip. */
  for (size_t in = HW_SHORT_ROW; in <= (size_t)HW_SHORT_ROW + 2 * HW_TILE_ROWS + 1; in++) {
    linear_case_run((linear_case){1 + in % 15, in, 1 + in % 17, in % 2 == 0});
  }
  for (size_t count = 1; count <= (size_t)2 * HW_TILE_ROWS + 1; count++) {
    linear_case_run((linear_case){count, 11, 10, true});
    linear_case_run((linear_case){count, 16, 16, false});
  }
}

static void test_block_edges(void) {
  const size_t counts[] = {HW_GRADIENT_DEPTH - 1, HW_GRADIENT_DEPTH, HW_GRADIENT_DEPTH + 1, 2 * HW_GRADIENT_DEPTH + 3};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    linear_case_run((linear_case){counts[i], 13, 9, i % 2 == 0});
    linear_case_run((linear_case){counts[i], HW_SHORT_ROW + 9, 9, i % 2 == 0});
  }
  for (size_t d = 0; d < 3; d++) {
    linear_case_run((linear_case){7, HW_GRADIENT_ROWS - 1 + d, HW_GRADIENT_COLUMNS + 1 - d, d == 1});
    linear_case_run((linear_case){HW_GEMM_ROWS - 1 + d, 3, HW_GRADIENT_COLUMNS * 2 + 5, d == 1});
  }
  linear_case_run((linear_case){9, HW_GEMM_COLUMNS + 3, 5, true});
}

/* Each thread count on a copy of what was there before. */
static void test_threads(void) {
  linear_before before;
  linear_call one = linear_create(&(linear_case){301, 131, 149, true}, &before);
  case_run_on(1, linear_backward, &one);
  const case_rows expected = linear_store(&one.weight_gradient);
  for (size_t i = 0; i < CASE_THREADS; i++) {
    linear_call many = one;
    many.dx = case_rows_copy(&before.dx);
    many.bias_gradient = check_floats(hw_whole_panels(149));
    memcpy(many.bias_gradient, before.bias_gradient, hw_whole_panels(149) * sizeof(float));
    linear_load(&many.weight_gradient, &before.weight_gradient);
    case_run_on(case_threads[i], linear_backward, &many);
    const case_rows got = linear_store(&many.weight_gradient);
    CHECK(memcmp(got.data, expected.data, case_rows_floats(&got) * sizeof(float)) == 0, "dW");
    CHECK(memcmp(many.dx.data, one.dx.data, case_rows_floats(&one.dx) * sizeof(float)) == 0, "dx");
    CHECK(memcmp(many.bias_gradient, one.bias_gradient, 149 * sizeof(float)) == 0, "db");
    check_case();
    free(got.data);
    free(many.dx.data);
    free(many.bias_gradient);
  }
  free(expected.data);
  linear_destroy(&one, &before);
}

static void backward_of_nothing(hw_run *run, const void *call) {
  const linear_call *f = call;
  const hw_rows x = {f->x.data, f->x.stride, f->x.count};
  const hw_rows dy = {f->dy.data, f->dy.stride, f->dy.count};
  hw_linear_backward(run, &f->linear, NULL, &x, &dy, false, NULL);
  hw_linear_backward(run, &f->linear, NULL, &x, &dy, false, f->dx.data);
}

static void test_not_wanted(void) {
  linear_before before;
  linear_call call = linear_create(&(linear_case){5, 7, 9, false}, &before);
  case_run_on(1, backward_of_nothing, &call);
  linear_check_dx(&call, &before);
  CHECK(memcmp(call.bias_gradient, before.bias_gradient, 9 * sizeof(float)) == 0, "bias gradient");
  check_case();
  linear_destroy(&call, &before);
}

/* dx, too, is in scratch, and NULL while the run is measured. */
static void backward_in_scratch(hw_run *run, const void *call) {
  const linear_call *f = call;
  const hw_rows x = {f->x.data, f->x.stride, f->x.count};
  const hw_rows dy = {f->dy.data, f->dy.stride, f->dy.count};
  float *dx = hw_run_take_floats(run, f->dx.count, f->dx.columns);
  hw_linear_backward(run, &f->linear, NULL, &x, &dy, false, dx);
  if (!hw_run_measures(run)) {
    memcpy(f->dx.data, dx, f->dx.count * f->dx.columns * sizeof *dx);
  }
}

static void test_scratch(void) {
  linear_before before;
  linear_call call = linear_create(&(linear_case){1, 300, 200, false}, &before);
  case_run_on(1, backward_in_scratch, &call);
  linear_check_dx(&call, &before);
  check_case();
  linear_destroy(&call, &before);
}

/* NaN in one column of dy, and an infinity in another, reach that row of the gradients alone: not what is missing in the last
 * panel. No rows add nothing. */
static void test_not_finite(void) {
  for (size_t in = 7; in <= (size_t)HW_SHORT_ROW + 7; in += HW_SHORT_ROW) {
    linear_before before;
    linear_call call = linear_create(&(linear_case){5, in, 21, false}, &before);
    call.dy.data[2 * call.dy.stride + 3] = NAN;
    call.dy.data[1 * call.dy.stride + 18] = INFINITY;
    const size_t count = call.x.count;
    case_run_on(1, linear_backward, &call);
    call.x.count = call.dy.count = 0;
    case_run_on(1, linear_backward, &call);
    call.x.count = call.dy.count = count;
    const case_rows got = linear_store(&call.weight_gradient);
    for (size_t o = 0; o < got.count; o++) {
      const bool is_finite = o != 3 && o != 18;
      CHECK(isfinite(call.bias_gradient[o]) == is_finite, "db %zu: %g", o, (double)call.bias_gradient[o]);
      for (size_t i = 0; i < in; i++) {
        CHECK(isfinite(got.data[o * got.stride + i]) == is_finite, "dW (%zu, %zu)", o, i);
      }
    }
    for (size_t o = 21; o < hw_whole_panels(21); o++) {
      CHECK(call.bias_gradient[o] == 0.0F, "db %zu, which is missing: %g", o, (double)call.bias_gradient[o]);
    }
    check_case();
    free(got.data);
    linear_destroy(&call, &before);
  }
}

static void backward_to_x(hw_run *run, const void *call) {
  const linear_call *f = call;
  hw_matrix_multiply_transposed(run, &f->weight_gradient, &(hw_rows){f->dy.data, f->dy.stride, f->dy.count}, false,
                                f->dx.data);
}

/* Of what a matrix of fewer bits holds, which is not quite what went in. */
static void check_small(hw_matrix_type type, size_t count, size_t in, size_t out) {
  linear_before before;
  linear_call call = linear_create(&(linear_case){count, in, out, false}, &before);
  hw_matrix_release(&call.weight_gradient);
  CHECK(hw_matrix_create(type, out, in, &call.weight_gradient) == HW_OK, "create");
  linear_load(&call.weight_gradient, &before.weight);
  case_run_on(1, backward_to_x, &call);
  free(before.weight.data);
  before.weight = linear_store(&call.weight_gradient);
  linear_check_dx(&call, &before);
  check_case();
  linear_destroy(&call, &before);
}

static void test_small_types(void) {
  const hw_matrix_type types[] = {HW_MATRIX_BFLOAT16, HW_MATRIX_FLOAT16, HW_MATRIX_INT8};
  for (size_t t = 0; t < 3; t++) {
    for (size_t out = 1; out <= 17; out += 4) {
      for (size_t in = 1; in <= 19; in += 3) {
        check_small(types[t], 7, in, out);
      }
    }
  }
}

/* Of any number of rows: whole strips, and what is left of them. */
static void check_transposed_product(size_t rows, size_t k, size_t count) {
  const size_t columns = count * HW_TILE_COLUMNS;
  const case_rows a = case_rows_random(k, rows);
  const case_rows b = case_rows_random(k, columns);
  const case_rows before = case_rows_random(rows, columns);
  const case_rows c = case_rows_copy(&before);
  hw_add_transposed_product(&(hw_transposed_product){
      .a = a.data,
      .a_stride = a.stride,
      .panels = b.data,
      .panel_stride = HW_TILE_COLUMNS,
      .b_stride = b.stride,
      .count = count,
      .c = c.data,
      .c_stride = c.stride,
      .c_panel_stride = HW_TILE_COLUMNS,
      .rows = rows,
      .k = k,
  });
  for (size_t r = 0; r < rows; r++) {
    for (size_t i = 0; i < columns; i++) {
      double expected = case_element(&before, r, i);
      double terms = fabs(expected);
      for (size_t p = 0; p < k; p++) {
        const double term = case_element(&a, p, r) * case_element(&b, p, i);
        expected += term;
        terms += fabs(term);
      }
      case_check_sum("c", r, i, c.data[r * c.stride + i], expected, terms, k);
    }
  }
  case_rows_check_guards(&c, "c");
  check_case();
  free(a.data);
  free(b.data);
  free(before.data);
  free(c.data);
}

static void test_transposed_product(void) {
  for (size_t rows = 1; rows <= (size_t)3 * HW_TILE_ROWS; rows++) {
    check_transposed_product(rows, 1 + rows % 5, 1 + rows % 3);
  }
}

typedef struct huge_call {
  size_t count;
  size_t columns;
} huge_call;

static void huge_backward(hw_run *run, const void *call) {
  const huge_call *f = call;
  hw_matrix matrix = {.rows = f->columns, .columns = f->columns};
  const hw_rows rows = {NULL, f->columns, f->count};
  hw_matrix_multiply_transposed(run, &matrix, &rows, false, NULL);
  hw_matrix_add_gradient(run, &matrix, &rows, &rows, NULL);
}

static void test_huge(void) {
  const size_t sizes[] = {SIZE_MAX / 8 + 1, SIZE_MAX / 4 + 1, SIZE_MAX / 2, SIZE_MAX};
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    CHECK_STATUS(hw_run_forward(context, NULL, NULL, huge_backward, &(huge_call){3, sizes[i]}), HW_ERROR_MEMORY);
    CHECK_STATUS(hw_run_forward(context, NULL, NULL, huge_backward, &(huge_call){sizes[i], sizes[i]}), HW_ERROR_MEMORY);
  }
  hw_context_destroy(context);
}

int main(void) {
  check_seed(31);
  check_run("gradients around the tile equal float64's, and nothing else is written", test_tile_edges);
  check_run("gradients around the blocks do too", test_block_edges);
  check_run("every number of threads gives the same bits", test_threads);
  check_run("what is not wanted is left alone", test_not_wanted);
  check_run("a run is measured with a dx that is in scratch itself", test_scratch);
  check_run("what is not finite stays in its row of the gradients", test_not_finite);
  check_run("matrices of fewer bits give the gradients of what they hold", test_small_types);
  check_run("transposed products of any number of rows add what float64's do", test_transposed_product);
  check_run("sizes that memory cannot hold are refused", test_huge);
  return check_result();
}
