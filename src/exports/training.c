/* Gradients and optimizers. */
#include "exports/exports.h"

HW_EXPORT(hw_status, module_forward_recorded,
          (hw_module * module, const hw_input *input, float *y, const hw_forward_options *options)) {
  return hw_module_forward_recorded(hw_export_context(), module, input, y, options,
                                    (hw_graph **)hw_export_result_slot());
}

HW_EXPORT(hw_status, module_backward,
          (hw_module * module, const hw_input *input, const hw_graph *graph, const float *dy, float *dx,
           const hw_option_gradients *asked)) {
  return hw_module_backward(hw_export_context(), module, input, graph, dy, dx, asked);
}

HW_EXPORT(void, graph_destroy, (hw_graph * graph)) { hw_graph_destroy(graph); }

HW_EXPORT(size_t, graph_bytes, (const hw_graph *graph)) { return hw_graph_bytes(graph); }

HW_EXPORT(bool, graph_is_current, (const hw_graph *graph, hw_module *module)) {
  return hw_graph_is_current(graph, module);
}

HW_EXPORT(bool, module_has_gradient, (hw_module * module, size_t index)) {
  return hw_module_has_gradient(module, index);
}

HW_EXPORT(hw_status, module_load_gradient,
          (hw_module * module, size_t index, size_t first_row, size_t rows, const float *source)) {
  return hw_module_load_gradient(module, index, first_row, rows, source);
}

HW_EXPORT(hw_status, module_store_gradient,
          (hw_module * module, size_t index, size_t first_row, size_t rows, float *target)) {
  return hw_module_store_gradient(module, index, first_row, rows, target);
}

HW_EXPORT(hw_status, module_clear_gradient, (hw_module * module, size_t index)) {
  return hw_module_clear_gradient(module, index);
}

HW_EXPORT(hw_status, module_sum_gradient_squares,
          (hw_module * module, const uint32_t *parameters, size_t count, double *sum)) {
  return hw_module_sum_gradient_squares(hw_export_context(), module, parameters, count, sum);
}

HW_EXPORT(hw_status, module_scale_gradients,
          (hw_module * module, const uint32_t *parameters, size_t count, float factor)) {
  return hw_module_scale_gradients(hw_export_context(), module, parameters, count, factor);
}

HW_EXPORT(hw_status, optimizer_create, (hw_module * module)) {
  return hw_optimizer_create(module, (hw_optimizer **)hw_export_result_slot());
}

HW_EXPORT(void, optimizer_destroy, (hw_optimizer * optimizer)) { hw_optimizer_destroy(optimizer); }

HW_EXPORT(hw_status, adamw_step,
          (hw_optimizer * optimizer, const hw_adamw_config *config, const uint32_t *parameters, size_t count)) {
  return hw_adamw_step(hw_export_context(), optimizer, config, parameters, count);
}

HW_EXPORT(hw_status, sgd_step,
          (hw_optimizer * optimizer, const hw_sgd_config *config, const uint32_t *parameters, size_t count)) {
  return hw_sgd_step(hw_export_context(), optimizer, config, parameters, count);
}

HW_EXPORT(size_t, optimizer_steps, (const hw_optimizer *optimizer, size_t index)) {
  return hw_optimizer_steps(optimizer, index);
}

HW_EXPORT(hw_status, optimizer_set_steps, (hw_optimizer * optimizer, size_t index, size_t steps)) {
  return hw_optimizer_set_steps(optimizer, index, steps);
}

HW_EXPORT(bool, optimizer_has_moment, (const hw_optimizer *optimizer, size_t index, uint32_t moment)) {
  return hw_optimizer_has_moment(optimizer, index, (hw_moment)moment);
}

HW_EXPORT(hw_status, optimizer_load_moment,
          (hw_optimizer * optimizer, size_t index, uint32_t moment, size_t first_row, size_t rows,
           const float *source)) {
  return hw_optimizer_load_moment(optimizer, index, (hw_moment)moment, first_row, rows, source);
}

HW_EXPORT(hw_status, optimizer_store_moment,
          (const hw_optimizer *optimizer, size_t index, uint32_t moment, size_t first_row, size_t rows,
           float *target)) {
  return hw_optimizer_store_moment(optimizer, index, (hw_moment)moment, first_row, rows, target);
}

HW_EXPORT(hw_status, adamw_step_array,
          (const hw_adamw_config *config, size_t steps, size_t count, float *value, const float *gradient,
           float *exp_avg, float *exp_avg_sq)) {
  return hw_adamw_step_array(hw_export_context(), config, steps, count, value, gradient, exp_avg, exp_avg_sq);
}

HW_EXPORT(hw_status, sgd_step_array,
          (const hw_sgd_config *config, size_t count, float *value, const float *gradient, float *momentum_buffer)) {
  return hw_sgd_step_array(hw_export_context(), config, count, value, gradient, momentum_buffer);
}

/* The result slot receives a graph, if one is wanted. */
HW_EXPORT(hw_status, model_loss, (hw_module * model, const hw_loss_input *input, float *loss, bool records)) {
  return hw_model_loss(hw_export_context(), model, input, loss, records ? (hw_graph **)hw_export_result_slot() : NULL);
}

HW_EXPORT(hw_status, model_loss_backward, (hw_module * model, const hw_graph *graph, float scale)) {
  return hw_model_loss_backward(hw_export_context(), model, graph, scale);
}
