/* LayerNorm, for layers that own the arena. */
#ifndef HW_LAYERS_LAYER_NORM_H
#define HW_LAYERS_LAYER_NORM_H

#include "headwise.h"

/* y may be x. */
void hw_layer_norm_run(const hw_context *context, const hw_layer_norm *module, const float *x, size_t rows, float *y);

#endif
