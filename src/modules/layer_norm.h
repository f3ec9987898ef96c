/* A norm inside another module: its backward works from what it made of its input, which nobody keeps. */
#ifndef HW_MODULES_LAYER_NORM_H
#define HW_MODULES_LAYER_NORM_H

#include "modules/module.h"

/* A layer norm's config, and what norms of models have besides. All zeros of it: a layer norm. */
typedef struct hw_norm_config {
  hw_layer_norm_config base;
  bool is_rms;        /* and has no bias */
  double gain_offset; /* added to the weights, which start as 1 less it */
} hw_norm_config;

extern const hw_module_type hw_norm_type;

/* Rows without weight and bias, and what each was multiplied by. */
typedef struct hw_normalized {
  float *rows;    /* [rows, dim] */
  float *factors; /* [rows] */
} hw_normalized;

/* hw_module_run of a norm; if the run records, what the backward needs goes onto its tape. y may be x. */
void hw_layer_norm_push(hw_run *run, const hw_module *module, const float *x, size_t rows, float *y);

hw_normalized hw_layer_norm_pop(const hw_run *run, const hw_module *module, size_t rows);

/* The output again. */
void hw_layer_norm_restore(const hw_run *run, const hw_module *module, const hw_normalized *normalized, size_t rows,
                           float *y);

/* Adds to the gradients of weight and bias. dx, or dx plus it; it may be dy if it does not add. */
void hw_layer_norm_pull(const hw_run *run, hw_module *module, const hw_normalized *normalized, const float *dy,
                        size_t rows, bool adds, float *dx);

/* rows [count, dim] through the norm as if their scale was that of x [dim], in place. The bias, which is not added: NULL without
 * one. */
void hw_layer_norm_linear(const hw_run *run, const hw_module *module, const float *x, float *rows, size_t count);
const float *hw_layer_norm_bias(const hw_module *module);

/* What the norm multiplies a column by, besides its scale. */
float hw_layer_norm_gain(const hw_module *module, size_t column);

#endif
