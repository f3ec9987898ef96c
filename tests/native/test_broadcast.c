/* Operations on two tensors with broadcasting, and sums along axes, against loops over every element in doubles. */
#include "check.h"
#include "headwise.h"

enum { RANK = 4, CASES = 400 };

/* Where element `flat` of `shape` is in a tensor whose sizes are the same or 1. */
static size_t place(const uint32_t *shape, const uint32_t *own, size_t flat) {
  size_t at = 0;
  size_t stride = 1;
  for (size_t axis = RANK; axis-- > 0;) {
    at += own[axis] == 1 ? 0 : flat % shape[axis] * stride;
    stride *= own[axis];
    flat /= shape[axis];
  }
  return at;
}

static size_t size_of(const uint32_t *shape) {
  size_t size = 1;
  for (size_t axis = 0; axis < RANK; axis++) {
    size *= shape[axis];
  }
  return size;
}

static void draw_shapes(uint32_t *shape, uint32_t *a, uint32_t *b) {
  for (size_t axis = 0; axis < RANK; axis++) {
    shape[axis] = (uint32_t)(check_random() % (axis == RANK - 1 ? 70 : 4) + 1);
    a[axis] = check_random() % 3 == 0 ? 1 : shape[axis];
    b[axis] = check_random() % 3 == 0 ? 1 : shape[axis];
  }
}

static void test_operations(void) {
  for (size_t i = 0; i < CASES; i++) {
    uint32_t shape[RANK];
    uint32_t a_shape[RANK];
    uint32_t b_shape[RANK];
    draw_shapes(shape, a_shape, b_shape);
    const size_t size = size_of(shape);
    float *a = check_floats(size_of(a_shape));
    float *b = check_floats(size_of(b_shape));
    float *y = check_guarded(size);
    check_fill(a, size_of(a_shape));
    check_fill(b, size_of(b_shape));
    const hw_binary_operation operation = (hw_binary_operation)(i % 3);
    CHECK_STATUS(hw_broadcast(operation, RANK, shape, a, a_shape, b, b_shape, y), HW_OK);
    for (size_t flat = 0; flat < size; flat++) {
      const float left = a[place(shape, a_shape, flat)];
      const float right = b[place(shape, b_shape, flat)];
      const float exact = i % 3 == 0 ? left + right : i % 3 == 1 ? left - right : left * right;
      CHECK(y[flat] == exact, "case %zu, element %zu: %g, expected %g", i, flat, (double)y[flat], (double)exact);
    }
    free(a);
    free(b);
    free(y);
  }
}

static void test_sums(void) {
  for (size_t i = 0; i < CASES; i++) {
    uint32_t shape[RANK];
    uint32_t y_shape[RANK];
    uint32_t unused[RANK];
    draw_shapes(shape, y_shape, unused);
    const size_t size = size_of(shape);
    const size_t y_size = size_of(y_shape);
    float *x = check_floats(size);
    float *y = check_guarded(y_size);
    double *sums = check_memory(y_size * sizeof(double));
    check_fill(x, size);
    CHECK_STATUS(hw_sum(RANK, shape, x, y_shape, 0.5, y), HW_OK);
    for (size_t j = 0; j < y_size; j++) {
      sums[j] = 0.0;
    }
    for (size_t flat = 0; flat < size; flat++) {
      sums[place(shape, y_shape, flat)] += (double)x[flat];
    }
    for (size_t j = 0; j < y_size; j++) {
      const double exact = 0.5 * sums[j];
      CHECK(fabs((double)y[j] - exact) <= fabs(exact) * 0x1p-24 + 1e-12, "case %zu, %zu: %.9g, expected %.9g", i, j,
            (double)y[j], exact);
    }
    free(x);
    free(y);
    free(sums);
  }
}

