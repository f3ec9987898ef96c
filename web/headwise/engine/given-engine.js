import { misfit } from '../checks/error.js';
import { tagOf } from '../checks/foreign.js';

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
 * @throws {HeadwiseError} ERR_VALUE; ERR_DISPOSED, ERR_LOAD: it has ended, so that nothing is fetched for it
 */
export function checkEngine(hw) {
  const engine = engines.get(hw);
  if (engine === undefined) {
    const expected =
      tagOf(hw) === 'Headwise'
        ? 'an engine of the same copy of headwise (import all from one)'
        : "an engine, as load() of headwise gives (a Worker's has its own classes: new hw.Decoder(config))";
    throw misfit(hw, 'hw', expected);
  }
  engine.checkAlive();
  return engine;
}
