// Backwards of functions of rows and of elements. The engine computes them.
import { copyOf, operandOf } from '../tensor/operand.js';
import { newArray } from '../tensor/shape.js';
import { record } from './record.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * @param {Engine} engine
 * @param {Tensor} result
 * @param {unknown} input
 * @param {FloatOperand} x
 * @param {number} activation hw_activation
 */
export function recordActivation(engine, result, input, x, activation) {
  return record(engine, result, [input], () => {
    const own = copyOf(x);
    return (gradient) => {
      const [at, dy] = engine.lay([own, gradient]);
      const status = engine.call.activation_backward(activation, at, dy, dy, own.size);
      engine.check(status, 'backward');
      return [engine.read(dy, own.shape).data];
    };
  });
}

/** @param {Engine} engine @param {Tensor} result @param {unknown} input */
export function recordSoftmax(engine, result, input) {
  return record(engine, result, [input], () => {
    const own = copyOf(operandOf(result));
    const { shape } = own;
    const columns = shape.at(-1) ?? 1;
    return (gradient) => {
      const [y, dy] = engine.lay([own, gradient]);
      const status = engine.call.softmax_backward(y, dy, dy, own.size / columns, columns);
      engine.check(status, 'backward');
      return [engine.read(dy, shape).data];
    };
  });
}

/** @param {number} size */
const zerosOf = (size) => operandOf({ data: newArray(Float32Array, size), shape: [size] });

/**
 * @param {Engine} engine
 * @param {Tensor} result
 * @param {readonly unknown[]} inputs x, weight and, of a layer norm, bias
 * @param {FloatOperand} x
 * @param {FloatOperand | undefined} weight
 * @param {number} eps
 */
export function recordNorm(engine, result, inputs, x, weight, eps) {
  return record(engine, result, inputs, (needs) => {
    const [own, factors] = [copyOf(x), weight && copyOf(weight)];
    const { shape, size } = own;
    const n = shape[shape.length - 1];
    return (gradient) => {
      // The engine adds to these gradients, so they start as zeros.
      const sums = [1, 2].map((i) => (needs[i] ? zerosOf(n) : undefined));
      const dxBytes = needs[0] ? size * 4 : undefined;
      const [at, weightAt, dy, dx, dWeight, dBias] = engine.lay([
        ...[own, factors, gradient],
        ...[dxBytes, ...sums],
      ]);
      const { call } = engine;
      const status =
        inputs.length === 3
          ? call.layer_norm_backward(at, size / n, n, weightAt, eps, dy, dx, dWeight, dBias)
          : call.rms_norm_backward(at, size / n, n, weightAt, eps, dy, dx, dWeight);
      engine.check(status, 'backward');
      const shapes = [shape, [n], [n]];
      return [dx, dWeight, dBias].map((address, i) =>
        needs[i] ? engine.read(address, shapes[i]).data : undefined,
      );
    };
  });
}
