import { checkBoolean, checkFloats, checkOptions, checkShape } from './check.js';
import { describe } from './describe.js';
import { maskWords } from './engine.js';
import { HeadwiseError } from './error.js';
import { maskBytes, prepareMask, writeMask } from './mask.js';
import { sizeOf } from './tensor.js';

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

/** Words of hw_attention_arguments before its mask. */
const headWords = 16;

/**
 * @param {Tensor} q
 * @param {Tensor} k
 * @param {Tensor} v
 */
function checkOperands(q, k, v) {
  checkShape(
    checkFloats(q, 'q'),
    'q',
    q.shape.length >= 2 && q.shape.length <= 4,
    '[…, Lq, E] of rank 2, 3 or 4',
  );
  const leading = q.shape.slice(0, -2);
  const [tokens, width] = [k, q].map(
    (x, i) => checkFloats(x, 'kq'[i]).shape[x.shape.length - (i === 0 ? 2 : 1)],
  );
  /** @type {(x: Tensor, last?: number) => boolean} */
  const matches = (x, last) =>
    x.shape.length === q.shape.length &&
    leading.every((n, i) => x.shape[i] === n) &&
    x.shape[leading.length] === tokens &&
    (last === undefined || x.shape[leading.length + 1] === last);
  const prefix = leading.map((n) => `${n}, `).join('');
  checkShape(
    k,
    'k',
    matches(k, width),
    `[${prefix}Lkv, ${width}], to go with q of shape ${describe(q.shape)}`,
  );
  checkShape(
    checkFloats(v, 'v'),
    'v',
    matches(v),
    `[${prefix}${tokens}, Ev], to go with k of shape ${describe(k.shape)}`,
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
 * @param {import('./engine.js').Engine} engine
 * @param {Tensor} q
 * @param {Tensor} k
 * @param {Tensor} v
 * @param {AttentionOptions} [options]
 * @returns {AttentionResult}
 */
export function scaledDotProductAttention(engine, q, k, v, options) {
  const known = ['isCausal', 'causalOffset', 'mask', 'scale', 'window', 'needWeights'];
  const given = checkOptions(options, known, 'scaledDotProductAttention');
  checkOperands(q, k, v);
  const leading = q.shape.slice(0, -2);
  const [batch, heads] = leading.length === 2 ? leading : [1, leading[0] ?? 1];
  const [queryTokens, keyWidth] = q.shape.slice(-2);
  const [keyTokens, valueWidth] = v.shape.slice(-2);
  const isCausal = checkBoolean(given.isCausal ?? false, 'isCausal');
  const offset = checkOffset(given.causalOffset ?? 0);
  const scale = checkFinite(given.scale ?? 1 / Math.sqrt(keyWidth), 'scale');
  const window = given.window === undefined ? unlimited : checkWindow(given.window);
  const needWeights = checkBoolean(given.needWeights ?? false, 'needWeights');
  const scoresShape = [...leading, queryTokens, keyTokens];
  if (given.mask !== undefined && given.mask.shape?.length > scoresShape.length) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `mask has shape ${describe(given.mask.shape)}; expected at most the rank of the scores, ${describe(scoresShape)}`,
    );
  }
  const mask =
    given.mask === undefined
      ? undefined
      : prepareMask(
          given.mask,
          [batch, heads, queryTokens, keyTokens],
          '[…, Lq, Lkv]',
          scoresShape,
        );

  const { call } = engine;
  const outputShape = [...leading, queryTokens, valueWidth];
  const [qAt, kAt, vAt, output, weights, maskAt, structAt] = engine.stage([
    q.data.byteLength,
    k.data.byteLength,
    v.data.byteLength,
    sizeOf(outputShape, 'output') * 4,
    needWeights ? sizeOf(scoresShape, 'weights') * 4 : 0,
    maskBytes(mask),
    (headWords + maskWords) * 4,
  ]);
  engine.write(qAt, q);
  engine.write(kAt, k);
  engine.write(vAt, v);
  if (mask !== undefined) {
    engine.write(maskAt, mask.tensor);
  }
  const sizes = [batch, heads, queryTokens, keyTokens, keyWidth, valueWidth];
  const addresses = [qAt, kAt, vAt, output, needWeights ? weights : 0];
  const at = structAt / 4;
  engine.words.set([...sizes, ...addresses, 0, Number(isCausal), offset, ...window], at);
  engine.floats[at + sizes.length + addresses.length] = scale;
  writeMask(engine.words, at + headWords, mask, maskAt);
  engine.check(call.scaled_dot_product_attention(structAt), 'scaledDotProductAttention');
  const result = { output: engine.read(output, outputShape) };
  return needWeights ? { ...result, weights: engine.read(weights, scoresShape) } : result;
}
