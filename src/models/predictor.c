#include "models/predictor.h"

#include "kernels/elementwise.h"
#include "modules/layer_norm.h"
#include "ops/pointwise.h"

void hw_predict_scale(const hw_run *run, const float *x, float factor, float *y, size_t count) {
  if (!hw_run_measures(run) && (factor != 1.0F || x != y)) {
    hw_row_scale(x, y, count, factor);
  }
}

void hw_predict(const hw_run *run, const hw_predictor *predictor, const hw_rows *x, float *logits) {
  const hw_matrix *head = hw_model_head(predictor->parts);
  const float softcap = predictor->softcap;
  hw_matrix_multiply(run, head, x, predictor->bias, logits);
  if (softcap != 0.0F) {
    const size_t count = hw_size_multiply(x->count, head->rows);
    hw_predict_scale(run, logits, 1.0F / softcap, logits, count);
    hw_activation_forward(run, HW_ACTIVATION_TANH, logits, logits, count);
    hw_predict_scale(run, logits, softcap, logits, count);
  }
}

void hw_predict_uncap(const hw_run *run, const hw_predictor *predictor, const float *logits, const float *d_logits,
                      float *d, size_t count) {
  const float softcap = predictor->softcap;
  for (size_t i = 0; softcap != 0.0F && !hw_run_measures(run) && i < count; i++) {
    const float tangent = logits[i] / softcap;
    d[i] = d_logits[i] * (1.0F - tangent * tangent);
  }
}

void hw_predict_gradients(const hw_run *run, const hw_predictor *predictor, const hw_rows *x, const hw_rows *d_logits) {
  hw_matrix gradient = hw_model_head_gradient(predictor->parts);
  hw_matrix_add_gradient(run, &gradient, x, d_logits, predictor->d_bias);
}

/* d_logits of capped logits as it is before the cap, in room of its own; without a cap it is as it was. */
static const float *uncapped(hw_run *run, const hw_predictor *p, const hw_rows *x, const float *d_logits) {
  if (p->softcap == 0.0F) {
    return d_logits;
  }
  const size_t vocab_size = hw_model_head(p->parts)->rows;
  float *logits = hw_run_take_floats(run, x->count, vocab_size);
  float *d = hw_run_take_floats(run, x->count, vocab_size);
  hw_predict(run, p, x, logits);
  hw_predict_uncap(run, p, logits, d_logits, d, x->count * vocab_size);
  return d;
}

void hw_predict_backward(hw_run *run, const hw_predictor *predictor, size_t rows, const float *d_logits, float *d) {
  const hw_predictor *p = predictor;
  const size_t mark = run->arena->used;
  const hw_matrix *head = hw_model_head(p->parts);
  const hw_normalized normalized = hw_layer_norm_pop(run, p->norm, rows);
  float *restored = hw_run_take_floats(run, rows, head->columns);
  const hw_rows x = {restored, head->columns, rows};
  hw_layer_norm_restore(run, p->norm, &normalized, rows, restored);
  const hw_rows dy = {uncapped(run, p, &x, d_logits), head->rows, rows};
  hw_predict_gradients(run, p, &x, &dy);
  hw_matrix_multiply_transposed(run, head, &dy, false, d);
  hw_layer_norm_pull(run, p->norm, &normalized, d, rows, false, d);
  run->arena->used = mark;
}
