// Backwards of the functions of tensors.
import { product, transposed } from '../tensor/compute.js';
import { copyOf, operandOf } from '../tensor/operand.js';
import { newArray } from '../tensor/shape.js';
import { sumTo } from './elementwise.js';
import { record } from './record.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * @param {Engine} engine
 * @param {Tensor} result
 * @param {readonly unknown[]} inputs
 * @param {readonly FloatOperand[]} operands a and b
 */
export function recordProduct(engine, result, inputs, operands) {
  return record(engine, result, inputs, (needs) => {
    // Each needs the other one.
    const [a, b] = operands.map((operand, i) => (needs[1 - i] ? copyOf(operand) : undefined));
    const shapes = operands.map(({ shape }) => shape);
    const turned = (/** @type {FloatOperand} */ x) => operandOf(transposed(engine, x));
    return (gradient) => [
      b && sumTo(engine, operandOf(product(engine, gradient, turned(b))), shapes[0]),
      a && sumTo(engine, operandOf(product(engine, turned(a), gradient)), shapes[1]),
    ];
  });
}

/** @param {Engine} engine @param {Tensor} result @param {unknown} input */
export const recordTranspose = (engine, result, input) =>
  record(engine, result, [input], () => (gradient) => [transposed(engine, gradient).data]);

/**
 * @param {Engine} engine
 * @param {Tensor} result
 * @param {unknown} weight
 * @param {Uint32Array} rows the ids; they do not change any more
 * @param {readonly number[]} shape the weight's
 */
export function recordEmbedding(engine, result, weight, rows, [count, width]) {
  return record(engine, result, [weight], () => ({ data }) => {
    const sums = newArray(Float32Array, count * width);
    rows.forEach((row, i) => {
      for (let j = 0; j < width; j++) {
        sums[row * width + j] += data[i * width + j];
      }
    });
    return [sums];
  });
}
