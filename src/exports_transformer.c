/* What JavaScript may call: the parts of Transformer blocks besides attention. As src/exports.c. */
#include "exports.h"

/* ---- Functions ---- */

HW_EXPORT(gelu) hw_status hw_export_gelu(const float *x, float *y, size_t count, uint32_t approximate);
hw_status hw_export_gelu(const float *x, float *y, size_t count, uint32_t approximate) {
  return hw_gelu(hw_export_context(), x, y, count, (hw_gelu_approximation)approximate);
}

HW_EXPORT(layer_norm)
hw_status hw_export_layer_norm(const float *x, size_t rows, size_t columns, const float *weight, const float *bias,
                               double eps, float *y);
hw_status hw_export_layer_norm(const float *x, size_t rows, size_t columns, const float *weight, const float *bias,
                               double eps, float *y) {
  return hw_layer_normalization(hw_export_context(), x, rows, columns, weight, bias, eps, y);
}

/* ---- LayerNorm ---- */

HW_EXPORT(layer_norm_create) hw_status hw_export_layer_norm_create(size_t dim, double eps);
hw_status hw_export_layer_norm_create(size_t dim, double eps) {
  return hw_layer_norm_create(dim, eps, (hw_layer_norm **)hw_export_result_slot());
}

HW_EXPORT(layer_norm_destroy) void hw_export_layer_norm_destroy(hw_layer_norm *module);
void hw_export_layer_norm_destroy(hw_layer_norm *module) { hw_layer_norm_destroy(module); }

HW_EXPORT(layer_norm_weight) float *hw_export_layer_norm_weight(hw_layer_norm *module);
float *hw_export_layer_norm_weight(hw_layer_norm *module) { return hw_layer_norm_weight(module); }

HW_EXPORT(layer_norm_bias) float *hw_export_layer_norm_bias(hw_layer_norm *module);
float *hw_export_layer_norm_bias(hw_layer_norm *module) { return hw_layer_norm_bias(module); }

HW_EXPORT(layer_norm_forward)
hw_status hw_export_layer_norm_forward(const hw_layer_norm *module, const float *x, size_t rows, float *y);
hw_status hw_export_layer_norm_forward(const hw_layer_norm *module, const float *x, size_t rows, float *y) {
  return hw_layer_norm_forward(hw_export_context(), module, x, rows, y);
}

/* ---- Embedding ---- */

HW_EXPORT(embedding_create) hw_status hw_export_embedding_create(size_t num_embeddings, size_t embedding_dim);
hw_status hw_export_embedding_create(size_t num_embeddings, size_t embedding_dim) {
  return hw_embedding_create(hw_export_context(), num_embeddings, embedding_dim,
                             (hw_embedding **)hw_export_result_slot());
}

HW_EXPORT(embedding_destroy) void hw_export_embedding_destroy(hw_embedding *module);
void hw_export_embedding_destroy(hw_embedding *module) { hw_embedding_destroy(module); }

HW_EXPORT(embedding_weight) float *hw_export_embedding_weight(hw_embedding *module);
float *hw_export_embedding_weight(hw_embedding *module) { return hw_embedding_weight(module); }

HW_EXPORT(embedding_forward)
hw_status hw_export_embedding_forward(const hw_embedding *module, const uint32_t *ids, size_t count, float *y);
hw_status hw_export_embedding_forward(const hw_embedding *module, const uint32_t *ids, size_t count, float *y) {
  return hw_embedding_forward(module, ids, count, y);
}

/* ---- FeedForward ---- */

HW_EXPORT(feed_forward_create)
hw_status hw_export_feed_forward_create(size_t d_model, size_t d_ff, double dropout);
hw_status hw_export_feed_forward_create(size_t d_model, size_t d_ff, double dropout) {
  const hw_feed_forward_config config = {.d_model = d_model, .d_ff = d_ff, .dropout = dropout};
  return hw_feed_forward_create(hw_export_context(), &config, (hw_feed_forward **)hw_export_result_slot());
}

