/* Eigenvalues of small real matrices, in double precision. */
#ifndef HW_KERNELS_EIGENVALUES_H
#define HW_KERNELS_EIGENVALUES_H

#include <stddef.h>

/* The eigenvalues of a [n, n], which is overwritten, as pairs of real and imaginary part: out [n, 2]. The largest by
 * absolute value come first, of a conjugate pair the one with the positive imaginary part. Householder reflections make a
 * Hessenberg matrix of it, Francis' implicitly shifted QR steps make it triangular but for blocks of two (Golub & Van Loan,
 * "Matrix Computations", algorithms 7.4.2 and 7.5.2). It always ends: the real parts of those that
 * it does not find are NaN, and all are if the squares of a add up to no finite number. */
void hw_eigenvalues(double *a, size_t n, double *out);

#endif
