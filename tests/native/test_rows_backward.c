/* Gradients of softmax, cross-entropy, embeddings and rotary positions, against differences of sums in double. */
#include "backward_case.h"
#include "kernels/rotary.h"
#include "ops/cross_entropy.h"
#include "ops/embedding.h"
#include "ops/rotary.h"

enum { LONGEST = 21 };

/* A row of doubles, one of which is moved. */
typedef struct moved_row {
  double *x;
  size_t place;
  const float *dy;
  size_t count;
  size_t target;
  double smoothing;
} moved_row;

static double softmax_at(double x, const void *rest) {
  const moved_row *m = rest;
  const double before = m->x[m->place];
  m->x[m->place] = x;
  double sum = 0.0;
  double weighted = 0.0;
  for (size_t i = 0; i < m->count; i++) {
    sum += exp(m->x[i]);
    weighted += exp(m->x[i]) * (double)m->dy[i];
  }
  m->x[m->place] = before;
  return weighted / sum;
}

static double cross_entropy_at(double x, const void *rest) {
  const moved_row *m = rest;
  const double before = m->x[m->place];
  m->x[m->place] = x;
  double sum = 0.0;
  double mean = 0.0;
  for (size_t i = 0; i < m->count; i++) {
    sum += exp(m->x[i]);
    mean += m->x[i] / (double)m->count;
  }
  const double loss = log(sum) - (1.0 - m->smoothing) * m->x[m->target] - m->smoothing * mean;
  m->x[m->place] = before;
  return loss;
}

static void test_softmax(void) {
  for (size_t columns = 1; columns <= LONGEST; columns++) {
    float x[2 * LONGEST];
    float y[2 * LONGEST];
    float dy[2 * LONGEST];
    check_fill(x, 2 * columns);
    check_fill(dy, 2 * columns);
    CHECK_STATUS(hw_softmax(x, y, 2, columns), HW_OK);
    float *dx = check_guarded(2 * columns);
    CHECK_STATUS(hw_softmax_backward(y, dy, dx, 2, columns), HW_OK);
    for (size_t i = 0; i < 2 * columns; i++) {
      double *row = case_doubles(x + i / columns * columns, columns);
      const moved_row moved = {.x = row, .place = i % columns, .dy = dy + i / columns * columns, .count = columns};
      const double slope = case_derivative(softmax_at, row[i % columns], &moved);
      CHECK(fabs((double)dx[i] - slope) <= 5e-7, "columns=%zu %zu: %g, expected %g", columns, i, (double)dx[i], slope);
      free(row);
    }
    CHECK_STATUS(hw_softmax_backward(y, dy, dy, 2, columns), HW_OK);
    CHECK(memcmp(dy, dx, 2 * columns * sizeof(float)) == 0, "in place");
    free(dx);
  }
  float x = 0.0F;
  CHECK_STATUS(hw_softmax_backward(&x, NULL, &x, 1, 1), HW_ERROR_VALUE);
  CHECK_STATUS(hw_softmax_backward(NULL, NULL, NULL, 0, 1), HW_OK);
}

