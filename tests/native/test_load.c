/* Loading of weights from every type into every type, around panels and blocks, against what the types' definitions keep. */
#include "backward_case.h"
#include "matrix_types.h"
#include "modules/parameter.h"

/* ---- Sources ---- */

/* The bits of a number that the type has. */
static uint16_t half_bits(hw_matrix_type type, float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (type == HW_MATRIX_BFLOAT16) {
    return (uint16_t)(bits >> 16);
  }
  int exponent = 0;
  const double fraction = frexp(fabs((double)x), &exponent);
  const uint32_t sign = signbit(x) ? 0x8000 : 0;
  if (exponent <= -14) {
    return (uint16_t)(sign | (uint32_t)ldexp(fabs((double)x), 24));
  }
  return (uint16_t)(sign | (uint32_t)(exponent + 14) << 10 | ((uint32_t)ldexp(fraction, 11) & 1023));
}

/* Random numbers that the type has. */
static float *numbers_of(hw_matrix_type type, size_t count) {
  float *numbers = check_floats(count);
  check_fill(numbers, count);
  for (size_t i = 0; i < count; i++) {
    /* Some are small enough to be subnormal in a float16. */
    const double x = (double)numbers[i] * (i % 7 == 0 ? 0x1p-16 : 1.0);
    numbers[i] = (float)(type == HW_MATRIX_FLOAT16 ? rounded(x, 11, -13) : kept(type, x, 0.0));
  }
  return numbers;
}

static void *bytes_of(hw_matrix_type type, const float *numbers, size_t count) {
  if (type == HW_MATRIX_FLOAT32) {
    float *same = check_floats(count);
    memcpy(same, numbers, count * sizeof *same);
    return same;
  }
  uint16_t *halves = malloc(count * sizeof *halves);
  for (size_t i = 0; halves != NULL && i < count; i++) {
    halves[i] = numbers[i] == 0.0F ? 0 : half_bits(type, numbers[i]);
  }
  return halves;
}

/* ---- Parts of a matrix ---- */

typedef struct load_case {
  hw_matrix_type from;
  hw_matrix_type to;
  hw_matrix_part part;
  size_t rows; /* of the matrix */
  size_t columns;
  bool is_transposed;
  size_t threads;
} load_case;

static double expected_of(const load_case *c, float number, float most) {
  return c->to == HW_MATRIX_INT8 ? (double)(rintf(number * (127.0F / most)) * (most / 127.0F))
                                 : kept(c->to, (double)number, 0.0);
}

static void check_loaded(const load_case *c, const float *numbers, const case_rows *before, const case_rows *after) {
  const hw_matrix_part *p = &c->part;
  const size_t row_stride = c->is_transposed ? 1 : p->columns;
  const size_t column_stride = c->is_transposed ? p->rows : 1;
  for (size_t i = 0; i < c->rows; i++) {
    const float *row = i - p->row < p->rows ? numbers + (i - p->row) * row_stride : NULL;
    float most = 0.0F;
    for (size_t j = 0; row != NULL && j < p->columns; j++) {
      most = fmaxf(most, fabsf(row[j * column_stride]));
    }
    for (size_t j = 0; j < c->columns; j++) {
      const bool inside = row != NULL && j - p->column < p->columns;
      const double expected =
          inside ? expected_of(c, row[(j - p->column) * column_stride], most) : case_element(before, i, j);
      const double got = case_element(after, i, j);
      CHECK(got == expected, "%s to %s, (%zu, %zu) of %zu × %zu: %.9g, expected %.9g", type_names[c->from],
            type_names[c->to], i, j, c->rows, c->columns, got, expected);
    }
  }
}

static case_rows store(const hw_matrix *matrix) {
  const case_rows rows = case_rows_empty(matrix->rows, matrix->columns);
  hw_matrix_store(matrix, &(hw_matrix_part){0, rows.count, 0, rows.columns}, rows.data, rows.stride, 1);
  return rows;
}

static void check_load(const load_case *c) {
  const size_t count = c->part.rows * c->part.columns;
  hw_matrix matrix;
  CHECK(hw_matrix_create(c->to, c->rows, c->columns, &matrix) == HW_OK, "create");
  const case_rows old = case_rows_random(c->rows, c->columns);
  matrix_load(&matrix, &(hw_matrix_part){0, c->rows, 0, c->columns}, old.data, old.stride, 1);
  const case_rows before = store(&matrix);
  float *numbers = numbers_of(c->from, count);
  void *bytes = bytes_of(c->from, numbers, count);
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK && hw_context_set_threads(context, c->threads) == HW_OK, "context");
  const hw_weights source = {c->from, bytes, c->is_transposed ? 1 : c->part.columns,
                             c->is_transposed ? c->part.rows : 1};
  hw_matrix_load_weights(context->team, &matrix, &c->part, &source);
  const case_rows after = store(&matrix);
  check_loaded(c, numbers, &before, &after);
  hw_context_destroy(context);
  hw_matrix_release(&matrix);
  free(old.data);
  free(before.data);
  free(after.data);
  free(numbers);
  free(bytes);
  check_case();
}

