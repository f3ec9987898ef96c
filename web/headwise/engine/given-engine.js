import { misfit } from '../checks/error.js';

/** @typedef {import('./engine.js').Engine} Engine */

/** Engines, by themselves and by the Headwise that holds each. @type {WeakMap<any, Engine>} */
const engines = new WeakMap();

/**
 * @param {object} hw
 * @param {Engine} engine that it holds
 */
export function keepEngine(hw, engine) {
  engines.set(hw, engine).set(engine, engine);
}

/**
 * The engine that a module is made for.
 * @param {unknown} hw the caller's, or an engine itself
 * @throws {HeadwiseError} ERR_VALUE
 */
export function checkEngine(hw) {
  const engine = engines.get(hw);
  if (engine === undefined) {
    throw misfit(
      hw,
      'hw',
      "what load() of headwise gives (imported classes take no Worker's engine)",
    );
  }
  return engine;
}
