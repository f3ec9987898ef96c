// What a forward may be asked for, checked as far as that goes before shapes are known.
import { asGiven, checkBoolean, checkOptions, maybe, off, traced } from '../checks/check.js';
import { misfit } from '../checks/error.js';
import { copyArray, isArray } from '../checks/foreign.js';
import { readLengths } from '../tensor/ragged.js';
import { readTensor } from '../tensor/make-tensor.js';
import { checkFloats, checkTensor, isTensor } from '../tensor/operand.js';
import { checkCache } from './key-value-cache.js';

/** @typedef {import('../tensor/operand.js').IdsOperand} IdsOperand */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */

/** A tensor of nested arrays; anything else as it is. @param {any} value @param {string} name */
export const unnested = (value, name) =>
  isArray(value) ? readTensor(/** @type {any} */ (value), name) : value;

/** Floats, nested or not. @param {any} value @param {string} name */
export function checkHeadMask(value, name) {
  const floats = unnested(value, name);
  if (!isTensor(floats)) throw misfit(value, name, 'a Tensor or nested arrays');
  return checkFloats(floats, name);
}

/** The most replacements that are read. */
const mostOutputs = 2 ** 20;

/**
 * Another output for a head, whose numbers are checked once the model's are known.
 * @typedef {object} Replacement
 * @property {number} layer
 * @property {number} head
 * @property {FloatOperand} output
 */

/** @param {any} value @param {string} name @returns {Replacement[] | undefined} undefined: of an empty list */
function checkReplace(value, name) {
  const entries = copyArray(value, mostOutputs);
  if (entries === undefined) {
    throw misfit(value, name, 'an array of { layer, head, output }');
  }
  if (entries.length === 0) {
    return undefined;
  }
  return entries.map((/** @type {any} */ entry, /** @type {number} */ i) => {
    const place = `${name}[${i}]`;
    const { layer, head, output } = checkOptions(entry, ['layer', 'head', 'output'], name, place);
    return { layer, head, output: checkHeadMask(output, `${place}.output`) };
  });
}

/**
 * Where a forward begins, checked in full once the model's shape is known.
 * @typedef {object} Start
 * @property {number} layer
 * @property {FloatOperand} residual
 */

/** @param {any} value @param {string} name @returns {Start} */
function checkStart(value, name) {
  const { layer, residual } = checkOptions(value, ['layer', 'residual'], name, name);
  return { layer, residual: checkHeadMask(residual, `${name}.residual`) };
}

/**
 * What a forward may be asked for: what checks it before shapes are known. Some of that runs code of the caller's, so that
 * all of it comes first.
 */
export const attentionForward = {
  ...{ mask: traced(checkTensor), isCausal: maybe(checkBoolean) },
  ...{ keyPaddingMask: maybe(checkTensor), needWeights: off, trace: off },
};
export const cachedForward = { ...attentionForward, cache: checkCache };
export const encoderForward = {
  ...{ lengths: readLengths, trace: off, needWeights: off, headMask: traced(checkHeadMask) },
};
export const decoderForward = {
  logits: (/** @type {any} */ value) => copyArray(value, 2) ?? value ?? 'last',
  ...{ ...encoderForward, cache: checkCache },
  ...{ replace: maybe(checkReplace), start: maybe(checkStart), residuals: off },
  positionIds: asGiven,
};

/** @typedef {Partial<import('../checks/check.js').Checked<typeof cachedForward & typeof decoderForward> & { tokenTypes: IdsOperand, positionIds: IdsOperand }>} Asked options that are checked */

/** The options of a call without options. @type {Asked} */
export const nothing = Object.freeze({ needWeights: false, trace: false });
