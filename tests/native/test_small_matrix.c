/* Products with weights of 16 and 8 bits around their tiles and blocks, against doubles of the rounded weights. */
#include "backward_case.h"
#include "kernels/int8_panels.h"
#include "matrix_types.h"
#include "ops/linear.h"

/* Types are checked from this one on, and int8 in this way. */
static int first_type = HW_MATRIX_BFLOAT16;
static const hw_int8_way *int8_way = &hw_int8_pairs;

static hw_status create_matrix(hw_matrix_type type, size_t rows, size_t columns, hw_matrix *matrix) {
  const hw_status status = hw_matrix_create(type, rows, columns, matrix);
  matrix->way = type == HW_MATRIX_INT8 ? int8_way : NULL;
  return status;
}

/* ---- A product ---- */

typedef struct product_case {
  hw_matrix_type type;
  size_t count;
  size_t in;
  size_t out;
  bool bias;
} product_case;

typedef struct product_call {
  hw_matrix matrix;
  case_rows x;
  case_rows y;
  float *bias;
} product_call;

static void multiply(hw_run *run, const void *call) {
  const product_call *f = call;
  hw_matrix_multiply(run, &f->matrix, &(hw_rows){f->x.data, f->x.stride, f->x.count}, f->bias, f->y.data);
}

static void load(hw_matrix *matrix, const case_rows *rows) {
  matrix_load(matrix, &(hw_matrix_part){0, rows->count, 0, rows->columns}, rows->data, rows->stride, 1);
}

static product_call create(const product_case *c, const case_rows *weight) {
  product_call call = {.x = case_rows_random(c->count, c->in), .y = case_rows_dense(c->count, c->out)};
  CHECK(create_matrix(c->type, c->out, c->in, &call.matrix) == HW_OK, "create");
  load(&call.matrix, weight);
  if (c->bias) {
    call.bias = check_floats((c->out + 7) / 8 * 8);
    check_fill(call.bias, (c->out + 7) / 8 * 8);
  }
  return call;
}

static void destroy(product_call *call) {
  hw_matrix_release(&call->matrix);
  free(call->x.data);
  free(call->y.data);
  free(call->bias);
}

/* The integers that a row of activations becomes lose half of one each. */
static double rounding_of_row(const product_case *c, const case_rows *x, size_t r) {
  return c->type == HW_MATRIX_INT8 ? largest_of(x->data + r * x->stride, x->columns) / 4095.0 * 0.51 : 0.0;
}

static void check_element(const product_case *c, const product_call *call, const case_rows *weight, size_t r,
                          size_t o) {
  const double heaviest = largest_of(weight->data + o * weight->stride, weight->columns);
  const double rounding = rounding_of_row(c, &call->x, r);
  double expected = call->bias == NULL ? 0.0 : (double)call->bias[o];
  double terms = fabs(expected);
  double tolerance = 0x1p-126;
  for (size_t i = 0; i < c->in; i++) {
    const double w = kept(c->type, case_element(weight, o, i), heaviest);
    expected += case_element(&call->x, r, i) * w;
    terms += fabs(case_element(&call->x, r, i) * w);
    tolerance += fabs(w) * rounding;
  }
  tolerance += (double)(c->in + 8) * 0x1p-24 * terms;
  const double got = (double)call->y.data[r * call->y.stride + o];
  CHECK(fabs(got - expected) <= tolerance, "%s %zu × %zu × %zu, (%zu, %zu): %.9g, expected %.9g ± %.2g",
        type_names[c->type], c->count, c->in, c->out, r, o, got, expected, tolerance);
}

static void check_threads(const product_call *call) {
  const case_rows one = case_rows_copy(&call->y);
  for (size_t t = 0; t < CASE_THREADS; t++) {
    case_run_on(case_threads[t], multiply, call);
    CHECK(memcmp(one.data, call->y.data, case_rows_floats(&one) * sizeof(float)) == 0, "%zu threads", case_threads[t]);
  }
  free(one.data);
}

