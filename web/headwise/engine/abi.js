// Written by npm run build.
import { layoutOf } from './layout.js';
/**
 * The functions of src/exports/.
 * @typedef {object} Exports
 * @property {() => number} engine_start
 * @property {() => number} result_address
 * @property {(bytes: number) => number} staging_reserve
 * @property {() => void} staging_release
 * @property {() => number} staging_capacity
 * @property {() => number} has_relaxed_simd
 * @property {(low: number, high: number) => number} manual_seed
 * @property {(state: number) => number} get_rng_state
 * @property {(state: number) => number} set_rng_state
 * @property {(out: number, count: number) => number} rand
 * @property {(out: number, count: number) => number} randn
 * @property {(a: number, b: number, c: number, batch: number, a_index: number, b_index: number, m: number, k: number, n: number) => number} matmul
 * @property {(x: number, y: number, batch: number, rows: number, columns: number) => number} transpose
 * @property {(x: number, y: number, rows: number, columns: number) => number} softmax
 * @property {(x: number, y: number, count: number, approximate: number) => number} gelu
 * @property {(x: number, rows: number, columns: number, weight: number, bias: number, eps: number, y: number) => number} layer_norm
 * @property {(operation: number, rank: number, shape: number, a: number, a_shape: number, b: number, b_shape: number, y: number) => number} broadcast
 * @property {(rank: number, shape: number, x: number, y_shape: number, scale: number, y: number) => number} sum
 * @property {(x: number, count: number, probability: number, y: number) => number} dropout
 * @property {(logits: number, count: number, temperature: number, top_k: number, top_p: number, uniform: number, id: number, log_probability: number) => number} sample
 * @property {(a: number) => number} scaled_dot_product_attention
 * @property {(activation: number, x: number, y: number, count: number) => number} activate
 * @property {(activation: number, x: number, dy: number, dx: number, count: number) => number} activation_backward
 * @property {(y: number, dy: number, dx: number, rows: number, columns: number) => number} softmax_backward
 * @property {(x: number, rows: number, columns: number, weight: number, eps: number, dy: number, dx: number, d_weight: number, d_bias: number) => number} layer_norm_backward
 * @property {(x: number, rows: number, columns: number, weight: number, eps: number, y: number) => number} rms_norm
 * @property {(x: number, rows: number, columns: number, weight: number, eps: number, dy: number, dx: number, d_weight: number) => number} rms_norm_backward
 * @property {(call: number) => number} cross_entropy
 * @property {(a: number, g: number) => number} scaled_dot_product_attention_backward
 * @property {() => number} growths_address
 * @property {(kind: number, config: number, draw: boolean) => number} module_create
 * @property {(module: number) => void} module_destroy
 * @property {(module: number, training: boolean) => void} module_train
 * @property {(module: number, checkpointing: boolean) => void} module_checkpoint
 * @property {(module: number, input: number, y: number, options: number) => number} module_forward
 * @property {(module: number) => number} module_parameter_count
 * @property {(module: number, index: number, info: number) => number} module_parameter
 * @property {(module: number, index: number, first_row: number, rows: number, type: number, source: number) => number} module_load
 * @property {(module: number, index: number, first_row: number, rows: number, target: number) => number} module_store
 * @property {(module: number, batch: number, past_key: number, past_value: number, past_tokens: number, dtype: number) => number} module_create_cache
 * @property {(cache: number) => void} cache_destroy
 * @property {(cache: number) => number} cache_lengths
 * @property {(cache: number) => void} cache_undo
 * @property {(cache: number, length: number) => number} cache_truncate
 * @property {() => void} _initialize
 * @property {(threads: number, patience: number) => number} team_start
 * @property {(thread: number) => number} team_stack
 * @property {(thread: number) => void} team_work
 * @property {() => void} team_fail
 * @property {() => void} team_stop
 * @property {(trace: number) => void} trace_destroy
 * @property {(trace: number) => number} trace_bytes
 * @property {(trace: number, batch: number, head: number, row_start: number, row_end: number, out: number) => number} trace_weights
 * @property {(trace: number) => number} trace_value_width
 * @property {(trace: number, batch: number, head: number, out: number) => number} trace_values
 * @property {(trace: number, batch: number, head: number, out: number) => number} trace_output
 * @property {(module: number, layer: number, trace: number, batch: number, head: number, row_start: number, row_end: number, out: number) => number} trace_norms
 * @property {(trace: number, batch: number, head: number, size: number, out: number) => number} trace_map
 * @property {(decoder: number, call: number) => number} decoder_attribution
 * @property {(decoder: number, layer: number, head: number, copying: number, eigenvalues: number) => number} decoder_head_circuit
 * @property {(decoder: number, call: number) => number} decoder_qk_attribution
 * @property {(decoder: number, layer: number, head: number, with_gains: boolean, out: number) => number} decoder_head_weights
 * @property {(module: number, input: number, y: number, options: number) => number} module_forward_recorded
 * @property {(module: number, input: number, graph: number, dy: number, dx: number, asked: number) => number} module_backward
 * @property {(graph: number) => void} graph_destroy
 * @property {(graph: number) => number} graph_bytes
 * @property {(graph: number, module: number) => boolean} graph_is_current
 * @property {(module: number, index: number) => boolean} module_has_gradient
 * @property {(module: number, index: number, first_row: number, rows: number, source: number) => number} module_load_gradient
 * @property {(module: number, index: number, first_row: number, rows: number, target: number) => number} module_store_gradient
 * @property {(module: number, index: number) => number} module_clear_gradient
 * @property {(module: number, parameters: number, count: number, sum: number) => number} module_sum_gradient_squares
 * @property {(module: number, parameters: number, count: number, factor: number) => number} module_scale_gradients
 * @property {(module: number) => number} optimizer_create
 * @property {(optimizer: number) => void} optimizer_destroy
 * @property {(optimizer: number, config: number, parameters: number, count: number) => number} adamw_step
 * @property {(optimizer: number, config: number, parameters: number, count: number) => number} sgd_step
 * @property {(optimizer: number, index: number) => number} optimizer_steps
 * @property {(optimizer: number, index: number, steps: number) => number} optimizer_set_steps
 * @property {(optimizer: number, index: number, moment: number) => boolean} optimizer_has_moment
 * @property {(optimizer: number, index: number, moment: number, first_row: number, rows: number, source: number) => number} optimizer_load_moment
 * @property {(optimizer: number, index: number, moment: number, first_row: number, rows: number, target: number) => number} optimizer_store_moment
 * @property {(config: number, steps: number, count: number, value: number, gradient: number, exp_avg: number, exp_avg_sq: number) => number} adamw_step_array
 * @property {(config: number, count: number, value: number, gradient: number, momentum_buffer: number) => number} sgd_step_array
 * @property {(model: number, input: number, loss: number, records: boolean) => number} model_loss
 * @property {(model: number, graph: number, scale: number) => number} model_loss_backward
 */