HW_EXPORT(feed_forward_destroy) void hw_export_feed_forward_destroy(hw_feed_forward *module);
void hw_export_feed_forward_destroy(hw_feed_forward *module) { hw_feed_forward_destroy(module); }

/* fc1, fc2 */
HW_EXPORT(feed_forward_linear) hw_linear *hw_export_feed_forward_linear(hw_feed_forward *module, size_t index);
hw_linear *hw_export_feed_forward_linear(hw_feed_forward *module, size_t index) {
  return index == 0 ? hw_feed_forward_fc1(module) : hw_feed_forward_fc2(module);
}

HW_EXPORT(feed_forward_train) void hw_export_feed_forward_train(hw_feed_forward *module, bool training);
void hw_export_feed_forward_train(hw_feed_forward *module, bool training) { hw_feed_forward_train(module, training); }

HW_EXPORT(feed_forward_forward)
hw_status hw_export_feed_forward_forward(hw_feed_forward *module, const float *x, size_t rows, float *y);
hw_status hw_export_feed_forward_forward(hw_feed_forward *module, const float *x, size_t rows, float *y) {
  return hw_feed_forward_forward(hw_export_context(), module, x, rows, y);
}

/* ---- Blocks: JavaScript makes a single one as a stack of one layer ---- */

HW_EXPORT(stack_create)
hw_status hw_export_stack_create(size_t num_layers, size_t d_model, size_t num_heads, size_t d_ff, double dropout,
                                 bool norm_first, bool is_causal);
hw_status hw_export_stack_create(size_t num_layers, size_t d_model, size_t num_heads, size_t d_ff, double dropout,
                                 bool norm_first, bool is_causal) {
  const hw_transformer_block_config config = {
      .d_model = d_model,
      .num_heads = num_heads,
      .d_ff = d_ff,
      .dropout = dropout,
      .norm_first = norm_first,
      .is_causal = is_causal,
  };
  return hw_transformer_stack_create(hw_export_context(), &config, num_layers,
                                     (hw_transformer_stack **)hw_export_result_slot());
}

HW_EXPORT(stack_destroy) void hw_export_stack_destroy(hw_transformer_stack *module);
void hw_export_stack_destroy(hw_transformer_stack *module) { hw_transformer_stack_destroy(module); }

/* A layer's ln1, ln2 */
HW_EXPORT(stack_norm) hw_layer_norm *hw_export_stack_norm(hw_transformer_stack *module, size_t layer, size_t index);
hw_layer_norm *hw_export_stack_norm(hw_transformer_stack *module, size_t layer, size_t index) {
  hw_transformer_block *block = hw_transformer_stack_block(module, layer);
  return index == 0 ? hw_transformer_block_ln1(block) : hw_transformer_block_ln2(block);
}

/* A layer's qkv_proj, out_proj, fc1, fc2 */
HW_EXPORT(stack_linear) hw_linear *hw_export_stack_linear(hw_transformer_stack *module, size_t layer, size_t index);
hw_linear *hw_export_stack_linear(hw_transformer_stack *module, size_t layer, size_t index) {
  hw_transformer_block *block = hw_transformer_stack_block(module, layer);
  hw_multi_head_attention *attn = hw_transformer_block_attn(block);
  if (index >= 2) {
    return hw_export_feed_forward_linear(hw_transformer_block_ffn(block), index - 2);
  }
  return index == 0 ? hw_multi_head_attention_qkv_proj(attn) : hw_multi_head_attention_out_proj(attn);
}

HW_EXPORT(stack_train) void hw_export_stack_train(hw_transformer_stack *module, bool training);
void hw_export_stack_train(hw_transformer_stack *module, bool training) {
  hw_transformer_stack_train(module, training);
}

HW_EXPORT(stack_forward)
hw_status hw_export_stack_forward(hw_transformer_stack *module, const float *x, size_t batch, size_t tokens, float *y,
                                  const hw_forward_options *options);
hw_status hw_export_stack_forward(hw_transformer_stack *module, const float *x, size_t batch, size_t tokens, float *y,
                                  const hw_forward_options *options) {
  return hw_transformer_stack_forward(hw_export_context(), module, x, batch, tokens, y, options);
}