static void check_product(const product_case *c) {
  const case_rows weight = case_rows_random(c->out, c->in);
  product_call call = create(c, &weight);
  case_run_on(1, multiply, &call);
  for (size_t r = 0; r < c->count; r++) {
    for (size_t o = 0; o < c->out; o++) {
      check_element(c, &call, &weight, r, o);
    }
  }
  case_rows_check_guards(&call.y, "y");
  check_threads(&call);
  destroy(&call);
  free(weight.data);
  check_case();
}

static void check_tiles(void) {
  static const size_t counts[] = {1, 2, 3, 4, 5, 6, 7, 12, 81};
  static const size_t ins[] = {1, 2, 3, 5, 8, 63};
  static const size_t outs[] = {1, 3, 8, 9, 31, 32, 33, 40, 64};
  for (int type = first_type; type <= HW_MATRIX_INT8; type++) {
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
      for (size_t j = 0; j < sizeof ins / sizeof *ins; j++) {
        for (size_t k = 0; k < sizeof outs / sizeof *outs; k++) {
          check_product(&(product_case){(hw_matrix_type)type, counts[i], ins[j], outs[k], (i + j + k) % 2 == 0});
        }
      }
    }
  }
}

/* Enough work for threads; more than one block of columns, of rows, and of a 16-bit matrix's rows that are floats at a time. */
static void check_blocks(void) {
  for (int type = first_type; type <= HW_MATRIX_INT8; type++) {
    check_product(&(product_case){(hw_matrix_type)type, 1, 1030, 521, true});
    check_product(&(product_case){(hw_matrix_type)type, 3, 400, 521, false});
    check_product(&(product_case){(hw_matrix_type)type, 4, 300, 521, true});
    check_product(&(product_case){(hw_matrix_type)type, 169, 17, 263, true});
    check_product(&(product_case){(hw_matrix_type)type, 7, 3101, 259, true});
  }
  /* Rows that become integers in two parts, of which the second is multiplied row by row. */
  check_product(&(product_case){HW_MATRIX_INT8, 642, 3101, 3, true});
}

/* ---- Rows, parts, and what is stored ---- */

static void check_kept(void) {
  for (int type = first_type; type <= HW_MATRIX_INT8; type++) {
    const case_rows weight = case_rows_random(11, 37);
    hw_matrix matrix;
    CHECK(create_matrix((hw_matrix_type)type, 11, 37, &matrix) == HW_OK, "create");
    load(&matrix, &weight);
    float row[37];
    for (size_t o = 0; o < 11; o++) {
      const double heaviest = largest_of(weight.data + o * weight.stride, 37);
      hw_matrix_row(&matrix, o, false, row);
      for (size_t i = 0; i < 37; i++) {
        const double expected = kept((hw_matrix_type)type, case_element(&weight, o, i), heaviest);
        CHECK(fabs((double)row[i] - expected) <= 0x1p-22 * fabs(expected), "%s (%zu, %zu): %.9g, expected %.9g",
              type_names[type], o, i, (double)row[i], expected);
        check_case();
      }
    }
    hw_matrix_release(&matrix);
    free(weight.data);
  }
}

/* What a file has in 16 bits comes out as it was: every finite bfloat16, and every float16 from 2^-24 to 65,504. */
static void check_exact(hw_matrix_type type, float (*value)(uint32_t)) {
  hw_matrix matrix;
  CHECK(create_matrix(type, 256, 256, &matrix) == HW_OK, "create");
  float row[256];
  for (uint32_t r = 0; r < 256; r++) {
    for (uint32_t i = 0; i < 256; i++) {
      row[i] = isfinite(value(r << 8 | i)) ? value(r << 8 | i) : 0.0F;
    }
    matrix_load(&matrix, &(hw_matrix_part){r, 1, 0, 256}, row, 256, 1);
    float back[256];
    hw_matrix_row(&matrix, r, false, back);
    CHECK(memcmp(row, back, sizeof row) == 0, "%s: row %u", type_names[type], (unsigned)r);
    check_case();
  }
  hw_matrix_release(&matrix);
}

static float bfloat16_value(uint32_t bits) {
  const uint32_t word = bits << 16;
  float x;
  memcpy(&x, &word, sizeof x);
  return x;
}

