/**
 * The engine in this thread: `load()` starts one, and modules, functions and random numbers hang on it.
 * @module headwise
 */

/** @typedef {import('./attention-operands.js').Past} Past */
/** @typedef {import('./attention-options.js').AttentionOptions} AttentionOptions */
/** @typedef {import('./error.js').HeadwiseErrorCode} HeadwiseErrorCode */
/** @typedef {import('./functions.js').GeluOptions} GeluOptions */
/** @typedef {import('./functions.js').LayerNormFunctionOptions} LayerNormFunctionOptions */
/** @typedef {import('./headwise.js').EngineInfo} EngineInfo */
/** @typedef {import('./headwise.js').Headwise} Headwise */
/** @typedef {import('./load-options.js').LoadOptions} LoadOptions */
/** @typedef {import('./modules/attention-module.js').ForwardOptions} ForwardOptions */
/** @typedef {import('./modules/attention-module.js').ForwardResult} ForwardResult */
/** @typedef {import('./modules/attention-module.js').LayerResults} LayerResults */
/** @typedef {import('./modules/causal-attention.js').CausalAttention} CausalAttention */
/** @typedef {import('./modules/causal-attention.js').CausalAttentionOptions} CausalAttentionOptions */
/** @typedef {import('./modules/embedding.js').Embedding} Embedding */
/** @typedef {import('./modules/embedding.js').EmbeddingOptions} EmbeddingOptions */
/** @typedef {import('./modules/embedding.js').Ids} Ids */
/** @typedef {import('./modules/embedding.js').NestedIds} NestedIds */
/** @typedef {import('./modules/feed-forward.js').FeedForward} FeedForward */
/** @typedef {import('./modules/feed-forward.js').FeedForwardOptions} FeedForwardOptions */
/** @typedef {import('./modules/key-value-cache.js').CacheOptions} CacheOptions */
/** @typedef {import('./modules/key-value-cache.js').KeyValueCache} KeyValueCache */
/** @typedef {import('./modules/layer-norm.js').LayerNorm} LayerNorm */
/** @typedef {import('./modules/layer-norm.js').LayerNormOptions} LayerNormOptions */
/** @typedef {import('./modules/linear.js').Linear} Linear */
/** @typedef {import('./modules/linear.js').LinearOptions} LinearOptions */
/** @typedef {import('./modules/module.js').Module} Module */
/** @typedef {import('./modules/multi-head-attention.js').MultiHeadAttention} MultiHeadAttention */
/** @typedef {import('./modules/multi-head-attention.js').MultiHeadAttentionOptions} MultiHeadAttentionOptions */
/** @typedef {import('./modules/multi-head-attention-wrapper.js').MultiHeadAttentionWrapper} MultiHeadAttentionWrapper */
/** @typedef {import('./modules/multi-head-attention-wrapper.js').MultiHeadAttentionWrapperOptions} MultiHeadAttentionWrapperOptions */
/** @typedef {import('./modules/rowwise-module.js').ModuleResult} ModuleResult */
/** @typedef {import('./modules/self-attention.js').SelfAttentionV1} SelfAttentionV1 */
/** @typedef {import('./modules/self-attention.js').SelfAttentionV1Options} SelfAttentionV1Options */
/** @typedef {import('./modules/self-attention.js').SelfAttentionV2} SelfAttentionV2 */
/** @typedef {import('./modules/self-attention.js').SelfAttentionV2Options} SelfAttentionV2Options */
/** @typedef {import('./modules/transformer-block.js').TransformerBlock} TransformerBlock */
/** @typedef {import('./modules/transformer-block.js').TransformerBlockOptions} TransformerBlockOptions */
/** @typedef {import('./modules/transformer-stack.js').StackDepth} StackDepth */
/** @typedef {import('./modules/transformer-stack.js').TransformerStack} TransformerStack */
/** @typedef {import('./modules/transformer-stack.js').TransformerStackOptions} TransformerStackOptions */
/** @typedef {import('./scaled-dot-product-attention.js').AttentionResult} AttentionResult */
/** @typedef {import('./tensor.js').NestedArray} NestedArray */
/** @typedef {import('./tensor.js').NumberArray} NumberArray */
/** @typedef {import('./trace.js').Trace} Trace */

export { HeadwiseError } from './error.js';
export { load } from './load.js';
export { Tensor, tensor, zeros } from './tensor.js';
