/* MultiHeadAttention, for the block that owns the arena. */
#ifndef HW_LAYERS_MULTI_HEAD_ATTENTION_H
#define HW_LAYERS_MULTI_HEAD_ATTENTION_H

#include "core/context.h"
#include "layers/forward.h"

/* Draws the weights in torch's order. Apart from the creation, so that one that fails leaves the generator alone. */
void hw_multi_head_attention_draw(hw_context *context, hw_multi_head_attention *module);

/* Bytes that hw_multi_head_attention_run takes from the arena, and gives back; SIZE_MAX if they do not fit. */
size_t hw_multi_head_attention_scratch(const hw_context *context, const hw_multi_head_attention *module,
                                       const hw_module_input *input, const hw_forward_options *options);

/* Creates the trace of a run, if options ask for one. */
hw_status hw_multi_head_attention_trace(const hw_multi_head_attention *module, const hw_module_input *input,
                                        const hw_forward_options *options);

/* The input fits, the arena holds the scratch and the trace exists. y may be x. A cache has room for the tokens, which
 * are appended to it; its length is left to the caller. */
void hw_multi_head_attention_run(hw_context *context, const hw_multi_head_attention *module,
                                 const hw_module_input *input, float *y, const hw_forward_options *options);

#endif
