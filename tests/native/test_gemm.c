/* Matrix products around the tile, with strides, guards and bias, against float64. */
#include "check.h"
#include "core/tile.h"
#include "headwise.h"
#include "kernels/gemm.h"
#include "kernels/pack.h"
#include "ops/matrix.h"

static const size_t depths[] = {1, 2, 3, 4, 5, 7, 8, 33, 64, 80};

typedef struct gemm_case {
  size_t rows;
  size_t k;
  size_t columns;
  size_t column_stride;
  size_t k_stride;
} gemm_case;

/* Matrix of elements among guards: element (r, c) at r·row_stride + c·column_stride. */
static float *strided(size_t rows, size_t columns, size_t row_stride, size_t column_stride) {
  float *x = check_guarded((rows - 1) * row_stride + (columns - 1) * column_stride + 1);
  for (size_t r = 0; r < rows; r++) {
    for (size_t c = 0; c < columns; c++) {
      x[r * row_stride + c * column_stride] = check_random_float();
    }
  }
  return x;
}

static size_t panel_floats(size_t columns, size_t k) { return hw_panel_count(columns) * HW_TILE_COLUMNS * k; }

/* Whole panels of biases. */
static float *random_bias(size_t columns) {
  float *bias = check_floats(hw_panel_count(columns) * HW_TILE_COLUMNS);
  check_fill(bias, hw_panel_count(columns) * HW_TILE_COLUMNS);
  return bias;
}

static void check_packed(const float *panels, const gemm_case *g, const float *source) {
  const size_t whole = hw_panel_count(g->columns) * HW_TILE_COLUMNS;
  for (size_t c = 0; c < whole; c++) {
    for (size_t p = 0; p < g->k; p++) {
      const float expected = c < g->columns ? source[c * g->column_stride + p * g->k_stride] : 0.0F;
      const float got = panels[(c / HW_TILE_COLUMNS * g->k + p) * HW_TILE_COLUMNS + c % HW_TILE_COLUMNS];
      CHECK(check_bits(got) == check_bits(expected), "k=%zu columns=%zu (%zu, %zu): %g, expected %g", g->k, g->columns,
            p, c, (double)got, (double)expected);
    }
  }
}

static void check_product(const gemm_case *g, const float *a, size_t a_stride, const float *source, const float *bias,
                          const float *c, size_t c_stride) {
  for (size_t r = 0; r < g->rows; r++) {
    for (size_t j = 0; j < c_stride && (r + 1 < g->rows || j < g->columns); j++) {
      const float got = c[r * c_stride + j];
      if (j >= g->columns) {
        CHECK(check_is_guard(got), "rows=%zu columns=%zu k=%zu: wrote beyond row %zu", g->rows, g->columns, g->k, r);
        continue;
      }
      double expected = (double)bias[j];
      double magnitude = fabs(expected);
      for (size_t p = 0; p < g->k; p++) {
        const double term = (double)a[r * a_stride + p] * (double)source[j * g->column_stride + p * g->k_stride];
        expected += term;
        magnitude += fabs(term);
      }
      const double tolerance = (double)(g->k + 1) * 0x1p-24 * magnitude;
      CHECK(fabs((double)got - expected) <= tolerance, "rows=%zu columns=%zu k=%zu (%zu, %zu): %.9g, expected %.9g",
            g->rows, g->columns, g->k, r, j, (double)got, expected);
    }
  }
}

/* All of a product; if it packs, with strips of exactly the size that is asked for. */
static void run(const hw_gemm_product *product, bool packs) {
  hw_gemm_product g = *product;
  if (!packs) {
    hw_gemm_block(&g, 0, g.rows, 0, g.columns);
    return;
  }
  g.strips = check_memory((hw_gemm_strips_floats(g.rows, g.k) + 1) * sizeof(float));
  hw_gemm_pack_strips(&g, 0, g.rows);
  hw_gemm_block(&g, 0, g.rows, 0, g.columns);
  free(g.strips);
}

