// Written by npm run build. Of structs: where fields are, in bytes, by how they are written.
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
 * @property {(a: number) => number} scaled_dot_product_attention
 * @property {(activation: number, x: number, y: number, count: number) => number} activate
 * @property {(activation: number, x: number, dy: number, dx: number, count: number) => number} activation_backward
 * @property {(y: number, dy: number, dx: number, rows: number, columns: number) => number} softmax_backward
 * @property {(x: number, rows: number, columns: number, weight: number, eps: number, dy: number, dx: number, d_weight: number, d_bias: number) => number} layer_norm_backward
 * @property {(x: number, rows: number, columns: number, weight: number, eps: number, y: number) => number} rms_norm
 * @property {(x: number, rows: number, columns: number, weight: number, eps: number, dy: number, dx: number, d_weight: number) => number} rms_norm_backward
 * @property {(table: number, rows: number, columns: number, ids: number, count: number, y: number) => number} embed
 * @property {(ids: number, count: number, dy: number, rows: number, columns: number, d_table: number) => number} embed_backward
 * @property {(call: number) => number} cross_entropy
 * @property {(a: number, g: number) => number} scaled_dot_product_attention_backward
 * @property {() => number} growths_address
 * @property {(kind: number, config: number, draw: boolean) => number} module_create
 * @property {(module: number) => void} module_destroy
 * @property {(module: number, training: boolean) => void} module_train
 * @property {(module: number, input: number, y: number, options: number) => number} module_forward
 * @property {(module: number) => number} module_parameter_count
 * @property {(module: number, index: number, info: number) => number} module_parameter
 * @property {(module: number, index: number, first_row: number, rows: number, type: number, source: number) => number} module_load
 * @property {(module: number, index: number, first_row: number, rows: number, target: number) => number} module_store
 * @property {(module: number, batch: number, past_key: number, past_value: number, past_tokens: number) => number} module_create_cache
 * @property {(cache: number) => void} cache_destroy
 * @property {(cache: number) => number} cache_length
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
 * @property {(module: number, input: number, graph: number, dy: number, dx: number) => number} module_backward
 * @property {(graph: number) => void} graph_destroy
 * @property {(graph: number, module: number) => boolean} graph_is_current
 * @property {(graph: number) => number} graph_bytes
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
/** hw_mask */
export const mask = { bytes: 24, word: { kind: 0, data: 4, batchStride: 8, headStride: 12, queryStride: 16, keyStride: 20 } };
/** hw_input */
export const input = { bytes: 32, word: { x: 0, ids: 4, batch: 8, tokens: 12, logitsStart: 16, logitsEnd: 20, lengths: 24 }, bool: { logitsLast: 28 } };
/** hw_forward_options */
export const forwardOptions = { bytes: 68, word: { mask: 0, weights: 24, trace: 28, cache: 32, headMask: 36, causality: 40, replace: 44, replaceCount: 48, tokenTypes: 52, start: 56, startLayer: 60, residuals: 64 } };
/** hw_parameter_info */
export const parameterInfo = { bytes: 112, word: { name: 0, rank: 96, shape: 100 }, bool: { loadsWhole: 108 } };
/** hw_attention_arguments */
export const attentionArguments = { bytes: 128, word: { batch: 0, heads: 4, keyHeads: 8, queryTokens: 12, keyTokens: 16, keyWidth: 20, valueWidth: 24, query: 28, key: 32, value: 36, output: 40, weights: 44, keyLengths: 48, weightsKind: 60, causalOffset: 68, windowLeft: 72, windowRight: 76, mask: 80, rowMaximum: 112, rowSum: 116, kept: 120 }, f32: { scale: 52, softcap: 56 }, f64: { dropout: 104 }, bool: { isCausal: 64, offsetFromEnd: 65 } };
/** hw_adamw_config */
export const adamwConfig = { bytes: 40, f64: { lr: 0, beta1: 8, beta2: 16, eps: 24, weightDecay: 32 } };
/** hw_sgd_config */
export const sgdConfig = { bytes: 32, f64: { lr: 0, momentum: 8, weightDecay: 16 }, bool: { nesterov: 24 } };
/** hw_cross_entropy_call */
export const crossEntropyCall = { bytes: 40, word: { logits: 0, targets: 4, rows: 8, classes: 12, ignoreIndex: 16, losses: 24, gradient: 28, rowScales: 36 }, f32: { labelSmoothing: 20, scale: 32 } };
/** hw_attention_gradient_arguments */
export const attentionGradientArguments = { bytes: 20, word: { output: 0, query: 4, key: 8, value: 12, mask: 16 } };
/** hw_loss_input */
export const lossInput = { bytes: 28, word: { ids: 0, targets: 4, batch: 8, tokens: 12, ignoreIndex: 16, tokenTypes: 20, lengths: 24 } };
/** hw_rotary_config */
export const rotaryConfig = { bytes: 16, word: { frequencies: 0, pairs: 4 }, f64: { factor: 8 } };
/** hw_layer_config */
export const layerConfig = { bytes: 8, word: { window: 0, rotary: 4 } };
/** hw_head_output */
export const headOutput = { bytes: 16, word: { layer: 0, head: 4, output: 8, rows: 12 } };
/** hw_attribution */
export const attribution = { bytes: 40, word: { ids: 0, tokens: 4, position: 8, target: 12, against: 16, heads: 24, mlps: 28, rest: 32, directions: 36 }, bool: { hasAgainst: 20 } };
/** hw_qk_attribution */
export const qkAttribution = { bytes: 40, word: { ids: 0, tokens: 4, layer: 8, head: 12, query: 16, key: 20, queryParts: 24, keyParts: 28, pairs: 32, score: 36 } };
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
  linear: { kind: 0, config: { bytes: 12, word: { inFeatures: 0, outFeatures: 4 }, bool: { bias: 8 } } },
  layerNorm: { kind: 1, config: { bytes: 16, word: { dim: 0 }, f64: { eps: 8 } } },
  embedding: { kind: 2, config: { bytes: 8, word: { numEmbeddings: 0, embeddingDim: 4 } } },
  feedForward: { kind: 3, config: { bytes: 24, word: { dModel: 0, dFf: 4, approximate: 16 }, f64: { dropout: 8 } } },
  causalAttention: { kind: 4, config: { bytes: 32, word: { dIn: 0, dOut: 4, contextLength: 8 }, f64: { dropout: 16 }, bool: { qkvBias: 24, isCausal: 25, byHand: 26 } } },
  multiHeadAttentionWrapper: { kind: 5, config: { bytes: 40, word: { 'head.dIn': 0, 'head.dOut': 4, 'head.contextLength': 8, numHeads: 32 }, f64: { 'head.dropout': 16 }, bool: { 'head.qkvBias': 24, 'head.isCausal': 25, 'head.byHand': 26 } } },
  multiHeadAttention: { kind: 6, config: { bytes: 32, word: { dIn: 0, dOut: 4, contextLength: 8, numHeads: 12 }, f64: { dropout: 16 }, bool: { qkvBias: 24, outProj: 25, outBias: 26, isCausal: 27, packedQkv: 28 } } },
  transformerBlock: { kind: 7, config: { bytes: 40, word: { dModel: 0, numHeads: 4, dFf: 8, approximate: 28 }, f64: { dropout: 16, eps: 32 }, bool: { normFirst: 24, isCausal: 25, attentionBias: 26, attentionOnly: 27 } } },
  transformerStack: { kind: 8, config: { bytes: 48, word: { 'block.dModel': 0, 'block.numHeads': 4, 'block.dFf': 8, 'block.approximate': 28, numLayers: 40 }, f64: { 'block.dropout': 16, 'block.eps': 32 }, bool: { 'block.normFirst': 24, 'block.isCausal': 25, 'block.attentionBias': 26, 'block.attentionOnly': 27 } } },
  decoder: { kind: 9, config: { bytes: 160, word: { 'model.names': 0, 'model.dtype': 8, 'model.vocabSize': 12, 'model.contextLength': 16, 'model.dModel': 20, 'model.numLayers': 24, 'model.numHeads': 28, 'model.numKeyValueHeads': 32, 'model.headDim': 36, 'model.dFf': 40, 'model.normPlace': 80, 'model.activation': 92, 'model.positions': 128, 'model.rotaryCount': 132, 'model.rotary': 136, 'model.layers': 140 }, f64: { 'model.dropout': 48, 'model.eps': 64, 'model.gainOffset': 72, 'model.attentionScale': 104, 'model.attentionSoftcap': 112, 'model.embeddingScale': 120, logitSoftcap: 152 }, bool: { 'model.isBare': 4, 'model.isRms': 56, 'model.isParallel': 84, 'model.qkNorm': 85, 'model.qkvBias': 86, 'model.outBias': 87, 'model.mlpBias': 88, 'model.isGated': 96, tiesHead: 144 } } },
  encoder: { kind: 10, config: { bytes: 160, word: { 'model.names': 0, 'model.dtype': 8, 'model.vocabSize': 12, 'model.contextLength': 16, 'model.dModel': 20, 'model.numLayers': 24, 'model.numHeads': 28, 'model.numKeyValueHeads': 32, 'model.headDim': 36, 'model.dFf': 40, 'model.normPlace': 80, 'model.activation': 92, 'model.positions': 128, 'model.rotaryCount': 132, 'model.rotary': 136, 'model.layers': 140, firstPosition: 144, tokenTypes: 148, headActivation: 156 }, f64: { 'model.dropout': 48, 'model.eps': 64, 'model.gainOffset': 72, 'model.attentionScale': 104, 'model.attentionSoftcap': 112, 'model.embeddingScale': 120 }, bool: { 'model.isBare': 4, 'model.isRms': 56, 'model.isParallel': 84, 'model.qkNorm': 85, 'model.qkvBias': 86, 'model.outBias': 87, 'model.mlpBias': 88, 'model.isGated': 96, hasHead: 152, tiesHead: 153 } } },
};
