/* Modules as tests use them: made of plain arguments, run on plain arrays, their parameters by name. */
#ifndef HW_TESTS_MODULES_H
#define HW_TESTS_MODULES_H

#include "check.h"
#include "headwise.h"

/* ---- Making ---- */

static inline hw_status make_linear(hw_context *context, size_t in, size_t out, bool bias, hw_module **module) {
  return hw_linear_create(context, &(hw_linear_config){in, out, bias}, module);
}

static inline hw_status make_layer_norm(size_t dim, double eps, hw_module **module) {
  return hw_layer_norm_create(NULL, &(hw_layer_norm_config){dim, eps}, module);
}

static inline hw_status make_embedding(hw_context *context, size_t count, size_t dim, hw_module **module) {
  return hw_embedding_create(context, &(hw_embedding_config){count, dim}, module);
}

static inline hw_status make_wrapper(hw_context *context, const hw_causal_attention_config *head, size_t num_heads,
                                     hw_module **module) {
  return hw_multi_head_attention_wrapper_create(context, &(hw_multi_head_attention_wrapper_config){*head, num_heads},
                                                module);
}

static inline hw_status make_stack(hw_context *context, const hw_transformer_block_config *block, size_t num_layers,
                                   hw_module **module) {
  return hw_transformer_stack_create(context, &(hw_transformer_stack_config){*block, num_layers}, module);
}

/* A small GPT-2 with the exact GELU. */
static inline hw_decoder_config gpt2_config(size_t vocab_size, size_t context_length, size_t num_layers, size_t d_model,
                                            size_t num_heads, size_t d_ff) {
  return (hw_decoder_config){
      .model =
          {
              .is_bare = true,
              .vocab_size = vocab_size,
              .context_length = context_length,
              .d_model = d_model,
              .num_layers = num_layers,
              .num_heads = num_heads,
              .num_key_value_heads = num_heads,
              .head_dim = num_heads == 0 ? 0 : d_model / num_heads,
              .d_ff = d_ff,
              .eps = HW_LAYER_NORM_EPS,
              .qkv_bias = true,
              .out_bias = true,
              .mlp_bias = true,
              .embedding_scale = 1.0,
              .positions = context_length,
          },
      .ties_head = true,
  };
}

/* A small BERT with two types of tokens, whose head has the embedding's matrix. */
static inline hw_encoder_config encoder_config_of(size_t vocab_size, size_t context_length, size_t num_layers,
                                                  size_t d_model, size_t num_heads, size_t d_ff) {
  hw_model_config model = gpt2_config(vocab_size, context_length, num_layers, d_model, num_heads, d_ff).model;
  model.is_bare = false;
  model.names = HW_NAMES_BERT;
  model.norm_place = HW_NORM_POST;
  return (hw_encoder_config){.model = model, .token_types = 2, .has_head = true, .ties_head = true};
}

/* What one of its blocks is, as a transformer block. */
static inline hw_transformer_block_config gpt2_block(const hw_decoder_config *config) {
  const hw_model_config *model = &config->model;
  return (hw_transformer_block_config){
      .d_model = model->d_model,
      .num_heads = model->num_heads,
      .d_ff = model->d_ff,
      .norm_first = true,
      .is_causal = true,
      .attention_bias = true,
      .approximate = (hw_gelu_approximation)model->activation,
      .eps = model->eps,
  };
}

/* blocks.1 of a stack */
static inline hw_module *nth_child(hw_module *module, const char *name, size_t index) {
  char full[HW_NAME_BYTES];
  CHECK((size_t)snprintf(full, sizeof full, "%s.%zu", name, index) < sizeof full, "%s", name);
  return hw_module_child(module, full);
}

/* ---- Running ---- */

/* A module that treats every row alone. */
static inline hw_status forward_rows(hw_context *context, const hw_module *module, const float *input, size_t rows,
                                     float *y) {
  return hw_module_forward(context, module, &(hw_input){.x = input, .batch = 1, .tokens = rows}, y, NULL);
}

static inline hw_status forward_tokens(hw_context *context, const hw_module *module, const float *input, size_t batch,
                                       size_t tokens, float *y, const hw_forward_options *options) {
  return hw_module_forward(context, module, &(hw_input){.x = input, .batch = batch, .tokens = tokens}, y, options);
}

static inline hw_status forward_ids(hw_context *context, const hw_module *module, const uint32_t *ids, size_t count,
                                    float *y) {
  return hw_module_forward(context, module, &(hw_input){.ids = ids, .batch = 1, .tokens = count}, y, NULL);
}