static void run_gemm(gemm_case g) {
  const size_t a_stride = check_prime_above(g.k);
  const size_t c_stride = check_prime_above(g.columns);
  float *a = strided(g.rows, g.k, a_stride, 1);
  float *source = strided(g.k, g.columns, g.k_stride, g.column_stride);
  float *packed = check_guarded(panel_floats(g.columns, g.k));
  float *bias = random_bias(g.columns);
  hw_pack_panels(source, g.column_stride, g.k_stride, g.columns, g.k, packed, g.k * HW_TILE_COLUMNS);
  check_packed(packed, &g, source);
  for (int packs = 0; packs <= 1; packs++) {
    float *c = check_guarded((g.rows - 1) * c_stride + g.columns);
    run(&(hw_gemm_product){a, a_stride, packed, bias, HW_TILE_COLUMNS, c, c_stride, g.rows, g.k, g.columns, NULL,
                           false},
        packs != 0);
    check_product(&g, a, a_stride, source, bias, c, c_stride);
    check_case();
    free(c);
  }
  free(a);
  free(source);
  free(packed);
  free(bias);
}

static void sweep_columns(size_t columns) {
  for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
    const size_t k = depths[d];
    for (size_t rows = 1; rows <= 2 * HW_TILE_ROWS + 1; rows++) {
      run_gemm((gemm_case){rows, k, columns, 1, check_prime_above(columns)});
      run_gemm((gemm_case){rows, k, columns, check_prime_above(k), 1});
    }
    run_gemm((gemm_case){HW_TILE_ROWS + 1, k, columns, 3, check_prime_above(3 * columns)});
  }
}

static void test_tile_edges(void) {
  for (size_t columns = 1; columns <= 2 * HW_TILE_COLUMNS + 1; columns++) {
    sweep_columns(columns);
  }
}

static void test_chunk_edges(void) {
  for (size_t columns = HW_GEMM_COLUMNS - 1; columns <= HW_GEMM_COLUMNS + 1; columns++) {
    sweep_columns(columns);
  }
}

/* hw_gemm is sums in a fixed order: one element does not depend on the size of the matrix around it. */
static void test_same_bits_in_any_tile(void) {
  enum { rows = 2 * HW_TILE_ROWS + 1, k = 33, columns = 19 };
  float *a = strided(rows, k, k, 1);
  float *b = strided(k, columns, columns, 1);
  float *packed = check_floats(panel_floats(columns, k));
  float *all = check_floats((size_t)rows * columns);
  float *one = check_floats(columns);
  hw_pack_panels(b, 1, columns, columns, k, packed, k * HW_TILE_COLUMNS);
  for (size_t i = 0; i < (size_t)2 * rows; i++) {
    const size_t r = i % rows;
    const bool packs = i < rows;
    run(&(hw_gemm_product){a, k, packed, hw_gemm_zeros, 0, all, columns, rows, k, columns, NULL, false}, packs);
    run(&(hw_gemm_product){a + r * k, k, packed, hw_gemm_zeros, 0, one, columns, 1, k, columns, NULL, false}, packs);
    CHECK(memcmp(one, all + r * columns, columns * sizeof(float)) == 0, "row %zu differs when computed alone", r);
    check_case();
  }
  free(a);
  free(b);
  free(packed);
  free(all);
  free(one);
}

