import { attentionArguments } from '../engine/abi.js';
import { checkOperands, checkPast, writeJoined } from './operands.js';
import { attentionTable, fitAttentionOptions } from './options.js';
import { checkTable } from '../checks/check.js';
import { attachAttention, attachPresent, recordBytes, sourcesOf } from '../autograd/attention.js';
import { writeArguments } from './arguments.js';
import { sizeOf, withLast } from '../tensor/shape.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./options.js').WeightsKind} WeightsKind */

/**
 * The output of `scaledDotProductAttention`, and `present` with a past.
 * @typedef {object} AttentionOutput
 * @property {Tensor} output […, Lq, Ev]
 * @property {import('./operands.js').Past} [present] past followed by k and v; use it as the next call's past
 */
/**
 * The part of the result that needWeights adds.
 * @typedef {object} AttentionWeights
 * @property {Tensor} weights […, Lq, Lkv]
 */
/**
 * The result of `scaledDotProductAttention`.
 * @template {WeightsKind} [NeedWeights=WeightsKind]
 * @typedef {AttentionOutput & import('./options.js').Asked<NeedWeights, AttentionWeights>} AttentionResult
 */

/**
 * @param {Engine} engine
 * @param {readonly [q: Tensor, k: Tensor, v: Tensor]} tensors
 * @param {import('./options.js').AttentionOptions} [options]
 * @returns {AttentionResult}
 */
export function scaledDotProductAttention(engine, tensors, options) {
  const given = checkTable(options, attentionTable, 'scaledDotProductAttention');
  const { q, k, v } = checkOperands(tensors, given.enableGqa);
  const past = given.past === undefined ? undefined : checkPast(given.past, k, v);
  const pastTokens = past === undefined ? 0 : past.tokens;
  const rank = q.shape.length;
  const batch = rank === 4 ? q.shape[0] : 1;
  const heads = rank >= 3 ? q.shape[rank - 3] : 1;
  const keyHeads = rank >= 3 ? k.shape[rank - 3] : 1;
  const queryTokens = q.shape[rank - 2];
  const keyTokens = k.shape[rank - 2] + pastTokens;
  const keyWidth = q.shape[rank - 1];
  const valueWidth = v.shape[rank - 1];
  const outputShape = withLast(q.shape, valueWidth);
  const weightsShape = withLast(q.shape, keyTokens);
  const fitted = fitAttentionOptions(given, {
    scores: [batch, heads, queryTokens, keyTokens],
    shape: weightsShape,
    keyWidth,
    pastTokens,
  });
  const { mask, lengths, needWeights } = fitted;
  const rows = batch * keyHeads * keyTokens;
  const parts = [
    q,
    past ? rows * keyWidth * 4 : k,
    past ? rows * valueWidth * 4 : v,
    sizeOf(outputShape, 'output') * 4,
    needWeights ? sizeOf(weightsShape, 'weights') * 4 : undefined,
    mask?.tensor,
    lengths,
    attentionArguments.bytes,
  ];
  const sizes = { batch, heads, keyHeads, queryTokens, keyTokens, keyWidth, valueWidth };
  const inputs = engine.isRecording
    ? sourcesOf([...tensors, past?.from.key, past?.from.value, given.mask?.from])
    : undefined;
  if (inputs !== undefined) {
    parts.push(...recordBytes(sizes, given.dropoutP));
  }
  const addresses = engine.lay(parts);
  const [, key, value, output, weights] = addresses;
  if (past !== undefined) {
    writeJoined(engine, key, past.key, k);
    writeJoined(engine, value, past.value, v);
  }
  writeArguments(engine, sizes, fitted, addresses);
  const status = engine.call.scaled_dot_product_attention(addresses[7]);
  engine.check(status, 'scaledDotProductAttention');

  /** @type {AttentionResult} */
  const result = { output: engine.read(output, outputShape) };
  if (needWeights) {
    result.weights = engine.read(weights, weightsShape);
  }
  if (past !== undefined) {
    const lead = k.shape.slice(0, -2);
    result.present = {
      key: engine.read(key, [...lead, keyTokens, keyWidth]),
      value: engine.read(value, [...lead, keyTokens, valueWidth]),
    };
  }
  if (inputs !== undefined) {
    const call = { sizes, fitted, pastTokens, maskShape: given.mask?.shape, addresses };
    attachAttention(engine, result.output, inputs, call);
  }
  if (inputs !== undefined && result.present !== undefined) {
    const keys = batch * keyHeads;
    const { present } = result;
    attachPresent(engine, present.key, [inputs[3], inputs[1]], keys, pastTokens * keyWidth);
    attachPresent(engine, present.value, [inputs[4], inputs[2]], keys, pastTokens * valueWidth);
  }
  return result;
}
