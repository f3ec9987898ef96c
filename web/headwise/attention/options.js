import {
  asGiven,
  checkProbability,
  checkSigned,
  choicesOf,
  maybe,
  off,
  or,
  traced,
} from '../checks/check.js';
import { checkTensor, wordsOperand } from '../tensor/operand.js';
import { describe } from '../checks/describe.js';
import { misfit, misshapen } from '../checks/error.js';
import { copyList } from '../checks/foreign.js';
import { prepareMask } from './mask.js';

/** @typedef {import('../tensor/tensor.js').AnyTensor} AnyTensor */
/** @typedef {import('../tensor/make-tensor.js').NumberArray} NumberArray */
/** @typedef {import('../tensor/make-tensor.js').BigIntArray} BigIntArray */

/**
 * An optional part of a result. The type has it if the option is `true` (or a string or an array); otherwise it is Partial.
 * @template Option
 * @template {object} Part
 * @typedef {[Option] extends [true | string | readonly number[]] ? Part : Partial<Part>} Asked
 */

/**
 * The values of `needWeights` of `scaledDotProductAttention`.
 * @typedef {boolean | 'scores' | 'softcapped' | 'masked'} WeightsKind
 */

/**
 * The order is: scale, softcap, mask, softmax, dropout. A query attends to a key only if isCausal, window, kvLengths and mask
 * all allow it. Lkv includes the past.
 * @template {WeightsKind} [NeedWeights=WeightsKind]
 * @typedef {object} AttentionOptions
 * @property {boolean} [isCausal] query i sees keys j <= i + causalOffset; default false
 * @property {number} [causalOffset] where the diagonal of isCausal and window begins. A given offset applies to every batch
 *   entry. Default: the number of past tokens, or 0 without past, as in torch (aligned at the top left); with isCausal and
 *   kvLengths: kvLengths[b] - Lq, as in ONNX (an entry's last query sees its last valid key)
 * @property {AnyTensor} [mask] bool: true may attend; float32: added to the scaled scores. It broadcasts to […, Lq, Lkv],
 *   aligned at the right. If its last axis is shorter than Lkv and not 1, the keys beyond it are masked
 * @property {number} [scale] default 1/√E
 * @property {number} [softcap] scores become softcap · tanh(score / softcap); default 0: no softcap; otherwise from 1e-30 to 1e30
 * @property {readonly [left: number, right: number]} [window] query i sees keys i + causalOffset - left to
 *   i + causalOffset + right; -1: unlimited on that side
 * @property {boolean} [enableGqa] true lets k and v have fewer heads, a divisor of q's. Adjacent heads of q share each.
 *   Default false
 * @property {readonly number[] | NumberArray | BigIntArray} [kvLengths] the number of valid keys of each batch entry, past
 *   ones included, from 0 to Lkv; 0 gives zeros. q of rank 2 or 3 is one entry: then the first axis of rank 3 is heads
 * @property {import('./operands.js').Past} [past] precedes k and v; the result then has present
 * @property {number} [dropoutP] default 0; drawn from the engine's generator as in torch, regardless of any module's mode
 * @property {NeedWeights} [needWeights] true: the probabilities after dropout; 'scores': the scaled scores before softcap;
 *   'softcapped': after softcap; 'masked': after the mask. Default false
 */

/** @param {unknown} value @param {number} least @param {number} most @returns {value is number} */
function isInteger(value, least, most) {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

/** @param {unknown} value */
function checkScale(value) {
  if (typeof value !== 'number' || !Number.isFinite(Math.fround(value))) {
    throw misfit(value, 'scale', 'a number that is finite in float32');
  }
  return value;
}

/** @param {unknown} value */
function checkSoftcap(value) {
  if (typeof value !== 'number' || !(value === 0 || (value >= 1e-30 && value <= 1e30))) {
    throw misfit(value, 'softcap', '0 or a number from 1e-30 to 1e30');
  }
  return value;
}

/** @param {unknown} value @returns {readonly [number, number]} */
function checkWindow(value) {
  const isSide = (/** @type {unknown} */ side) => isInteger(side, -1, 2 ** 31 - 1);
  const window = copyList(value, 2);
  if (window?.length !== 2 || !window.every(isSide)) {
    throw misfit(value, 'window', '[left, right], integers of at least -1 (-1: unlimited)');
  }
  return /** @type {[number, number]} */ (window);
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
    throw misfit(value, 'needWeights', choicesOf([true, false, ...scoreKinds]));
  }
  return kind;
}

/** The checks of the options that do not depend on shapes; the others are checked once these are known. */
export const attentionTable = {
  ...{ isCausal: off, causalOffset: asGiven, mask: traced(checkTensor) },
  ...{ scale: asGiven, softcap: or(checkSoftcap, 0), window: maybe(checkWindow) },
  ...{ enableGqa: off, kvLengths: asGiven, past: asGiven },
  ...{ dropoutP: or(checkProbability, 0), needWeights: checkKind },
};

/** @typedef {Readonly<import('../checks/check.js').Checked<typeof attentionTable>>} Given */

/**
 * @param {unknown} value
 * @param {number} batch
 * @param {number} keyTokens
 * @returns {import('../tensor/operand.js').IdsOperand | undefined}
 */
function fitLengths(value, batch, keyTokens) {
  if (value === undefined) {
    return undefined;
  }
  const isLength = (/** @type {unknown} */ length) => isInteger(length, 0, keyTokens);
  const lengths = copyList(value, batch);
  if (lengths?.length !== batch || !lengths.every(isLength)) {
    const expected = `an array of ${batch} integers from 0 to ${keyTokens}, one for each batch entry`;
    throw misfit(value, 'kvLengths', expected);
  }
  return wordsOperand(lengths);
}

/** @param {Given['mask']} mask @param {Sizes} sizes */
function fitMask(mask, { scores, shape }) {
  if (mask !== undefined && mask.shape.length > shape.length) {
    throw misshapen(mask.shape, 'mask', `at most the rank of the scores, ${describe(shape)}`);
  }
  return mask && prepareMask(mask, scores, '[…, Lq, Lkv]', shape);
}

/**
 * @typedef {object} Sizes
 * @property {readonly [number, number, number, number]} scores [batch, heads, Lq, Lkv]
 * @property {readonly number[]} shape the scores' as the caller sees it
 * @property {number} keyWidth
 * @property {number} pastTokens
 */

/**
 * Checks the options against the shapes.
 * @param {Given} given
 * @param {Sizes} sizes
 */
export function fitAttentionOptions(given, sizes) {
  const { isCausal, softcap, dropoutP: dropout, needWeights: kind } = given;
  const [windowLeft, windowRight] = given.window ?? [-1, -1];
  const lengths = fitLengths(given.kvLengths, sizes.scores[0], sizes.scores[3]);
  const offsetFromEnd = isCausal && lengths !== undefined && given.causalOffset === undefined;
  const causalOffset = checkSigned(
    given.causalOffset ?? (offsetFromEnd ? 0 : sizes.pastTokens),
    'causalOffset',
  );
  const scale = checkScale(given.scale ?? 1 / Math.sqrt(sizes.keyWidth));
  const seen = { isCausal, offsetFromEnd, causalOffset, windowLeft, windowRight };
  const weighed = { scale, softcap, dropout, weightsKind: Math.max(kind, 0) };
  return { mask: fitMask(given.mask, sizes), lengths, needWeights: kind >= 0, seen, weighed };
}
