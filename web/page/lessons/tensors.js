/** What torch calls reshape, permute, x[i] and +, for lessons that follow its steps: each gives a new tensor. */

import { HeadwiseError, Tensor, tensor } from '../../headwise/index.js';

/** @param {Record<string, unknown>} given what must be tensors, by name */
function checkTensors(given) {
  for (const [name, value] of Object.entries(given)) {
    if (value instanceof Tensor) continue;
    const isResult = /** @type {any} */ (value)?.output instanceof Tensor;
    const what = isResult ? 'what a forward gives' : String(value);
    throw new TypeError(`${name} is ${what}; expected a Tensor${isResult ? ', its output' : ''}`);
  }
}

/** What a value is that is no tensor and no array. @param {unknown} value */
function kindOf(value) {
  if (value instanceof Promise) return 'a Promise: write await before it';
  if (/** @type {any} */ (value)?.output instanceof Tensor) {
    return 'what a forward gives: take its output';
  }
  const is = value === undefined || value === null ? `${value}` : `a ${typeof value}`;
  return `${is.replace(/^a o/, 'an o')}; make it a tensor with tensor(…)`;
}

/**
 * A visitor's answer as a tensor: it may be one, or nested arrays of numbers.
 *
 * @param {string} name of the variable
 * @param {unknown} value
 * @returns {Tensor}
 * @throws {HeadwiseError} in words about the variable, if it is neither
 */
export function tensorFrom(name, value) {
  if (value instanceof Tensor) return value;
  const refuse = (/** @type {string} */ why) => new HeadwiseError('ERR_VALUE', `${name} ${why}`);
  if (!Array.isArray(value) && !ArrayBuffer.isView(value)) throw refuse(`is ${kindOf(value)}`);
  try {
    return tensor(/** @type {number[]} */ (value));
  } catch (error) {
    const why = /** @type {Error} */ (error).message.replace(/^array/, '');
    throw refuse(`cannot become a tensor: ${name}${why}`);
  }
}

/** @param {readonly number[]} shape */
const sizeOf = (shape) => shape.reduce((product, size) => product * size, 1);

/**
 * The same numbers in the same order, in another shape.
 *
 * @param {Tensor} x
 * @param {number[]} shape
 */
export function reshape(x, shape) {
  checkTensors({ x });
  return tensor(x.data, shape);
}

/**
 * Dimensions in another order: dimension i of the result is dimension order[i] of x.
 *
 * @param {Tensor} x
 * @param {number[]} order
 */
export function permute(x, order) {
  checkTensors({ x });
  if ([...order].sort().join() !== x.shape.map((_, axis) => axis).join()) {
    throw new RangeError(`order is [${order}]; expected each of ${x.shape.length} dimensions once`);
  }
  const shape = order.map((axis) => x.shape[axis]);
  const steps = order.map((axis) => sizeOf(x.shape.slice(axis + 1)));
  const data = new Float32Array(x.data.length);
  const index = shape.map(() => 0);
  let from = 0;
  for (let to = 0; to < data.length; to++) {
    data[to] = x.data[from];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += steps[axis];
      if (++index[axis] < shape[axis]) break;
      from -= steps[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return tensor(data, shape);
}

/**
 * x[i]: one entry of the first dimension.
 *
 * @param {Tensor} x
 * @param {number} i
 */
export function pick(x, i) {
  checkTensors({ x });
  if (!Number.isInteger(i) || i < 0 || !(i < x.shape[0])) {
    throw new RangeError(`there is no entry ${i}: x has ${x.shape[0]}, from 0`);
  }
  const shape = x.shape.slice(1);
  const size = sizeOf(shape);
  return tensor(x.data.slice(i * size, (i + 1) * size), shape);
}

/**
 * The part of a state dict whose keys begin so, without that beginning.
 *
 * @param {Record<string, Tensor>} state
 * @param {string} beginning such as attn.
 * @returns {Record<string, Tensor>}
 */
export const partOf = (state, beginning) =>
  Object.fromEntries(
    Object.entries(state)
      .filter(([key]) => key.startsWith(beginning))
      .map(([key, value]) => [key.slice(beginning.length), value]),
  );

/**
 * a + b, number by number.
 *
 * @param {Tensor} a
 * @param {Tensor} b of the same shape
 */
export function add(a, b) {
  checkSameShape(a, b);
  return tensor(
    a.data.map((x, i) => x + b.data[i]),
    a.shape,
  );
}

/**
 * @param {Tensor} a
 * @param {Tensor} b
 */
function checkSameShape(a, b) {
  checkTensors({ a, b });
  if (a.shape.join() !== b.shape.join()) {
    throw new RangeError(`shapes differ: [${a.shape}] and [${b.shape}]`);
  }
}

/**
 * |a − b| of every pair of numbers.
 *
 * @param {Tensor} a
 * @param {Tensor} b
 */
function differences(a, b) {
  checkSameShape(a, b);
  return Array.from(a.data, (x, i) => Math.abs(x - b.data[i]));
}

/**
 * The largest |a − b|.
 *
 * @param {Tensor} a
 * @param {Tensor} b
 */
export const largestDifference = (a, b) =>
  differences(a, b).reduce((largest, x) => Math.max(largest, x), 0);

/**
 * The mean of |a − b|.
 *
 * @param {Tensor} a
 * @param {Tensor} b
 */
export const meanDifference = (a, b) =>
  differences(a, b).reduce((sum, x) => sum + x, 0) / a.data.length;
