/**
 * The names of 'headwise' with the engine in a Worker. Its computations never block the page, and every call is awaited.
 * Models run in the Worker too: loadModel of 'headwise/models' and loadGpt2 of 'headwise/gpt2' take this engine.
 * @module headwise/worker
 */

/// <reference lib="esnext.disposable" preserve="true" />

import { baseOf } from './engine/resolve.js';
import { HeadwiseError } from './checks/error.js';
import { checkLoadOptions, readLoadOptions } from './engine/load-options.js';
import { noteRecording } from './worker/note-recording.js';
import { startHost } from './worker/start-host.js';

/** @typedef {import('./engine/load-options.js').LoadOptions} LoadOptions */
/** @typedef {import('./engine/headwise.js').Headwise} Headwise */
/** @typedef {import('./tensor/make-tensor.js').NestedArray} NestedArray */
/** @typedef {import('./tensor/ids.js').NestedIds} NestedIds */
/** @typedef {import('./tensor/tensor.js').AnyTensor} AnyTensor */
/** @typedef {import('./tensor/tensor.js').Tensor} Floats */
/** @typedef {import('./attention/trace.js').Trace} Trace */
/** @typedef {import('./autograd/optimizers.js').AdamW} AdamW */
/** @typedef {import('./autograd/optimizers.js').SGD} SGD */
/** @typedef {import('./modules/parameter.js').Parameter} Parameter */
/** @typedef {import('./modules/module.js').Module} Module */
/** @typedef {import('./modules/key-value-cache.js').KeyValueCache} KeyValueCache */
/** @typedef {import('./modules/attention-module.js').AttendingModule} AttendingModule */
/** @typedef {import('./attention/options.js').WeightsKind} WeightsKind */
/** @typedef {import('./tensor/ids.js').Ids} Ids */
/** @typedef {import('./models/generate.js').Generated} Generated */
/**
 * @template {boolean} [WithLogProbability=false]
 * @typedef {import('./models/generate.js').GenerateOptions<WithLogProbability>} GenerateOptions
 */
/** @typedef {import('./models/decoder.js').Decoder} Decoder */
/** @typedef {import('./models/encoder.js').Encoder} Encoder */
/**
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {import('./models/encoder.js').EncoderForwardOptions<NeedWeights, WithTrace>} EncoderForwardOptions
 */
/**
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {import('./models/encoder.js').EncoderResult<NeedWeights, WithTrace>} EncoderResult
 */
/** @typedef {import('./models/gpt2.js').Gpt2} Gpt2 */
/** @typedef {import('./models/gpt2.js').LogitsOf} LogitsOf */
/**
 * @template {LogitsOf} [Logits=LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @template {boolean} [WithResiduals=boolean]
 * @typedef {import('./models/gpt2.js').Gpt2ForwardOptions<Logits, NeedWeights, WithTrace, WithResiduals>} Gpt2ForwardOptions
 */
/**
 * @template {LogitsOf} [Logits=LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @template {boolean} [WithResiduals=boolean]
 * @typedef {import('./models/gpt2.js').Gpt2Result<Logits, NeedWeights, WithTrace, WithResiduals>} Gpt2Result
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
 * A value on its way to the Worker or back. An object that stays in the Worker is Remote here.
 * @template T
 * @typedef {T extends Headwise | Module | Trace | KeyValueCache | Parameter | AdamW | SGD ? Remote<T>
 *   : T extends AnyTensor | NestedArray | NestedIds | ArrayBufferView | Function | AbortSignal ? T
 *   : T extends object ? { [K in keyof T]: Sent<T[K]> } : T} Sent
 */

/**
 * The forward of an attention module. A mapped type loses the type parameters, so this type is written out.
 * @template Forward
 * @typedef {Forward extends (x: any, options?: infer O) => infer R
 *   ? <NeedWeights extends boolean = false, WithTrace extends boolean = false>(
 *       x: import('./tensor/tensor.js').Tensor, options?: Sent<NonNullable<O>> & ForwardOptions<NeedWeights, WithTrace>
 *     ) => Promise<Sent<R extends LayerResults
 *       ? LayerResults<NeedWeights, WithTrace> : ForwardResult<NeedWeights, WithTrace>>>
 *   : never} RemoteForward
 */
