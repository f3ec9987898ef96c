/**
 * The same names with the engine in a Worker: nothing that it computes holds up the page, and everything is awaited.
 * @module headwise/worker
 */

import { bytesOfResponse, resolve } from './engine/compile.js';
import { HeadwiseError } from './checks/error.js';
import { isAddress, isOf } from './checks/foreign.js';
import { checkLoadOptions, readLoadOptions } from './engine/load-options.js';
import { Connection } from './worker/connection.js';

/** @typedef {import('./engine/load-options.js').LoadOptions} LoadOptions */
/** @typedef {import('./engine/headwise.js').Headwise} Headwise */
/** @typedef {import('./tensor/tensor.js').AnyTensor} AnyTensor */
/** @typedef {import('./attention/trace.js').Trace} Trace */
/** @typedef {import('./modules/module.js').Module} Module */
/** @typedef {import('./modules/key-value-cache.js').KeyValueCache} KeyValueCache */
/** @typedef {import('./modules/attention-module.js').AttendingModule} AttendingModule */
/** @typedef {import('./attention/options.js').WeightsKind} WeightsKind */
/**
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {import('./modules/attention-module.js').ForwardOptions<NeedWeights, WithTrace>} ForwardOptions
 */
/**
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {import('./modules/attention-module.js').ForwardResult<NeedWeights, WithTrace>} ForwardResult
 */
/**
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {import('./modules/attention-module.js').LayerResults<NeedWeights, WithTrace>} LayerResults
 */
/**
 * @template {WeightsKind} [NeedWeights=WeightsKind]
 * @typedef {import('./attention/options.js').AttentionOptions<NeedWeights>} AttentionOptions
 */
/**
 * @template {WeightsKind} [NeedWeights=WeightsKind]
 * @typedef {import('./attention/scaled-dot-product-attention.js').AttentionResult<NeedWeights>} AttentionResult
 */

/**
 * A value on its way to the Worker or back: what lives there is Remote here.
 * @template T
 * @typedef {T extends Headwise | Module | Trace | KeyValueCache ? Remote<T>
 *   : T extends AnyTensor | readonly number[] | ArrayBufferView ? T
 *   : T extends object ? { [K in keyof T]: Sent<T[K]> } : T} Sent
 */

/**
 * The forward of a module that attends. A mapped type forgets what was asked for, so that it is written out.
 * @template Forward
 * @typedef {Forward extends (x: any, options?: infer O) => infer R
 *   ? <NeedWeights extends boolean = false, WithTrace extends boolean = false>(
 *       x: import('./tensor/tensor.js').Tensor, options?: Sent<NonNullable<O>> & ForwardOptions<NeedWeights, WithTrace>
 *     ) => Promise<Sent<R extends LayerResults
 *       ? LayerResults<NeedWeights, WithTrace> : ForwardResult<NeedWeights, WithTrace>>>
 *   : never} RemoteForward
 */
/**
 * `scaledDotProductAttention`, for the same reason.
 * @typedef {<NeedWeights extends WeightsKind = false>(
 *   q: import('./tensor/tensor.js').Tensor, k: import('./tensor/tensor.js').Tensor, v: import('./tensor/tensor.js').Tensor,
 *   options?: AttentionOptions<NeedWeights>
 * ) => Promise<Sent<AttentionResult<NeedWeights>>>} RemoteAttention
 */

/**
 * An object of the Worker's, under the same names: calls, `new` too, and values are awaited; what is frozen (`info`,
 * `shape`, `options`) is there at once. Its classes cannot be extended.
 * @template T
 * @typedef {{
 *   [K in keyof T as K extends string ? K : never]:
 *     K extends 'info' | 'shape' | 'options' ? T[K]
 *     : K extends 'scaledDotProductAttention' ? RemoteAttention
 *     : T[K] extends new (options: infer O) => infer I
 *       ? (new (options: O) => Promise<Remote<I>>) & Remote<T[K]>
 *     : [K, T] extends ['forward', AttendingModule] ? RemoteForward<T[K]>
 *     : T[K] extends (...args: infer A) => infer R
 *       ? (...args: { [I in keyof A]: Sent<A[I]> }) => Promise<Sent<Awaited<R>>>
 *     : Promise<Sent<T[K]>>
 * }} Remote
 */

/**
 * An engine in a Worker: Headwise, awaited.
 * @typedef {Remote<Headwise>} RemoteHeadwise
 */

export { HeadwiseError } from './checks/error.js';
export { tensor } from './tensor/make-tensor.js';
export { Tensor, zeros } from './tensor/tensor.js';
export { transfer } from './worker/wire.js';

/**
 * What can be posted, and means the same in the Worker.
 * @param {LoadOptions['wasm']} wasm
 */
async function portable(wasm) {
  if (isAddress(wasm)) {
    try {
      return (await resolve(wasm)).href;
    } catch {
      return String(wasm); // the Worker says what is wrong with it
    }
  }
  return isOf(wasm, 'Response') ? bytesOfResponse(wasm, wasm.url || 'wasm (a Response)') : wasm;
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
  const given = readLoadOptions(options);
  const { signal } = await checkLoadOptions(given);
  const { simd, threads, wasm } = given;
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
