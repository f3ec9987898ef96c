/* A decoder's parts, for what else than logits is made of them. */
#ifndef HW_MODELS_DECODER_H
#define HW_MODELS_DECODER_H

#include "models/predictor.h"
#include "modules/block.h"
#include "modules/multi_head_attention.h"

typedef struct hw_decoder {
  hw_module base;
  hw_decoder_config config; /* what it points to belongs to the decoder */
  void *lists;              /* that */
  hw_model_parts parts;
} hw_decoder;

/* x [batch, tokens, d_model]: what the last block leaves; with run->only_asked, of the asked tokens alone, in the first rows, if a
 * block runs: then it stays set. */
void hw_decoder_run_blocks(hw_run *run, const hw_decoder *decoder, const hw_input *input, float *x);

static inline const hw_block *hw_decoder_block(const hw_decoder *decoder, size_t layer) {
  return (const hw_block *)decoder->parts.blocks.all[layer];
}

static inline hw_head_parts hw_decoder_head_parts(const hw_decoder *decoder, size_t layer, size_t head) {
  return hw_attention_head_parts(hw_decoder_block(decoder, layer)->attn, head);
}

/* logits [x->count, vocab_size] of normed rows. */
void hw_decoder_predict(const hw_run *run, const hw_decoder *decoder, const hw_rows *x, float *logits);

/* How it makes logits. */
hw_predictor hw_decoder_predictor(const hw_decoder *decoder);

#endif
