// Backwards of losses. The engine computes them.
import { copyOf } from '../tensor/operand.js';
import { entropies } from '../tensor/entropies.js';
import { record } from './record.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * @param {Engine} engine
 * @param {Tensor} result of one number, or of all rows' losses
 * @param {unknown} logits
 * @param {import('../tensor/entropies.js').Entropy} call
 * @param {number} scale
 */
export function recordCrossEntropy(engine, result, logits, call, scale) {
  return record(engine, result, [logits], () => {
    const own = { ...call, x: copyOf(call.x) };
    const isOfRows = result.shape.length === call.targets.shape.length && result.shape.length > 0;
    return (gradient) => {
      const how = isOfRows ? { scale, scales: gradient } : { scale: scale * gradient.data[0] };
      return [entropies(engine, own, how).data];
    };
  });
}
