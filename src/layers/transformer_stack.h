/* TransformerStack, for the model that owns the arena. */
#ifndef HW_LAYERS_TRANSFORMER_STACK_H
#define HW_LAYERS_TRANSFORMER_STACK_H

#include "core/context.h"
#include "layers/forward.h"

/* Bytes that hw_transformer_stack_run takes from the arena, and gives back; SIZE_MAX if they do not fit. */
size_t hw_transformer_stack_scratch(const hw_context *context, const hw_transformer_stack *module,
                                    const hw_module_input *input, const hw_forward_options *options);

/* No layer has a trace, until it is created. */
void hw_transformer_stack_clear_traces(const hw_transformer_stack *module, const hw_forward_options *options);

/* Creates all traces that options ask for, or none. */
hw_status hw_transformer_stack_trace(const hw_transformer_stack *module, const hw_module_input *input,
                                     const hw_forward_options *options);

/* As hw_multi_head_attention_run. A cache holds the heads of layer after layer. */
void hw_transformer_stack_run(hw_context *context, const hw_transformer_stack *module, const hw_module_input *input,
                              float *y, const hw_forward_options *options);

#endif
