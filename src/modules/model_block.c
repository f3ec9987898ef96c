/* A layer of a model: a block whose parts follow the model's config. */
#include "kernels/small_panels.h"
#include "modules/block.h"
#include "modules/feed_forward.h"
#include "modules/multi_head_attention.h"
#include "ops/layer_norm.h"
#include "ops/pointwise.h"
#include "ops/rotary.h"

hw_norm_config hw_model_norm(const hw_model_config *model) {
  return (hw_norm_config){{model->d_model, model->eps}, model->is_rms, model->gain_offset};
}

static hw_status create_attention(const hw_model_block_config *config, hw_module **module) {
  const hw_model_config *model = config->model;
  const bool is_packed = model->names == HW_NAMES_GPT2 || model->names == HW_NAMES_GPT_NEOX;
  const hw_layer_config *layer = model->layers == NULL ? NULL : model->layers + config->layer;
  const hw_model_attention_config attn = {
      .base =
          {
              .d_in = model->d_model,
              .d_out = hw_size_multiply(model->num_heads, model->head_dim),
              .context_length = SIZE_MAX,
              .num_heads = model->num_heads,
              .qkv_bias = model->qkv_bias,
              .out_proj = true,
              .out_bias = model->out_bias,
              .is_causal = config->is_causal,
              .packed_qkv = is_packed,
          },
      .out_features = model->d_model,
      .key_heads = model->num_key_value_heads,
      .is_interleaved = model->names == HW_NAMES_GPT_NEOX,
      .qk_norm = model->qk_norm,
      .norm = {.base.eps = model->eps, .is_rms = true, .gain_offset = model->gain_offset},
      .rotary = layer == NULL ? 0 : (size_t)(layer->rotary + 1),
      .window = layer == NULL ? 0 : layer->window,
      .scale = model->attention_scale,
      .softcap = model->attention_softcap,
      .dtype = model->dtype,
  };
  return hw_module_create(NULL, &hw_model_attention_type, &attn, module);
}

static hw_status create_feed_forward(const hw_model_config *model, hw_module **module) {
  const hw_model_feed_forward_config ffn = {
      .base = {.d_model = model->d_model, .d_ff = model->d_ff},
      .activation = model->activation,
      .bias = model->mlp_bias,
      .is_gated = model->is_gated,
      .dtype = model->dtype,
  };
  return hw_module_create(NULL, &hw_model_feed_forward_type, &ffn, module);
}

static hw_status create(hw_module *module) {
  hw_block *m = (hw_block *)module;
  const hw_model_config *model = m->config.model.model;
  const hw_norm_config norm = hw_model_norm(model);
  hw_module **const norms[] = {&m->ln1, &m->after1, &m->ln2, &m->after2};
  m->d_model = model->d_model;
  m->dropout = model->dropout;
  m->norm_place = model->norm_place;
  m->is_parallel = model->is_parallel && model->d_ff > 0;
  m->base.layers = 1;
  m->base.heads = model->num_heads;
  HW_TRY(create_attention(&m->config.model, &m->attn));
  m->base.needs_model = m->attn->needs_model;
  if (model->d_ff > 0) {
    HW_TRY(create_feed_forward(model, &m->ffn));
  }
  for (size_t i = 0; i < (model->d_ff > 0 ? 4 : 2); i += model->norm_place == HW_NORM_BOTH ? 1 : 2) {
    HW_TRY(hw_module_create(NULL, &hw_norm_type, &norm, norms[i]));
  }
  return HW_OK;
}

const hw_module_type hw_model_block_type = HW_BLOCK_TYPE(model);

/* ---- Configs ---- */

size_t hw_model_block_weight_bytes(const hw_model_config *model) {
  const size_t heads =
      hw_size_add(hw_size_multiply(2, model->num_heads), hw_size_multiply(2, model->num_key_value_heads));
  const size_t attn = hw_size_multiply(heads, model->head_dim);
  const size_t ffn = hw_size_multiply(model->is_gated ? 3 : 2, model->d_ff);
  const size_t element_bytes = model->dtype == HW_MATRIX_INT8 ? 1 : hw_element_bytes(model->dtype);
  return hw_size_multiply(hw_size_multiply(element_bytes, model->d_model), hw_size_add(attn, ffn));
}

static bool are_enumerators_known(const hw_model_config *model) {
  return model->names >= HW_NAMES_GPT2 && model->names <= HW_NAMES_DISTILBERT && model->dtype >= HW_MATRIX_FLOAT32 &&
         model->dtype <= HW_MATRIX_INT8 && hw_activation_is_known(model->activation) &&
         model->norm_place >= HW_NORM_PRE && model->norm_place <= HW_NORM_BOTH;
}

static hw_status check_rotary(const hw_model_config *model) {
  if ((model->rotary_count > 0 && (model->rotary == NULL || model->layers == NULL)) ||
      model->rotary_count > HW_MOST_ROTARIES) {
    return HW_ERROR_VALUE;
  }
  for (size_t i = 0; i < model->rotary_count; i++) {
    HW_TRY(hw_rotary_check(model->rotary + i, model->head_dim, model->context_length));
  }
  for (size_t i = 0; model->layers != NULL && i < model->num_layers; i++) {
    const int32_t rotary = model->layers[i].rotary;
    if (rotary < -1 || rotary >= (int32_t)model->rotary_count) {
      return HW_ERROR_VALUE;
    }
  }
  return HW_OK;
}

hw_status hw_model_check(const hw_model_config *model) {
  const hw_model_config *c = model;
  const bool is_packed = c->names == HW_NAMES_GPT2 || c->names == HW_NAMES_GPT_NEOX;
  if (c->vocab_size == 0 || c->context_length == 0 || c->d_model == 0 || c->num_layers == 0 || c->num_heads == 0 ||
      c->num_key_value_heads == 0 || c->head_dim == 0 || c->num_heads % c->num_key_value_heads != 0 ||
      (c->positions > 0 && c->positions < c->context_length)) {
    return HW_ERROR_SHAPE;
  }
  const bool numbers =
      hw_eps_is_valid(c->eps) && hw_factor_is_valid(c->embedding_scale) && hw_dropout_is_valid(c->dropout);
  /* And their names have all of their parts: what a visit does not show has no gradient either. */
  const bool is_llama = c->names == HW_NAMES_LLAMA || c->names == HW_NAMES_GEMMA3;
  const bool together = (!c->is_parallel || c->norm_place == HW_NORM_PRE) &&
                        (c->norm_place != HW_NORM_BOTH || c->names == HW_NAMES_GEMMA3) &&
                        (!is_packed || c->num_key_value_heads == c->num_heads) &&
                        (is_llama || (!c->is_gated && !c->qk_norm));
  if (!are_enumerators_known(c) || !numbers || !together) {
    return HW_ERROR_VALUE;
  }
  /* Refused at once, not after reading lists of that length or making layers until memory ends. */
  if (hw_size_multiply(c->num_layers, hw_model_block_weight_bytes(c)) == SIZE_MAX) {
    return HW_ERROR_MEMORY;
  }
  return check_rotary(c);
}