/* Some targets ignored, rows scaled, in place and without gradients. */
static void check_cross_entropy(hw_context *context, size_t rows, size_t classes, float smoothing, float magnitude) {
  float *x = check_floats(rows * classes);
  float *gradient = check_guarded(rows * classes);
  float *losses = check_guarded(2 * rows);
  float *scales = check_floats(rows);
  int32_t *targets = check_memory(rows * sizeof *targets);
  check_fill(x, rows * classes);
  check_fill(scales, rows);
  for (size_t i = 0; i < rows * classes; i++) {
    x[i] *= magnitude;
  }
  for (size_t r = 0; r < rows; r++) {
    targets[r] = r % 4 == 2 ? -100 : (int32_t)(check_random() % classes);
  }
  hw_cross_entropy_call call = {x, targets, rows, classes, -100, smoothing, losses, gradient, 0.25F, scales};
  CHECK_STATUS(hw_cross_entropy(context, &call), HW_OK);
  for (size_t r = 0; r < rows; r++) {
    double *row = case_doubles(x + r * classes, classes);
    moved_row moved = {.x = row, .count = classes, .target = (size_t)targets[r], .smoothing = (double)smoothing};
    const bool is_ignored = targets[r] < 0;
    const double loss = is_ignored ? 0.0 : cross_entropy_at(row[0], &moved);
    CHECK(fabs((double)losses[r] - loss) <= 2e-6 * (1.0 + (double)magnitude),
          "classes=%zu loss %zu: %.9g, expected %.9g", classes, r, (double)losses[r], loss);
    for (size_t i = 0; i < classes; i++) {
      moved.place = i;
      const double slope = is_ignored ? 0.0 : case_derivative(cross_entropy_at, row[i], &moved);
      CHECK(fabs((double)gradient[r * classes + i] - slope * 0.25 * (double)scales[r]) <= 3e-7,
            "classes=%zu (%zu, %zu): %g, expected %g", classes, r, i, (double)gradient[r * classes + i],
            slope * 0.25 * (double)scales[r]);
    }
    free(row);
  }
  call.gradient = NULL;
  call.losses = losses + rows;
  CHECK_STATUS(hw_cross_entropy(context, &call), HW_OK);
  CHECK(memcmp(losses, losses + rows, rows * sizeof(float)) == 0, "without a gradient");
  call.gradient = x;
  call.losses = NULL;
  CHECK_STATUS(hw_cross_entropy(context, &call), HW_OK);
  CHECK(memcmp(x, gradient, rows * classes * sizeof(float)) == 0, "in place");
  free(x);
  free(gradient);
  free(losses);
  free(scales);
  free(targets);
}

static void test_cross_entropy(void) {
  hw_context *context = NULL;
  CHECK_STATUS(hw_context_create(&context), HW_OK);
  for (size_t classes = 1; classes <= LONGEST; classes++) {
    check_cross_entropy(context, 1 + classes % 6, classes, 0.0F, 2.0F);
    check_cross_entropy(context, 3, classes, 0.1F, 2.0F);
  }
  check_cross_entropy(context, 2, 7, 1.0F, 20.0F);
  check_cross_entropy(context, 2, 7, 0.0F, 80.0F);
  float x[3] = {1.0F, -INFINITY, 3.0F};
  int32_t target = 0;
  float loss = 0.0F;
  hw_cross_entropy_call call = {x, &target, 1, 3, -100, 0.0F, &loss, x, 1.0F, NULL};
  CHECK_STATUS(hw_cross_entropy(context, &call), HW_OK);
  CHECK(fabsf(loss - 2.126928F) < 1e-6F && x[1] == 0.0F, "a class of -inf: loss %g, gradient %g", (double)loss,
        (double)x[1]);
  /* All of the loss is in the mean, and none at the target. */
  x[0] = 1.0F;
  x[1] = -INFINITY;
  x[2] = 3.0F;
  target = 1;
  call.label_smoothing = 1.0F;
  CHECK_STATUS(hw_cross_entropy(context, &call), HW_OK);
  CHECK(loss == INFINITY, "a target of -inf: %g", (double)loss);
  call.label_smoothing = 0.0F;
  call.targets = NULL;
  CHECK_STATUS(hw_cross_entropy(context, &call), HW_ERROR_VALUE);
  call.targets = &target;
  target = 3;
  CHECK_STATUS(hw_cross_entropy(context, &call), HW_ERROR_VALUE);
  target = -1;
  CHECK_STATUS(hw_cross_entropy(context, &call), HW_ERROR_VALUE);
  target = 0;
  const float smoothings[] = {NAN, -0.1F, 1.1F};
  for (size_t i = 0; i < sizeof smoothings / sizeof *smoothings; i++) {
    call.label_smoothing = smoothings[i];
    CHECK_STATUS(hw_cross_entropy(context, &call), HW_ERROR_VALUE);
  }
  call.classes = 0;
  CHECK_STATUS(hw_cross_entropy(context, &call), HW_ERROR_SHAPE);
  CHECK_STATUS(hw_cross_entropy(context, NULL), HW_ERROR_VALUE);
  hw_context_destroy(context);
}

