/* An optimizer's update of many floats, shared among threads. */
#ifndef HW_OPS_UPDATE_H
#define HW_OPS_UPDATE_H

#include "kernels/update.h"
#include "ops/matrix.h"

/* Floats [first, first + count) of the arrays. Returns the sum of what the kernel returns, the same for every number of threads; 0
 * while the run is measured. */
double hw_update_forward(const hw_run *run, const hw_update *update, const hw_update_arrays *arrays, size_t first,
                         size_t count);

/* The same of rows [row, row + rows) of matrices that are laid out like this one; nothing else of them is touched. */
double hw_update_rows(const hw_run *run, const hw_update *update, const hw_update_arrays *arrays,
                      const hw_matrix *matrix, size_t row, size_t rows);

#endif
