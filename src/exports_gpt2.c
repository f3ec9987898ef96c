/* What JavaScript may call: GPT-2. As src/exports.c; the parts of its blocks are read as a stack's. */
#include "exports.h"

HW_EXPORT(gpt2_create)
hw_status hw_export_gpt2_create(size_t vocab_size, size_t context_length, size_t d_model, size_t num_heads,
                                size_t num_layers, size_t d_ff, double eps, uint32_t approximate);
hw_status hw_export_gpt2_create(size_t vocab_size, size_t context_length, size_t d_model, size_t num_heads,
                                size_t num_layers, size_t d_ff, double eps, uint32_t approximate) {
  const hw_gpt2_config config = {vocab_size, context_length, d_model, num_heads,
                                 num_layers, d_ff,           eps,     (hw_gelu_approximation)approximate};
  return hw_gpt2_create(&config, (hw_gpt2 **)hw_export_result_slot());
}

HW_EXPORT(gpt2_destroy) void hw_export_gpt2_destroy(hw_gpt2 *module);
void hw_export_gpt2_destroy(hw_gpt2 *module) { hw_gpt2_destroy(module); }

HW_EXPORT(gpt2_wte) hw_linear *hw_export_gpt2_wte(hw_gpt2 *module);
hw_linear *hw_export_gpt2_wte(hw_gpt2 *module) { return hw_gpt2_wte(module); }

HW_EXPORT(gpt2_wpe) float *hw_export_gpt2_wpe(hw_gpt2 *module);
float *hw_export_gpt2_wpe(hw_gpt2 *module) { return hw_embedding_weight(hw_gpt2_wpe(module)); }

HW_EXPORT(gpt2_h) hw_transformer_stack *hw_export_gpt2_h(hw_gpt2 *module);
hw_transformer_stack *hw_export_gpt2_h(hw_gpt2 *module) { return hw_gpt2_h(module); }

HW_EXPORT(gpt2_ln_f) hw_layer_norm *hw_export_gpt2_ln_f(hw_gpt2 *module);
hw_layer_norm *hw_export_gpt2_ln_f(hw_gpt2 *module) { return hw_gpt2_ln_f(module); }

HW_EXPORT(gpt2_forward)
hw_status hw_export_gpt2_forward(hw_gpt2 *module, const uint32_t *ids, size_t batch, size_t tokens, size_t logits_start,
                                 size_t logits_end, float *logits, const hw_forward_options *options);
hw_status hw_export_gpt2_forward(hw_gpt2 *module, const uint32_t *ids, size_t batch, size_t tokens, size_t logits_start,
                                 size_t logits_end, float *logits, const hw_forward_options *options) {
  const hw_gpt2_input input = {ids, batch, tokens, logits_start, logits_end};
  return hw_gpt2_forward(hw_export_context(), module, &input, logits, options);
}

HW_EXPORT(gpt2_create_cache) hw_status hw_export_gpt2_create_cache(const hw_gpt2 *module, size_t batch);
hw_status hw_export_gpt2_create_cache(const hw_gpt2 *module, size_t batch) {
  return hw_gpt2_create_cache(module, batch, (hw_key_value_cache **)hw_export_result_slot());
}
