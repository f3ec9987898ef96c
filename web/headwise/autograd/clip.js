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
 * Calls the engine for the parameters of each module.
 * @param {Engine} engine
 * @param {readonly Part[]} modules
 * @param {(part: [module: number, list: number, count: number], at: number) => number} call at: room for a double; returns a status
 */
function callParts(engine, modules, call) {
  for (const { module, indices } of modules) {
    const [list, at] = engine.lay([indices, 8]);
    engine.check(call([addressOf(module), list, indices.size], at), 'clipGradNorm');
  }
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
  const gradients = tensors.flatMap(({ tensor: { grad } }) =>
    grad === null ? [] : [viewOf(checkFloats(grad, 'grad'))],
  );
  let sum = 0;
  callParts(engine, modules, (part, at) => {
    const view = () => new DataView(engine.memory.buffer);
    view().setFloat64(at, 0, true);
    const status = engine.call.module_sum_gradient_squares(...part, at);
    sum += view().getFloat64(at, true);
    return status;
  });
  for (const data of gradients) {
    // As in the engine, and in torch, squares beyond float32 are infinite.
    data.forEach((value) => (sum += Math.fround(value * value)));
  }
  const norm = Math.sqrt(sum);
  const factor = most / (norm + 1e-6);
  // With a gradient that is NaN all are, as in torch.
  if (!(factor >= 1)) {
    callParts(engine, modules, (part) => engine.call.module_scale_gradients(...part, factor));
    gradients.forEach((data) => data.forEach((value, i) => (data[i] = value * factor)));
  }
  return norm;
}
