import { attentionArguments, weightsKind } from '../engine/abi.js';
import { checkOperands, checkPast, writeJoined } from './operands.js';
import { attentionTable, fitAttentionOptions } from './options.js';
import { checkTable } from '../checks/check.js';
import { attachAttention, attachPresent, recordBytes, sourcesOf } from '../autograd/attention.js';
import { attachEnd } from '../autograd/record.js';
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

/** @typedef {ReturnType<typeof checkOperands>} Operands */

/**
 * @param {Operands} operands
 * @param {number} pastTokens
 */
function sizesOf({ q: { shape }, k, v }, pastTokens) {
  const rank = shape.length;
  return {
    batch: rank === 4 ? shape[0] : 1,
    heads: rank >= 3 ? shape[rank - 3] : 1,
    keyHeads: rank >= 3 ? k.shape[rank - 3] : 1,
    queryTokens: shape[rank - 2],
    keyTokens: k.shape[rank - 2] + pastTokens,
    keyWidth: shape[rank - 1],
    valueWidth: v.shape[rank - 1],
  };
}

/**
 * @param {Engine} engine
 * @param {Operands['k']} k
 * @param {ReturnType<typeof sizesOf>} sizes
 * @param {number} pastTokens
 * @param {readonly number[]} addresses
 * @param {ReturnType<typeof sourcesOf>} inputs undefined: nothing is recorded
 * @returns {import('./operands.js').Past}
 */
function readPresent(engine, k, sizes, pastTokens, addresses, inputs) {
  const [key, value] = [sizes.keyWidth, sizes.valueWidth].map((width, i) => {
    const shape = [...k.shape.slice(0, -2), sizes.keyTokens, width];
    const part = engine.read(addresses[1 + i], shape);
    if (inputs !== undefined) {
      const heads = sizes.batch * sizes.keyHeads;
      attachPresent(engine, part, [inputs[3 + i], inputs[1 + i]], heads, pastTokens * width);
    }
    return part;
  });
  return { key, value };
}

/**
 * @param {Engine} engine
 * @param {AttentionResult} result
 * @param {NonNullable<ReturnType<typeof sourcesOf>>} inputs
 * @param {import('../autograd/attention.js').Recorded} call
 */
function recordResult(engine, { output, weights }, inputs, call) {
  const isProbability = call.fitted.weighed.weightsKind === weightsKind.probabilities;
  attachAttention(engine, output, isProbability ? weights : undefined, inputs, call);
  if (weights !== undefined && !isProbability) {
    const cause = 'returned scores have no gradient; expected a loss of the output or of weights';
    attachEnd(engine, weights, cause);
  }
}

/**
 * @param {Engine} engine
 * @param {readonly [q: Tensor, k: Tensor, v: Tensor]} tensors
 * @param {import('./options.js').AttentionOptions} [options]
 * @returns {AttentionResult}
 */
export function scaledDotProductAttention(engine, tensors, options) {
  const given = checkTable(options, attentionTable, 'scaledDotProductAttention');
  const operands = checkOperands(tensors, given.enableGqa);
  const { q, k, v } = operands;
  const past = given.past === undefined ? undefined : checkPast(given.past, k, v);
  const pastTokens = past === undefined ? 0 : past.tokens;
  const sizes = sizesOf(operands, pastTokens);
  const { batch, heads, keyHeads, queryTokens, keyTokens, keyWidth, valueWidth } = sizes;
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
    result.present = readPresent(engine, k, sizes, pastTokens, addresses, inputs);
  }
  if (inputs !== undefined) {
    const call = { sizes, fitted, pastTokens, maskShape: given.mask?.shape, addresses };
    recordResult(engine, result, inputs, call);
  }
  return result;
}
