#include "core/sine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void hw_sine_cosine(double angle, double *sine, double *cosine) {
  static const double sine_coefficients[] = {1.58969099521155010221e-10, -2.50507602534068634195e-08,
                                             2.75573137070700676789e-06, -1.98412698298579493134e-04,
                                             8.33333333332248946124e-03, -1.66666666666666324348e-01};
  static const double cosine_coefficients[] = {-1.13596475577881948265e-11, 2.08757232129817482790e-09,
                                               -2.75573143513906633035e-07, 2.48015872894767294178e-05,
                                               -1.38888888888741095749e-03, 4.16666666666666019037e-02};
  const uint32_t quarter = (uint32_t)(angle * 6.36619772367581382433e-01 + 0.5);
  /* Half of pi in two parts; quarter times the first is exact. */
  const double x = (angle - quarter * 1.57079632673412561417) - quarter * 6.07710050650619224932e-11;
  const double z = x * x;
  double s = sine_coefficients[0];
  double c = cosine_coefficients[0];
  for (size_t i = 1; i < 6; i++) {
    s = s * z + sine_coefficients[i];
    c = c * z + cosine_coefficients[i];
  }
  s = x + x * z * s;
  c = 1.0 - (0.5 * z - z * z * c);
  const bool swapped = (quarter & 1) != 0;
  *sine = ((quarter & 2) != 0 ? -1.0 : 1.0) * (swapped ? c : s);
  *cosine = (((quarter + 1) & 2) != 0 ? -1.0 : 1.0) * (swapped ? s : c);
}
