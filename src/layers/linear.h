/* Linear, for layers that write its result by strides. */
#ifndef HW_LAYERS_LINEAR_H
#define HW_LAYERS_LINEAR_H

#include "headwise.h"

/* Draws rows [first_row, first_row + rows) as torch.nn.Linear(in, rows) would: weight, then bias. */
void hw_linear_draw(hw_context *context, hw_linear *linear, size_t first_row, size_t rows);

/* Bytes that hw_linear_run takes from the arena, and gives back; SIZE_MAX if they do not fit. */
size_t hw_linear_scratch(const hw_linear *linear, size_t rows);

/* y = x·Wᵀ + b with rows of x and y at their strides. */
void hw_linear_run(hw_context *context, const hw_linear *linear, const float *x, size_t x_stride, size_t rows, float *y,
                   size_t y_stride);

#endif
