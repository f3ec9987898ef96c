/**
 * 'headwise' with the SIMD128 module inside its JavaScript. It fetches nothing. It is for pages of one file and for hosts
 * that cannot serve `.wasm`.
 * @module headwise/inline
 */

import { compile } from './engine/compile.js';
import { HeadwiseError } from './checks/error.js';
import { base64 } from './inline/headwise-simd128.js';
import { checkLoadOptions } from './engine/load-options.js';
import { startSingle } from './engine/start.js';

/** @typedef {import('./engine/load-options.js').LoadOptions} LoadOptions */
/** @typedef {import('./engine/headwise.js').Headwise} Headwise */

export { HeadwiseError } from './checks/error.js';
export { tensor } from './tensor/make-tensor.js';
export { Tensor, zeros } from './tensor/tensor.js';

const embedded = () => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

/**
 * Starts an engine, like `load` of 'headwise', from the SIMD128 module inside this file. It fetches nothing, and every
 * runtime gives the same bits. `wasm` replaces the module inside. The engine has one thread: more `threads` are no error, and
 * `info.threadsReason` says so.
 *
 * @param {LoadOptions} [options]
 * @returns {Promise<Headwise>}
 * @throws {HeadwiseError} ERR_LOAD: simd is 'relaxed'; other errors as in `load` of 'headwise'
 */
export async function load(options) {
  const { wasm, simd, whyOne, signal } = await checkLoadOptions(options);
  if (wasm === undefined && simd === 'relaxed') {
    throw new HeadwiseError(
      'ERR_LOAD',
      'simd is "relaxed", but headwise/inline holds the SIMD128 module; expected "auto" or "simd128", or wasm',
    );
  }
  const module = await compile(wasm ?? embedded(), signal);
  signal?.throwIfAborted();
  return startSingle(module, whyOne || 'headwise/inline has one thread');
}
