#include "layers/key_value_cache.h"
#include "layers/layer_norm.h"
#include "layers/linear.h"
#include "layers/transformer_stack.h"

struct hw_gpt2 {
  hw_gpt2_config config;
  hw_linear *wte; /* [vocab_size, d_model]: looked up in, and the output head */
  hw_embedding *wpe;
  hw_transformer_stack *h;
  hw_layer_norm *ln_f;
};

static hw_status create_parts(hw_gpt2 *module) {
  const hw_gpt2_config *config = &module->config;
  const hw_transformer_block_config block = {
      .d_model = config->d_model,
      .num_heads = config->num_heads,
      .d_ff = config->d_ff,
      .norm_first = true,
      .is_causal = true,
      .attention_bias = true,
      .approximate = config->approximate,
      .eps = config->eps,
  };
  const double eps = config->eps == 0.0 ? HW_LAYER_NORM_EPS : config->eps;
  HW_TRY(hw_linear_create(NULL, config->d_model, config->vocab_size, false, &module->wte));
  HW_TRY(hw_embedding_create(NULL, config->context_length, config->d_model, &module->wpe));
  HW_TRY(hw_layer_norm_create(config->d_model, eps, &module->ln_f));
  return hw_transformer_stack_create(NULL, &block, config->num_layers, &module->h);
}

hw_status hw_gpt2_create(const hw_gpt2_config *config, hw_gpt2 **module) {
  *module = NULL;
  hw_gpt2 *created = hw_allocate_zeroed(sizeof(hw_gpt2));
  if (created == NULL) {
    return HW_ERROR_MEMORY;
  }
  created->config = *config;
  const hw_status status = create_parts(created);
  if (status != HW_OK) {
    hw_gpt2_destroy(created);
    return status;
  }
  *module = created;
  return HW_OK;
}

void hw_gpt2_destroy(hw_gpt2 *module) {
  if (module != NULL) {
    hw_linear_destroy(module->wte);
    hw_embedding_destroy(module->wpe);
    hw_transformer_stack_destroy(module->h);
    hw_layer_norm_destroy(module->ln_f);
    hw_release(module);
  }
}

hw_linear *hw_gpt2_wte(hw_gpt2 *module) { return module->wte; }

hw_embedding *hw_gpt2_wpe(hw_gpt2 *module) { return module->wpe; }

hw_transformer_stack *hw_gpt2_h(hw_gpt2 *module) { return module->h; }

hw_layer_norm *hw_gpt2_ln_f(hw_gpt2 *module) { return module->ln_f; }

/* One cache for all layers. */
static hw_cache_shape cache_shape(const hw_gpt2 *module, size_t batch) {
  const hw_gpt2_config *config = &module->config;
  return (hw_cache_shape){
      .batch = batch,
      .heads = hw_size_multiply(config->num_layers, config->num_heads),
      .head_dim = config->d_model / config->num_heads,
      .capacity = config->context_length,
  };
}

hw_status hw_gpt2_create_cache(const hw_gpt2 *module, size_t batch, hw_key_value_cache **cache) {
  const hw_cache_shape shape = cache_shape(module, batch);
  return hw_key_value_cache_create(&shape, cache);
}

static hw_status check(const hw_gpt2 *module, const hw_gpt2_input *input, const hw_forward_options *options) {
  HW_TRY(hw_forward_check(options, input->batch, input->tokens, module->config.context_length));
  if (options->cache != NULL) {
    const hw_cache_shape shape = cache_shape(module, input->batch);
    HW_TRY(hw_key_value_cache_check(options->cache, &shape, input->tokens));
  }
  bool known = input->logits_start <= input->logits_end && input->logits_end <= input->tokens;
  for (size_t i = 0; i < input->batch * input->tokens; i++) {
    known = known && input->ids[i] < module->config.vocab_size;
  }
  return known ? HW_OK : HW_ERROR_VALUE;
}

static size_t scratch(const hw_context *context, const hw_gpt2 *module, const hw_module_input *x,
                      const hw_gpt2_input *input, const hw_forward_options *options) {
  const size_t rows = hw_size_multiply(x->batch, x->tokens);
  const size_t stack = hw_transformer_stack_scratch(context, module->h, x, options);
  const size_t head = hw_linear_scratch(module->wte, input->logits_end - input->logits_start);
  return hw_size_add(hw_arena_size(hw_size_multiply(rows, module->config.d_model), sizeof(float)),
                     stack > head ? stack : head);
}

/* x = wte[id] + wpe[position] */
static void embed(const hw_gpt2 *module, const hw_gpt2_input *input, size_t past, float *x) {
  const size_t d_model = module->config.d_model;
  const float *wpe = hw_embedding_weight(module->wpe);
  for (size_t i = 0; i < input->batch * input->tokens; i++) {
    const float *position = wpe + (past + i % input->tokens) * d_model;
    float *row = x + i * d_model;
    hw_linear_store(module->wte, input->ids[i], 1, row, NULL);
    for (size_t p = 0; p < d_model; p++) {
      row[p] += position[p];
    }
  }
}

/* The asked-for tokens' logits; x is overwritten. */
static void predict(hw_context *context, const hw_gpt2 *module, const hw_gpt2_input *input, float *x, float *logits) {
  const size_t d_model = module->config.d_model;
  const size_t vocab_size = module->config.vocab_size;
  const size_t rows = input->logits_end - input->logits_start;
  for (size_t b = 0; rows > 0 && b < input->batch; b++) {
    float *normed = x + (b * input->tokens + input->logits_start) * d_model;
    hw_layer_norm_run(context, module->ln_f, normed, rows, normed);
    hw_linear_run(context, module->wte, normed, d_model, rows, logits + b * rows * vocab_size, vocab_size);
  }
}

hw_status hw_gpt2_forward(hw_context *context, hw_gpt2 *module, const hw_gpt2_input *input, float *logits,
                          const hw_forward_options *options) {
  const hw_forward_options nothing = {0};
  const hw_forward_options *asked = options == NULL ? &nothing : options;
  hw_transformer_stack_clear_traces(module->h, asked);
  HW_TRY(check(module, input, asked));
  hw_module_input tokens = {NULL, input->batch, input->tokens};
  HW_TRY(hw_arena_reserve(&context->arena, scratch(context, module, &tokens, input, asked)));
  HW_TRY(hw_transformer_stack_trace(module->h, &tokens, asked));
  /* Nothing fails from here on. */
  const size_t mark = context->arena.used;
  float *x = hw_arena_take_floats(&context->arena, input->batch * input->tokens * module->config.d_model);
  embed(module, input, asked->cache == NULL ? 0 : asked->cache->length, x);
  tokens.x = x;
  hw_transformer_stack_run(context, module->h, &tokens, x, asked);
  if (asked->cache != NULL) {
    asked->cache->length += input->tokens;
  }
  predict(context, module, input, x, logits);
  context->arena.used = mark;
  return HW_OK;
}
