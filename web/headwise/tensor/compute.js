// The computations of functions and their backwards, on checked operands.
import { binaryOperation } from '../engine/abi.js';
import { describe } from '../checks/describe.js';
import { misshapen } from '../checks/error.js';
import { wordsOperand } from './operand.js';
import { newArray, sizeOf } from './shape.js';
import { tensorOf } from './tensor.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('./operand.js').FloatOperand} FloatOperand */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {keyof typeof binaryOperation} Operation */

/**
 * Aligned at the right, as in torch.
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 * @returns {number[] | undefined} undefined if they do not broadcast
 */
export function broadcast(a, b) {
  const length = Math.max(a.length, b.length);
  const at = (/** @type {readonly number[]} */ shape, /** @type {number} */ i) =>
    shape[shape.length - length + i] ?? 1;
  const result = Array.from({ length }, (_, i) => (at(a, i) === 1 ? at(b, i) : at(a, i)));
  const fits = result.every((n, i) => [1, n].includes(at(b, i)));
  return fits ? result : undefined;
}

/**
 * A shape of as many axes, ones in front.
 * @param {readonly number[]} shape
 * @param {number} rank
 */
const padded = (shape, rank) =>
  wordsOperand([.../** @type {number[]} */ (Array(rank - shape.length).fill(1)), ...shape]);

/**
 * @param {Engine} engine
 * @param {Operation} operation
 * @param {FloatOperand} a
 * @param {FloatOperand} b
 * @param {readonly number[]} shape of the result
 * @returns {Tensor}
 */
export function combine(engine, operation, a, b, shape) {
  const rank = shape.length;
  const { call } = engine;
  const shapes = [shape, a.shape, b.shape].map((each) => padded(each, rank));
  const [aAt, bAt, y, own, aShape, bShape] = engine.lay([
    a,
    b,
    sizeOf(shape, 'the result') * 4,
    ...shapes,
  ]);
  // The shapes fit, so it refuses only a result without elements, which needs no computing.
  call.broadcast(binaryOperation[operation], rank, own, aAt, aShape, bAt, bShape, y);
  return engine.read(y, shape);
}

/**
 * Sums along the axes whose size is 1 in `kept`.
 * @param {Engine} engine
 * @param {FloatOperand} x
 * @param {readonly number[]} kept of as many axes as x at most, aligned at the right
 * @param {readonly number[]} shape of the result, of as many elements
 * @param {number} [scale] that the sums are multiplied by
 * @returns {Tensor}
 */
export function reduce(engine, x, kept, shape, scale = 1) {
  const rank = x.shape.length;
  const { call } = engine;
  const shapes = [x.shape, kept].map((each) => padded(each, rank));
  const [at, y, own, keptAt] = engine.lay([x, sizeOf(kept, 'the result') * 4, ...shapes]);
  // The shapes fit, so it refuses only an x without elements.
  call.sum(rank, own, at, keptAt, scale, y);
  const result = engine.read(y, shape);
  if (x.size === 0) {
    // The mean of nothing is NaN: its scale is infinite. The square keeps the sum from being -0.
    result.data.fill(0 * scale ** 2);
  }
  return result;
}

/**
 * For every matrix of the broadcast batch, the number of the operand's matrix.
 * @param {readonly number[]} batch
 * @param {readonly number[]} own the operand's leading dimensions
 * @returns {import('./operand.js').IdsOperand}
 */
function matrixIndex(batch, own) {
  const dims = [...Array(batch.length - own.length).fill(1), ...own];
  const data = Uint32Array.from({ length: sizeOf([...batch], 'batch') }, (_, flat) => {
    let index = 0;
    let stride = 1;
    for (let axis = batch.length - 1; axis >= 0; axis--) {
      index += dims[axis] === 1 ? 0 : (flat % batch[axis]) * stride;
      stride *= dims[axis];
      flat = Math.floor(flat / batch[axis]);
    }
    return index;
  });
  return wordsOperand(data);
}

/**
 * @param {Engine} engine
 * @param {FloatOperand} a […, m, k]
 * @param {FloatOperand} b […, k, n]
 * @param {readonly (readonly number[])[]} [shown] their shapes in messages
 * @returns {Tensor} […, m, n]
 */
export function product(engine, a, b, shown = [a.shape, b.shape]) {
  const [m, k] = a.shape.slice(-2);
  const [rows, n] = b.shape.slice(-2);
  const batches = [a, b].map(({ shape }) => shape.slice(0, -2));
  const batch = broadcast(batches[0], batches[1]);
  if (rows !== k || batch === undefined) {
    const expected =
      rows === k
        ? 'leading dimensions that are equal or 1'
        : `[…, m, k] and […, k, n] with the same k, not ${k} and ${rows}`;
    throw misshapen(shown[0], 'a', expected, ` and b ${describe(shown[1])}`);
  }
  const shape = [...batch, m, n];
  const size = sizeOf(shape, 'the result');
  if (size === 0) {
    return tensorOf(newArray(Float32Array, 0), shape);
  }
  const indices = batches.map((own) => matrixIndex(batch, own));
  const { call } = engine;
  const [aAt, bAt, out, aIndex, bIndex] = engine.lay([a, b, size * 4, ...indices]);
  engine.check(call.matmul(aAt, bAt, out, indices[0].size, aIndex, bIndex, m, k, n), 'matmul');
  return engine.read(out, shape, size);
}

/** @param {Engine} engine @param {FloatOperand} x […, rows, columns] @returns {Tensor} */
export function transposed(engine, x) {
  const [rows, columns] = x.shape.slice(-2);
  const { call } = engine;
  const [at, out] = engine.lay([x, x.size * 4]);
  call.transpose(at, out, x.size / (rows * columns), rows, columns);
  return engine.read(out, [...x.shape.slice(0, -2), columns, rows]);
}
