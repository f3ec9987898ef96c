/* CausalAttention, for the wrapper that runs several over one arena. */
#ifndef HW_LAYERS_CAUSAL_ATTENTION_H
#define HW_LAYERS_CAUSAL_ATTENTION_H

#include "layers/forward.h"
#include "layers/trace.h"

/* One head's place in a forward of num_heads heads: whose columns of y, whose weights, whose part of the trace. */
typedef struct hw_head_place {
  size_t head;
  size_t num_heads;
} hw_head_place;

/* hw_forward_check with the module's context length, and no cache. */
hw_status hw_causal_attention_check(const hw_causal_attention *module, const hw_module_input *input,
                                    const hw_forward_options *options);

/* Bytes of one module's weights; SIZE_MAX if they do not fit. */
size_t hw_causal_attention_weight_bytes(const hw_causal_attention_config *config);

/* Draws the weights in torch's order. Apart from the creation, so that one that fails leaves the generator alone. */
void hw_causal_attention_draw(hw_context *context, hw_causal_attention *module);

size_t hw_causal_attention_scratch(const hw_context *context, const hw_causal_attention *module,
                                   const hw_module_input *input, const hw_forward_options *options);

/* Creates the trace of a forward over num_heads such modules, if options ask for one. */
hw_status hw_causal_attention_trace(const hw_causal_attention *module, const hw_module_input *input,
                                    const hw_forward_options *options, size_t num_heads);

/* The arena holds the scratch; y [batch, tokens, num_heads · d_out]. */
void hw_causal_attention_run(hw_context *context, const hw_causal_attention *module, const hw_module_input *input,
                             float *y, const hw_forward_options *options, hw_head_place place);

#endif
