/* Modules, their parameters and caches. */
#include "modules/modules.h"

#include "exports/exports.h"
#include "models/models.h"

static const hw_module_type *const types[HW_MODULE_KINDS] = {
    [HW_MODULE_LINEAR] = &hw_linear_type,
    [HW_MODULE_LAYER_NORM] = &hw_layer_norm_type,
    [HW_MODULE_EMBEDDING] = &hw_embedding_type,
    [HW_MODULE_FEED_FORWARD] = &hw_feed_forward_type,
    [HW_MODULE_CAUSAL_ATTENTION] = &hw_causal_attention_type,
    [HW_MODULE_MULTI_HEAD_ATTENTION_WRAPPER] = &hw_multi_head_attention_wrapper_type,
    [HW_MODULE_MULTI_HEAD_ATTENTION] = &hw_multi_head_attention_type,
    [HW_MODULE_TRANSFORMER_BLOCK] = &hw_transformer_block_type,
    [HW_MODULE_TRANSFORMER_STACK] = &hw_transformer_stack_type,
    [HW_MODULE_DECODER] = &hw_decoder_type,
    [HW_MODULE_ENCODER] = &hw_encoder_type,
};

/* config: the kind's struct. draw: whether weights are drawn, if the type draws any. */
HW_EXPORT(hw_status, module_create, (hw_module_kind kind, const void *config, bool draw)) {
  if (kind >= HW_MODULE_KINDS || config == NULL) {
    return HW_ERROR_VALUE;
  }
  return hw_module_create(draw ? hw_export_context() : NULL, types[kind], config,
                          (hw_module **)hw_export_result_slot());
}

HW_EXPORT(void, module_destroy, (hw_module * module)) { hw_module_destroy(module); }

HW_EXPORT(void, module_train, (hw_module * module, bool training)) { hw_module_train(module, training); }

HW_EXPORT(void, module_checkpoint, (hw_module * module, bool checkpointing)) {
  hw_module_checkpoint(module, checkpointing);
}

HW_EXPORT(hw_status, module_forward,
          (hw_module * module, const hw_input *input, float *y, const hw_forward_options *options)) {
  return hw_module_forward(hw_export_context(), module, input, y, options);
}

HW_EXPORT(size_t, module_parameter_count, (hw_module * module)) { return hw_module_parameter_count(module); }

HW_EXPORT(hw_status, module_parameter, (hw_module * module, size_t index, hw_parameter_info *info)) {
  return hw_module_parameter(module, index, info);
}

HW_EXPORT(hw_status, module_load,
          (hw_module * module, size_t index, size_t first_row, size_t rows, hw_matrix_type type, const void *source)) {
  return hw_module_load_as(hw_export_context(), module, index, first_row, rows, type, source);
}

HW_EXPORT(hw_status, module_store, (hw_module * module, size_t index, size_t first_row, size_t rows, float *target)) {
  return hw_module_store(module, index, first_row, rows, target);
}

HW_EXPORT(hw_status, module_create_cache,
          (const hw_module *module, size_t batch, const float *past_key, const float *past_value, size_t past_tokens,
           hw_matrix_type dtype)) {
  const hw_past past = {past_key, past_value, past_tokens, dtype};
  return hw_module_create_cache(module, batch, &past, (hw_key_value_cache **)hw_export_result_slot());
}

HW_EXPORT(void, cache_destroy, (hw_key_value_cache * cache)) { hw_key_value_cache_destroy(cache); }

HW_EXPORT(const uint32_t *, cache_lengths, (const hw_key_value_cache *cache)) {
  return hw_key_value_cache_lengths(cache);
}

/* Undoes a forward whose results JavaScript had no memory for. */
HW_EXPORT(void, cache_undo, (hw_key_value_cache * cache)) {
  if (cache != NULL) {
    hw_key_value_cache_undo(cache);
  }
}

HW_EXPORT(hw_status, cache_truncate, (hw_key_value_cache * cache, size_t length)) {
  return hw_key_value_cache_truncate(cache, length);
}