static void test_scalars(void) {
  const float two = 2.0F;
  const float three = 3.0F;
  float y = 0.0F;
  CHECK_STATUS(hw_broadcast(HW_BINARY_MULTIPLY, 0, NULL, &two, NULL, &three, NULL, &y), HW_OK);
  CHECK(y == 6.0F, "%g", (double)y);
  CHECK_STATUS(hw_sum(0, NULL, &two, NULL, 3.0, &y), HW_OK);
  CHECK(y == 6.0F, "%g", (double)y);
}

static void test_errors(void) {
  const uint32_t shape[] = {2, 3};
  const uint32_t other[] = {2, 2};
  const uint32_t empty[] = {0, 3};
  uint32_t many[HW_MOST_AXES + 1];
  for (size_t axis = 0; axis <= HW_MOST_AXES; axis++) {
    many[axis] = 1;
  }
  float x[6] = {0.0F};
  float y[6];
  CHECK_STATUS(hw_broadcast(HW_BINARY_ADD, 2, shape, x, other, x, shape, y), HW_ERROR_SHAPE);
  CHECK_STATUS(hw_broadcast(HW_BINARY_ADD, 2, shape, x, shape, x, other, y), HW_ERROR_SHAPE);
  CHECK_STATUS(hw_broadcast(HW_BINARY_ADD, 2, empty, x, empty, x, empty, y), HW_ERROR_SHAPE);
  CHECK_STATUS(hw_broadcast((hw_binary_operation)3, 2, shape, x, shape, x, shape, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_broadcast(HW_BINARY_ADD, 2, shape, NULL, shape, x, shape, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_broadcast(HW_BINARY_ADD, 2, shape, x, NULL, x, shape, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_broadcast(HW_BINARY_ADD, HW_MOST_AXES + 1, many, x, many, x, many, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_broadcast(HW_BINARY_ADD, HW_MOST_AXES, many, x, many, x, many, y), HW_OK);
  CHECK_STATUS(hw_sum(2, shape, x, other, 1.0, y), HW_ERROR_SHAPE);
  CHECK_STATUS(hw_sum(2, shape, NULL, shape, 1.0, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_sum(2, shape, x, NULL, 1.0, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_sum(HW_MOST_AXES + 1, many, x, many, 1.0, y), HW_ERROR_VALUE);
}

static void test_dropout(void) {
  enum { COUNT = 1000 };
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  float x[COUNT];
  float y[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    x[i] = 1.0F;
  }
  CHECK_STATUS(hw_dropout(context, x, COUNT, 0.75, y), HW_OK);
  size_t kept = 0;
  for (size_t i = 0; i < COUNT; i++) {
    CHECK(y[i] == 0.0F || y[i] == 4.0F, "%zu: %g", i, (double)y[i]);
    kept += y[i] != 0.0F;
  }
  CHECK(kept > 200 && kept < 300, "%zu are kept", kept);
  CHECK_STATUS(hw_dropout(context, x, COUNT, 0.0, x), HW_OK);
  CHECK(x[0] == 1.0F && x[COUNT - 1] == 1.0F, "0 drops nothing");
  CHECK_STATUS(hw_dropout(context, x, COUNT, 1.0, x), HW_OK);
  CHECK(x[0] == 0.0F && x[COUNT - 1] == 0.0F, "1 drops all");
  CHECK_STATUS(hw_dropout(context, NULL, 0, 0.5, NULL), HW_OK);
  CHECK_STATUS(hw_dropout(context, NULL, 1, 0.5, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_dropout(context, x, 1, -0.5, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_dropout(context, x, 1, (double)NAN, y), HW_ERROR_VALUE);
  CHECK_STATUS(hw_dropout(NULL, x, 1, 0.5, y), HW_ERROR_VALUE);
  hw_context_destroy(context);
}

int main(void) {
  check_seed(5);
  check_run("sums, differences and products of random shapes are those of every pair", test_operations);
  check_run("sums along any axes are float64's, rounded once", test_sums);
  check_run("a tensor without axes is one number", test_scalars);
  check_run("sizes and pointers that do not fit are refused", test_errors);
  check_run("dropout keeps its share, scaled", test_dropout);
  return check_result();
}
