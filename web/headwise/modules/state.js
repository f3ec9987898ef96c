// The check of a state dict against the module that loads it.
import { classOf, describe } from '../checks/describe.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { entriesOf, isArray, isObject, tagOf } from '../checks/foreign.js';
import { checkFloats } from '../tensor/operand.js';
import { sameShape } from '../tensor/shape.js';

/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */

/**
 * The module that loads a state dict.
 * @typedef {object} Owner
 * @property {(key: string) => string} canonicalKey
 * @property {(key: string, value: unknown) => boolean} ignoresEntry
 */

/**
 * A copy of a state dict, whose tensors are not read yet.
 * @param {unknown} dict
 * @returns {Record<string, any>}
 * @throws {HeadwiseError} ERR_VALUE
 */
export function readDict(dict) {
  if (!isObject(dict) || isArray(dict) || tagOf(dict) === 'Map') {
    throw misfit(dict, 'dict', 'an object of tensors');
  }
  return Object.fromEntries(entriesOf(dict, 'dict'));
}

/**
 * @param {unknown} dict
 * @param {Owner} owner
 * @returns {[key: string, value: unknown, own: string][]} by the parameters' keys; own: the dict's
 */
function readState(dict, owner) {
  return Object.entries(readDict(dict))
    .filter(([key, value]) => !owner.ignoresEntry(key, value))
    .map(([key, value]) => [owner.canonicalKey(key), value, key]);
}

/**
 * Reads the tensors of a state dict, which must have exactly the owner's keys and shapes.
 * @param {unknown} dict
 * @param {Owner} owner
 * @param {readonly { key: string, shape: readonly number[] }[]} parameters the owner's
 * @returns {FloatOperand[]} in the parameters' order
 * @throws {HeadwiseError} ERR_VALUE: missing or unexpected keys (named); ERR_SHAPE: wrong shapes (keys named)
 */
export function matchState(dict, owner, parameters) {
  const entries = readState(dict, owner);
  const given = new Map(entries.map(([key, value]) => [key, value]));
  const keys = parameters.map(({ key }) => key);
  const missing = keys.filter((key) => !given.has(key));
  const expected = new Set(keys);
  // A key is expected once: out_proj.weight and fc_out.weight are the same.
  const unexpected = entries.filter(([key]) => !expected.delete(key)).map(([, , own]) => own);
  const tensors = new Map(
    keys.filter((key) => given.has(key)).map((key) => [key, checkFloats(given.get(key), key)]),
  );
  const misshapen = parameters.flatMap(({ key, shape }) => {
    const found = tensors.get(key)?.shape ?? shape;
    const fits = sameShape(found, shape);
    return fits ? [] : [`${key} has shape ${describe(found)}, expected ${describe(shape)}`];
  });
  const problems = [
    ...(missing.length > 0 ? [`missing: ${missing.join(', ')}`] : []),
    ...(unexpected.length > 0 ? [`unexpected: ${unexpected.join(', ')}`] : []),
    ...misshapen,
  ];
  if (problems.length > 0) {
    const code = missing.length + unexpected.length > 0 ? 'ERR_VALUE' : 'ERR_SHAPE';
    throw new HeadwiseError(code, `dict does not fit ${classOf(owner)}: ${problems.join('; ')}`);
  }
  return keys.map((key) => /** @type {FloatOperand} */ (tensors.get(key)));
}
