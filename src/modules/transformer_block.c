#include "modules/modules.h"
#include "ops/pointwise.h"

typedef struct transformer_block {
  hw_module base;
  hw_transformer_block_config config;
  hw_module *ln1;
  hw_module *ln2;
  hw_module *attn;
  hw_module *ffn;
} transformer_block;

size_t hw_transformer_block_weight_bytes(const hw_transformer_block_config *config) {
  const size_t attn = hw_size_multiply(4, config->d_model);
  const size_t ffn = hw_size_multiply(2, config->d_ff);
  return hw_size_multiply(hw_size_multiply(hw_size_add(attn, ffn), config->d_model), sizeof(float));
}

static hw_status create(hw_module *module) {
  transformer_block *m = (transformer_block *)module;
  const hw_transformer_block_config *config = &m->config;
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
  m->base.layers = 1;
  m->base.heads = config->num_heads;
  HW_TRY(hw_multi_head_attention_create(NULL, &attn, &m->attn));
  HW_TRY(hw_feed_forward_create(NULL, &ffn, &m->ffn));
  HW_TRY(hw_layer_norm_create(NULL, &norm, &m->ln1));
  return hw_layer_norm_create(NULL, &norm, &m->ln2);
}

static void release(hw_module *module) {
  transformer_block *m = (transformer_block *)module;
  hw_module_destroy(m->ln1);
  hw_module_destroy(m->ln2);
  hw_module_destroy(m->attn);
  hw_module_destroy(m->ffn);
}

static void visit(hw_module *module, hw_visit *visit) {
  transformer_block *m = (transformer_block *)module;
  hw_visit_child(visit, "ln1", m->ln1, NULL);
  hw_visit_child(visit, "ln2", m->ln2, NULL);
  hw_visit_child(visit, "attn", m->attn, NULL);
  hw_visit_child(visit, "ffn", m->ffn, NULL);
}

/* y = x + dropout(part(norm(x))), or norm(x + dropout(part(x))) */
static void add_part(hw_run *run, const transformer_block *m, const hw_module *norm, const hw_module *part,
                     const hw_input *x, float *branch, float *y) {
  hw_input in = *x;
  if (m->config.norm_first) {
    hw_module_run(run, norm, x, branch);
    in.x = branch;
  }
  hw_module_run(run, part, &in, branch);
  const size_t count = x->batch * x->tokens * m->config.d_model;
  hw_dropout_forward(run, m->base.training ? m->config.dropout : 0.0, branch, count);
  hw_add_forward(run, x->x, branch, y, count);
  if (!m->config.norm_first) {
    in.x = y;
    hw_module_run(run, norm, &in, y);
  }
}

static void forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const transformer_block *m = (const transformer_block *)module;
  const size_t mark = run->arena->used;
  float *branch = hw_run_take_floats(run, hw_size_multiply(input->batch, input->tokens), m->config.d_model);
  hw_input in_y = *input;
  in_y.x = y;
  add_part(run, m, m->ln1, m->attn, input, branch, y);
  add_part(run, m, m->ln2, m->ffn, &in_y, branch, y);
  run->arena->used = mark;
}

const hw_module_type hw_transformer_block_type = {HW_MODULE_TYPE(transformer_block), .has_head_mask = true};

hw_status hw_transformer_block_create(hw_context *context, const hw_transformer_block_config *config,
                                      hw_module **module) {
  return hw_module_create(context, &hw_transformer_block_type, config, module);
}
