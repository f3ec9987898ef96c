/**
 * The same names with the engine in a Worker: nothing that it computes holds up the page, and everything is awaited. Models
 * live there too: loadGpt2 of 'headwise/gpt2' takes this engine.
 * @module headwise/worker
 */

import { baseOf } from './engine/compile.js';
import { HeadwiseError } from './checks/error.js';
import { checkLoadOptions, readLoadOptions } from './engine/load-options.js';
import { startHost } from './worker/start-host.js';
import { loading } from './worker/there.js';

/** @typedef {import('./engine/load-options.js').LoadOptions} LoadOptions */
/** @typedef {import('./engine/headwise.js').Headwise} Headwise */
/** @typedef {import('./tensor/tensor.js').AnyTensor} AnyTensor */
/** @typedef {import('./attention/trace.js').Trace} Trace */
/** @typedef {import('./autograd/optimizers.js').AdamW} AdamW */
/** @typedef {import('./autograd/optimizers.js').SGD} SGD */
/** @typedef {import('./modules/parameter.js').Parameter} Parameter */
/** @typedef {import('./modules/module.js').Module} Module */
/** @typedef {import('./modules/key-value-cache.js').KeyValueCache} KeyValueCache */
/** @typedef {import('./modules/attention-module.js').AttendingModule} AttendingModule */
/** @typedef {import('./attention/options.js').WeightsKind} WeightsKind */
/** @typedef {import('./modules/embedding.js').Ids} Ids */
/** @typedef {import('./models/generate.js').Generated} Generated */
/**
 * @template {boolean} [WithLogProbability=false]
 * @typedef {import('./models/generate.js').GenerateOptions<WithLogProbability>} GenerateOptions
 */
/** @typedef {import('./models/gpt2.js').Gpt2} Gpt2 */
/** @typedef {import('./models/gpt2.js').LogitsOf} LogitsOf */
/**
 * @template {LogitsOf} Logits
 * @template {boolean} NeedWeights
 * @template {boolean} WithTrace
 * @typedef {import('./models/gpt2.js').Gpt2ForwardOptions<Logits, NeedWeights, WithTrace>} Gpt2ForwardOptions
 */
/**
 * @template {LogitsOf} Logits
 * @template {boolean} NeedWeights
 * @template {boolean} WithTrace
 * @typedef {import('./models/gpt2.js').Gpt2Result<Logits, NeedWeights, WithTrace>} Gpt2Result
 */
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
 * @typedef {T extends Headwise | Module | Trace | KeyValueCache | Parameter | AdamW | SGD ? Remote<T>
 *   : T extends AnyTensor | readonly number[] | ArrayBufferView | Function | AbortSignal ? T
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
 * A cache of the Worker's.
 * @typedef {object} RemoteCacheOption
 * @property {Remote<KeyValueCache>} [cache] of this model's createCache: the ids are appended to it
 */
/**
 * The forward of a Gpt2, for the same reason.
 * @typedef {<Logits extends LogitsOf = 'last', NeedWeights extends boolean = false, WithTrace extends boolean = false>(
 *   ids: Ids, options?: Omit<Gpt2ForwardOptions<Logits, NeedWeights, WithTrace>, 'cache'> & RemoteCacheOption
 * ) => Promise<Sent<Gpt2Result<Logits, NeedWeights, WithTrace>>>} RemoteGpt2Forward
 */
/**
 * The generate of a model: an async iterator, which ends when its loop is left.
 * @typedef {<WithLogProbability extends boolean = false>(
 *   ids: Ids, options?: Omit<GenerateOptions<WithLogProbability>, 'cache'> & RemoteCacheOption
 * ) => AsyncGenerator<WithLogProbability extends true ? Generated : number, void, void>} RemoteGenerate
 */
/**
 * `scaledDotProductAttention`, for the same reason.
 * @typedef {<NeedWeights extends WeightsKind = false>(
 *   q: import('./tensor/tensor.js').Tensor, k: import('./tensor/tensor.js').Tensor, v: import('./tensor/tensor.js').Tensor,
 *   options?: AttentionOptions<NeedWeights>
 * ) => Promise<Sent<AttentionResult<NeedWeights>>>} RemoteAttention
 */

/**
 * Parameters of the Worker's, and settings of their own.
 * @template Settings
 * @typedef {{ params: readonly Remote<Parameter>[] } & Partial<Settings>} RemoteGroup
 */
/**
 * An object of the Worker's, under the same names: calls, `new` too, and values are awaited; what is frozen (`info`,
 * `shape`, `options`) is there at once. An iterator, such as `generate` returns, is an async one. Its classes cannot be
 * extended.
 * @template T
 * @typedef {{
 *   [K in keyof T as K extends string ? K : never]:
 *     K extends 'info' | 'shape' | 'options' ? T[K]
 *     : K extends 'scaledDotProductAttention' ? RemoteAttention
 *     : [K, T[K]] extends ['AdamW' | 'SGD', new (parameters: any, options?: infer O) => infer I]
 *       ? new (parameters: readonly (Remote<Parameter> | RemoteGroup<O>)[], options?: O) => Promise<Remote<I>>
 *     : T[K] extends new (options: infer O) => infer I
 *       ? (new (options: O) => Promise<Remote<I>>) & Remote<T[K]>
 *     : [K, T] extends ['forward', Gpt2] ? RemoteGpt2Forward
 *     : K extends 'generate' ? RemoteGenerate
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

/** An engine lives as long as anything in its Worker is held here. @type {WeakMap<object, object>} */
const engines = new WeakMap();

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
  const connection = await startHost();
  const abort = () => connection.end(signal?.reason);
  signal?.addEventListener('abort', abort);
  try {
    signal?.throwIfAborted();
    const call = (/** @type {string} */ name, /** @type {unknown[]} */ ...args) =>
      connection.send(0, [name], 'call', args);
    const hw = await call('load', { simd, threads, wasm }, baseOf());
    engines.set(connection, hw);
    hw[loading] = (/** @type {string} */ name, /** @type {unknown[]} */ ...args) =>
      call(name, hw, ...args);
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
