// Operations on two tensors whose shapes broadcast, sums along axes, and dropout.
import { checkOptions, checkProbability, checkTable, off, or } from '../checks/check.js';
import { describe } from '../checks/describe.js';
import { misfit, misshapen } from '../checks/error.js';
import { copyArray, isArray } from '../checks/foreign.js';
import { recordBinary, recordSum } from '../autograd/elementwise.js';
import { sourceOf } from '../autograd/record.js';
import { broadcast, combine, reduce } from './compute.js';
import { checkFloats, checkTensor, operandOf } from './operand.js';
import { mostDimensions, newArray, sizeOf } from './shape.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('./operand.js').FloatOperand} FloatOperand */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./tensor.js').AnyTensor} AnyTensor */
/** @typedef {import('./compute.js').Operation} Operation */

/**
 * Reads a tensor; booleans become 0 and 1 on their way to the engine.
 * @param {unknown} value
 * @param {string} name
 */
const checkNumbers = (value, name) =>
  /** @type {FloatOperand} */ ({ ...checkTensor(value, name), dtype: 'float32' });

/**
 * Reads a tensor, or a number as a tensor of rank 0.
 * @param {unknown} value
 * @param {string} name
 * @returns {FloatOperand}
 */
function checkTerm(value, name) {
  if (typeof value === 'number') {
    return operandOf({ shape: [], data: Float32Array.of(value) });
  }
  return checkNumbers(value, name);
}

/**
 * @param {Engine} engine
 * @param {Operation} operation
 * @param {AnyTensor | number} left
 * @param {AnyTensor | number} right
 * @param {unknown} [options]
 * @returns {Tensor}
 */
export function binary(engine, operation, left, right, options) {
  checkOptions(options, [], operation);
  const a = checkTerm(left, 'a');
  const b = checkTerm(right, 'b');
  const shape = broadcast(a.shape, b.shape);
  if (shape === undefined) {
    const expected = 'dimensions that are equal or 1, counted from the last';
    throw misshapen(a.shape, 'a', expected, ` and b ${describe(b.shape)}`);
  }
  const y = combine(engine, operation, a, b, shape);
  return engine.isRecording ? recordBinary(engine, y, operation, [left, right], [a, b]) : y;
}

/**
 * Options of `sum` and `mean`.
 * @typedef {object} ReduceOptions
 * @property {number | readonly number[]} [axis] one axis or several; negative numbers count from the end. Default, and
 *   with []: all axes
 * @property {boolean} [keepDim] default false; true keeps these axes with size 1
 */

/** The checks of these options. Axes are checked once the rank is known. */
const table = {
  axis: (/** @type {unknown} */ value) => copyArray(value ?? [], mostDimensions) ?? value,
  keepDim: off,
};

/**
 * @param {unknown} axis
 * @param {number} rank
 * @returns {Set<number>} from 0
 */
function checkAxes(axis, rank) {
  const given = isArray(axis) ? axis : [axis];
  // Of a scalar, as in PyTorch, 0 and -1 are axes too.
  const count = Math.max(1, rank);
  const all = [...Array(count).keys()];
  const axisOf = (/** @type {unknown} */ one) => all.find((i) => one === i || one === i - count);
  const found = new Set(given.length > count ? [undefined] : given.map(axisOf));
  if (found.has(undefined) || found.size < given.length) {
    throw misfit(axis, 'axis', `integers from ${-count} to ${count - 1}, each axis once`);
  }
  return /** @type {Set<number>} */ (found.size > 0 ? found : new Set(all));
}

/**
 * @param {Engine} engine
 * @param {'sum' | 'mean'} name
 * @param {AnyTensor} input
 * @param {ReduceOptions} [options]
 * @returns {Tensor}
 */
export function sumAlong(engine, name, input, options) {
  const { axis, keepDim } = checkTable(options, table, name);
  const x = name === 'sum' ? checkNumbers(input, 'x') : checkFloats(input, 'x');
  const axes = checkAxes(axis, x.shape.length);
  const kept = x.shape.map((n, i) => (axes.has(i) ? 1 : n));
  const shape = keepDim ? kept : x.shape.filter((_, i) => !axes.has(i));
  const scale = name === 'mean' ? sizeOf(kept, 'the result') / x.size : 1;
  const y = reduce(engine, x, kept, shape, scale);
  return engine.isRecording ? recordSum(engine, y, input, x.shape, kept, scale) : y;
}

/**
 * Options of `dropout`.
 * @typedef {object} DropoutOptions
 * @property {number} [p] default 0.5: the probability that an element is dropped
 */

const dropoutTable = { p: or(checkProbability, 0.5) };

/**
 * @param {Engine} engine
 * @param {Tensor} input
 * @param {DropoutOptions} [options]
 * @returns {Tensor}
 */
export function dropout(engine, input, options) {
  const { p } = checkTable(options, dropoutTable, 'dropout');
  const x = checkFloats(input, 'x');
  const { call } = engine;
  // Dropout of ones gives the factors of x, and of its gradient.
  const isKept = engine.isRecording && sourceOf(input) !== undefined;
  const ones = { ...x, data: newArray(Float32Array, isKept ? x.size : 0).fill(1) };
  const [at] = engine.lay([isKept ? ones : x]);
  engine.check(call.dropout(at, x.size, p, at), 'dropout');
  const y = engine.read(at, x.shape);
  return isKept ? binary(engine, 'multiply', input, y) : y;
}
