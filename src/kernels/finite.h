/* Whether numbers are finite. */
#ifndef HW_KERNELS_FINITE_H
#define HW_KERNELS_FINITE_H

#include <stdbool.h>
#include <stddef.h>

/* count is a multiple of 8. */
bool hw_all_finite(const float *x, size_t count);

#endif
