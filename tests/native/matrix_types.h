/* What matrices of each type keep of a weight, from the types' definitions. */
#ifndef HW_TESTS_MATRIX_TYPES_H
#define HW_TESTS_MATRIX_TYPES_H

#include <math.h>

#include "headwise.h"

static const char *const type_names[] = {"float32", "bfloat16", "float16", "int8"};

/* Nearest with so many bits, ties to even; `least` is the exponent below which there are no more bits. */
static inline double rounded(double x, int bits, int least) {
  if (x == 0.0) {
    return x;
  }
  int exponent = 0;
  (void)frexp(x, &exponent);
  const int unit = (exponent > least ? exponent : least) - bits;
  return ldexp(nearbyint(ldexp(x, -unit)), unit);
}

static inline double largest_of(const float *row, size_t count) {
  double largest = 0.0;
  for (size_t i = 0; i < count; i++) {
    largest = fmax(largest, fabs((double)row[i]));
  }
  return largest;
}

/* A weight as its matrix keeps it, in a row with that largest one. */
static inline double kept(hw_matrix_type type, double w, double largest) {
  switch (type) {
    case HW_MATRIX_BFLOAT16:
      return rounded(w, 8, -125);
    case HW_MATRIX_FLOAT16:
      return rounded(w, 11, -23);
    case HW_MATRIX_INT8:
      /* Rounded as a float, which decides where a weight lies halfway. */
      return largest == 0.0 ? 0.0 : (double)nearbyintf((float)w * (127.0F / (float)largest)) * largest / 127.0;
    default:
      return w;
  }
}

#endif
