/* One backward of a linear layer in strided, guarded buffers, and its comparison with float64. */
#ifndef HW_TESTS_LINEAR_CASE_H
#define HW_TESTS_LINEAR_CASE_H

#include "backward_case.h"
#include "kernels/pack.h"
#include "ops/linear.h"

typedef struct linear_case {
  size_t count;
  size_t in;
  size_t out;
  bool adds;
} linear_case;

typedef struct linear_call {
  hw_linear linear;
  hw_matrix weight_gradient;
  case_rows x;
  case_rows dy;
  case_rows dx;
  float *bias_gradient;
  bool adds;
} linear_call;

static inline void linear_backward(hw_run *run, const void *call) {
  const linear_call *f = call;
  hw_matrix weight = f->weight_gradient;
  const hw_linear_gradient gradient = {&weight, f->bias_gradient};
  const size_t used = run->arena->used;
  hw_linear_backward(run, &f->linear, &gradient, &(hw_rows){f->x.data, f->x.stride, f->x.count},
                     &(hw_rows){f->dy.data, f->dy.stride, f->dy.count}, f->adds, f->dx.data);
  CHECK(run->arena->used == used, "kept %zu bytes of scratch", run->arena->used - used);
}

static inline void linear_load(hw_matrix *matrix, const case_rows *rows) {
  matrix_load(matrix, &(hw_matrix_part){0, rows->count, 0, rows->columns}, rows->data, rows->stride, 1);
}

static inline case_rows linear_store(const hw_matrix *matrix) {
  const case_rows rows = case_rows_empty(matrix->rows, matrix->columns);
  hw_matrix_store(matrix, &(hw_matrix_part){0, rows.count, 0, rows.columns}, rows.data, rows.stride, 1);
  return rows;
}

/* Before the call: what is there already. */
typedef struct linear_before {
  case_rows weight;
  case_rows weight_gradient;
  case_rows dx;
  float *bias_gradient;
} linear_before;

static inline linear_call linear_create(const linear_case *c, linear_before *before) {
  linear_call call = {
      .x = case_rows_random(c->count, c->in),
      .dy = case_rows_random(c->count, c->out),
      .dx = case_rows_dense(c->count, c->in),
      .bias_gradient = check_floats(hw_whole_panels(c->out)),
      .adds = c->adds,
  };
  memset(call.bias_gradient, 0, hw_whole_panels(c->out) * sizeof(float));
  check_fill(call.bias_gradient, c->out);
  if (c->adds) {
    check_fill(call.dx.data, c->count * c->in);
  }
  *before = (linear_before){case_rows_random(c->out, c->in), case_rows_random(c->out, c->in), case_rows_copy(&call.dx),
                            check_floats(hw_whole_panels(c->out))};
  memcpy(before->bias_gradient, call.bias_gradient, hw_whole_panels(c->out) * sizeof(float));
  CHECK(hw_linear_init(HW_MATRIX_FLOAT32, c->in, c->out, false, &call.linear) == HW_OK, "init");
  CHECK(hw_matrix_create(HW_MATRIX_FLOAT32, c->out, c->in, &call.weight_gradient) == HW_OK, "create");
  linear_load(&call.linear.weight, &before->weight);
  linear_load(&call.weight_gradient, &before->weight_gradient);
  return call;
}

static inline void linear_destroy(linear_call *call, linear_before *before) {
  hw_linear_release(&call->linear);
  hw_matrix_release(&call->weight_gradient);
  free(call->x.data);
  free(call->dy.data);
  free(call->dx.data);
  free(call->bias_gradient);
  free(before->weight.data);
  free(before->weight_gradient.data);
  free(before->dx.data);
  free(before->bias_gradient);
}

static inline void linear_check_dx(const linear_call *call, const linear_before *before) {
  for (size_t r = 0; r < call->dx.count; r++) {
    for (size_t i = 0; i < call->dx.columns; i++) {
      double expected = call->adds ? case_element(&before->dx, r, i) : 0.0;
      double terms = fabs(expected);
      for (size_t o = 0; o < call->dy.columns; o++) {
        const double term = case_element(&call->dy, r, o) * case_element(&before->weight, o, i);
        expected += term;
        terms += fabs(term);
      }
      case_check_sum("dx", r, i, call->dx.data[r * call->dx.stride + i], expected, terms, call->dy.columns);
    }
  }
  case_rows_check_guards(&call->dx, "dx");
}

static inline void linear_check_weight(const linear_call *call, const linear_before *before) {
  const case_rows got = linear_store(&call->weight_gradient);
  for (size_t o = 0; o < got.count; o++) {
    double bias = (double)before->bias_gradient[o];
    double bias_terms = fabs(bias);
    for (size_t r = 0; r < call->x.count; r++) {
      bias += case_element(&call->dy, r, o);
      bias_terms += fabs(case_element(&call->dy, r, o));
    }
    case_check_sum("db", 0, o, call->bias_gradient[o], bias, bias_terms, call->x.count);
    for (size_t i = 0; i < got.columns; i++) {
      double expected = case_element(&before->weight_gradient, o, i);
      double terms = fabs(expected);
      for (size_t r = 0; r < call->x.count; r++) {
        const double term = case_element(&call->dy, r, o) * case_element(&call->x, r, i);
        expected += term;
        terms += fabs(term);
      }
      case_check_sum("dW", o, i, got.data[o * got.stride + i], expected, terms, call->x.count);
    }
  }
  for (size_t o = got.count; o < hw_whole_panels(got.count); o++) {
    CHECK(call->bias_gradient[o] == 0.0F, "the bias's gradient %zu, which is missing, is not zero", o);
  }
  const size_t floats = hw_matrix_bytes(HW_MATRIX_FLOAT32, got.count, got.columns) / sizeof(float);
  for (size_t i = 0; i < floats; i++) {
    const size_t row = i / (8 * got.columns) * 8 + i % 8;
    CHECK(row < got.count || call->weight_gradient.panels[i] == 0.0F, "row %zu, which is missing, is not zero", row);
  }
  free(got.data);
}

static inline void linear_case_run(linear_case c) {
  linear_before before;
  linear_call call = linear_create(&c, &before);
  case_run_on(1, linear_backward, &call);
  linear_check_dx(&call, &before);
  linear_check_weight(&call, &before);
  check_case();
  linear_destroy(&call, &before);
}

#endif