/** hw_mask @type {import('./layout.js').Layout<'kind' | 'data' | 'batchStride' | 'headStride' | 'queryStride' | 'keyStride'>} */
export const mask = /* @__PURE__ */ layoutOf('kind data batchStride headStride queryStride keyStride');
/** hw_input @type {import('./layout.js').Layout<'x' | 'ids' | 'batch' | 'tokens' | 'logitsStart' | 'logitsEnd' | 'lengths' | 'logitsLast'>} */
export const input = /* @__PURE__ */ layoutOf('x ids batch tokens logitsStart logitsEnd lengths logitsLast:b');
/** hw_forward_options @type {import('./layout.js').Layout<'mask' | 'weights' | 'trace' | 'cache' | 'headMask' | 'causality' | 'replace' | 'replaceCount' | 'tokenTypes' | 'positionIds' | 'start' | 'startLayer' | 'residuals'>} */
export const forwardOptions = /* @__PURE__ */ layoutOf('mask weights@24 trace cache headMask causality replace replaceCount tokenTypes positionIds start startLayer residuals');
/** hw_parameter_info @type {import('./layout.js').Layout<'name' | 'rank' | 'shape' | 'loadsWhole'>} */
export const parameterInfo = /* @__PURE__ */ layoutOf('name rank@96 shape loadsWhole:b@108');
/** hw_attention_arguments @type {import('./layout.js').Layout<'batch' | 'heads' | 'keyHeads' | 'queryTokens' | 'keyTokens' | 'keyWidth' | 'valueWidth' | 'query' | 'key' | 'value' | 'output' | 'weights' | 'keyLengths' | 'scale' | 'softcap' | 'weightsKind' | 'isCausal' | 'offsetFromEnd' | 'causalOffset' | 'windowLeft' | 'windowRight' | 'mask' | 'dropout' | 'rowMaximum' | 'rowSum' | 'kept'>} */
export const attentionArguments = /* @__PURE__ */ layoutOf('batch heads keyHeads queryTokens keyTokens keyWidth valueWidth query key value output weights keyLengths scale:f softcap:f weightsKind isCausal:b offsetFromEnd:b causalOffset windowLeft windowRight mask dropout:d@104 rowMaximum rowSum kept');
/** hw_adamw_config @type {import('./layout.js').Layout<'lr' | 'beta1' | 'beta2' | 'eps' | 'weightDecay'>} */
export const adamwConfig = /* @__PURE__ */ layoutOf('lr:d beta1:d beta2:d eps:d weightDecay:d');
/** hw_sgd_config @type {import('./layout.js').Layout<'lr' | 'momentum' | 'weightDecay' | 'nesterov'>} */
export const sgdConfig = /* @__PURE__ */ layoutOf('lr:d momentum:d weightDecay:d nesterov:b');
/** hw_cross_entropy_call @type {import('./layout.js').Layout<'logits' | 'targets' | 'rows' | 'classes' | 'ignoreIndex' | 'labelSmoothing' | 'losses' | 'gradient' | 'scale' | 'rowScales'>} */
export const crossEntropyCall = /* @__PURE__ */ layoutOf('logits targets rows classes ignoreIndex labelSmoothing:f losses gradient scale:f rowScales');
/** hw_attention_gradient_arguments @type {import('./layout.js').Layout<'output' | 'query' | 'key' | 'value' | 'mask' | 'weights'>} */
export const attentionGradientArguments = /* @__PURE__ */ layoutOf('output query key value mask weights');
/** hw_loss_input @type {import('./layout.js').Layout<'ids' | 'targets' | 'batch' | 'tokens' | 'ignoreIndex' | 'tokenTypes' | 'lengths' | 'positionIds'>} */
export const lossInput = /* @__PURE__ */ layoutOf('ids targets batch tokens ignoreIndex tokenTypes lengths positionIds');
/** hw_rotary_config @type {import('./layout.js').Layout<'frequencies' | 'pairs' | 'factor'>} */
export const rotaryConfig = /* @__PURE__ */ layoutOf('frequencies pairs factor:d');
/** hw_layer_config @type {import('./layout.js').Layout<'window' | 'rotary'>} */
export const layerConfig = /* @__PURE__ */ layoutOf('window rotary');
/** hw_option_gradients @type {import('./layout.js').Layout<'mask' | 'headMask' | 'weights' | 'weightsGradient'>} */
export const optionGradients = /* @__PURE__ */ layoutOf('mask headMask weights weightsGradient');
/** hw_head_output @type {import('./layout.js').Layout<'layer' | 'head' | 'output' | 'rows'>} */
export const headOutput = /* @__PURE__ */ layoutOf('layer head output rows');
/** hw_attribution @type {import('./layout.js').Layout<'ids' | 'tokens' | 'position' | 'target' | 'against' | 'hasAgainst' | 'heads' | 'mlps' | 'rest' | 'directions' | 'headMask'>} */
export const attribution = /* @__PURE__ */ layoutOf('ids tokens position target against hasAgainst:b heads mlps rest directions headMask');
/** hw_qk_attribution @type {import('./layout.js').Layout<'ids' | 'tokens' | 'layer' | 'head' | 'query' | 'key' | 'queryParts' | 'keyParts' | 'pairs' | 'score' | 'headMask'>} */
export const qkAttribution = /* @__PURE__ */ layoutOf('ids tokens layer head query key queryParts keyParts pairs score headMask');
/** hw_model_config @type {import('./layout.js').Layout<'names' | 'isBare' | 'dtype' | 'vocabSize' | 'contextLength' | 'dModel' | 'numLayers' | 'numHeads' | 'numKeyValueHeads' | 'headDim' | 'dFf' | 'dropout' | 'isRms' | 'eps' | 'gainOffset' | 'normPlace' | 'isParallel' | 'qkNorm' | 'qkvBias' | 'outBias' | 'mlpBias' | 'activation' | 'isGated' | 'attentionScale' | 'attentionSoftcap' | 'embeddingScale' | 'positions' | 'rotaryCount' | 'rotary' | 'layers'>} */
export const modelConfig = /* @__PURE__ */ layoutOf('names isBare:b dtype vocabSize contextLength dModel numLayers numHeads numKeyValueHeads headDim dFf dropout:d isRms:b eps:d gainOffset:d normPlace isParallel:b qkNorm:b qkvBias:b outBias:b mlpBias:b activation isGated:b attentionScale:d attentionSoftcap:d embeddingScale:d positions rotaryCount rotary layers');
/** hw_linear_config @type {import('./layout.js').Layout<'inFeatures' | 'outFeatures' | 'bias'>} */
export const linearConfig = /* @__PURE__ */ layoutOf('inFeatures outFeatures bias:b');
/** hw_layer_norm_config @type {import('./layout.js').Layout<'dim' | 'eps'>} */
export const layerNormConfig = /* @__PURE__ */ layoutOf('dim eps:d');
/** hw_embedding_config @type {import('./layout.js').Layout<'numEmbeddings' | 'embeddingDim'>} */
export const embeddingConfig = /* @__PURE__ */ layoutOf('numEmbeddings embeddingDim');
/** hw_feed_forward_config @type {import('./layout.js').Layout<'dModel' | 'dFf' | 'dropout' | 'approximate'>} */
export const feedForwardConfig = /* @__PURE__ */ layoutOf('dModel dFf dropout:d approximate');
/** hw_causal_attention_config @type {import('./layout.js').Layout<'dIn' | 'dOut' | 'contextLength' | 'dropout' | 'qkvBias' | 'isCausal' | 'byHand'>} */
export const causalAttentionConfig = /* @__PURE__ */ layoutOf('dIn dOut contextLength dropout:d qkvBias:b isCausal:b byHand:b');
/** hw_multi_head_attention_wrapper_config @type {import('./layout.js').Layout<'head.dIn' | 'head.dOut' | 'head.contextLength' | 'head.dropout' | 'head.qkvBias' | 'head.isCausal' | 'head.byHand' | 'numHeads'>} */
export const multiHeadAttentionWrapperConfig = /* @__PURE__ */ layoutOf('numHeads', 'head', causalAttentionConfig);
/** hw_multi_head_attention_config @type {import('./layout.js').Layout<'dIn' | 'dOut' | 'contextLength' | 'numHeads' | 'dropout' | 'qkvBias' | 'outProj' | 'outBias' | 'isCausal' | 'packedQkv'>} */
export const multiHeadAttentionConfig = /* @__PURE__ */ layoutOf('dIn dOut contextLength numHeads dropout:d qkvBias:b outProj:b outBias:b isCausal:b packedQkv:b');
/** hw_transformer_block_config @type {import('./layout.js').Layout<'dModel' | 'numHeads' | 'dFf' | 'dropout' | 'normFirst' | 'isCausal' | 'attentionBias' | 'attentionOnly' | 'approximate' | 'eps'>} */
export const transformerBlockConfig = /* @__PURE__ */ layoutOf('dModel numHeads dFf dropout:d normFirst:b isCausal:b attentionBias:b attentionOnly:b approximate eps:d');
/** hw_transformer_stack_config @type {import('./layout.js').Layout<'block.dModel' | 'block.numHeads' | 'block.dFf' | 'block.dropout' | 'block.normFirst' | 'block.isCausal' | 'block.attentionBias' | 'block.attentionOnly' | 'block.approximate' | 'block.eps' | 'numLayers'>} */
export const transformerStackConfig = /* @__PURE__ */ layoutOf('numLayers', 'block', transformerBlockConfig);
/** hw_decoder_config @type {import('./layout.js').Layout<'model.names' | 'model.isBare' | 'model.dtype' | 'model.vocabSize' | 'model.contextLength' | 'model.dModel' | 'model.numLayers' | 'model.numHeads' | 'model.numKeyValueHeads' | 'model.headDim' | 'model.dFf' | 'model.dropout' | 'model.isRms' | 'model.eps' | 'model.gainOffset' | 'model.normPlace' | 'model.isParallel' | 'model.qkNorm' | 'model.qkvBias' | 'model.outBias' | 'model.mlpBias' | 'model.activation' | 'model.isGated' | 'model.attentionScale' | 'model.attentionSoftcap' | 'model.embeddingScale' | 'model.positions' | 'model.rotaryCount' | 'model.rotary' | 'model.layers' | 'tiesHead' | 'logitSoftcap'>} */
export const decoderConfig = /* @__PURE__ */ layoutOf('tiesHead:b logitSoftcap:d', 'model', modelConfig);
/** hw_encoder_config @type {import('./layout.js').Layout<'model.names' | 'model.isBare' | 'model.dtype' | 'model.vocabSize' | 'model.contextLength' | 'model.dModel' | 'model.numLayers' | 'model.numHeads' | 'model.numKeyValueHeads' | 'model.headDim' | 'model.dFf' | 'model.dropout' | 'model.isRms' | 'model.eps' | 'model.gainOffset' | 'model.normPlace' | 'model.isParallel' | 'model.qkNorm' | 'model.qkvBias' | 'model.outBias' | 'model.mlpBias' | 'model.activation' | 'model.isGated' | 'model.attentionScale' | 'model.attentionSoftcap' | 'model.embeddingScale' | 'model.positions' | 'model.rotaryCount' | 'model.rotary' | 'model.layers' | 'firstPosition' | 'tokenTypes' | 'hasHead' | 'tiesHead' | 'headActivation'>} */
export const encoderConfig = /* @__PURE__ */ layoutOf('firstPosition tokenTypes hasHead:b tiesHead:b headActivation', 'model', modelConfig);
/** hw_status */
export const status = { ok: 0, errorShape: 1, errorValue: 2, errorMemory: 3 };
/** hw_mask_kind */
export const maskKind = { none: 0, bool: 1, float: 2 };
/** hw_weights_kind */
export const weightsKind = { probabilities: 0, scores: 1, softcapped: 2, masked: 3 };
/** hw_gelu_approximation */
export const geluApproximation = { none: 0, tanh: 1 };
/** hw_causality */
export const causality = { default: 0, off: 1, on: 2, own: 3 };
/** hw_moment */
export const moment = { first: 0, second: 1 };
/** hw_binary_operation */
export const binaryOperation = { add: 0, subtract: 1, multiply: 2 };
/** hw_activation */
export const activation = { gelu: 0, geluTanh: 1, relu: 2, silu: 3, tanh: 4 };
/** hw_names */
export const names = { gpt2: 0, gptNeox: 1, llama: 2, gemma3: 3, bert: 4, roberta: 5, distilbert: 6 };
/** hw_norm_place */
export const normPlace = { pre: 0, post: 1, both: 2 };
/** hw_matrix_type */
export const matrixType = { float32: 0, bfloat16: 1, float16: 2, int8: 3 };
/** hw_module_kind: each module's number and the layout of its config. */
export const modules = {
  linear: { kind: 0, config: linearConfig },
  layerNorm: { kind: 1, config: layerNormConfig },
  embedding: { kind: 2, config: embeddingConfig },
  feedForward: { kind: 3, config: feedForwardConfig },
  causalAttention: { kind: 4, config: causalAttentionConfig },
  multiHeadAttentionWrapper: { kind: 5, config: multiHeadAttentionWrapperConfig },
  multiHeadAttention: { kind: 6, config: multiHeadAttentionConfig },
  transformerBlock: { kind: 7, config: transformerBlockConfig },
  transformerStack: { kind: 8, config: transformerStackConfig },
  decoder: { kind: 9, config: decoderConfig },
  encoder: { kind: 10, config: encoderConfig },
};
