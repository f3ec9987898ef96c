import { wasmAddresses } from '../addresses.js';
import { orAbort } from '../checks/abort.js';
import { compile } from './compile.js';
import { Engine } from './engine.js';
import { HeadwiseError } from '../checks/error.js';
import { Headwise } from './headwise.js';
import { noAddress } from './hints.js';
import { checkLoadOptions } from './load-options.js';
import { startSingle } from './start.js';
import { Crew } from './threads.js';
import { importsMemory, whyOneThread } from './wanted-threads.js';

/** @typedef {import('./load-options.js').LoadOptions} LoadOptions */

/** (module (func (param v128 v128 v128) (result v128) local.get 0 1 2 f32x4.relaxed_madd)) */
const relaxedProbe = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0],
  ...[10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2, 253, 133, 2, 11],
);

/** @param {'auto' | 'relaxed' | 'simd128'} simd @returns {{ single: URL, threads: URL }} */
function packagedModules(simd) {
  const hasRelaxed = globalThis.WebAssembly?.validate(relaxedProbe);
  if (simd === 'relaxed' && hasRelaxed === false) {
    throw new HeadwiseError(
      'ERR_LOAD',
      'simd is "relaxed", but this runtime has no relaxed SIMD; expected "auto" or "simd128"',
    );
  }
  try {
    return wasmAddresses(simd === 'simd128' || !hasRelaxed ? 'simd128' : 'relaxed');
  } catch (cause) {
    throw new HeadwiseError(
      'ERR_LOAD',
      `${noAddress}; expected load({ wasm }) with a file of headwise/wasm/, or headwise/inline`,
      { cause },
    );
  }
}

/**
 * @param {Promise<WebAssembly.Module>} compiling a module for threads
 * @param {number} threads
 * @param {AbortSignal | undefined} signal
 */
async function startThreads(compiling, threads, signal) {
  const starting = Crew.start(threads);
  try {
    const module = await compiling;
    const engine = await Engine.start(module);
    const crew = await orAbort(starting, signal);
    await orAbort(crew.join(module, engine.memory), signal);
    if (crew.threads > 1) {
      engine.startTeam(crew);
    }
    return new Headwise(engine, crew.threads, crew.reason);
  } catch (error) {
    starting.then((crew) => crew.end());
    throw error;
  }
}

/**
 * @param {LoadOptions['wasm'] & {}} wasm
 * @param {number} threads
 * @param {string} reason why there can be only one; or ''
 * @param {AbortSignal | undefined} signal
 */
async function startGiven(wasm, threads, reason, signal) {
  const module = await compile(wasm, signal);
  signal?.throwIfAborted();
  if (reason === '' && importsMemory(module)) {
    return startThreads(Promise.resolve(module), threads, signal);
  }
  return startSingle(module, reason || 'the wasm that was given is a module for one thread');
}

/**
 * @param {'auto' | 'relaxed' | 'simd128'} simd
 * @param {number} threads
 * @param {string} reason why there can be only one; or ''
 * @param {AbortSignal | undefined} signal
 */
async function startPackaged(simd, threads, reason, signal) {
  const modules = packagedModules(simd);
  let why = reason;
  if (why === '') {
    try {
      return await startThreads(compile(modules.threads, signal), threads, signal);
    } catch (error) {
      if (signal?.aborted || !(error instanceof HeadwiseError)) {
        throw error;
      }
      why = error.message;
    }
  }
  const module = await compile(modules.single, signal);
  signal?.throwIfAborted();
  return startSingle(module, why);
}

/**
 * Starts an engine. Each call starts another one with its own memory. After a failure, `load` may be called again.
 *
 * @param {LoadOptions} [options]
 * @returns {Promise<Headwise>}
 * @throws {HeadwiseError} ERR_LOAD: the module cannot be loaded, is not an engine, or does not run here; ERR_VALUE: a bad
 *   option; ERR_MEMORY: no memory for the engine. An abort rejects with the signal's reason.
 */
export async function load(options) {
  const { wasm, simd, threads, whyOne, signal } = await checkLoadOptions(options);
  const reason = whyOne || whyOneThread();
  return wasm === undefined
    ? startPackaged(simd, threads, reason, signal)
    : startGiven(wasm, threads, reason, signal);
}
