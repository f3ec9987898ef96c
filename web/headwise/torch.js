/**
 * Modules of torch.nn with PyTorch's own arguments, defaults, masks and state-dict keys, so that a state dict loads as it is.
 * They belong to an engine of 'headwise'.
 *
 * Two things differ from the modules of 'headwise', because PyTorch has them so: x is [tokens, batch, width] unless batchFirst
 * is true, and a bool mask is true where a key is not attended to.
 * @module headwise/torch
 */

/** @typedef {import('./torch/multihead-attention.js').MultiheadAttentionOptions} MultiheadAttentionOptions */
/**
 * @template {boolean} [NeedWeights=boolean]
 * @typedef {import('./torch/multihead-attention.js').MultiheadForwardOptions<NeedWeights>} MultiheadForwardOptions
 */
/**
 * @template {boolean} [NeedWeights=boolean]
 * @typedef {import('./torch/multihead-attention.js').MultiheadResult<NeedWeights>} MultiheadResult
 */
/** @typedef {import('./torch/multihead-attention.js').MultiheadOutput} MultiheadOutput */
/** @typedef {import('./torch/multihead-attention.js').MultiheadWeights} MultiheadWeights */
/** @typedef {import('./torch/transformer-encoder-layer.js').TransformerEncoderLayerOptions} TransformerEncoderLayerOptions */
/**
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {import('./torch/transformer-encoder-layer.js').EncoderLayerForwardOptions<NeedWeights, WithTrace>} EncoderLayerForwardOptions
 */

export { HeadwiseError } from './checks/error.js';
export { MultiheadAttention } from './torch/multihead-attention.js';
export { TransformerEncoderLayer } from './torch/transformer-encoder-layer.js';
