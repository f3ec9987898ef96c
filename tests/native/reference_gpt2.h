/* GPT-2 in double, from its definition in headwise.h, and weights for every part of one. */
#ifndef HW_TESTS_REFERENCE_GPT2_H
#define HW_TESTS_REFERENCE_GPT2_H

#include "reference_modules.h"

/* A model whose every part does something. */
static inline hw_module *reference_create_gpt2(const hw_decoder_config *config) {
  hw_module *module = NULL;
  CHECK(hw_decoder_create(config, &module) == HW_OK, "create");
  fill_part(whole(module));
  return module;
}

/* ids [batch, tokens] → logits [batch, tokens, vocab_size] and weights [num_layers, batch, num_heads, tokens, tokens];
 * head_mask NULL or [num_layers, num_heads]. */
static inline void reference_gpt2(hw_module *module, const hw_decoder_config *config, const uint32_t *ids,
                                  const reference_tokens *t, const float *head_mask, double *logits, double *weights,
                                  double noise) {
  const hw_transformer_block_config own = gpt2_block(config);
  const hw_transformer_block_config *block = &own;
  const size_t d_model = block->d_model;
  const size_t rows = t->batch * t->tokens;
  const module_part model = whole(module);
  float *wte = stored(model, "wte.weight");
  float *wpe = stored(model, "wpe.weight");
  double *x = reference_doubles(rows * d_model);
  for (size_t i = 0; i < rows * d_model; i++) {
    const size_t row = i / d_model;
    const float *position = wpe + row % t->tokens * d_model;
    x[i] = reference_round((double)wte[ids[row] * d_model + i % d_model] + (double)position[i % d_model], noise);
  }
  for (size_t i = 0; i < config->model.num_layers; i++) {
    const hw_forward_options asked = {.head_mask = head_mask == NULL ? NULL : head_mask + i * block->num_heads};
    reference_block(whole(nth_child(module, "h", i)), block, t, &asked, x,
                    weights + i * rows * block->num_heads * t->tokens, noise);
  }
  reference_layer_norm(part_of(model, "ln_f"), d_model, block->eps, x, rows, x, noise);
  reference_linear(part_of(model, "wte"), d_model, config->model.vocab_size, x, rows, logits, noise);
  free(wte);
  free(wpe);
  free(x);
}

#endif
