/* Functions of tensors that training needs, and their gradients. */
#include "exports/exports.h"

HW_EXPORT(hw_status, activate, (uint32_t activation, const float *x, float *y, size_t count)) {
  return hw_activate(hw_export_context(), (hw_activation)activation, x, y, count);
}

HW_EXPORT(hw_status, activation_backward,
          (uint32_t activation, const float *x, const float *dy, float *dx, size_t count)) {
  return hw_activation_backward(hw_export_context(), (hw_activation)activation, x, dy, dx, count);
}

HW_EXPORT(hw_status, softmax_backward, (const float *y, const float *dy, float *dx, size_t rows, size_t columns)) {
  return hw_softmax_backward(y, dy, dx, rows, columns);
}

HW_EXPORT(hw_status, layer_norm_backward,
          (const float *x, size_t rows, size_t columns, const float *weight, double eps, const float *dy, float *dx,
           float *d_weight, float *d_bias)) {
  return hw_layer_normalization_backward(hw_export_context(), x, rows, columns, weight, eps, dy, dx, d_weight, d_bias);
}

HW_EXPORT(hw_status, rms_norm,
          (const float *x, size_t rows, size_t columns, const float *weight, double eps, float *y)) {
  return hw_rms_normalization(hw_export_context(), x, rows, columns, weight, eps, y);
}

HW_EXPORT(hw_status, rms_norm_backward,
          (const float *x, size_t rows, size_t columns, const float *weight, double eps, const float *dy, float *dx,
           float *d_weight)) {
  return hw_rms_normalization_backward(hw_export_context(), x, rows, columns, weight, eps, dy, dx, d_weight);
}

HW_EXPORT(hw_status, cross_entropy, (const hw_cross_entropy_call *call)) {
  return hw_cross_entropy(hw_export_context(), call);
}

HW_EXPORT(hw_status, scaled_dot_product_attention_backward,
          (const hw_attention_arguments *a, const hw_attention_gradient_arguments *g)) {
  if (a == NULL || g == NULL) {
    return HW_ERROR_VALUE;
  }
  const hw_attention attention = hw_export_attention(a);
  const hw_attention_gradient gradient = {
      .output = g->output,
      .query = g->query,
      .key = g->key,
      .value = g->value,
      .output_strides = attention.output_strides,
      .query_strides = attention.query_strides,
      .key_strides = attention.key_strides,
      .value_strides = attention.value_strides,
      .mask = g->mask,
      .weights = g->weights,
  };
  return hw_scaled_dot_product_attention_backward(hw_export_context(), &attention, &gradient);
}
