import { checkBoolean, checkFloats, checkOptions, checkShape } from './check.js';
import { describe } from './describe.js';
import { aligned, maskWords } from './engine.js';
import { HeadwiseError } from './error.js';
import { maskBytes, prepareMask, writeMask } from './mask.js';
import { sizeOf, withLast } from './tensor.js';

/** @typedef {import('./tensor.js').Tensor} Tensor */

/**
 * @typedef {object} AttentionOptions
 * @property {boolean} [isCausal] query i sees keys j <= i + causalOffset; default false
 * @property {number} [causalOffset] default 0: aligned at the top left, as torch
 * @property {Tensor} [mask] bool: true may attend; float32: added to the scaled scores; broadcast to […, Lq, Lkv], aligned
 *   at the right; a last axis shorter than Lkv is masked beyond its end
 * @property {number} [scale] default 1/√E
 * @property {readonly [left: number, right: number]} [window] query i sees keys i + causalOffset - left to
 *   i + causalOffset + right; -1: unlimited on that side
 * @property {boolean} [needWeights] default false
 */

/**
 * @typedef {object} AttentionResult
 * @property {Tensor} output […, Lq, Ev]
 * @property {Tensor} [weights] […, Lq, Lkv]
 */

const knownOptions = /** @type {const} */ ([
  'isCausal',
  'causalOffset',
  'mask',
  'scale',
  'window',
  'needWeights',
]);

/** Where in hw_attention_arguments, in words, what follows the sizes and addresses begins. */
const scaleWord = 11;
const maskWord = 16;

/**
 * Whether all dimensions but the last two are the same.
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 */
function sameBatch(a, b) {
  for (let axis = 0; axis < a.length - 2; axis++) {
    if (a[axis] !== b[axis]) {
      return false;
    }
  }
  return a.length === b.length;
}

/**
 * @param {Tensor} q
 * @param {Tensor} k
 * @param {Tensor} v
 */
function checkOperands(q, k, v) {
  const rank = checkFloats(q, 'q').shape.length;
  checkShape(q, 'q', rank >= 2 && rank <= 4, () => '[…, Lq, E] of rank 2, 3 or 4');
  const width = q.shape[rank - 1];
  const tokens = checkFloats(k, 'k').shape[k.shape.length - 2];
  const prefix = () =>
    q.shape
      .slice(0, -2)
      .map((n) => `${n}, `)
      .join('');
  checkShape(
    k,
    'k',
    sameBatch(q.shape, k.shape) && k.shape[rank - 1] === width,
    () => `[${prefix()}Lkv, ${width}], to go with q of shape ${describe(q.shape)}`,
  );
  checkShape(
    checkFloats(v, 'v'),
    'v',
    sameBatch(q.shape, v.shape) && v.shape[rank - 2] === tokens,
    () => `[${prefix()}${tokens}, Ev], to go with k of shape ${describe(k.shape)}`,
  );
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {number}
 */
function checkFinite(value, name) {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new HeadwiseError('ERR_VALUE', `${name} is ${describe(value)}; expected a finite number`);
  }
  return value;
}

/**
 * @param {unknown} value
 * @returns {number}
 */
function checkOffset(value) {
  if (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) >= 2 ** 31) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `causalOffset is ${describe(value)}; expected an integer below 2^31`,
    );
  }
  return value;
}

const unlimited = /** @type {const} */ ([-1, -1]);

/**
 * @param {unknown} value
 * @returns {readonly [number, number]}
 */
function checkWindow(value) {
  const isSide = (/** @type {unknown} */ side) =>
    typeof side === 'number' && Number.isInteger(side) && side >= -1 && side < 2 ** 31;
  if (!Array.isArray(value) || value.length !== 2 || !value.every(isSide)) {
    throw new HeadwiseError(
      'ERR_VALUE',
      `window is ${describe(value)}; expected [left, right], integers of at least -1 (-1: unlimited)`,
    );
  }
  return /** @type {[number, number]} */ (value);
}

