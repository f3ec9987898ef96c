import { checkOptions, checkSignal } from '../checks/check.js';
import { misfit } from '../checks/error.js';
import { wantedThreads } from './wanted-threads.js';

/**
 * What `load` may be told.
 * @typedef {object} LoadOptions
 * @property {URL | string | Response | BufferSource | WebAssembly.Module} [wasm] where the module comes from: a string is
 *   an address, in Node a path from the working directory too; default: the package's own
 * @property {'auto' | 'relaxed' | 'simd128'} [simd] default 'auto': relaxed SIMD where the runtime has it. The SIMD128 module
 *   gives the same bits in every runtime; the relaxed one may round a product and a sum once instead of twice, as the
 *   processor does. The number of threads changes no bit of either
 * @property {number | 'auto'} [threads] default 1; 'auto': as many as the machine has cores, at most 8. Several need
 *   SharedArrayBuffer (in pages: cross-origin isolation), Workers and, where `wasm` is given, a module for threads;
 *   otherwise the engine has one, and `info.threadsReason` says why. Its Workers sleep when idle and end with `dispose`. If
 *   one is ended at work, the call throws ERR_LOAD after some tens of seconds, and so do all later ones
 * @property {AbortSignal} [signal] ends a download
 */

/**
 * Reads them, not yet checked.
 * @param {unknown} options LoadOptions
 */
export const readLoadOptions = (options) =>
  checkOptions(options, ['wasm', 'simd', 'threads', 'signal'], 'load');

/**
 * @param {unknown} options LoadOptions
 * @returns {Promise<{ wasm: LoadOptions['wasm'], simd: 'auto' | 'relaxed' | 'simd128', threads: number, whyOne: string, signal: AbortSignal | undefined }>}
 *   threads: how many were asked for; whyOne: if it is one, why
 * @throws {HeadwiseError} ERR_VALUE; an abort's reason
 */
export async function checkLoadOptions(options) {
  const { wasm, simd = 'auto', threads = 1, signal } = readLoadOptions(options);
  if (!['auto', 'relaxed', 'simd128'].includes(simd)) {
    throw misfit(simd, 'simd', `'auto', 'relaxed' or 'simd128'`);
  }
  checkSignal(signal)?.throwIfAborted();
  const wanted = await wantedThreads(threads);
  const auto = threads === 'auto';
  const whyOne = auto ? 'this machine has one core' : 'one thread was asked for';
  return { wasm, simd, threads: wanted, whyOne: wanted === 1 ? whyOne : '', signal };
}