/* Every source with every type of matrix. */
static void check_types(load_case c) {
  for (int from = HW_MATRIX_FLOAT32; from <= HW_MATRIX_FLOAT16; from++) {
    for (int to = HW_MATRIX_FLOAT32; to <= HW_MATRIX_INT8; to++) {
      c.from = (hw_matrix_type)from;
      c.to = (hw_matrix_type)to;
      if (to != HW_MATRIX_INT8 || c.part.columns == c.columns) {
        check_load(&c);
      }
    }
  }
}

/* Whole matrices, rows in the middle of panels, and some columns. */
static void check_parts(void) {
  static const size_t columns[] = {1, 3, 31, 32, 33, 70};
  static const hw_matrix_part parts[] = {{0, 1, 0, 0},  {0, 8, 0, 0}, {0, 19, 0, 0}, {3, 4, 0, 0},
                                         {3, 16, 0, 0}, {8, 5, 0, 0}, {8, 11, 0, 0}, {17, 2, 0, 0}};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    for (size_t j = 0; j < sizeof parts / sizeof *parts; j++) {
      load_case c = {.part = parts[j], .rows = 19, .columns = columns[i], .threads = 1, .is_transposed = (i + j) % 2};
      c.part.columns = columns[i];
      check_types(c);
      c.is_transposed = !c.is_transposed;
      check_types(c);
      if (columns[i] > 2) {
        c.part.column = 1;
        c.part.columns = columns[i] - 2;
        check_types(c);
      }
    }
  }
}

/* More panels than one item has, on several threads. */
static void check_threads(void) {
  for (int transposed = 0; transposed < 2; transposed++) {
    for (size_t threads = 1; threads <= 3; threads += 2) {
      check_types((load_case){
          .part = {5, 1030, 0, 520}, .rows = 1037, .columns = 520, .is_transposed = transposed, .threads = threads});
    }
  }
}

/* ---- All halves ---- */

/* What is no number stays none, and all others come out as they were. */
static void check_all_halves(hw_matrix_type from, hw_matrix_type to) {
  uint16_t row[256];
  float whole[256];
  float back[256];
  hw_matrix matrix;
  CHECK(hw_matrix_create(to, 8, 256, &matrix) == HW_OK, "create");
  for (uint32_t high = 0; high < 256; high++) {
    for (uint32_t low = 0; low < 256; low++) {
      row[low] = (uint16_t)(high << 8 | low);
    }
    hw_floats_of(from, row, 256, whole);
    for (size_t i = 0; i < 8; i++) {
      const hw_weights source = {from, row, 256, 1};
      hw_matrix_load_weights(NULL, &matrix, &(hw_matrix_part){i, 1, 0, 256}, &source);
    }
    hw_matrix_row(&matrix, 5, false, back);
    for (size_t i = 0; i < 256; i++) {
      const bool has_none = to == HW_MATRIX_FLOAT16 && (high & 0x7c) == 0x7c; /* all of the row are NaN */
      CHECK(has_none ? !isfinite(back[i]) : memcmp(&back[i], &whole[i], 4) == 0 || (isnan(back[i]) && isnan(whole[i])),
            "%s to %s: %04x", type_names[from], type_names[to], (unsigned)row[i]);
      check_case();
    }
    hw_matrix_release(&matrix);
    CHECK(hw_matrix_create(to, 8, 256, &matrix) == HW_OK, "create");
  }
  hw_matrix_release(&matrix);
}

static void check_halves(void) {
  check_all_halves(HW_MATRIX_BFLOAT16, HW_MATRIX_BFLOAT16);
  check_all_halves(HW_MATRIX_BFLOAT16, HW_MATRIX_FLOAT32);
  check_all_halves(HW_MATRIX_FLOAT16, HW_MATRIX_FLOAT16);
  check_all_halves(HW_MATRIX_FLOAT16, HW_MATRIX_FLOAT32);
}