/**
 * @param {Tensor | undefined} mask
 * @param {readonly [number, number, number, number]} scores [batch, heads, Lq, Lkv]
 * @param {readonly number[]} shape the scores' as the caller sees it
 */
function checkMask(mask, scores, shape) {
  if (mask === undefined) {
    return undefined;
  }
  if (mask.shape?.length > shape.length) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `mask has shape ${describe(mask.shape)}; expected at most the rank of the scores, ${describe(shape)}`,
    );
  }
  return prepareMask(mask, scores, '[…, Lq, Lkv]', shape);
}

/**
 * The sizes in the order of hw_attention_arguments.
 * @param {Tensor} q
 * @param {Tensor} k
 * @param {Tensor} v
 */
function sizesOf(q, k, v) {
  const rank = q.shape.length;
  const batch = rank === 4 ? q.shape[0] : 1;
  const heads = rank >= 3 ? q.shape[rank - 3] : 1;
  const keyTokens = k.shape[rank - 2];
  return [batch, heads, q.shape[rank - 2], keyTokens, q.shape[rank - 1], v.shape[rank - 1]];
}

/**
 * @param {import('./engine.js').Engine} engine
 * @param {Tensor} q
 * @param {Tensor} k
 * @param {Tensor} v
 * @param {AttentionOptions} [options]
 * @returns {AttentionResult}
 */
export function scaledDotProductAttention(engine, q, k, v, options) {
  const given = checkOptions(options, knownOptions, 'scaledDotProductAttention');
  checkOperands(q, k, v);
  const sizes = sizesOf(q, k, v);
  const [batch, heads, queryTokens, keyTokens, keyWidth, valueWidth] = sizes;
  const isCausal = checkBoolean(given.isCausal ?? false, 'isCausal');
  const offset = checkOffset(given.causalOffset ?? 0);
  const scale = checkFinite(given.scale ?? 1 / Math.sqrt(keyWidth), 'scale');
  const window = given.window === undefined ? unlimited : checkWindow(given.window);
  const needWeights = checkBoolean(given.needWeights ?? false, 'needWeights');
  const outputShape = withLast(q.shape, valueWidth);
  const weightsShape = withLast(q.shape, keyTokens);
  const mask = checkMask(given.mask, [batch, heads, queryTokens, keyTokens], weightsShape);

  const kOffset = aligned(q.data.byteLength);
  const vOffset = kOffset + aligned(k.data.byteLength);
  const outputOffset = vOffset + aligned(v.data.byteLength);
  const weightsOffset = outputOffset + aligned(sizeOf(outputShape, 'output') * 4);
  const weightsBytes = needWeights ? sizeOf(weightsShape, 'weights') * 4 : 0;
  const maskOffset = weightsOffset + aligned(weightsBytes);
  const structOffset = maskOffset + aligned(maskBytes(mask));
  const at = engine.stage(structOffset + (maskWord + maskWords) * 4);
  engine.write(at, q);
  engine.write(at + kOffset, k);
  engine.write(at + vOffset, v);
  if (mask !== undefined) {
    engine.write(at + maskOffset, mask.tensor);
  }
  const weights = needWeights ? at + weightsOffset : 0;
  const addresses = [at, at + kOffset, at + vOffset, at + outputOffset, weights];
  const word = (at + structOffset) / 4;
  engine.words.set(sizes, word);
  engine.words.set(addresses, word + sizes.length);
  engine.floats[word + scaleWord] = scale;
  engine.words[word + scaleWord + 1] = Number(isCausal);
  engine.words[word + scaleWord + 2] = offset;
  engine.words[word + scaleWord + 3] = window[0];
  engine.words[word + scaleWord + 4] = window[1];
  writeMask(engine.words, word + maskWord, mask, at + maskOffset);
  const status = engine.call.scaled_dot_product_attention(at + structOffset);
  engine.check(status, 'scaledDotProductAttention');
  const output = engine.read(at + outputOffset, outputShape);
  return needWeights ? { output, weights: engine.read(weights, weightsShape) } : { output };
}