/**
 * The option for a cache in the Worker.
 * @typedef {object} RemoteCacheOption
 * @property {Remote<KeyValueCache>} [cache] from this model's createCache; forward appends the ids to it
 */
/**
 * The forward of a Gpt2 or Decoder, written out for the same reason.
 * @typedef {<Logits extends LogitsOf = 'last', NeedWeights extends boolean = false, WithTrace extends boolean = false,
 *   WithResiduals extends boolean = false>(
 *   ids: Ids, options?: Omit<Gpt2ForwardOptions<Logits, NeedWeights, WithTrace, WithResiduals>, 'cache'> & RemoteCacheOption
 * ) => Promise<Sent<Gpt2Result<Logits, NeedWeights, WithTrace, WithResiduals>>>} RemoteGpt2Forward
 */
/**
 * The forward of an Encoder, written out for the same reason.
 * @typedef {<NeedWeights extends boolean = false, WithTrace extends boolean = false>(
 *   ids: Ids, options?: EncoderForwardOptions<NeedWeights, WithTrace>
 * ) => Promise<Sent<EncoderResult<NeedWeights, WithTrace>>>} RemoteEncoderForward
 */
/**
 * The generate of a model. It returns an async iterator, which ends when you leave the loop.
 * @template {string} Unknown an option that the model does not take
 * @typedef {<WithLogProbability extends boolean = false>(
 *   ids: Ids, options?: Omit<GenerateOptions<WithLogProbability>, 'cache' | Unknown>
 *     & { cache?: Remote<KeyValueCache> | { dtype?: 'float32' | 'bfloat16' | 'float16' } }
 * ) => AsyncGenerator<WithLogProbability extends true ? Generated : number, void, void>} RemoteGenerate
 */
/**
 * `enableGrad` and `noGrad`, written out for the same reason. The function runs here. Until its promise settles, gradients are on
 * or off for all that is asked of the engine, by other code too. While several are under way, the one that began last decides.
 * @typedef {<T>(fn: () => T) => Promise<Awaited<T>>} RemoteStretch
 */
/**
 * `scaledDotProductAttention`, written out for the same reason.
 * @typedef {<NeedWeights extends WeightsKind = false>(
 *   q: import('./tensor/tensor.js').Tensor, k: import('./tensor/tensor.js').Tensor, v: import('./tensor/tensor.js').Tensor,
 *   options?: AttentionOptions<NeedWeights>
 * ) => Promise<Sent<AttentionResult<NeedWeights>>>} RemoteAttention
 */
/**
 * `transpose`, written out for the same reason.
 * @typedef {<D extends import('./tensor/tensor.js').DType = 'float32'>(
 *   a: import('./tensor/tensor.js').Tensor<D>, options?: Record<string, never>
 * ) => Promise<import('./tensor/tensor.js').Tensor<D>>} RemoteTranspose
 */

/**
 * What of a module can also be set in the Worker, as here: a mapped type has one type for reading and writing.
 * @typedef {{ get training(): Promise<boolean>, set training(value: boolean) }} RemoteTraining
 * @property training Whether dropout is active. As in torch, a new module is in training mode.
 */
/**
 * What of an optimizer can also be set in the Worker.
 * @typedef {{ get lr(): Promise<number>, set lr(value: number) }} RemoteRate
 * @property lr The learning rate of the first group. Setting it changes all groups.
 */
/**
 * What of a parameter can also be set in the Worker.
 * @typedef {{
 *   get data(): Promise<Floats>, set data(value: Floats),
 *   get grad(): Promise<Floats | null>, set grad(value: Floats | null),
 *   get requiresGrad(): Promise<boolean>, set requiresGrad(value: boolean)
 * }} RemoteValue
 * @property data A copy of the value.
 * @property grad A copy of the sum of the gradients from all calls of `backward`; null without a gradient. Set it to a tensor, or to
 *   null to clear it.
 * @property requiresGrad Whether `backward` computes the gradient; the value at the time `backward` runs counts. A forward of a
 *   module whose parameters are all frozen is only recorded if its input requires a gradient. Default true. Set it to false to freeze
 *   the parameter; unlike in torch, that also clears its gradient, so that no optimizer moves it.
 */
