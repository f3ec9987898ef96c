/* GPT-2 in double, from its definition in headwise.h, and weights for every part of one. */
#ifndef HW_TESTS_REFERENCE_GPT2_H
#define HW_TESTS_REFERENCE_GPT2_H

#include "reference_modules.h"

static inline void fill_linear(hw_linear *linear, size_t in, size_t out, bool has_bias) {
  float *weight = check_floats(in * out);
  float *bias = check_floats(out);
  check_fill(weight, in * out);
  check_fill(bias, out);
  CHECK(hw_linear_load(linear, 0, out, weight, has_bias ? bias : NULL) == HW_OK, "load");
  free(weight);
  free(bias);
}

static inline void fill_norm(hw_layer_norm *norm, size_t dim) {
  check_fill(hw_layer_norm_weight(norm), dim);
  check_fill(hw_layer_norm_bias(norm), dim);
}

/* A model whose every part does something. */
static inline hw_gpt2 *reference_create_gpt2(const hw_gpt2_config *config) {
  const size_t d_model = config->d_model;
  hw_gpt2 *module = NULL;
  CHECK(hw_gpt2_create(config, &module) == HW_OK, "create");
  fill_linear(hw_gpt2_wte(module), d_model, config->vocab_size, false);
  check_fill(hw_embedding_weight(hw_gpt2_wpe(module)), config->context_length * d_model);
  fill_norm(hw_gpt2_ln_f(module), d_model);
  for (size_t i = 0; i < config->num_layers; i++) {
    hw_transformer_block *block = hw_transformer_stack_block(hw_gpt2_h(module), i);
    hw_multi_head_attention *attn = hw_transformer_block_attn(block);
    hw_feed_forward *ffn = hw_transformer_block_ffn(block);
    fill_norm(hw_transformer_block_ln1(block), d_model);
    fill_norm(hw_transformer_block_ln2(block), d_model);
    fill_linear(hw_multi_head_attention_qkv_proj(attn), d_model, 3 * d_model, true);
    fill_linear(hw_multi_head_attention_out_proj(attn), d_model, d_model, true);
    fill_linear(hw_feed_forward_fc1(ffn), d_model, config->d_ff, true);
    fill_linear(hw_feed_forward_fc2(ffn), config->d_ff, d_model, true);
  }
  return module;
}

/* ids [batch, tokens] → logits [batch, tokens, vocab_size] and weights [num_layers, batch, num_heads, tokens, tokens];
 * head_mask NULL or [num_layers, num_heads]. */
static inline void reference_gpt2(hw_gpt2 *module, const hw_gpt2_config *config, const uint32_t *ids,
                                  const reference_tokens *t, const float *head_mask, double *logits, double *weights,
                                  double noise) {
  const hw_transformer_block_config block = {.d_model = config->d_model,
                                             .num_heads = config->num_heads,
                                             .d_ff = config->d_ff,
                                             .norm_first = true,
                                             .is_causal = true,
                                             .attention_bias = true,
                                             .approximate = config->approximate,
                                             .eps = config->eps};
  const size_t d_model = config->d_model;
  const size_t rows = t->batch * t->tokens;
  const double eps = config->eps == 0.0 ? HW_LAYER_NORM_EPS : config->eps;
  float *wte = check_floats(config->vocab_size * d_model);
  double *x = reference_doubles(rows * d_model);
  CHECK(hw_linear_store(hw_gpt2_wte(module), 0, config->vocab_size, wte, NULL) == HW_OK, "wte");
  for (size_t i = 0; i < rows * d_model; i++) {
    const size_t row = i / d_model;
    const float *position = hw_embedding_weight(hw_gpt2_wpe(module)) + row % t->tokens * d_model;
    x[i] = reference_round((double)wte[ids[row] * d_model + i % d_model] + (double)position[i % d_model], noise);
  }
  for (size_t i = 0; i < config->num_layers; i++) {
    const hw_forward_options asked = {.head_mask = head_mask == NULL ? NULL : head_mask + i * config->num_heads};
    reference_block(hw_transformer_stack_block(hw_gpt2_h(module), i), &block, t, &asked, x,
                    weights + i * rows * config->num_heads * t->tokens, noise);
  }
  reference_layer_norm(hw_gpt2_ln_f(module), d_model, eps, x, rows, x, noise);
  reference_linear(hw_gpt2_wte(module), d_model, config->vocab_size, false, x, rows, logits, noise);
  free(wte);
  free(x);
}

#endif