static void entropy(hw_run *run, const void *call) { hw_cross_entropy_forward(run, call); }

static void test_cross_entropy_threads(void) {
  enum { rows = 401, classes = 211, count = rows * classes };
  float *x = check_floats(count);
  float *gradients = check_floats((size_t)2 * count);
  float losses[3 * rows];
  int32_t targets[rows];
  check_fill(x, count);
  for (size_t r = 0; r < rows; r++) {
    targets[r] = (int32_t)(check_random() % classes);
  }
  for (size_t t = 0; t <= CASE_THREADS; t++) {
    const size_t at = t == 0 ? 0 : 1;
    hw_cross_entropy_call call = {x,    targets, rows, classes, 0, 0.1F, losses + at * rows, gradients + at * count,
                                  1.0F, NULL};
    case_run_on(t == 0 ? 1 : case_threads[t - 1], entropy, &call);
    call.gradient = NULL;
    call.losses = losses + 2 * rows;
    case_run_on(t == 0 ? 1 : case_threads[t - 1], entropy, &call);
    CHECK(memcmp(gradients + at * count, gradients, count * sizeof(float)) == 0, "gradients");
    CHECK(memcmp(losses + at * rows, losses, rows * sizeof(float)) == 0, "losses");
    CHECK(memcmp(losses + 2 * rows, losses, rows * sizeof(float)) == 0, "losses alone");
    check_case();
  }
  free(x);
  free(gradients);
}

typedef struct embedding_call {
  hw_matrix table;
  const uint32_t *ids;
  const float *dy;
  size_t count;
} embedding_call;

static void scatter(hw_run *run, const void *call) {
  const embedding_call *f = call;
  hw_matrix table = f->table;
  hw_embedding_backward(run, &table, f->ids, f->count, f->dy);
  hw_positions_backward(run, &table, &(hw_places){.first = 1, .batch = f->count / 3, .tokens = 3}, f->dy);
}

static void check_embedding(size_t threads, size_t rows, size_t columns, size_t count) {
  uint32_t *ids = check_memory(count * sizeof *ids);
  float *dy = check_floats(count * columns);
  float *table = check_floats(rows * columns);
  check_fill(dy, count * columns);
  check_fill(table, rows * columns);
  embedding_call call = {.ids = ids, .dy = dy, .count = count};
  CHECK(hw_matrix_create(HW_MATRIX_FLOAT32, rows, columns, &call.table) == HW_OK, "create");
  const hw_matrix_part all = {0, rows, 0, columns};
  matrix_load(&call.table, &all, table, columns, 1);
  for (size_t i = 0; i < count; i++) {
    ids[i] = (uint32_t)(check_random() % rows);
  }
  case_run_on(threads, scatter, &call);
  CHECK_STATUS(hw_embed_backward(ids, count, dy, rows, columns, table), HW_OK);
  for (size_t i = 0; i < count / 3 * 3 * columns; i++) {
    table[(1 + i / columns % 3) * columns + i % columns] += dy[i];
  }
  float *got = check_floats(rows * columns);
  hw_matrix_store(&call.table, &all, got, columns, 1);
  CHECK(memcmp(got, table, rows * columns * sizeof(float)) == 0, "rows=%zu columns=%zu", rows, columns);
  float *y = check_floats(count * columns);
  CHECK_STATUS(hw_embed(table, rows, columns, ids, count, y), HW_OK);
  for (size_t i = 0; i < count * columns; i++) {
    CHECK(y[i] == table[ids[i / columns] * columns + i % columns], "row %zu", i / columns);
  }
  hw_matrix_release(&call.table);
  free(ids);
  free(dy);
  free(table);
  free(got);
  free(y);
}