static float float16_value(uint32_t bits) {
  const int exponent = (int)(bits >> 10 & 31);
  const double fraction = (double)(bits & 1023);
  const double size = exponent == 31  ? (double)INFINITY
                      : exponent == 0 ? ldexp(fraction, -24)
                                      : ldexp(fraction + 1024.0, exponent - 25);
  return (float)((bits & 0x8000) != 0 ? -size : size);
}

static void check_exact_halves(void) {
  check_exact(HW_MATRIX_BFLOAT16, bfloat16_value);
  check_exact(HW_MATRIX_FLOAT16, float16_value);
}

/* A row whose weights are far apart: the smallest may be lost, the largest not. */
static void check_large(void) {
  static const float row[] = {1e-3F, 70000.0F, -3e8F, 1.0F};
  hw_matrix matrix;
  float back[4];
  CHECK(create_matrix(HW_MATRIX_FLOAT16, 1, 4, &matrix) == HW_OK, "create");
  matrix_load(&matrix, &(hw_matrix_part){0, 1, 0, 4}, row, 4, 1);
  hw_matrix_row(&matrix, 0, false, back);
  for (size_t i = 0; i < 4; i++) {
    CHECK(fabsf(back[i] - row[i]) <= 0x1p-11F * fabsf(row[i]) + 0x1p-24F * 3e8F / 65504.0F, "%zu: %g", i,
          (double)back[i]);
    check_case();
  }
  hw_matrix_release(&matrix);
}

/* Not finite in, not finite out: integers would swallow it. */
static void check_not_finite(void) {
  static const float poisons[] = {NAN, INFINITY, -INFINITY};
  for (int type = first_type; type <= HW_MATRIX_INT8; type++) {
    for (size_t i = 0; i < 12; i++) {
      const product_case c = {(hw_matrix_type)type, i < 6 ? 1 : 7, 13, 9, true};
      const case_rows weight = case_rows_random(c.out, c.in);
      const bool in_weight = i % 2 == 0;
      if (in_weight) {
        weight.data[4 * weight.stride + 12] = poisons[i / 2 % 3];
      }
      product_call call = create(&c, &weight);
      if (!in_weight) {
        call.x.data[(c.count - 1) * call.x.stride + 12] = poisons[i / 2 % 3];
      }
      case_run_on(1, multiply, &call);
      for (size_t o = 0; o < c.out; o++) {
        const float got = call.y.data[(c.count - 1) * call.y.stride + o];
        CHECK(isfinite(got) == (in_weight && o != 4), "%s, column %zu: %g", type_names[type], o, (double)got);
      }
      check_case();
      destroy(&call);
      free(weight.data);
    }
  }
}

/* A weight that is not finite changes its own row alone. */
static void check_other_rows(void) {
  for (int type = first_type; type <= HW_MATRIX_INT8; type++) {
    for (size_t poisoned = 0; poisoned < 9; poisoned++) {
      const case_rows weight = case_rows_random(9, 13);
      hw_matrix matrices[2];
      for (size_t i = 0; i < 2; i++) {
        CHECK(create_matrix((hw_matrix_type)type, 9, 13, &matrices[i]) == HW_OK, "create");
        load(&matrices[i], &weight);
        weight.data[poisoned * weight.stride + 6] = NAN;
      }
      for (size_t o = 0; o < 9; o++) {
        float rows[2][13];
        hw_matrix_row(&matrices[0], o, false, rows[0]);
        hw_matrix_row(&matrices[1], o, false, rows[1]);
        CHECK((memcmp(rows[0], rows[1], sizeof rows[0]) == 0) == (o != poisoned), "%s, row %zu", type_names[type], o);
      }
      check_case();
      hw_matrix_release(&matrices[0]);
      hw_matrix_release(&matrices[1]);
      free(weight.data);
    }
  }
}

/* The numbers of int8 are those of its definition to the last bit: integers, then a product and a sum of floats. largest: of a
 * row's integers, whose products with `in` weights fit 31 bits. */
