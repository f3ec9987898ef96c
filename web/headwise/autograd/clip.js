import { misfit } from '../checks/error.js';
import { identityOf, ModulePlace } from '../modules/parameter.js';
import { checkFloats, viewOf, wordsOperand } from '../tensor/operand.js';
import { checkParameters } from './groups.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../modules/module.js').Module} Module */
/** @typedef {import('../modules/parameter.js').Place} Place */

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
 * The numbers of modules' parameters.
 * @param {readonly Place[]} places
 * @returns {Map<Module, number[]>}
 */
function indicesOf(places) {
  /** @type {Map<Module, number[]>} */
  const found = new Map();
  for (const place of places) {
    if (place instanceof ModulePlace) {
      found.set(place.module, [...(found.get(place.module) ?? []), place.entry.index]);
    }
  }
  return found;
}

/**
 * @param {Engine} engine
 * @param {Map<Module, number[]>} modules
 * @returns {number} the sum of the squares of their gradients
 */
function sumOfSquares(engine, modules) {
  let sum = 0;
  for (const [{ pointer }, indices] of modules) {
    const [at, list] = engine.lay([8, wordsOperand(indices)]);
    const view = () => new DataView(engine.memory.buffer);
    view().setFloat64(at, 0, true);
    const { call } = engine;
    const status = call.module_sum_gradient_squares(pointer, list, indices.length, at);
    engine.check(status, 'clipGradNorm');
    sum += view().getFloat64(at, true);
  }
  return sum;
}

/**
 * @param {Engine} engine
 * @param {unknown} parameters
 * @param {unknown} maxNorm
 * @returns {number} the norm before
 */
export function clipGradNorm(engine, parameters, maxNorm) {
  const { places } = checkParameters(engine, parameters, 'parameters');
  const most = checkNorm(maxNorm);
  engine.checkAlive();
  const own = [...new Map(places.map((place) => [identityOf(place), place])).values()];
  const modules = indicesOf(own);
  const gradients = own.flatMap((place) =>
    place instanceof ModulePlace || place.grad === null
      ? []
      : [viewOf(checkFloats(place.grad, 'grad'))],
  );
  let sum = sumOfSquares(engine, modules);
  for (const data of gradients) {
    data.forEach((value) => (sum += value * value));
  }
  const norm = Math.sqrt(sum);
  const factor = most / (norm + 1e-6);
  // With a gradient that is NaN all are, as in torch.
  if (!(factor >= 1)) {
    for (const [{ pointer }, indices] of modules) {
      const [list] = engine.lay([wordsOperand(indices)]);
      const { call } = engine;
      const status = call.module_scale_gradients(pointer, list, indices.length, factor);
      engine.check(status, 'clipGradNorm');
    }
    gradients.forEach((data) => data.forEach((value, i) => (data[i] = value * factor)));
  }
  return norm;
}
