/* GELU, layer norm, embeddings and feed-forward layers of any size and numbers, in place too, against float64. */
#include "core/tile.h"
#include "fuzz.h"
#include "gelu_case.h"
#include "layer_norm_case.h"
#include "reference_modules.h"

static hw_context *context;

/* One in sixteen goes over a block of those that threads share. */
static size_t fuzz_count(fuzz_bytes *bytes) {
  return fuzz_byte(bytes) % 16 == 0 ? ((size_t)1 << 14) + fuzz_size(bytes, 0, 40) - 20 : fuzz_size(bytes, 1, 300);
}

/* Usual numbers, or bits. */
static void fuzz_fill(fuzz_bytes *bytes, float *x, size_t count) {
  static const float magnitudes[] = {1.0F, 1e-3F, 8.0F, 1e-38F, 1e30F};
  const uint32_t kind = fuzz_byte(bytes) % 6;
  for (size_t i = 0; i < count; i++) {
    x[i] = kind == 5 ? check_float((uint32_t)check_random()) : check_random_float() * magnitudes[kind];
  }
}

/* Where results go: over the input or beside it. */
static float *output_for(float *x, size_t count, bool in_place) { return in_place ? x : check_guarded(count); }

static float *copy_of(const float *x, size_t count) {
  float *copy = check_floats(count);
  memcpy(copy, x, count * sizeof *x);
  return copy;
}

static void run_gelu(fuzz_bytes *bytes) {
  const uint32_t kind = fuzz_byte(bytes) % 3;
  const size_t count = fuzz_count(bytes);
  float *x = check_floats(count);
  fuzz_fill(bytes, x, count);
  float *input = copy_of(x, count);
  float *y = output_for(x, count, fuzz_bool(bytes));
  const hw_status status = hw_gelu(context, x, y, count, (hw_gelu_approximation)kind);
  CHECK(status == (kind < 2 ? HW_OK : HW_ERROR_VALUE), "status %d", (int)status);
  for (size_t i = 0; i < count && kind < 2; i++) {
    (void)check_gelu(&gelu_forms[kind], input[i], y[i]);
  }
  free(input);
  if (y != x) {
    free(y);
  }
  free(x);
}

static bool is_finite(const float *x, size_t count) {
  bool finite = true;
  for (size_t i = 0; i < count; i++) {
    finite = finite && isfinite(x[i]);
  }
  return finite;
}

static void run_layer_norm(fuzz_bytes *bytes) {
  static const double eps[] = {HW_LAYER_NORM_EPS, 0.1, 1e-12, -1e-5};
  const size_t columns = fuzz_size(bytes, 1, 300);
  const size_t rows = fuzz_count(bytes) / columns + 1;
  const double chosen = eps[fuzz_byte(bytes) % 4];
  float *x = check_floats(rows * columns);
  float *weight = fuzz_bool(bytes) ? check_floats(columns) : NULL;
  float *bias = fuzz_bool(bytes) ? check_floats(columns) : NULL;
  fuzz_fill(bytes, x, rows * columns);
  if (weight != NULL) {
    check_fill(weight, columns);
  }
  if (bias != NULL) {
    check_fill(bias, columns);
  }
  float *input = copy_of(x, rows * columns);
  float *y = output_for(x, rows * columns, fuzz_bool(bytes));
  const hw_status status = hw_layer_normalization(context, x, rows, columns, weight, bias, chosen, y);
  CHECK(status == (chosen >= 0.0 ? HW_OK : HW_ERROR_VALUE), "status %d", (int)status);
  for (size_t row = 0; row < rows && status == HW_OK; row++) {
    const float *of = input + row * columns;
    if (is_finite(of, columns)) {
      check_layer_norm_row(of, weight, bias, chosen, y + row * columns, columns);
    } else {
      CHECK(isnan(y[row * columns]), "a row with NaN or infinity: %g", (double)y[row * columns]);
    }
  }
  free(input);
  if (y != x) {
    free(y);
  }
  free(x);
  free(weight);
  free(bias);
}

/* One in four has an id that is none: everything is as it was. */
static void run_embedding(fuzz_bytes *bytes) {
  const size_t num = fuzz_size(bytes, 1, 40);
  const size_t dim = fuzz_size(bytes, 1, 70);
  const size_t count = fuzz_size(bytes, 1, 50);
  hw_module *module = NULL;
  CHECK(make_embedding(context, num, dim, &module) == HW_OK, "create");
  uint32_t *ids = check_memory(count * sizeof *ids);
  float *y = check_guarded(count * dim);
  for (size_t i = 0; i < count; i++) {
    ids[i] = (uint32_t)(check_random() % num);
  }
  const bool is_bad = fuzz_byte(bytes) % 4 == 0;
  if (is_bad) {
    ids[fuzz_size(bytes, 0, count - 1)] = (uint32_t)num + (uint32_t)fuzz_size(bytes, 0, 9) * 0x10000000u;
  }
  const hw_status status = forward_ids(context, module, ids, count, y);
  CHECK(status == (is_bad ? HW_ERROR_VALUE : HW_OK), "status %d", (int)status);
  float *weight = stored(whole(module), "weight");
  for (size_t i = 0; i < count * dim; i++) {
    const float expected = is_bad ? check_guard() : weight[ids[i / dim] * dim + i % dim];
    CHECK(check_bits(y[i]) == check_bits(expected), "%zu: %g, not %g", i, (double)y[i], (double)expected);
  }
  hw_module_destroy(module);
  free(weight);
  free(ids);
  free(y);
}

static void run_feed_forward(fuzz_bytes *bytes) {
  const hw_feed_forward_config config = {.d_model = fuzz_size(bytes, 1, 30),
                                         .d_ff = fuzz_size(bytes, 1, 70),
                                         .approximate = (hw_gelu_approximation)(fuzz_byte(bytes) % 2)};
  const size_t rows = fuzz_size(bytes, 1, fuzz_byte(bytes) % 8 == 0 ? 2 * HW_GEMM_ROWS + 3 : 20);
  const size_t count = rows * config.d_model;
  hw_module *module = NULL;
  CHECK(hw_feed_forward_create(context, &config, &module) == HW_OK, "create");
  float *x = check_floats(count);
  check_fill(x, count);
  double *wide = reference_widen(x, count);
  double *exact = reference_doubles(count);
  double *noisy = reference_doubles(count);
  reference_feed_forward(whole(module), &config, wide, rows, exact, 0.0);
  double moved = 0.0;
  for (size_t run = 0; run < REFERENCE_RUNS; run++) {
    reference_feed_forward(whole(module), &config, wide, rows, noisy, REFERENCE_NOISE);
    moved = fmax(moved, reference_distance(exact, noisy, count));
  }
  float *y = output_for(x, count, fuzz_bool(bytes));
  CHECK(forward_rows(context, module, x, rows, y) == HW_OK, "forward");
  reference_compare(y, exact, moved, count, "feed-forward");
  hw_module_destroy(module);
  if (y != x) {
    free(y);
  }
  free(x);
  free(wide);
  free(exact);
  free(noisy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static void (*const runs[])(fuzz_bytes *) = {run_gelu, run_layer_norm, run_embedding, run_feed_forward};
  fuzz_bytes bytes = {data, size};
  check_seed(fuzz_byte(&bytes));
  CHECK(hw_context_create(&context) == HW_OK, "create");
  runs[fuzz_byte(&bytes) % 4](&bytes);
  hw_context_destroy(context);
  return fuzz_end();
}
