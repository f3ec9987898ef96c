// Backwards of elementwise functions and of sums.
import { combine, reduce } from '../tensor/compute.js';
import { copyOf, operandOf } from '../tensor/operand.js';
import { sameShape } from '../tensor/shape.js';
import { record } from './record.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * The gradient of what was broadcast: a sum over its copies.
 * @param {Engine} engine
 * @param {FloatOperand} gradient
 * @param {readonly number[]} shape of what was broadcast
 * @param {number} [scale]
 * @returns {Float32Array}
 */
export function sumTo(engine, gradient, shape, scale = 1) {
  const isWhole = scale === 1 && sameShape(gradient.shape, shape);
  return isWhole ? gradient.data : reduce(engine, gradient, shape, shape, scale).data;
}

/**
 * @param {Engine} engine
 * @param {Tensor} result
 * @param {import('../tensor/compute.js').Operation} operation
 * @param {readonly unknown[]} inputs
 * @param {readonly FloatOperand[]} operands
 */
export function recordBinary(engine, result, operation, inputs, operands) {
  return record(engine, result, inputs, (needs) => {
    const shapes = operands.map(({ shape }) => shape);
    if (operation !== 'multiply') {
      const signs = [1, operation === 'add' ? 1 : -1];
      return (gradient) =>
        shapes.map((shape, i) => (needs[i] ? sumTo(engine, gradient, shape, signs[i]) : undefined));
    }
    // Each needs the other one.
    const others = [1, 0].map((i) => (needs[1 - i] ? copyOf(operands[i]) : undefined));
    return (gradient) =>
      others.map((other, i) => {
        if (other === undefined) {
          return undefined;
        }
        const product = combine(engine, 'multiply', gradient, other, gradient.shape);
        return sumTo(engine, operandOf(product), shapes[i]);
      });
  });
}

/**
 * @param {Engine} engine
 * @param {Tensor} result
 * @param {unknown} input
 * @param {readonly number[]} shape of the input
 * @param {readonly number[]} kept the result's with the axes that were summed, of size 1
 * @param {number} scale
 */
export function recordSum(engine, result, input, shape, kept, scale) {
  const factor = operandOf({ shape: shape.map(() => 1), data: Float32Array.of(scale) });
  return record(engine, result, [input], () => ({ data }) => {
    const gradient = operandOf({ shape: kept, data });
    return [combine(engine, 'multiply', gradient, factor, shape).data];
  });
}
