import { checkOptions } from '../checks/check.js';
import { misfit } from '../checks/error.js';
import { addressOf } from '../engine/owned.js';
import { identityOf } from '../modules/parameter.js';
import { checkFloats, viewOf } from '../tensor/operand.js';
import { checkParameters, partsOf } from './groups.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('./groups.js').Part} Part */

/**
 * @param {unknown} value
 * @returns {number}
 */
function checkNorm(value) {
  if (typeof value !== 'number' || !(value >= 0)) {
    throw misfit(value, 'maxNorm', 'a number of at least 0');
  }
  return value;
}

/**
 * @param {Engine} engine
 * @param {readonly Part[]} modules
 * @returns {number} the sum of the squares of their gradients
 */
function sumOfSquares(engine, modules) {
  let sum = 0;
  for (const { module, indices } of modules) {
    const [at, list] = engine.lay([8, indices]);
    const view = () => new DataView(engine.memory.buffer);
    view().setFloat64(at, 0, true);
    const status = engine.call.module_sum_gradient_squares(
      addressOf(module),
      list,
      indices.size,
      at,
    );
    engine.check(status, 'clipGradNorm');
    sum += view().getFloat64(at, true);
  }
  return sum;
}

/**
 * @param {Engine} engine
 * @param {unknown} parameters
 * @param {unknown} maxNorm
 * @param {unknown} options
 * @returns {number} the norm before
 */
export function clipGradNorm(engine, parameters, maxNorm, options) {
  checkOptions(options, [], 'clipGradNorm');
  const { places } = checkParameters(engine, parameters, 'parameters', 0);
  const most = checkNorm(maxNorm);
  engine.checkAlive();
  // Each counts once.
  const different = new Map(places.map((place) => [identityOf(place), place]));
  const { modules, tensors } = partsOf([...different.values()]);
  const gradients = tensors.flatMap(({ grad }) =>
    grad === null ? [] : [viewOf(checkFloats(grad, 'grad'))],
  );
  let sum = sumOfSquares(engine, modules);
  for (const data of gradients) {
    // As in the engine, and in torch, squares beyond float32 are infinite.
    data.forEach((value) => (sum += Math.fround(value * value)));
  }
  const norm = Math.sqrt(sum);
  const factor = most / (norm + 1e-6);
  // With a gradient that is NaN all are, as in torch.
  if (!(factor >= 1)) {
    for (const { module, indices } of modules) {
      const [list] = engine.lay([indices]);
      const status = engine.call.module_scale_gradients(
        addressOf(module),
        list,
        indices.size,
        factor,
      );
      engine.check(status, 'clipGradNorm');
    }
    gradients.forEach((data) => data.forEach((value, i) => (data[i] = value * factor)));
  }
  return norm;
}
