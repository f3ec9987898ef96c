/* The types of all modules. */
#ifndef HW_MODULES_MODULES_H
#define HW_MODULES_MODULES_H

#include "modules/module.h"

extern const hw_module_type hw_linear_type;
extern const hw_module_type hw_layer_norm_type;
extern const hw_module_type hw_embedding_type;
extern const hw_module_type hw_feed_forward_type;
extern const hw_module_type hw_causal_attention_type;
extern const hw_module_type hw_multi_head_attention_wrapper_type;
extern const hw_module_type hw_multi_head_attention_type;
extern const hw_module_type hw_transformer_block_type;
extern const hw_module_type hw_transformer_stack_type;

/* A lower bound of a block's weights; SIZE_MAX if they do not fit. */
size_t hw_transformer_block_weight_bytes(const hw_transformer_block_config *config);

#endif
