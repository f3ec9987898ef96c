import { checkShape, checkTable, oneOf, or } from '../checks/check.js';
import { describe } from '../checks/describe.js';
import { binary, sumAlong } from './broadcast.js';
import { checkFloats } from './operand.js';
import { sameShape } from './shape.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('./tensor.js').Tensor} Tensor */

/**
 * What becomes of the losses of all elements: their mean, their sum, or nothing.
 * @typedef {'mean' | 'sum' | 'none'} Reduction
 */

const reduction = or(oneOf(/** @type {const} */ (['mean', 'sum', 'none'])), 'mean');

/**
 * What `mseLoss` may be told.
 * @typedef {object} MseLossOptions
 * @property {Reduction} [reduction] default 'mean'
 */

const mseTable = { reduction };

/**
 * @param {Engine} engine
 * @param {Tensor} input
 * @param {Tensor} target
 * @param {MseLossOptions} [options]
 * @returns {Tensor}
 */
export function mseLoss(engine, input, target, options) {
  const { reduction: how } = checkTable(options, mseTable, 'mseLoss');
  const x = checkFloats(input, 'input');
  const y = checkFloats(target, 'target');
  checkShape(y, 'target', sameShape(x.shape, y.shape), () => `${describe(x.shape)}, as input`);
  const difference = binary(engine, 'subtract', input, target);
  const squares = binary(engine, 'multiply', difference, difference);
  return how === 'none' ? squares : sumAlong(engine, how, squares);
}
