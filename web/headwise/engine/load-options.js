import { checkChoice, checkOptions, checkSignal } from '../checks/check.js';
import { wantedThreads } from './wanted-threads.js';

/**
 * Options of `load`.
 * @typedef {object} LoadOptions
 * @property {URL | string | Response | BufferSource | WebAssembly.Module} [wasm] the source of the module. A string is an
 *   address; in Node it may also be a path, relative to the working directory. Default: the package's own module
 * @property {'auto' | 'relaxed' | 'simd128'} [simd] default 'auto': relaxed SIMD if the runtime supports it; not used if `wasm` is
 *   given. The SIMD128 module gives the same bits in every runtime. The relaxed module may round a product and a sum once
 *   instead of twice, depending on the processor. The number of threads changes no bit of either
 * @property {number | 'auto'} [threads] default 1; 'auto': the number of cores, at most 8. An engine has at most 32.
 *   Several threads need SharedArrayBuffer (in pages: cross-origin isolation), Workers and, if `wasm` is given, a module for
 *   threads. Otherwise the engine has one thread, and `info.threadsReason` gives the reason. Its Workers sleep when idle and end with
 *   `dispose`. If a Worker is ended during a call, that call throws ERR_LOAD after some tens of seconds; so do all later calls
 * @property {AbortSignal} [signal] aborts a download
 */

/**
 * Reads the options without checking their values.
 * @param {unknown} options LoadOptions
 */
export const readLoadOptions = (options) =>
  checkOptions(options, ['wasm', 'simd', 'threads', 'signal'], 'load');

/**
 * @param {unknown} options LoadOptions
 * @returns {Promise<{ wasm: LoadOptions['wasm'], simd: 'auto' | 'relaxed' | 'simd128', threads: number, whyOne: string, signal: AbortSignal | undefined }>}
 *   threads: the number requested; whyOne: the reason if it is one
 * @throws {HeadwiseError} ERR_VALUE; an abort's reason
 */
export async function checkLoadOptions(options) {
  const { wasm, simd = 'auto', threads = 1, signal } = readLoadOptions(options);
  checkChoice(simd, 'simd', ['auto', 'relaxed', 'simd128']);
  checkSignal(signal)?.throwIfAborted();
  const wanted = await wantedThreads(threads);
  const auto = threads === 'auto';
  const whyOne = auto ? 'this machine has one core' : 'one thread was asked for';
  return { wasm, simd, threads: wanted, whyOne: wanted === 1 ? whyOne : '', signal };
}
