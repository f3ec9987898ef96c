#include "layers/causal_attention.h"

struct hw_multi_head_attention_wrapper {
  size_t num_heads;
  hw_causal_attention **heads;
};

hw_status hw_multi_head_attention_wrapper_create(hw_context *context, const hw_causal_attention_config *config,
                                                 size_t num_heads, hw_multi_head_attention_wrapper **module) {
  *module = NULL;
  if (num_heads == 0) {
    return HW_ERROR_SHAPE;
  }
  /* Refused at once, not after making heads until memory ends. */
  if (hw_size_multiply(num_heads, hw_causal_attention_weight_bytes(config)) == SIZE_MAX) {
    return HW_ERROR_MEMORY;
  }
  hw_multi_head_attention_wrapper *created = hw_allocate_zeroed(sizeof(hw_multi_head_attention_wrapper));
  hw_causal_attention **heads = hw_allocate_zeroed(hw_size_multiply(num_heads, sizeof(hw_causal_attention *)));
  if (created == NULL || heads == NULL) {
    hw_release(created);
    hw_release((void *)heads);
    return HW_ERROR_MEMORY;
  }
  created->heads = heads;
  hw_status status = HW_OK;
  while (status == HW_OK && created->num_heads < num_heads) {
    status = hw_causal_attention_create(NULL, config, &heads[created->num_heads]);
    created->num_heads += status == HW_OK ? 1 : 0;
  }
  if (status != HW_OK) {
    hw_multi_head_attention_wrapper_destroy(created);
    return status;
  }
  for (size_t h = 0; context != NULL && h < num_heads; h++) {
    hw_causal_attention_draw(context, heads[h]);
  }
  *module = created;
  return HW_OK;
}

void hw_multi_head_attention_wrapper_destroy(hw_multi_head_attention_wrapper *module) {
  if (module == NULL) {
    return;
  }
  for (size_t h = 0; h < module->num_heads; h++) {
    hw_causal_attention_destroy(module->heads[h]);
  }
  hw_release((void *)module->heads);
  hw_release(module);
}

hw_causal_attention *hw_multi_head_attention_wrapper_head(hw_multi_head_attention_wrapper *module, size_t head) {
  return head < module->num_heads ? module->heads[head] : NULL;
}

void hw_multi_head_attention_wrapper_train(hw_multi_head_attention_wrapper *module, bool training) {
  for (size_t h = 0; h < module->num_heads; h++) {
    hw_causal_attention_train(module->heads[h], training);
  }
}

hw_status hw_multi_head_attention_wrapper_forward(hw_context *context, hw_multi_head_attention_wrapper *module,
                                                  const float *x, size_t batch, size_t tokens, float *y,
                                                  const hw_forward_options *options) {
  const hw_forward_options nothing = {0};
  const hw_forward_options *asked = options == NULL ? &nothing : options;
  const hw_module_input input = {x, batch, tokens};
  HW_TRY(hw_causal_attention_check(module->heads[0], &input, asked));
  HW_TRY(hw_arena_reserve(&context->arena, hw_causal_attention_scratch(context, module->heads[0], &input, asked)));
  HW_TRY(hw_causal_attention_trace(module->heads[0], &input, asked, module->num_heads));
  for (size_t h = 0; h < module->num_heads; h++) {
    const hw_head_place place = {.head = h, .num_heads = module->num_heads};
    hw_causal_attention_run(context, module->heads[h], &input, y, asked, place);
  }
  return HW_OK;
}
