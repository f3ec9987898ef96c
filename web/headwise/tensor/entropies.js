import { crossEntropyCall } from '../engine/abi.js';
import { writeStruct } from '../engine/struct.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('./operand.js').FloatOperand} FloatOperand */
/** @typedef {import('./tensor.js').Tensor} Tensor */

/**
 * @typedef {object} Entropy
 * @property {FloatOperand} x logits, […, classes]
 * @property {import('./operand.js').IdsOperand} targets […]
 * @property {number} ignoreIndex
 * @property {number} labelSmoothing
 */

/**
 * @param {Engine} engine
 * @param {Entropy} entropy
 * @param {{ scale: number, scales?: FloatOperand }} [gradient] how the loss of each row is weighed
 * @returns {Tensor} the losses of all rows, or the logits' gradient
 */
export function entropies(engine, { x, targets, ignoreIndex, labelSmoothing }, gradient) {
  const rows = targets.size;
  const [logits, targetsAt, struct, losses, rowScales] = engine.lay([
    ...[x, targets, crossEntropyCall.bytes],
    ...[gradient ? undefined : rows * 4, gradient?.scales],
  ]);
  writeStruct(engine, struct, crossEntropyCall, {
    ...{
      logits,
      targets: targetsAt,
      rows,
      classes: x.shape[x.shape.length - 1],
      ignoreIndex,
      labelSmoothing,
    },
    ...{ losses, gradient: gradient ? logits : 0, scale: gradient?.scale ?? 1, rowScales },
  });
  engine.check(engine.call.cross_entropy(struct), 'crossEntropy');
  return gradient ? engine.read(logits, x.shape) : engine.read(losses, targets.shape);
}
