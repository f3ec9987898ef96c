/* What wrote a token's residual stream in a decoder, part by part. */
#ifndef HW_MODELS_RESIDUAL_H
#define HW_MODELS_RESIDUAL_H

#include "models/decoder.h"

typedef struct hw_residual {
  hw_watch watch; /* of the run of the blocks */
  size_t layers;  /* that have written */
  size_t count;   /* of rows */
  /* [count, d_model]: heads [layers, num_heads], feed-forwards with their biases [layers], the embedding with its position, and
   * biases: those of output projections and of norms after them. */
  float *rows;
} hw_residual;

/* x NULL: nothing. */
static inline void hw_residual_add(float *y, const float *x, size_t count) {
  for (size_t i = 0; x != NULL && i < count; i++) {
    y[i] += x[i];
  }
}

/* Room in the run's arena. */
hw_residual hw_residual_take(const hw_run *run, const hw_decoder *decoder, size_t layers, size_t position);

/* Fills the rows once the blocks have run with its watch. Scales of norms after a part are those of the run. Biases have
 * what the rounding of int8 adds. */
void hw_residual_split(hw_run *run, const hw_decoder *decoder, const uint32_t *ids, const hw_residual *residual);

/* Writes what a unit of each of a layer's heads' outputs adds to the stream, units [num_heads · head_dim, d_model], once the blocks
 * have run: the columns of the output projection, at the scale of a norm after it. */
void hw_residual_units(hw_run *run, const hw_decoder *decoder, const hw_residual *residual, size_t layer, float *units);

#endif
