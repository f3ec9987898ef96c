/* How models make logits: of rows by a norm, a matrix, perhaps a bias and a cap. Forwards, losses and their backwards share it. */
#ifndef HW_MODELS_PREDICTOR_H
#define HW_MODELS_PREDICTOR_H

#include "models/parts.h"

typedef struct hw_predictor {
  const hw_model_parts *parts; /* whose head is the matrix */
  hw_module *norm;
  const float *bias; /* of logits, in whole panels; NULL: none */
  float *d_bias;     /* its gradient, once there are gradients */
  float softcap;     /* 0: none */
  /* Of a loss, which runs the whole model: x [batch, tokens, d_model], the norm's input, and backward from its gradient d, which
   * is overwritten. */
  void (*run)(hw_run *run, const hw_module *module, const hw_input *input, float *x);
  void (*run_backward)(hw_run *run, hw_module *module, const hw_input *input, float *d);
  bool needs_targets; /* each token's target is not the next one */
} hw_predictor;

/* logits [x->count, vocab_size] of normed rows. */
void hw_predict(const hw_run *run, const hw_predictor *predictor, const hw_rows *x, float *logits);

/* d, the gradient of what the cap was given, from that of so many logits; d may be d_logits, as it is without a cap. */
void hw_predict_uncap(const hw_run *run, const hw_predictor *predictor, const float *logits, const float *d_logits,
                      float *d, size_t count);

/* Adds the gradients of matrix and bias, given that of uncapped logits. */
void hw_predict_gradients(const hw_run *run, const hw_predictor *predictor, const hw_rows *x, const hw_rows *d_logits);

/* Backward from d_logits [rows, vocab_size] to d [rows, d_model], the gradient of rows before the norm, which a forward has
 * pushed. */
void hw_predict_backward(hw_run *run, const hw_predictor *predictor, size_t rows, const float *d_logits, float *d);

/* y = x·factor; y may be x. */
void hw_predict_scale(const hw_run *run, const float *x, float factor, float *y, size_t count);

#endif