/* The floats themselves, from the definition. */
static void check_floats_of_halves(void) {
  for (uint32_t bits = 0; bits < 65536; bits++) {
    const uint16_t half[5] = {(uint16_t)bits, (uint16_t)bits, (uint16_t)bits, (uint16_t)bits, (uint16_t)bits};
    float got[5];
    hw_floats_of(HW_MATRIX_FLOAT16, half, 5, got);
    const int exponent = (int)(bits >> 10 & 31);
    const double fraction = (double)(bits & 1023);
    const double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024.0, exponent - 25);
    const double expected = (bits & 0x8000) != 0 ? -size : size;
    for (size_t i = 0; i < 5; i += 4) {
      CHECK(exponent == 31 ? (fraction == 0.0 ? isinf(got[i]) != 0 : isnan(got[i]) != 0) : (double)got[i] == expected,
            "%04x: %g", (unsigned)bits, (double)got[i]);
      check_case();
    }
  }
}

/* A row's scale is that of the weights that it has, not of those it had. */
static void check_again(void) {
  enum { ROWS = 11, COLUMNS = 70 };
  const float firsts[] = {60000.0F, 1e9F, NAN, INFINITY};
  for (int to = HW_MATRIX_FLOAT32; to <= HW_MATRIX_INT8; to++) {
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
      hw_matrix fresh;
      hw_matrix used;
      CHECK(hw_matrix_create((hw_matrix_type)to, ROWS, COLUMNS, &fresh) == HW_OK, "create");
      CHECK(hw_matrix_create((hw_matrix_type)to, ROWS, COLUMNS, &used) == HW_OK, "create");
      const case_rows rows = case_rows_random(ROWS, COLUMNS);
      float first[COLUMNS] = {firsts[i], 1.0F};
      for (size_t j = 0; j < ROWS * COLUMNS; j++) {
        rows.data[j / COLUMNS * rows.stride + j % COLUMNS] *= 1e-6F;
      }
      for (size_t row = 0; row < ROWS; row += 3) {
        matrix_load(&used, &(hw_matrix_part){row, 1, 0, COLUMNS}, first, COLUMNS, 1);
      }
      matrix_load(&used, &(hw_matrix_part){0, ROWS, 0, COLUMNS}, rows.data, rows.stride, 1);
      matrix_load(&fresh, &(hw_matrix_part){0, ROWS, 0, COLUMNS}, rows.data, rows.stride, 1);
      CHECK(memcmp(used.panels, fresh.panels, hw_matrix_bytes((hw_matrix_type)to, ROWS, COLUMNS)) == 0, "%s after %g",
            type_names[to], (double)firsts[i]);
      free(rows.data);
      hw_matrix_release(&fresh);
      hw_matrix_release(&used);
      check_case();
    }
  }
}

/* ---- Parameters ---- */

/* A parameter whose rows are an int8 matrix's columns must come whole; others need not. */
static void check_whole(void) {
  hw_matrix matrix = {.type = HW_MATRIX_INT8};
  hw_parameter parameter = {.rank = 2, .matrix = &matrix, .is_transposed = true};
  CHECK(hw_parameter_loads_whole(&parameter), "transposed");
  parameter.is_transposed = false;
  CHECK(!hw_parameter_loads_whole(&parameter), "rows");
  matrix.type = HW_MATRIX_BFLOAT16;
  parameter.is_transposed = true;
  CHECK(!hw_parameter_loads_whole(&parameter), "16 bits");
  check_case();
}

/* Norms and biases are floats, whatever the file has. */
static void check_arrays(void) {
  for (int from = HW_MATRIX_FLOAT32; from <= HW_MATRIX_FLOAT16; from++) {
    float *numbers = numbers_of((hw_matrix_type)from, 21);
    void *bytes = bytes_of((hw_matrix_type)from, numbers, 21);
    float array[30] = {0.0F};
    const hw_parameter parameter = {
        .rank = 1, .rows = 25, .columns = 1, .array = array, .array_count = 30, .first_row = 4};
    hw_parameter_load_as(NULL, &parameter, 2, 21, (hw_matrix_type)from, bytes);
    CHECK(memcmp(array + 6, numbers, 21 * sizeof(float)) == 0, "%s", type_names[from]);
    CHECK(array[5] == 0.0F && array[27] == 0.0F, "neighbours");
    free(numbers);
    free(bytes);
    check_case();
  }
}

int main(void) {
  check_run("parts of every type come into matrices of every type", check_parts);
  check_run("threads load the same", check_threads);
  check_run("what a matrix held before leaves nothing behind", check_again);
  check_run("every float16 and bfloat16 is kept", check_halves);
  check_run("halves become the floats of their definition", check_floats_of_halves);
  check_run("only int8 with rows for columns has to come whole", check_whole);
  check_run("arrays are floats", check_arrays);
  return check_result();
}
