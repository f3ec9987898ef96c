import { Engine } from './engine.js';
import { Headwise } from './headwise.js';

/**
 * @param {WebAssembly.Module} module
 * @param {string} reason why it has one thread
 */
export async function startSingle(module, reason) {
  return new Headwise(await Engine.start(module), 1, reason);
}
