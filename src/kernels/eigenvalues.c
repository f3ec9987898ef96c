#include "kernels/eigenvalues.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct square {
  double *a;
  size_t n;
} square;

static double *at(const square *s, size_t row, size_t column) { return s->a + row * s->n + column; }

static double sum_of_squares(const double *v, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) {
    sum += v[i] * v[i];
  }
  return sum;
}

/* Rows and columns that a reflection changes. */
typedef struct reach {
  size_t column; /* the first */
  size_t end;    /* after the last column */
  size_t top;    /* the first row */
  size_t bottom; /* after the last row */
} reach;

/* a = P·a·P with the reflection P of rows and columns [first, first + count) that maps v to a multiple of its first axis. v is
 * overwritten. */
static void reflect(const square *s, size_t first, double *v, size_t count, const reach *r) {
  const double norm = sqrt(sum_of_squares(v, count));
  if (norm == 0.0) {
    return;
  }
  v[0] += copysign(norm, v[0]);
  const double factor = 2.0 / sum_of_squares(v, count);
  for (size_t column = r->column; column < r->end; column++) {
    double dot = 0.0;
    for (size_t i = 0; i < count; i++) {
      dot += v[i] * *at(s, first + i, column);
    }
    for (size_t i = 0; i < count; i++) {
      *at(s, first + i, column) -= factor * dot * v[i];
    }
  }
  for (size_t row = r->top; row < r->bottom; row++) {
    double *x = at(s, row, first);
    double dot = 0.0;
    for (size_t i = 0; i < count; i++) {
      dot += v[i] * x[i];
    }
    for (size_t i = 0; i < count; i++) {
      x[i] -= factor * dot * v[i];
    }
  }
}

/* Zeros below the subdiagonal. v has room for n numbers. */
static void make_hessenberg(const square *s, double *v) {
  for (size_t k = 0; k + 2 < s->n; k++) {
    const size_t count = s->n - k - 1;
    for (size_t i = 0; i < count; i++) {
      v[i] = *at(s, k + 1 + i, k);
    }
    reflect(s, k + 1, v, count, &(reach){k, s->n, 0, s->n});
    for (size_t i = 1; i < count; i++) {
      *at(s, k + 1 + i, k) = 0.0;
    }
  }
}

/* One step on rows and columns [low, high], at least three, with the shifts' sum and product. */
static void step(const square *s, size_t low, size_t high, double sum, double product) {
  const double first = *at(s, low, low);
  const double below = *at(s, low + 1, low);
  double v[3] = {
      first * first + *at(s, low, low + 1) * below - sum * first + product,
      below * (first + *at(s, low + 1, low + 1) - sum),
      below * *at(s, low + 2, low + 1),
  };
  for (size_t k = low; k < high; k++) {
    const size_t count = high - k < 2 ? 2 : 3;
    const size_t bottom = k + 3 < high ? k + 3 : high;
    reflect(s, k, v, count, &(reach){k > low ? k - 1 : low, high + 1, low, bottom + 1});
    for (size_t i = 1; k > low && i < count; i++) {
      *at(s, k + i, k - 1) = 0.0;
    }
    for (size_t i = 0; i < 3; i++) {
      v[i] = k + 1 + i <= high ? *at(s, k + 1 + i, k) : 0.0;
    }
  }
}

/* The eigenvalues of rows and columns low and low + 1. */
static void solve_two(const square *s, size_t low, double *out) {
  const double a = *at(s, low, low);
  const double d = *at(s, low + 1, low + 1);
  const double half = (a - d) / 2.0;
  const double product = *at(s, low, low + 1) * *at(s, low + 1, low);
  const double inside = half * half + product;
  const double root = sqrt(fabs(inside));
  if (inside < 0.0) {
    memcpy(out, (double[]){d + half, root, d + half, -root}, 4 * sizeof(double));
    return;
  }
  const double far = half + copysign(root, half);
  memcpy(out, (double[]){d + far, 0.0, far == 0.0 ? d : d - product / far, 0.0}, 4 * sizeof(double));
}

/* The first row of the block that ends at `high` and does not fall apart yet. */
static size_t start_of_block(const square *s, size_t high, double norm) {
  size_t low = high;
  for (; low > 0; low--) {
    const double around = fabs(*at(s, low - 1, low - 1)) + fabs(*at(s, low, low));
    if (!(fabs(*at(s, low, low - 1)) > DBL_EPSILON * (around == 0.0 ? norm : around))) {
      *at(s, low, low - 1) = 0.0;
      break;
    }
  }
  return low;
}

/* Steps on [low, high]; every tenth has shifts from elsewhere, in case the others go in circles. */
static void shifted_step(const square *s, size_t low, size_t high, size_t steps) {
  double sum = *at(s, high, high) + *at(s, high - 1, high - 1);
  double product = *at(s, high, high) * *at(s, high - 1, high - 1) - *at(s, high, high - 1) * *at(s, high - 1, high);
  if (steps % 10 == 9) {
    const double size = fabs(*at(s, high, high - 1)) + fabs(*at(s, high - 1, high - 2));
    sum = 1.5 * size;
    product = size * size;
  }
  step(s, low, high, sum, product);
}

static void sort(double *out, size_t n) {
  for (size_t i = 1; i < n; i++) {
    const double moved[] = {out[2 * i], out[2 * i + 1]};
    size_t place = i;
    for (; place > 0 && sum_of_squares(out + 2 * place - 2, 2) < sum_of_squares(moved, 2); place--) {
      memcpy(out + 2 * place, out + 2 * place - 2, sizeof moved);
    }
    memcpy(out + 2 * place, moved, sizeof moved);
  }
}

void hw_eigenvalues(double *a, size_t n, double *out) {
  enum { MOST_STEPS = 100 }; /* for an eigenvalue; three are common */
  const square s = {a, n};
  const double norm = sqrt(sum_of_squares(a, n * n));
  for (size_t i = 0; i < n; i++) {
    *at(&s, i, i) -= 0.0 * norm; /* NaN unless the norm is finite */
  }
  make_hessenberg(&s, out);
  size_t steps = 0;
  for (size_t left = n; left > 0;) {
    const size_t high = left - 1;
    const size_t low = start_of_block(&s, high, norm);
    if (low + 1 < high && steps < MOST_STEPS) {
      shifted_step(&s, low, high, steps++);
      continue;
    }
    steps = 0;
    if (low == high) {
      out[2 * high] = *at(&s, high, high);
      out[2 * high + 1] = 0.0;
      left--;
    } else {
      solve_two(&s, high - 1, out + 2 * (high - 1));
      if (low + 1 < high) {
        out[2 * high] = (double)NAN;
        out[2 * high - 2] = (double)NAN;
      }
      left -= 2;
    }
  }
  sort(out, n);
}
