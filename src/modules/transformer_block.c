#include "modules/block.h"
#include "modules/modules.h"

size_t hw_transformer_block_weight_bytes(const hw_transformer_block_config *config) {
  const size_t attn = hw_size_multiply(4, config->d_model);
  const size_t ffn = config->attention_only ? 0 : hw_size_multiply(2, config->d_ff);
  return hw_size_multiply(hw_size_multiply(hw_size_add(attn, ffn), config->d_model), sizeof(float));
}

static hw_status create(hw_module *module) {
  hw_block *m = (hw_block *)module;
  const hw_transformer_block_config *config = &m->config.transformer;
  const hw_multi_head_attention_config attn = {
      .d_in = config->d_model,
      .d_out = config->d_model,
      .context_length = SIZE_MAX,
      .num_heads = config->num_heads,
      .dropout = config->dropout,
      .qkv_bias = config->attention_bias,
      .out_proj = true,
      .out_bias = config->attention_bias,
      .is_causal = config->is_causal,
      .packed_qkv = true,
  };
  const hw_feed_forward_config ffn = {
      .d_model = config->d_model,
      .d_ff = config->d_ff,
      .dropout = config->dropout,
      .approximate = config->approximate,
  };
  const hw_layer_norm_config norm = {config->d_model, config->eps == 0.0 ? HW_LAYER_NORM_EPS : config->eps};
  m->d_model = config->d_model;
  m->dropout = config->dropout;
  m->norm_place = config->norm_first ? HW_NORM_PRE : HW_NORM_POST;
  m->base.layers = 1;
  m->base.heads = config->num_heads;
  HW_TRY(hw_multi_head_attention_create(NULL, &attn, &m->attn));
  HW_TRY(hw_layer_norm_create(NULL, &norm, &m->ln1));
  if (config->attention_only) {
    return HW_OK;
  }
  HW_TRY(hw_feed_forward_create(NULL, &ffn, &m->ffn));
  return hw_layer_norm_create(NULL, &norm, &m->ln2);
}

const hw_module_type hw_transformer_block_type = HW_BLOCK_TYPE(transformer);

HW_MODULE_CREATE(transformer_block)
