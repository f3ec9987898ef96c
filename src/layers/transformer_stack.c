#include "layers/transformer_stack.h"

#include "layers/key_value_cache.h"
#include "layers/transformer_block.h"

struct hw_transformer_stack {
  size_t num_layers;
  size_t num_heads;
  hw_transformer_block **blocks;
};

/* At least so many bytes the weights take; SIZE_MAX if they do not fit. */
static size_t weight_bytes(const hw_transformer_block_config *config, size_t num_layers) {
  const size_t attn = hw_size_multiply(4, config->d_model);
  const size_t ffn = hw_size_multiply(2, config->d_ff);
  const size_t block = hw_size_multiply(hw_size_add(attn, ffn), config->d_model);
  return hw_size_multiply(hw_size_multiply(block, num_layers), sizeof(float));
}

static hw_status create_blocks(const hw_transformer_block_config *config, size_t num_layers,
                               hw_transformer_stack *module) {
  for (; module->num_layers < num_layers; module->num_layers++) {
    HW_TRY(hw_transformer_block_create(NULL, config, &module->blocks[module->num_layers]));
  }
  return HW_OK;
}

hw_status hw_transformer_stack_create(hw_context *context, const hw_transformer_block_config *config, size_t num_layers,
                                      hw_transformer_stack **module) {
  *module = NULL;
  if (num_layers == 0) {
    return HW_ERROR_SHAPE;
  }
  /* Refused at once, not after making blocks until memory ends. */
  if (weight_bytes(config, num_layers) == SIZE_MAX) {
    return HW_ERROR_MEMORY;
  }
  hw_transformer_stack *created = hw_allocate_zeroed(sizeof(hw_transformer_stack));
  hw_transformer_block **blocks = hw_allocate_zeroed(hw_size_multiply(num_layers, sizeof(hw_transformer_block *)));
  if (created == NULL || blocks == NULL) {
    hw_release(created);
    hw_release((void *)blocks);
    return HW_ERROR_MEMORY;
  }
  *created = (hw_transformer_stack){.num_heads = config->num_heads, .blocks = blocks};
  const hw_status status = create_blocks(config, num_layers, created);
  if (status != HW_OK) {
    hw_transformer_stack_destroy(created);
    return status;
  }
  for (size_t i = 0; context != NULL && i < num_layers; i++) {
    hw_transformer_block_draw(context, blocks[i]);
  }
  *module = created;
  return HW_OK;
}

void hw_transformer_stack_destroy(hw_transformer_stack *module) {
  if (module == NULL) {
    return;
  }
  for (size_t i = 0; i < module->num_layers; i++) {
    hw_transformer_block_destroy(module->blocks[i]);
  }
  hw_release((void *)module->blocks);
  hw_release(module);
}

hw_transformer_block *hw_transformer_stack_block(hw_transformer_stack *module, size_t index) {
  return index < module->num_layers ? module->blocks[index] : NULL;
}

void hw_transformer_stack_train(hw_transformer_stack *module, bool training) {
  for (size_t i = 0; i < module->num_layers; i++) {
    hw_transformer_block_train(module->blocks[i], training);
  }
}

/* The heads that one block has of the stack's cache. */
static hw_key_value_cache cache_of(const hw_transformer_stack *module, const hw_key_value_cache *cache, size_t index) {
  hw_key_value_cache own = *cache;
  hw_key_value_store *store = &own.store;
  own.heads = module->num_heads;
  store->memory +=
      index * hw_key_value_store_bytes(own.batch * own.heads, store->tokens, store->key_width, store->value_width);
  return own;
}

/* What one block is asked for, but for the cache. */
static hw_forward_options options_of(const hw_transformer_stack *module, const hw_module_input *input,
                                     const hw_forward_options *options, size_t index) {
  hw_forward_options own = *options;
  const size_t rows = input->batch * module->num_heads * input->tokens;
  const size_t stored = options->cache == NULL ? 0 : options->cache->length;
  own.weights = options->weights == NULL ? NULL : options->weights + index * rows * (stored + input->tokens);
  own.trace = options->trace == NULL ? NULL : options->trace + index;
  own.head_mask = options->head_mask == NULL ? NULL : options->head_mask + index * module->num_heads;
  return own;
}

size_t hw_transformer_stack_scratch(const hw_context *context, const hw_transformer_stack *module,
                                    const hw_module_input *input, const hw_forward_options *options) {
  return hw_transformer_block_scratch(context, module->blocks[0], input, options);
}

void hw_transformer_stack_clear_traces(const hw_transformer_stack *module, const hw_forward_options *options) {
  for (size_t i = 0; options->trace != NULL && i < module->num_layers; i++) {
    options->trace[i] = NULL;
  }
}

hw_status hw_transformer_stack_trace(const hw_transformer_stack *module, const hw_module_input *input,
                                     const hw_forward_options *options) {
  if (options->trace == NULL) {
    return HW_OK;
  }
  for (size_t i = 0; i < module->num_layers; i++) {
    const hw_forward_options own = options_of(module, input, options, i);
    const hw_status status = hw_transformer_block_trace(module->blocks[i], input, &own);
    if (status != HW_OK) {
      for (size_t made = 0; made < i; made++) {
        hw_trace_destroy(options->trace[made]);
        options->trace[made] = NULL;
      }
      return status;
    }
  }
  return HW_OK;
}

void hw_transformer_stack_run(hw_context *context, const hw_transformer_stack *module, const hw_module_input *input,
                              float *y, const hw_forward_options *options) {
  hw_module_input layer = *input;
  for (size_t i = 0; i < module->num_layers; i++) {
    hw_forward_options own = options_of(module, input, options, i);
    hw_key_value_cache cache;
    if (options->cache != NULL) {
      cache = cache_of(module, options->cache, i);
      own.cache = &cache;
    }
    hw_transformer_block_run(context, module->blocks[i], &layer, y, &own);
    layer.x = y;
  }
}

hw_status hw_transformer_stack_forward(hw_context *context, hw_transformer_stack *module, const float *x, size_t batch,
                                       size_t tokens, float *y, const hw_forward_options *options) {
  const hw_forward_options nothing = {0};
  const hw_forward_options *asked = options == NULL ? &nothing : options;
  const hw_module_input input = {x, batch, tokens};
  hw_transformer_stack_clear_traces(module, asked);
  HW_TRY(hw_transformer_block_check(&input, asked));
  HW_TRY(hw_arena_reserve(&context->arena, hw_transformer_stack_scratch(context, module, &input, asked)));
  HW_TRY(hw_transformer_stack_trace(module, &input, asked));
  hw_transformer_stack_run(context, module, &input, y, asked);
  return HW_OK;
}
