import { isInteger } from '../checks/check.js';
import { misfit } from '../checks/error.js';
import { importNode, isNode } from './node.js';

/** Threads that 'auto' starts at most. */
const autoThreads = 8;

/** Pages of memory: what the module imports (CMakeLists.txt: INITIAL_MEMORY), and the least that it may grow to. */
const initialPages = 16;
const leastPages = 8192;

/**
 * How many threads `load` is to start.
 * @param {unknown} threads
 * @returns {Promise<number>}
 */
export async function wantedThreads(threads) {
  if (threads === 'auto') {
    const cores =
      globalThis.navigator?.hardwareConcurrency ??
      (isNode ? (await importNode('os')).availableParallelism() : 1);
    return Math.min(cores, autoThreads);
  }
  if (!isInteger(threads) || threads < 1) {
    throw misfit(threads, 'threads', '"auto" or an integer of at least 1');
  }
  return threads;
}

/**
 * Why this runtime gives an engine one thread; '' if it can have more.
 * @returns {string}
 */
export function whyOneThread() {
  if (typeof SharedArrayBuffer !== 'function' || globalThis.crossOriginIsolated === false) {
    return 'SharedArrayBuffer is not available: a page needs the headers Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp, a frame also allow="cross-origin-isolated"';
  }
  return globalThis.Worker === undefined && !isNode ? 'Worker is not available' : '';
}

/** Whether a module is one for threads. @param {WebAssembly.Module} module */
export const importsMemory = (module) =>
  WebAssembly.Module.imports(module).some(({ kind }) => kind === 'memory');

/**
 * The memory of a module for threads.
 * @param {number} [maximum] pages that it may grow to; halved until the runtime can reserve them
 * @returns {WebAssembly.Memory}
 * @throws {RangeError}
 */
export function sharedMemory(maximum = 65536) {
  try {
    return new WebAssembly.Memory({ initial: initialPages, maximum, shared: true });
  } catch (error) {
    if (maximum === leastPages) throw error;
    return sharedMemory(maximum / 2);
  }
}