static void test_embedding(void) {
  for (size_t columns = 1; columns <= LONGEST; columns += 3) {
    check_embedding(1, 4 + columns, columns, 1 + columns % 7);
  }
  for (size_t t = 0; t < CASE_THREADS; t++) {
    check_embedding(case_threads[t], 23, 200, 500);
  }
  const uint32_t id = 4;
  float x[8] = {0.0F};
  CHECK_STATUS(hw_embed(x, 4, 2, &id, 1, x), HW_ERROR_VALUE);
  CHECK_STATUS(hw_embed(x, 4, 0, &id, 1, x), HW_ERROR_SHAPE);
  CHECK_STATUS(hw_embed(NULL, 5, 2, &id, 1, x), HW_ERROR_VALUE);
  CHECK_STATUS(hw_embed_backward(&id, 1, x, 4, 2, x), HW_ERROR_VALUE);
  CHECK_STATUS(hw_embed_backward(NULL, 1, x, 4, 2, x), HW_ERROR_VALUE);
}

typedef struct rotary_call {
  hw_rotary rotary;
  case_rows x;
  case_rows y;
  case_rows back;
} rotary_call;

static void rotate(hw_run *run, const void *call) {
  const rotary_call *f = call;
  const hw_rotary *r = &f->rotary;
  const hw_strides strides = {r->tokens * f->x.stride, r->width, f->x.stride};
  hw_rotary_forward(run, r, f->x.data, &strides, f->y.data, &strides);
  hw_rotary_backward(run, r, f->y.data, &strides, f->back.data, &strides);
  hw_rotary_forward(run, r, f->x.data, &strides, f->x.data, &strides);
}

/* Rotations of pairs (i, i + half): turned back they are the input. */
static void check_rotary(size_t threads, size_t half, size_t tokens) {
  enum { batch = 2, heads = 3 };
  const size_t width = 2 * half + half % 3;
  const case_rows x = case_rows_random(batch * tokens, heads * width);
  float *angles = check_floats(2 * tokens * half);
  for (size_t i = 0; i < tokens * half; i++) {
    const double angle = 3.0 * (double)check_random_float();
    angles[i] = (float)cos(angle);
    angles[tokens * half + i] = (float)sin(angle);
  }
  const rotary_call call = {{{angles, angles + tokens * half, half, 0}, batch, heads, tokens, width},
                            case_rows_copy(&x),
                            case_rows_empty(x.count, x.columns),
                            case_rows_empty(x.count, x.columns)};
  case_run_on(threads, rotate, &call);
  for (size_t i = 0; i < x.count * x.columns; i++) {
    const size_t row = i / x.columns;
    const size_t column = i % x.columns;
    const size_t in_head = column % width;
    double expected = case_element(&x, row, column);
    if (in_head < 2 * half) {
      const bool is_low = in_head < half;
      const size_t at = row % tokens * half + in_head % half;
      const double other = case_element(&x, row, is_low ? column + half : column - half);
      expected = expected * (double)angles[at] + (is_low ? -other : other) * (double)angles[tokens * half + at];
    }
    CHECK(fabs(case_element(&call.y, row, column) - expected) <= 2e-7, "half=%zu (%zu, %zu)", half, row, column);
    CHECK(fabs(case_element(&call.back, row, column) - case_element(&x, row, column)) <= 1e-6, "not turned back");
    CHECK(case_element(&call.x, row, column) == case_element(&call.y, row, column), "in place");
  }
  case_rows_check_guards(&call.y, "y");
  case_rows_check_guards(&call.back, "dx");
  check_case();
  free(x.data);
  free(angles);
  free(call.x.data);
  free(call.y.data);
  free(call.back.data);
}

static void test_rotary(void) {
  for (size_t half = 1; half <= 13; half++) {
    check_rotary(1, half, 1 + half % 5);
  }
  check_rotary(3, 32, 333);
}

int main(void) {
  check_seed(33);
  check_run("softmax's gradient equals double's differences", test_softmax);
  check_run("cross-entropy and its gradient equal double's, with ignored targets and smoothing", test_cross_entropy);
  check_run("cross-entropy gives the same bits on all threads", test_cross_entropy_threads);
  check_run("rows of embeddings get their gradients in order, on all threads", test_embedding);
  check_run("rotary positions turn pairs of halves, and back", test_rotary);
  return check_result();
}
