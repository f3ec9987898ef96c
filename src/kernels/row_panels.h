/* One row times packed panels, at the speed of memory: what decoding a token is made of. */
#ifndef HW_KERNELS_ROW_PANELS_H
#define HW_KERNELS_ROW_PANELS_H

#include <stddef.h>

/* y += a · panels: a [k], `count` panels of [k][8] panel_stride floats apart, y [count · 8]. */
void hw_row_times_panels(const float *a, size_t k, const float *panels, size_t panel_stride, size_t count, float *y);

#endif
