/* A row of layer normalisation against long double. */
#ifndef HW_TESTS_LAYER_NORM_CASE_H
#define HW_TESTS_LAYER_NORM_CASE_H

#include "check.h"

/* x normalised, times weight, plus bias: each of the three results is rounded once. */
static inline void check_layer_norm_row(const float *x, const float *weight, const float *bias, double eps,
                                        const float *y, size_t count) {
  long double mean = 0.0L;
  long double variance = 0.0L;
  long double largest = 0.0L;
  for (size_t i = 0; i < count; i++) {
    mean += (long double)x[i] / (long double)count;
    largest = fmaxl(largest, fabsl((long double)x[i]));
  }
  for (size_t i = 0; i < count; i++) {
    const long double difference = (long double)x[i] - mean;
    variance += difference * difference / (long double)count;
  }
  const long double deviation = sqrtl(variance + (long double)eps);
  /* The mean's own rounding, which is all there is of a difference whose exact value is 0. */
  const double of_mean = (double)((long double)count * largest / deviation) * 0x1p-64;
  for (size_t i = 0; i < count; i++) {
    const double scaled = (double)(((long double)x[i] - mean) / deviation) * (weight == NULL ? 1.0 : (double)weight[i]);
    const double exact = scaled + (bias == NULL ? 0.0 : (double)bias[i]);
    /* Differences of sums of doubles: with an offset of 2^k, k more bits are lost, of 53. */
    const double offset = (double)(fabsl(mean) / deviation) * 0x1p-48;
    const double tolerance = (4.0 * fabs(scaled) + fabs(exact)) * 0x1p-24 + offset + of_mean + 0x1p-149;
    CHECK(fabs((double)y[i] - exact) <= tolerance, "count=%zu, %zu: %.9g, expected %.9g", count, i, (double)y[i],
          exact);
  }
}

#endif
