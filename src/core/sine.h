/* Sine and cosine in double precision. */
#ifndef HW_CORE_SINE_H
#define HW_CORE_SINE_H

/* fdlibm's kernels, for 0 <= angle < HW_LARGEST_ANGLE: the C library's sin and cos bring 6 KB for larger angles. Up to 2^20 the
 * error is of the last digit; beyond, the angle loses digits. */
void hw_sine_cosine(double angle, double *sine, double *cosine);

#define HW_LARGEST_ANGLE 4294967296.0

#endif