/**
 * What of an object can be set.
 * @template T
 * @typedef {(T extends Module ? RemoteTraining : {}) & (T extends Parameter ? RemoteValue : {})
 *   & (T extends { lr: number, groups: unknown } ? RemoteRate : {})} RemoteSettings
 */
/**
 * Parameters in the Worker, with their own settings.
 * @template Settings
 * @typedef {{ params: readonly Remote<Parameter>[] } & Partial<Settings>} RemoteGroup
 * @property params the group's parameters
 */
/**
 * An object in the Worker, with the same member names. Await its calls (`new` too) and its values. Values that do not change
 * (`info`, `shape`, `options`, `config`) are available at once. They are copies, frozen at their top level. An iterator, such as the
 * result of `generate`, is asynchronous. Its classes cannot be extended, so there is no Module.
 * @template T
 * @typedef {{
 *   [K in keyof T as K extends 'Module' | keyof RemoteSettings<T> ? never : K extends string ? K : never]:
 *     K extends 'info' | 'shape' | 'options' | 'config' ? T[K]
 *     : K extends 'scaledDotProductAttention' ? RemoteAttention
 *     : K extends 'transpose' ? RemoteTranspose
 *     : K extends 'enableGrad' | 'noGrad' ? RemoteStretch
 *     : [K, T[K]] extends ['AdamW' | 'SGD', new (parameters: any, options?: infer O) => infer I]
 *       ? new (parameters: readonly (Remote<Parameter> | RemoteGroup<O>)[], options?: O) => Promise<Remote<I>>
 *     : T[K] extends new (...given: infer G) => infer I
 *       ? (new (...given: G) => Promise<Remote<I>>) & Remote<T[K]>
 *     : [K, T] extends ['forward', Gpt2 | Decoder] ? RemoteGpt2Forward
 *     : [K, T] extends ['forward', Encoder] ? RemoteEncoderForward
 *     : K extends 'generate' ? RemoteGenerate<T extends Gpt2 ? never : 'eosTokenId'>
 *     : [K, T] extends ['forward', AttendingModule] ? RemoteForward<T[K]>
 *     : T[K] extends (...args: infer A) => infer R
 *       ? (...args: { [I in keyof A]: Sent<A[I]> }) => Promise<Sent<Awaited<R>>>
 *     : Promise<Sent<T[K]>>
 * } & RemoteSettings<T> & (T extends { dispose(): void } ? AsyncDisposable : {})} Remote
 */

/**
 * A Headwise engine in a Worker; its calls are awaited.
 * @typedef {Remote<Headwise>} RemoteHeadwise
 */

export { HeadwiseError } from './checks/error.js';
export { tensor } from './tensor/make-tensor.js';
export { Tensor, zeros } from './tensor/tensor.js';
export { transfer } from './worker/wire.js';

/** Keeps an engine alive as long as this thread holds an object of its Worker. @type {WeakMap<object, object>} */
const engines = new WeakMap();

/**
 * Starts an engine in a Worker, like `load` of 'headwise'. Its computations never block the page. The names are the same,
 * and every call is awaited. Calls run in order, even if they are not awaited. Results are moved, not copied. Arguments
 * are copied unless `transfer` marks them for moving. `dispose` ends the Worker after it has answered earlier calls; those that
 * wait for files or callbacks are ended.
 *
 * @param {LoadOptions} [options]
 * @returns {Promise<RemoteHeadwise>}
 * @throws {HeadwiseError} ERR_LOAD: also if the Worker cannot be started; other errors as in `load` of 'headwise'
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
    const asked = [{ simd, threads, wasm }, baseOf()];
    const hw = await connection.send(0, ['load'], 'call', asked);
    engines.set(connection, hw);
    noteRecording(hw, connection.modes);
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
