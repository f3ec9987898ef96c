/* A decoder's parts, for what else than logits is made of them. */
#ifndef HW_MODELS_DECODER_H
#define HW_MODELS_DECODER_H

#include "modules/module.h"

typedef struct hw_decoder {
  hw_module base;
  hw_decoder_config config;
  hw_matrix wte; /* [vocab_size, d_model]: looked up in, and the output head */
  hw_matrix wpe; /* [context_length, d_model] */
  hw_gradient wte_gradient;
  hw_gradient wpe_gradient;
  hw_modules h;
  hw_module *ln_f;
} hw_decoder;

/* x [batch, tokens, d_model]: what the last block leaves; ids that come after `past` tokens. */
void hw_decoder_run_blocks(hw_run *run, const hw_decoder *decoder, const hw_input *input, size_t past, float *x);

/* Its backward without a past: d, the gradient of x, is overwritten. */
void hw_decoder_run_blocks_backward(hw_run *run, hw_decoder *decoder, const hw_input *input, float *d);

#endif
