/* Small decoders of every architecture's options. */
#ifndef HW_TESTS_DECODER_CASE_H
#define HW_TESTS_DECODER_CASE_H

#include "modules.h"

enum { VOCAB = 19, CONTEXT = 12, LAYERS = 2, WIDTH = 12, HEADS = 4, HEAD_DIM = 6, BATCH = 2, TOKENS = 7 };

static const double frequencies[] = {1.0, 0.3, 0.02};
static const hw_rotary_config rotaries[] = {{frequencies, 3, 1.0}, {frequencies, 2, 1.1}};
static const hw_layer_config layers[LAYERS] = {{3, 0}, {0, 1}};

/* The bits of `options` each turn one option on. */
static inline hw_decoder_config config_of(size_t options) {
  const bool is_rotary = (options & 1) != 0;
  const bool is_packed = (options & 6) < 4;
  hw_decoder_config config = gpt2_config(VOCAB, CONTEXT, LAYERS, WIDTH, HEADS, 10);
  hw_model_config *model = &config.model;
  model->names = (hw_names)((options >> 1) & 3);
  model->head_dim = HEAD_DIM;
  model->num_key_value_heads = is_packed ? HEADS : HEADS / 2;
  model->positions = is_rotary ? 0 : CONTEXT;
  model->rotary_count = is_rotary ? 2 : 0;
  model->rotary = rotaries;
  model->layers = is_rotary ? layers : NULL;
  model->is_rms = (options & 8) != 0;
  model->gain_offset = model->is_rms ? 1.0 : 0.0;
  model->qk_norm = !is_packed && (options & 16) != 0;
  model->is_gated = !is_packed && (options & 32) != 0;
  model->activation = (hw_activation)(options % 4);
  model->norm_place = model->names == HW_NAMES_GEMMA3 && (options & 64) != 0 ? HW_NORM_BOTH : HW_NORM_PRE;
  model->is_parallel = model->norm_place == HW_NORM_PRE && (options & 128) != 0;
  model->attention_softcap = (options & 8) != 0 ? 4.0 : 0.0;
  model->embedding_scale = (options & 16) != 0 ? 2.0 : 1.0;
  model->qkv_bias = (options & 32) == 0;
  config.ties_head = (options & 64) == 0;
  config.logit_softcap = (options & 128) != 0 ? 5.0 : 0.0;
  return config;
}

static inline hw_module *make(const hw_decoder_config *config) {
  hw_module *module = NULL;
  CHECK_STATUS(hw_decoder_create(config, &module), HW_OK);
  fill_part(whole(module));
  return module;
}

#endif
