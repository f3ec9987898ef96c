import { attentionArguments } from '../engine/abi.js';
import { checkOperands, checkPast, writeJoined } from './operands.js';
import { checkAttentionOptions, knownOptions } from './options.js';
import { checkBoolean, checkOptions } from '../checks/check.js';
import { aligned } from '../engine/engine.js';
import { maskBytes, writeMask } from './mask.js';
import { writeStruct } from '../engine/struct.js';
import { sizeOf, withLast } from '../tensor/shape.js';

/** Where in hw_attention_arguments the mask begins. */
const maskWord = attentionArguments.word.mask / 4;

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./options.js').WeightsKind} WeightsKind */

/**
 * What `scaledDotProductAttention` always returns, and what with a past.
 * @typedef {object} AttentionOutput
 * @property {Tensor} output […, Lq, Ev]
 * @property {import('./operands.js').Past} [present] the past and then k and v: the next call's past
 */
/**
 * What needWeights asks for.
 * @typedef {object} AttentionWeights
 * @property {Tensor} weights […, Lq, Lkv]
 */
/**
 * What `scaledDotProductAttention` returns.
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
  const given = checkOptions(options, knownOptions, 'scaledDotProductAttention');
  const isGrouped = checkBoolean(given.enableGqa ?? false, 'enableGqa');
  const { q, k, v } = checkOperands(tensors, isGrouped);
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
  const asked = checkAttentionOptions(given, {
    scores: [batch, heads, queryTokens, keyTokens],
    shape: weightsShape,
    keyWidth,
    pastTokens,
  });
  const { kvLengths, mask } = asked;
  const needWeights = asked.kind >= 0;

  const rows = batch * keyHeads * keyTokens;
  const kOffset = aligned(q.size * 4);
  const vOffset = kOffset + aligned(rows * keyWidth * 4);
  const outputOffset = vOffset + aligned(rows * valueWidth * 4);
  const weightsOffset = outputOffset + aligned(sizeOf(outputShape, 'output') * 4);
  const weightsBytes = needWeights ? sizeOf(weightsShape, 'weights') * 4 : 0;
  const maskOffset = weightsOffset + aligned(weightsBytes);
  const lengthsOffset = maskOffset + aligned(maskBytes(mask));
  const structOffset = lengthsOffset + (kvLengths === undefined ? 0 : aligned(batch * 4));
  const at = engine.stage(structOffset + attentionArguments.bytes);
  engine.write(at, q);
  if (past === undefined) {
    engine.write(at + kOffset, k);
    engine.write(at + vOffset, v);
  } else {
    writeJoined(engine, at + kOffset, past.key, k);
    writeJoined(engine, at + vOffset, past.value, v);
  }
  if (mask !== undefined) {
    engine.write(at + maskOffset, mask.tensor);
  }
  if (kvLengths !== undefined) {
    engine.words.set(kvLengths, (at + lengthsOffset) / 4);
  }
  const weights = needWeights ? at + weightsOffset : 0;
  writeStruct(engine, at + structOffset, attentionArguments, {
    ...{ batch, heads, keyHeads, queryTokens, keyTokens, keyWidth, valueWidth },
    ...{ query: at, key: at + kOffset, value: at + vOffset, output: at + outputOffset, weights },
    keyLengths: kvLengths === undefined ? 0 : at + lengthsOffset,
    ...{ scale: asked.scale, softcap: asked.softcap, weightsKind: Math.max(asked.kind, 0) },
    ...{ isCausal: asked.isCausal, offsetFromEnd: asked.offsetFromEnd },
    ...{ causalOffset: asked.causalOffset, dropout: asked.dropoutP },
    ...{ windowLeft: asked.window[0], windowRight: asked.window[1] },
  });
  writeMask(engine.words, (at + structOffset) / 4 + maskWord, mask, at + maskOffset);
  const status = engine.call.scaled_dot_product_attention(at + structOffset);
  engine.check(status, 'scaledDotProductAttention');

  /** @type {AttentionResult} */
  const result = { output: engine.read(at + outputOffset, outputShape) };
  if (needWeights) {
    result.weights = engine.read(weights, weightsShape);
  }
  if (past !== undefined) {
    const lead = k.shape.slice(0, -2);
    result.present = {
      key: engine.read(at + kOffset, [...lead, keyTokens, keyWidth]),
      value: engine.read(at + vOffset, [...lead, keyTokens, valueWidth]),
    };
  }
  return result;
}
