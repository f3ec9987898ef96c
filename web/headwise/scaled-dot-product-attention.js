import { checkOperands, checkPast, writeJoined } from './attention-operands.js';
import { checkAttentionOptions, knownOptions } from './attention-options.js';
import { checkBoolean, checkOptions } from './check.js';
import { aligned, maskWords } from './engine.js';
import { maskBytes, writeMask } from './mask.js';
import { sizeOf, withLast } from './tensor.js';

/** @typedef {import('./engine.js').Engine} Engine */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./attention-options.js').AttentionOptions} AttentionOptions */

/**
 * What `scaledDotProductAttention` returns.
 * @typedef {object} AttentionResult
 * @property {Tensor} output […, Lq, Ev]
 * @property {Tensor} [weights] […, Lq, Lkv], if needWeights asked for them
 * @property {import('./attention-operands.js').Past} [present] the past and then k and v: the next call's past
 */

/** Where in hw_attention_arguments, in words, what follows the sizes and addresses begins. */
const scaleWord = 13;
const maskWord = 21;

/**
 * Fills an hw_attention_arguments.
 * @param {Engine} engine
 * @param {number} address
 * @param {readonly number[]} sizes in its order
 * @param {readonly number[]} addresses in its order
 * @param {ReturnType<typeof checkAttentionOptions>} asked
 * @param {number} maskAt
 */
function writeArguments(engine, address, sizes, addresses, asked, maskAt) {
  const { words, floats } = engine;
  const word = address / 4;
  const at = word + scaleWord;
  words.set(sizes, word);
  words.set(addresses, word + sizes.length);
  floats[at] = asked.scale;
  floats[at + 1] = asked.softcap;
  words[at + 2] = Math.max(asked.kind, 0);
  words[at + 3] = Number(asked.isCausal);
  words[at + 4] = Number(asked.offsetFromEnd);
  words[at + 5] = asked.causalOffset;
  words[at + 6] = asked.window[0];
  words[at + 7] = asked.window[1];
  writeMask(words, word + maskWord, asked.mask, maskAt);
}

/**
 * @param {Engine} engine
 * @param {Tensor} q
 * @param {Tensor} k
 * @param {Tensor} v
 * @param {AttentionOptions} [options]
 * @returns {AttentionResult}
 */
export function scaledDotProductAttention(engine, q, k, v, options) {
  const given = checkOptions(options, knownOptions, 'scaledDotProductAttention');
  checkOperands(q, k, v, checkBoolean(given.enableGqa ?? false, 'enableGqa'));
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
  const kOffset = aligned(q.data.byteLength);
  const vOffset = kOffset + aligned(rows * keyWidth * 4);
  const outputOffset = vOffset + aligned(rows * valueWidth * 4);
  const weightsOffset = outputOffset + aligned(sizeOf(outputShape, 'output') * 4);
  const weightsBytes = needWeights ? sizeOf(weightsShape, 'weights') * 4 : 0;
  const maskOffset = weightsOffset + aligned(weightsBytes);
  const lengthsOffset = maskOffset + aligned(maskBytes(mask));
  const structOffset = lengthsOffset + (kvLengths === undefined ? 0 : aligned(batch * 4));
  const at = engine.stage(structOffset + (maskWord + maskWords) * 4);
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
  const sizes = [batch, heads, keyHeads, queryTokens, keyTokens, keyWidth, valueWidth];
  const weights = needWeights ? at + weightsOffset : 0;
  const lengths = kvLengths === undefined ? 0 : at + lengthsOffset;
  const addresses = [at, at + kOffset, at + vOffset, at + outputOffset, weights, lengths];
  writeArguments(engine, at + structOffset, sizes, addresses, asked, at + maskOffset);
  const status = engine.call.scaled_dot_product_attention(at + structOffset, asked.dropoutP);
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
