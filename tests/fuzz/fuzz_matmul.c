/* Products of matrices of any size in any order of a batch, and softmax of the result, against float64. */
#include "fuzz.h"
#include "headwise.h"

typedef struct product {
  size_t batch;
  size_t m;
  size_t k;
  size_t n;
  uint32_t *a_index;
  uint32_t *b_index;
  float *a;
  float *b;
  float *c;
} product;

static uint32_t *draw_indices(fuzz_bytes *bytes, size_t batch, size_t matrices) {
  uint32_t *indices = check_memory(batch * sizeof *indices);
  for (size_t i = 0; i < batch; i++) {
    indices[i] = (uint32_t)fuzz_size(bytes, 0, matrices - 1);
  }
  return indices;
}

static product draw(fuzz_bytes *bytes) {
  enum { MOST_MATRICES = 3 };
  product p = {.batch = fuzz_size(bytes, 1, 4),
               .m = fuzz_size(bytes, 1, 60),
               .k = fuzz_size(bytes, 1, 90),
               .n = fuzz_size(bytes, 1, 60)};
  p.a_index = draw_indices(bytes, p.batch, MOST_MATRICES);
  p.b_index = draw_indices(bytes, p.batch, MOST_MATRICES);
  p.a = check_floats(MOST_MATRICES * p.m * p.k);
  p.b = check_floats(MOST_MATRICES * p.k * p.n);
  p.c = check_guarded(p.batch * p.m * p.n);
  check_fill(p.a, MOST_MATRICES * p.m * p.k);
  check_fill(p.b, MOST_MATRICES * p.k * p.n);
  return p;
}

static void compare(const product *p, size_t i, size_t row, size_t column) {
  const float *a = p->a + (p->a_index[i] * p->m + row) * p->k;
  const float *b = p->b + p->b_index[i] * p->k * p->n + column;
  double expected = 0.0;
  double terms = 0.0;
  for (size_t x = 0; x < p->k; x++) {
    expected += (double)a[x] * (double)b[x * p->n];
    terms += fabs((double)a[x] * (double)b[x * p->n]);
  }
  const double got = (double)p->c[(i * p->m + row) * p->n + column];
  CHECK(fabs(got - expected) <= (double)(p->k + 1) * 0x1p-24 * terms, "%zu: [%zu, %zu, %zu] at %zu, %zu: %g, not %g", i,
        p->m, p->k, p->n, row, column, got, expected);
}

static void compare_softmax(const float *x, const float *y, size_t columns) {
  double largest = -(double)INFINITY;
  double sum = 0.0;
  for (size_t j = 0; j < columns; j++) {
    largest = fmax(largest, (double)x[j]);
  }
  for (size_t j = 0; j < columns; j++) {
    sum += exp((double)x[j] - largest);
  }
  for (size_t j = 0; j < columns; j++) {
    const double expected = exp((double)x[j] - largest) / sum;
    CHECK(fabs((double)y[j] - expected) <= 4e-6 * expected, "softmax at %zu: %g, not %g", j, (double)y[j], expected);
  }
}

static void destroy(const product *p) {
  free(p->a_index);
  free(p->b_index);
  free(p->a);
  free(p->b);
  free(p->c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes bytes = {data, size};
  check_seed(fuzz_byte(&bytes));
  const product p = draw(&bytes);
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  CHECK(hw_matmul(context, p.a, p.b, p.c, p.batch, p.a_index, p.b_index, p.m, p.k, p.n) == HW_OK, "matmul");
  for (size_t i = 0; i < p.batch * p.m * p.n; i++) {
    compare(&p, i / p.n / p.m, i / p.n % p.m, i % p.n);
  }
  float *y = check_guarded(p.batch * p.m * p.n);
  hw_softmax(p.c, y, p.batch * p.m, p.n);
  for (size_t row = 0; row < p.batch * p.m; row++) {
    compare_softmax(p.c + row * p.n, y + row * p.n, p.n);
  }
  free(y);
  hw_context_destroy(context);
  destroy(&p);
  return fuzz_end();
}
