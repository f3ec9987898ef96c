import { Engine } from './engine.js';
import { Headwise } from './headwise.js';
import { sharedMemory } from './wanted-threads.js';

/** @type {(module: WebAssembly.Module) => boolean} */
export const importsMemory = (module) =>
  WebAssembly.Module.imports(module).some(({ kind }) => kind === 'memory');

/**
 * @param {WebAssembly.Module} module
 * @param {string} reason why it has one thread
 */
export async function startSingle(module, reason) {
  const memory = importsMemory(module) ? sharedMemory() : undefined;
  return new Headwise(await Engine.start(module, memory), 1, reason);
}
