/**
 * The same names with the engine in a Worker: nothing that it computes holds up the page, and everything is awaited.
 * @module headwise/worker
 */

import { bytesOfResponse, resolve } from './compile.js';
import { HeadwiseError } from './error.js';
import { checkLoadOptions } from './load-options.js';
import { Connection } from './worker/connection.js';

/** @typedef {import('./load-options.js').LoadOptions} LoadOptions */
/** @typedef {import('./headwise.js').Headwise} Headwise */
/** @typedef {import('./tensor.js').Tensor} AnyTensor */
/** @typedef {import('./trace.js').Trace} Trace */
/** @typedef {import('./modules/module.js').Module} Module */
/** @typedef {import('./modules/key-value-cache.js').KeyValueCache} KeyValueCache */

/**
 * A value on its way to the Worker or back: what lives there is Remote here.
 * @template T
 * @typedef {T extends Headwise | Module | Trace | KeyValueCache ? Remote<T>
 *   : T extends AnyTensor | readonly number[] | ArrayBufferView ? T
 *   : T extends object ? { [K in keyof T]: Sent<T[K]> } : T} Sent
 */

/**
 * An object of the Worker's, under the same names: calls, `new` too, and values are awaited; what is frozen (`info`,
 * `shape`, `options`) is there at once.
 * @template T
 * @typedef {{
 *   [K in keyof T as K extends string ? K : never]:
 *     K extends 'info' | 'shape' | 'options' ? T[K]
 *     : T[K] extends new (options: infer O) => infer I
 *       ? (new (options: O) => Promise<Remote<I>>) & Remote<T[K]>
 *     : T[K] extends (...args: infer A) => infer R
 *       ? (...args: { [I in keyof A]: Sent<A[I]> }) => Promise<Sent<Awaited<R>>>
 *     : Promise<Sent<T[K]>>
 * }} Remote
 */

/**
 * An engine in a Worker: Headwise, awaited.
 * @typedef {Remote<Headwise>} RemoteHeadwise
 */

export { HeadwiseError } from './error.js';
export { Tensor, tensor, zeros } from './tensor.js';
export { transfer } from './worker/wire.js';

/**
 * What can be posted, and means the same in the Worker.
 * @param {LoadOptions['wasm']} wasm
 */
async function portable(wasm) {
  if (typeof wasm === 'string' || wasm instanceof URL) {
    try {
      return resolve(wasm).href;
    } catch {
      return String(wasm); // the Worker says what is wrong with it
    }
  }
  return typeof Response === 'function' && wasm instanceof Response
    ? bytesOfResponse(wasm, wasm.url || 'wasm (a Response)')
    : wasm;
}

/**
 * As `load` of 'headwise', with the engine in a Worker: nothing that it computes holds up the page. The same names, all
 * awaited; in order, whether awaited or not. Results are moved, not copied; arguments are copied unless `transfer` says
 * that they may be moved. `dispose` ends the Worker when what was asked before is answered.
 *
 * @param {LoadOptions} [options]
 * @returns {Promise<RemoteHeadwise>}
 * @throws {HeadwiseError} ERR_LOAD: also if the Worker cannot be started; the rest as `load` of 'headwise'
 */
export async function load(options) {
  const { signal } = await checkLoadOptions(options);
  const { simd, threads, wasm } = options ?? {};
  const wanted = { simd, threads, wasm: await portable(wasm) };
  const connection = await Connection.start();
  const abort = () => connection.end(signal?.reason);
  signal?.addEventListener('abort', abort);
  try {
    signal?.throwIfAborted();
    const hw = await connection.send(0, ['load'], 'call', [wanted]);
    const { dispose } = hw;
    hw.dispose = async () => {
      try {
        await dispose();
      } finally {
        const message = 'the engine was disposed of; load() starts another';
        connection.end(new HeadwiseError('ERR_DISPOSED', message));
      }
    };
    return hw;
  } catch (error) {
    connection.end(error);
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
