import { checkBoolean, checkProbability } from '../checks/check.js';
import { checkTensor } from '../tensor/operand.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError } from '../checks/error.js';
import { copyArray } from '../checks/foreign.js';
import { prepareMask } from './mask.js';

/** @typedef {import('../tensor/tensor.js').AnyTensor} AnyTensor */

/**
 * A part of a result: there if what asks for it is `true` (or a word that does), else perhaps.
 * @template Option
 * @template {object} Part
 * @typedef {[Option] extends [true | string | readonly number[]] ? Part : Partial<Part>} Asked
 */

/**
 * What `needWeights` of `scaledDotProductAttention` may be.
 * @typedef {boolean | 'scores' | 'softcapped' | 'masked'} WeightsKind
 */

/**
 * Order: scale, softcap, mask, softmax, dropout. A key must pass isCausal, window, kvLengths and mask, all that are given.
 * Lkv counts the past too.
 * @template {WeightsKind} [NeedWeights=WeightsKind]
 * @typedef {object} AttentionOptions
 * @property {boolean} [isCausal] query i sees keys j <= i + causalOffset; default false
 * @property {number} [causalOffset] default: the past's tokens, else 0: aligned at the top left, as torch; with isCausal
 *   and kvLengths kvLengths[b] - Lq, as ONNX
 * @property {AnyTensor} [mask] bool: true may attend; float32: added to the scaled scores; broadcast to […, Lq, Lkv], aligned
 *   at the right; a last axis shorter than Lkv is masked beyond its end
 * @property {number} [scale] default 1/√E
 * @property {number} [softcap] scores become softcap · tanh(score / softcap); default 0: they stay
 * @property {readonly [left: number, right: number]} [window] query i sees keys i + causalOffset - left to
 *   i + causalOffset + right; -1: unlimited on that side
 * @property {boolean} [enableGqa] k and v may have fewer heads, a divisor of q's; each serves as many neighbours in q.
 *   Default false
 * @property {readonly number[]} [kvLengths] per batch entry, how many of its keys are valid; none gives zeros
 * @property {import('./operands.js').Past} [past] goes before k and v; present is returned then
 * @property {number} [dropoutP] default 0; drawn from the engine's generator as torch does, whatever a module's mode is
 * @property {NeedWeights} [needWeights] true: probabilities, after dropout; the others:
 *   scaled scores before softcap, after it, after the mask. Default false
 */

export const knownOptions = /** @type {const} */ ([
  ...['isCausal', 'causalOffset', 'mask', 'scale', 'softcap', 'window', 'enableGqa'],
  ...['kvLengths', 'past', 'dropoutP', 'needWeights'],
]);

/**
 * @param {string} name
 * @param {unknown} value
 * @param {string} expected
 */
const badValue = (name, value, expected) =>
  new HeadwiseError('ERR_VALUE', `${name} is ${describe(value)}; expected ${expected}`);

/**
 * @param {unknown} value
 * @param {number} least
 * @param {number} most
 * @returns {value is number}
 */
function isInteger(value, least, most) {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

/** @param {unknown} value */
function checkScale(value) {
  if (typeof value !== 'number' || !Number.isFinite(Math.fround(value))) {
    throw badValue('scale', value, 'a number that is finite in float32');
  }
  return value;
}

/** @param {unknown} value */
function checkSoftcap(value) {
  if (typeof value !== 'number' || !(value === 0 || (value >= 1e-30 && value <= 1e30))) {
    throw badValue('softcap', value, '0 or a number from 1e-30 to 1e30');
  }
  return value;
}

/** @param {unknown} value */
function checkOffset(value) {
  if (!isInteger(value, 1 - 2 ** 31, 2 ** 31 - 1)) {
    throw badValue('causalOffset', value, 'an integer below 2^31');
  }
  return value;
}

const unlimited = /** @type {const} */ ([-1, -1]);

/**
 * @param {unknown} value
 * @returns {readonly [number, number]}
 */
function checkWindow(value) {
  const isSide = (/** @type {unknown} */ side) => isInteger(side, -1, 2 ** 31 - 1);
  const window = copyArray(value, 2);
  if (window?.length !== 2 || !window.every(isSide)) {
    throw badValue('window', value, '[left, right], integers of at least -1 (-1: unlimited)');
  }
  return /** @type {[number, number]} */ (window);
}

/**
 * @param {unknown} value
 * @param {number} batch
 * @param {number} keyTokens
 * @returns {readonly number[] | undefined}
 */
function checkLengths(value, batch, keyTokens) {
  if (value === undefined) {
    return undefined;
  }
  const isLength = (/** @type {unknown} */ length) => isInteger(length, 0, keyTokens);
  const lengths = copyArray(value, batch);
  if (lengths?.length !== batch || !lengths.every(isLength)) {
    const expected = `an array of ${batch} integers from 0 to ${keyTokens}, one for each batch entry`;
    throw badValue('kvLengths', value, expected);
  }
  return lengths;
}

const scoreKinds = ['scores', 'softcapped', 'masked'];

/**
 * @param {unknown} value
 * @returns {number} hw_weights_kind; -1: none
 */
function checkKind(value) {
  if (value === undefined || typeof value === 'boolean') {
    return value ? 0 : -1;
  }
  const kind = scoreKinds.indexOf(/** @type {string} */ (value)) + 1;
  if (kind === 0) {
    throw badValue('needWeights', value, "true, false, 'scores', 'softcapped' or 'masked'");
  }
  return kind;
}

/**
 * @param {unknown} value
 * @param {readonly [number, number, number, number]} scores [batch, heads, Lq, Lkv]
 * @param {readonly number[]} shape the scores' as the caller sees it
 */
function checkMask(value, scores, shape) {
  if (value === undefined) {
    return undefined;
  }
  const mask = checkTensor(value, 'mask');
  if (mask.shape.length > shape.length) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `mask has shape ${describe(mask.shape)}; expected at most the rank of the scores, ${describe(shape)}`,
    );
  }
  return prepareMask(mask, scores, '[…, Lq, Lkv]', shape);
}

/**
 * The options that say how scores become weights, checked, defaults filled in.
 * @param {Record<string, any>} given
 * @param {object} sizes
 * @param {readonly [number, number, number, number]} sizes.scores [batch, heads, Lq, Lkv]
 * @param {readonly number[]} sizes.shape the scores' as the caller sees it
 * @param {number} sizes.keyWidth
 * @param {number} sizes.pastTokens
 */
export function checkAttentionOptions(given, { scores, shape, keyWidth, pastTokens }) {
  const isCausal = checkBoolean(given.isCausal ?? false, 'isCausal');
  const kvLengths = checkLengths(given.kvLengths, scores[0], scores[3]);
  const offsetFromEnd = isCausal && kvLengths !== undefined && given.causalOffset === undefined;
  return {
    isCausal,
    kvLengths,
    offsetFromEnd,
    causalOffset: checkOffset(given.causalOffset ?? (offsetFromEnd ? 0 : pastTokens)),
    scale: checkScale(given.scale ?? 1 / Math.sqrt(keyWidth)),
    softcap: checkSoftcap(given.softcap ?? 0),
    window: given.window === undefined ? unlimited : checkWindow(given.window),
    dropoutP: checkProbability(given.dropoutP ?? 0, 'dropoutP'),
    kind: checkKind(given.needWeights),
    mask: checkMask(given.mask, scores, shape),
  };
}