static void check_definition(const product_case *c, const case_rows *weight, const product_call *call, float largest) {
  case_run_on(1, multiply, call);
  for (size_t r = 0; r < c->count; r++) {
    const float most = (float)largest_of(call->x.data + r * call->x.stride, c->in);
    for (size_t o = 0; o < c->out; o++) {
      const float heaviest = (float)largest_of(weight->data + o * weight->stride, c->in);
      int64_t sum = 0;
      for (size_t i = 0; i < c->in; i++) {
        const int64_t a = (int64_t)rintf(call->x.data[r * call->x.stride + i] * (largest / most));
        const int64_t w = (int64_t)rintf(weight->data[o * weight->stride + i] * (127.0F / heaviest));
        sum += a * w;
      }
      const float factor = heaviest / 127.0F * (most / largest);
      const float product = (float)sum * factor;
      const float expected = product + call->bias[o];
      const float got = call->y.data[r * call->y.stride + o];
      CHECK(memcmp(&got, &expected, sizeof got) == 0, "(%zu, %zu): %.9g, expected %.9g", r, o, (double)got,
            (double)expected);
      check_case();
    }
  }
}

static void check_int8_bits(void) {
  static const size_t counts[] = {1, 6};
  for (size_t i = 0; i < 2; i++) {
    const product_case c = {HW_MATRIX_INT8, counts[i], 8300, 9, true};
    const case_rows weight = case_rows_random(c.out, c.in);
    product_call call = create(&c, &weight);
    check_definition(&c, &weight, &call, 1023.0F);
    destroy(&call);
    free(weight.data);
  }
}

static void fill_alternating(const case_rows *rows) {
  for (size_t r = 0; r < rows->count; r++) {
    for (size_t i = 0; i < rows->columns; i++) {
      rows->data[r * rows->stride + i] = r % 2 == 0 ? 1.0F : -1.0F;
    }
  }
}

/* Sums as large as they can be, of either sign. */
static void check_largest_sums(void) {
  static const size_t counts[] = {1, 7};
  for (size_t i = 0; i < 2; i++) {
    const product_case c = {HW_MATRIX_INT8, counts[i], 4128, 10, true};
    const case_rows weight = case_rows_random(c.out, c.in);
    fill_alternating(&weight);
    product_call call = create(&c, &weight);
    fill_alternating(&call.x);
    check_definition(&c, &weight, &call, 4095.0F);
    destroy(&call);
    free(weight.data);
  }
}

/* A row that is too small for its factor to be finite counts as zeros. */
static void check_tiny_row(void) {
  const product_case c = {HW_MATRIX_INT8, 2, 12, 9, true};
  const case_rows weight = case_rows_random(c.out, c.in);
  product_call call = create(&c, &weight);
  for (size_t i = 0; i < c.in; i++) {
    call.x.data[i] = 0x1p-120F;
  }
  case_run_on(1, multiply, &call);
  CHECK(memcmp(call.y.data, call.bias, c.out * sizeof(float)) == 0, "%.9g", (double)call.y.data[0]);
  check_case();
  destroy(&call);
  free(weight.data);
}

static void check_int8(void) {
  check_tiles();
  check_blocks();
  check_kept();
  check_not_finite();
  check_other_rows();
  check_int8_bits();
  check_largest_sums();
  check_tiny_row();
}

int main(void) {
  check_run("products of every type are right around tiles", check_tiles);
  check_run("products of every type are right around blocks", check_blocks);
  check_run("rows come out as the types round them", check_kept);
  check_run("every float16 and bfloat16 is kept as it is", check_exact_halves);
  check_run("a float16 row may have weights larger than float16", check_large);
  check_run("what is not finite stays so", check_not_finite);
  check_run("a weight that is not finite changes its row alone", check_other_rows);
  check_run("int8 gives the bits of its definition", check_int8_bits);
  check_run("int8 sums up to 31 bits are exact", check_largest_sums);
  check_run("tiny rows count as zeros for int8", check_tiny_row);
  first_type = HW_MATRIX_INT8;
  int8_way = &hw_int8_dots;
  check_run("all of that holds for int8 by dots of bytes", check_int8);
  return check_result();
}