/* ---- Parameters ---- */

/* The part of a module that `prefix` names: "" is all of it, "attn." a block's attention. */
typedef struct module_part {
  hw_module *module;
  char prefix[HW_NAME_BYTES];
} module_part;

static inline module_part whole(hw_module *module) { return (module_part){.module = module}; }

/* attn, blocks.1, … */
static inline module_part part_of(module_part outer, const char *name) {
  module_part inner = {.module = outer.module};
  const int length = snprintf(inner.prefix, sizeof inner.prefix, "%s%s.", outer.prefix, name);
  CHECK((size_t)length < sizeof inner.prefix, "%s", name);
  return inner;
}

static inline module_part block_of(module_part outer, const char *name, size_t index) {
  module_part inner = {.module = outer.module};
  const int length = snprintf(inner.prefix, sizeof inner.prefix, "%s%s.%zu.", outer.prefix, name, index);
  CHECK((size_t)length < sizeof inner.prefix, "%s", name);
  return inner;
}

/* SIZE_MAX if the part has no such parameter. */
static inline size_t parameter_index(module_part p, const char *name) {
  char full[2 * HW_NAME_BYTES];
  CHECK((size_t)snprintf(full, sizeof full, "%s%s", p.prefix, name) < sizeof full, "%s", name);
  return hw_module_find_parameter(p.module, full);
}

static inline bool has_parameter(module_part p, const char *name) { return parameter_index(p, name) != SIZE_MAX; }

static inline hw_parameter_info parameter_info(module_part p, const char *name) {
  hw_parameter_info info;
  CHECK(hw_module_parameter(p.module, parameter_index(p, name), &info) == HW_OK, "no parameter %s%s", p.prefix, name);
  return info;
}

/* All of a parameter, in a new array. */
static inline float *stored(module_part p, const char *name) {
  const hw_parameter_info info = parameter_info(p, name);
  float *values = check_floats(info.shape[0] * info.shape[1]);
  CHECK(hw_module_store(p.module, parameter_index(p, name), 0, info.shape[0], values) == HW_OK, "store");
  return values;
}

static inline void load_all(module_part p, const char *name, const float *values) {
  const hw_parameter_info info = parameter_info(p, name);
  CHECK(hw_module_load(p.module, parameter_index(p, name), 0, info.shape[0], values) == HW_OK, "load");
}

/* Random numbers in all parameters of a part. */
static inline void fill_part(module_part p) {
  for (size_t i = 0; i < hw_module_parameter_count(p.module); i++) {
    hw_parameter_info info;
    CHECK(hw_module_parameter(p.module, i, &info) == HW_OK, "parameter %zu", i);
    if (strncmp(info.name, p.prefix, strlen(p.prefix)) == 0) {
      float *values = check_floats(info.shape[0] * info.shape[1]);
      check_fill(values, info.shape[0] * info.shape[1]);
      CHECK(hw_module_load(p.module, i, 0, info.shape[0], values) == HW_OK, "load");
      free(values);
    }
  }
}

/* y [rows, out] of a part's linear layer, as a module of its own would compute it. */
static inline void run_linear_part(hw_context *context, module_part p, const float *input, size_t rows, float *y) {
  const hw_parameter_info info = parameter_info(p, "weight");
  hw_module *linear = NULL;
  CHECK(make_linear(NULL, info.shape[1], info.shape[0], has_parameter(p, "bias"), &linear) == HW_OK, "create");
  float *weight = stored(p, "weight");
  load_all(whole(linear), "weight", weight);
  free(weight);
  if (has_parameter(p, "bias")) {
    float *bias = stored(p, "bias");
    load_all(whole(linear), "bias", bias);
    free(bias);
  }
  CHECK(forward_rows(context, linear, input, rows, y) == HW_OK, "forward");
  hw_module_destroy(linear);
}

/* qkv [rows, 3 · d_out] of a part's projections W_query, W_key, W_value. */
static inline void run_qkv_part(hw_context *context, module_part p, const float *input, size_t rows, float *qkv) {
  static const char *const names[] = {"W_query", "W_key", "W_value"};
  const size_t d_out = parameter_info(p, "W_query.weight").shape[0];
  float *projected = check_floats(rows * d_out);
  for (size_t i = 0; i < 3; i++) {
    run_linear_part(context, part_of(p, names[i]), input, rows, projected);
    for (size_t row = 0; row < rows; row++) {
      memcpy(qkv + (row * 3 + i) * d_out, projected + row * d_out, d_out * sizeof(float));
    }
  }
  free(projected);
}

#endif
