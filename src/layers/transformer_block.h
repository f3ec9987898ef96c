/* TransformerBlock, for the stack that runs several over one arena. */
#ifndef HW_LAYERS_TRANSFORMER_BLOCK_H
#define HW_LAYERS_TRANSFORMER_BLOCK_H

#include "core/context.h"
#include "layers/forward.h"

/* Draws the weights in torch's order. Apart from the creation, so that one that fails leaves the generator alone. */
void hw_transformer_block_draw(hw_context *context, hw_transformer_block *module);

/* hw_forward_check without a context length, and no cache. */
hw_status hw_transformer_block_check(const hw_module_input *input, const hw_forward_options *options);

/* Bytes that hw_transformer_block_run takes from the arena, and gives back; SIZE_MAX if they do not fit. */
size_t hw_transformer_block_scratch(const hw_context *context, const hw_transformer_block *module,
                                    const hw_module_input *input, const hw_forward_options *options);

/* Creates the trace of a run, if options ask for one. */
hw_status hw_transformer_block_trace(const hw_transformer_block *module, const hw_module_input *input,
                                     const hw_forward_options *options);

/* As hw_multi_head_attention_run. */
void hw_transformer_block_run(hw_context *context, const hw_transformer_block *module, const hw_module_input *input,
                              float *y, const hw_forward_options *options);

#endif
