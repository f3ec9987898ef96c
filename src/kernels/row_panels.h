/* One row times packed panels, at the speed of memory: what decoding a token is made of. */
#ifndef HW_KERNELS_ROW_PANELS_H
#define HW_KERNELS_ROW_PANELS_H

#include <stddef.h>

/* y = start + a · panels, each sum in the order of k, as in a tile. */
typedef struct hw_row_product {
  const float *a; /* [k] */
  size_t k;
  const float *panels; /* `count` panels of [k][8], panel_stride floats apart */
  size_t panel_stride;
  size_t count;
  const float *start; /* eight sums of each panel, start_stride floats apart; may be y */
  size_t start_stride;
  float *y; /* [count · 8] */
} hw_row_product;

/* Writes to y where the sums of `count` panels start. All at once: between the panels' streams of memory each start would be waited
 * for, a tenth of the time. */
void hw_row_start(const float *start, size_t start_stride, size_t count, float *y);

void hw_row_times_panels(const hw_row_product *product);

#endif
