#include "ops/update.h"

enum {
  /* Floats of one item. */
  BLOCK = 1 << 14,
  /* What an element costs, in multiply-adds of a matrix product: it is read from memory. */
  ELEMENT_WORK = 16,
  /* Strided floats that are gathered at a time. */
  CHUNK = 64,
};

typedef struct update_job {
  const hw_update *update;
  hw_update_arrays arrays;
  size_t count;
  float *sums; /* of each item */
} update_job;

static void update_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const update_job *u = job;
  const size_t first = item * BLOCK;
  const hw_update_arrays arrays = hw_update_arrays_from(&u->arrays, first);
  u->sums[item] = u->update->kernel(u->update, &arrays, hw_min(u->count - first, BLOCK));
}

double hw_update_forward(const hw_run *run, const hw_update *update, const hw_update_arrays *arrays, size_t first,
                         size_t count) {
  const size_t mark = run->arena->used;
  const size_t items = hw_ceil_divide(count, BLOCK);
  const update_job job = {update, hw_update_arrays_from(arrays, first), count, hw_run_take_floats(run, items, 1)};
  run->arena->used = mark;
  if (hw_run_measures(run)) {
    return 0.0;
  }
  const double work = (double)count * (double)ELEMENT_WORK;
  hw_run_items(run, work, items, update_item, &job);
  double sum = 0.0;
  for (size_t i = 0; i < items; i++) {
    sum += (double)job.sums[i];
  }
  return sum;
}

static void gather(const float *source, size_t stride, size_t count, float *target) {
  for (size_t i = 0; source != NULL && i < count; i++) {
    target[i] = source[i * stride];
  }
}

static void scatter(const float *source, size_t stride, size_t count, float *target) {
  for (size_t i = 0; target != NULL && i < count; i++) {
    target[i * stride] = source[i];
  }
}

/* The same of floats that are `stride` apart: gathered, updated and put back. */
static double update_strided(const hw_update *update, const hw_update_arrays *arrays, size_t stride, size_t count) {
  float chunks[4][CHUNK];
  double sum = 0.0;
  for (size_t first = 0; first < count; first += CHUNK) {
    const size_t some = hw_min(count - first, CHUNK);
    const hw_update_arrays part = hw_update_arrays_from(arrays, first * stride);
    float *const moments[2] = {part.moments[0] == NULL ? NULL : chunks[2], part.moments[1] == NULL ? NULL : chunks[3]};
    gather(part.value, stride, some, chunks[0]);
    gather(part.gradient, stride, some, chunks[1]);
    gather(part.moments[0], stride, some, chunks[2]);
    gather(part.moments[1], stride, some, chunks[3]);
    sum += (double)update->kernel(update, &(hw_update_arrays){chunks[0], chunks[1], {moments[0], moments[1]}}, some);
    scatter(chunks[0], stride, some, part.value);
    scatter(chunks[2], stride, some, part.moments[0]);
    scatter(chunks[3], stride, some, part.moments[1]);
  }
  return sum;
}

/* Rows that share a panel with others, or with none: a lane each. */
static double update_lanes(const hw_update *update, const hw_update_arrays *arrays, const hw_matrix *matrix, size_t row,
                           size_t end) {
  double sum = 0.0;
  for (; row < end; row++) {
    const size_t panel = row / HW_TILE_COLUMNS * HW_TILE_COLUMNS;
    const hw_update_arrays lane = hw_update_arrays_from(arrays, panel * matrix->columns + row % HW_TILE_COLUMNS);
    sum += update_strided(update, &lane, HW_TILE_COLUMNS, matrix->columns);
  }
  return sum;
}

/* What lies between rows in a panel is zeros, which an update might not leave as they are. */
double hw_update_rows(const hw_run *run, const hw_update *update, const hw_update_arrays *arrays,
                      const hw_matrix *matrix, size_t row, size_t rows) {
  const size_t end = row + rows;
  const size_t first = hw_min(hw_ceil_divide(row, HW_TILE_COLUMNS) * HW_TILE_COLUMNS, end);
  const size_t last = end - first < HW_TILE_COLUMNS ? first : end / HW_TILE_COLUMNS * HW_TILE_COLUMNS;
  double sum = hw_update_forward(run, update, arrays, first * matrix->columns, (last - first) * matrix->columns);
  if (!hw_run_measures(run)) {
    sum += update_lanes(update, arrays, matrix, row, first);
    sum += update_lanes(update, arrays, matrix, last, end);
  }
  return sum;
}
