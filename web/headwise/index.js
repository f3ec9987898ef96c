/**
 * The engine in this thread. `load()` starts an engine; its properties are the modules, functions and random numbers.
 * @module headwise
 */

/** @typedef {import('./attention/operands.js').Past} Past */
/**
 * @template {import('./attention/options.js').WeightsKind} [NeedWeights=import('./attention/options.js').WeightsKind]
 * @typedef {import('./attention/options.js').AttentionOptions<NeedWeights>} AttentionOptions
 */
/** @typedef {import('./checks/error.js').HeadwiseErrorCode} HeadwiseErrorCode */
/** @typedef {import('./autograd/backward.js').BackwardOptions} BackwardOptions */
/** @typedef {import('./autograd/optimizers.js').AdamW} AdamW */
/** @typedef {import('./autograd/optimizers.js').AdamWOptions} AdamWOptions */
/** @typedef {import('./autograd/optimizers.js').SGD} SGD */
/** @typedef {import('./autograd/optimizers.js').SGDOptions} SGDOptions */
/**
 * @template Settings
 * @typedef {import('./autograd/optimizers.js').ParameterGroup<Settings>} ParameterGroup
 */
/**
 * @template Settings
 * @typedef {import('./autograd/optimizers.js').Parameters<Settings>} Parameters
 */
/** @typedef {import('./modules/composed-module.js').ComposedModule} ComposedModule */
/** @typedef {import('./modules/parameter.js').Parameter} Parameter */
/** @typedef {import('./tensor/broadcast.js').DropoutOptions} DropoutOptions */
/** @typedef {import('./tensor/broadcast.js').ReduceOptions} ReduceOptions */
/** @typedef {import('./tensor/losses.js').CrossEntropyOptions} CrossEntropyOptions */
/** @typedef {import('./tensor/functions.js').RmsNormOptions} RmsNormOptions */
/** @typedef {import('./tensor/losses.js').MseLossOptions} MseLossOptions */
/** @typedef {import('./tensor/losses.js').Reduction} Reduction */
/** @typedef {import('./tensor/functions.js').GeluOptions} GeluOptions */
/** @typedef {import('./tensor/functions.js').LayerNormFunctionOptions} LayerNormFunctionOptions */
/** @typedef {import('./engine/headwise.js').EngineInfo} EngineInfo */
/** @typedef {import('./engine/headwise.js').Headwise} Headwise */
/** @typedef {import('./engine/load-options.js').LoadOptions} LoadOptions */
/** @typedef {import('./tensor/make-tensor.js').BigIntArray} BigIntArray */
/** @typedef {import('./tensor/make-tensor.js').NestedArray} NestedArray */
/** @typedef {import('./tensor/make-tensor.js').NestedBooleans} NestedBooleans */
/** @typedef {import('./tensor/make-tensor.js').NestedNumbers} NestedNumbers */
/** @typedef {import('./tensor/make-tensor.js').NumberArray} NumberArray */
/**
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {import('./modules/attention-module.js').ForwardOptions<NeedWeights, WithTrace>} ForwardOptions
 */
/**
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {import('./modules/attention-module.js').ForwardResult<NeedWeights, WithTrace>} ForwardResult
 */
/**
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {import('./modules/attention-module.js').LayerResults<NeedWeights, WithTrace>} LayerResults
 */
/** @typedef {import('./modules/causal-attention.js').CausalAttention} CausalAttention */
/** @typedef {import('./modules/causal-attention.js').CausalAttentionOptions} CausalAttentionOptions */
/** @typedef {import('./modules/embedding.js').Embedding} Embedding */
/** @typedef {import('./modules/embedding.js').EmbeddingOptions} EmbeddingOptions */
/** @typedef {import('./tensor/ids.js').Ids} Ids */
/** @typedef {import('./tensor/ids.js').NestedIds} NestedIds */
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
/**
 * @template {import('./attention/options.js').WeightsKind} [NeedWeights=import('./attention/options.js').WeightsKind]
 * @typedef {import('./attention/scaled-dot-product-attention.js').AttentionResult<NeedWeights>} AttentionResult
 */
/** @typedef {import('./attention/options.js').WeightsKind} WeightsKind */
/**
 * @template Option
 * @template {object} Part
 * @typedef {import('./attention/options.js').Asked<Option, Part>} Asked
 */
/** @typedef {import('./modules/attention-module.js').ForwardOutput} ForwardOutput */
/** @typedef {import('./modules/attention-module.js').ForwardTrace} ForwardTrace */
/** @typedef {import('./modules/attention-module.js').ForwardWeights} ForwardWeights */
/** @typedef {import('./modules/attention-module.js').LayerTraces} LayerTraces */
/** @typedef {import('./modules/attention-module.js').LayerWeights} LayerWeights */
/** @typedef {import('./modules/multi-head-attention.js').CacheOption} CacheOption */
/** @typedef {import('./attention/scaled-dot-product-attention.js').AttentionOutput} AttentionOutput */
/** @typedef {import('./attention/scaled-dot-product-attention.js').AttentionWeights} AttentionWeights */
/** @typedef {import('./tensor/tensor.js').AnyTensor} AnyTensor */
/**
 * @template {import('./tensor/tensor.js').DType} D
 * @typedef {import('./tensor/tensor.js').DataOf<D>} DataOf
 */
/** @typedef {import('./tensor/tensor.js').DType} DType */
/** @typedef {import('./tensor/tensor.js').Range} Range */
/** @typedef {import('./attention/trace.js').Trace} Trace */

export { HeadwiseError } from './checks/error.js';
export { load } from './engine/load.js';
export { tensor } from './tensor/make-tensor.js';
export { Tensor, zeros } from './tensor/tensor.js';