static void test_not_finite(void) {
  enum { k = 5, columns = 9 };
  const float inputs[] = {NAN, INFINITY, -INFINITY};
  for (size_t i = 0; i < 3; i++) {
    float a[2 * k];
    float b[k * columns];
    float c[2 * columns];
    float packed[256];
    check_fill(a, 2 * k);
    check_fill(b, k * columns);
    for (size_t j = 0; j < columns; j++) {
      b[2 * columns + j] = 0.5F;
    }
    a[2] = inputs[i];
    hw_pack_panels(b, 1, columns, columns, k, packed, k * HW_TILE_COLUMNS);
    run(&(hw_gemm_product){a, k, packed, hw_gemm_zeros, 0, c, columns, 2, k, columns, NULL, false}, true);
    for (size_t j = 0; j < columns; j++) {
      CHECK(isnan(inputs[i]) ? isnan(c[j]) : c[j] == inputs[i], "column %zu: %g", j, (double)c[j]);
      CHECK(isfinite(c[columns + j]), "the other row, column %zu: %g", j, (double)c[columns + j]);
    }
    check_case();
  }
}

static void test_sizes_that_do_not_fit(void) {
  CHECK(hw_matrix_bytes(HW_MATRIX_FLOAT32, SIZE_MAX, 1) == SIZE_MAX, "rows");
  CHECK(hw_matrix_bytes(HW_MATRIX_FLOAT32, 1, SIZE_MAX) == SIZE_MAX, "columns");
  CHECK(hw_matrix_bytes(HW_MATRIX_FLOAT32, SIZE_MAX / 2, SIZE_MAX / 2) == SIZE_MAX, "both");
  CHECK(hw_matrix_bytes(HW_MATRIX_FLOAT32, 9, 3) == 2 * 3 * 8 * sizeof(float), "two panels");
  CHECK(hw_gemm_strips_floats(SIZE_MAX, SIZE_MAX) == SIZE_MAX, "strips");
  check_case();
}

static void test_matmul(void) {
  enum { m = 3, k = 5, n = 9, batch = 4 };
  const uint32_t a_index[batch] = {0, 1, 0, 1};
  const uint32_t b_index[batch] = {0, 0, 1, 0};
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  float *a = strided(2 * m, k, k, 1);
  float *b = strided(2 * k, n, n, 1);
  float *c = check_guarded((size_t)batch * m * n);
  CHECK_STATUS(hw_matmul(context, a, b, c, batch, a_index, b_index, m, k, n), HW_OK);
  for (size_t i = 0; i < (size_t)batch * m * n; i++) {
    const size_t one = i / (m * n);
    double expected = 0.0;
    for (size_t p = 0; p < k; p++) {
      expected += (double)a[(a_index[one] * m + i / n % m) * k + p] * (double)b[(b_index[one] * k + p) * n + i % n];
    }
    CHECK(fabs((double)c[i] - expected) <= 6 * 0x1p-24 * k, "%zu: %.9g, expected %.9g", i, (double)c[i], expected);
  }
  hw_context_destroy(context);
  free(a);
  free(b);
  free(c);
}

static void test_transpose(void) {
  for (size_t rows = 1; rows <= 9; rows += 4) {
    for (size_t columns = 1; columns <= 9; columns += 4) {
      float *x = strided(2 * rows, columns, columns, 1);
      float *y = check_guarded(2 * rows * columns);
      hw_transpose(x, y, 2, rows, columns);
      for (size_t i = 0; i < 2 * rows * columns; i++) {
        const size_t r = i / columns % rows;
        const float got = y[i / (rows * columns) * rows * columns + i % columns * rows + r];
        CHECK(got == x[i], "%zux%zu, %zu: %g", rows, columns, i, (double)got);
      }
      check_case();
      free(x);
      free(y);
    }
  }
}

int main(void) {
  check_seed(1);
  check_run("products around the tile equal float64's within k roundings, and touch nothing else", test_tile_edges);
  check_run("products around HW_GEMM_COLUMNS do too", test_chunk_edges);
  check_run("a row gives the same bits alone as in a full tile", test_same_bits_in_any_tile);
  check_run("NaN and infinities reach their row and no other", test_not_finite);
  check_run("a packed size that does not fit is SIZE_MAX", test_sizes_that_do_not_fit);
  check_run("a batched product follows its indices", test_matmul);
  check_run("transpose swaps rows and columns of every matrix", test_transpose);
  return check_result();
}
