import { checkSize, checkTable, off, on } from '../checks/check.js';
import { addressOf } from '../engine/owned.js';
import { checkFloats } from '../tensor/operand.js';
import { misfit } from '../checks/error.js';
import { Tensor } from '../tensor/tensor.js';
import { newArray } from '../tensor/shape.js';
import { AttentionModule, checkHeads, ofOneLayer, sizeChecks } from './attention-module.js';
import { cachedForward } from './forward-options.js';
import { KeyValueCache } from './key-value-cache.js';
import { optionsOf } from './multi-head-attention-wrapper.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */
/**
 * A further option of MultiHeadAttention's `forward`.
 * @typedef {object} CacheOption
 * @property {KeyValueCache} [cache] from this module's createCache. Such a forward is not recorded: `backward` through it throws
 */

/**
 * Options of the MultiHeadAttention constructor.
 * @typedef {object} MultiHeadAttentionOptions
 * @property {number} dIn width of x
 * @property {number} dOut output width of all heads together; a multiple of numHeads
 * @property {number} contextLength the largest number of tokens
 * @property {number} numHeads the number of heads; each has width dOut / numHeads
 * @property {number} [dropout] default 0; applied to the weights in training mode
 * @property {boolean} [qkvBias] default false
 * @property {boolean} [outProj] default true: an output projection
 * @property {boolean} [outBias] default true: a bias in the output projection
 * @property {boolean} [isCausal] default true
 * @property {boolean} [packedQkv] default false: one qkv_proj instead of W_query, W_key, W_value
 */

/** The prototype of the module that fromWrapper is making. Its weights are not drawn. @type {unknown} */
let undrawn;

/**
 * @param {Record<string, Tensor>} state a wrapper's
 * @param {number} count of heads
 * @returns {Record<string, Tensor>} the heads' rows one below another
 */
function stackHeads(state, count) {
  const keys = Object.keys(state).filter((key) => key.startsWith('heads.0.'));
  return Object.fromEntries(
    keys.map((first) => {
      const { size, shape } = checkFloats(state[first], first);
      const key = first.slice('heads.0.'.length);
      const data = newArray(Float32Array, size * count);
      for (let head = 0; head < count; head++) {
        data.set(state[`heads.${head}.${key}`].data, size * head);
      }
      return [key, new Tensor(data, [shape[0] * count, ...shape.slice(1)])];
    }),
  );
}

const table = {
  ...{ ...sizeChecks, numHeads: checkSize, qkvBias: off, outProj: on, outBias: on },
  ...{ isCausal: on, packedQkv: off },
};

/**
 * All heads in one module. Strides split the shared projections into heads. Output: [batch, tokens, dOut]. State dict:
 * W_query.weight [dOut, dIn], W_key.weight, W_value.weight (packed: qkv_proj.weight [3 · dOut, dIn]), out_proj.weight
 * [dOut, dOut], out_proj.bias. Loading also accepts fc_out.* for out_proj.* and, if isCausal, a
 * causal `mask`.
 */
export class MultiHeadAttention extends AttentionModule {
  #options;

  /** @internal @param {Engine} engine @param {MultiHeadAttentionOptions} options */
  constructor(engine, options) {
    const draw = new.target.prototype !== undrawn;
    const config = checkTable(options, table, 'MultiHeadAttention');
    const { dIn, dOut, contextLength, numHeads } = config;
    checkHeads(dOut, 'dOut', numHeads);
    const what = `a MultiHeadAttention of ${dIn} × ${dOut}`;
    const sizes = { dIn, width: dOut, heads: numHeads, contextLength };
    const isMask = (/** @type {string} */ key) => config.isCausal && key === 'mask';
    super(engine, { kind: 'multiHeadAttention', config, what, draw }, sizes, isMask);
    /**
     * The options of the module, with defaults filled in.
     * @type {Readonly<Required<MultiHeadAttentionOptions>>}
     * @readonly
     */
    this.options = Object.freeze(config);
    this.#options = this.options;
  }

  /**
   * Makes a cache for the keys and values of up to contextLength tokens. `forward` appends to it.
   * @param {import('./key-value-cache.js').CacheOptions} [options]
   * @returns {KeyValueCache}
   * @throws {HeadwiseError} ERR_SHAPE: past has another shape; ERR_VALUE: batch is not a size, a cache cannot have dtype, or past
   *   has more tokens than contextLength; ERR_MEMORY; ERR_DISPOSED
   */
  createCache(options) {
    const { dOut, numHeads: heads, contextLength } = this.#options;
    addressOf(this);
    return new KeyValueCache(this, { heads, headDim: dOut / heads, contextLength }, options);
  }

  /**
   * Runs the module. If a cache is given, the tokens follow those in the cache.
   * @override
   * @template {boolean} [NeedWeights=false]
   * @template {boolean} [WithTrace=false]
   * @param {Tensor} x [batch, tokens, dIn] or [tokens, dIn]
   * @param {import('./attention-module.js').ForwardOptions<NeedWeights, WithTrace> & CacheOption} [options] cache: from this module's createCache. The
   *   tokens of x are appended to it and attend to all its tokens; the causal mask is offset by the earlier ones. Lkv, also
   *   for a mask, is the new length of the cache
   * @returns {import('./attention-module.js').ForwardResult<NeedWeights, WithTrace>}
   * @throws {HeadwiseError} ERR_SHAPE: x or mask has a wrong shape, more tokens than contextLength, or a cache of another batch;
   *   ERR_VALUE: an option, a cache of another module, or no room in the cache for the tokens; ERR_MEMORY; ERR_DISPOSED: the
   *   module or the cache. After any error the cache is unchanged
   */
  forward(x, options) {
    return /** @type {any} */ (ofOneLayer(this.attend(x, options, cachedForward)));
  }

  /** @override @protected @param {string} key */
  canonicalKey(key) {
    return key.replace(/^fc_out\./, 'out_proj.');
  }

  /**
   * Makes a module from a wrapper's weights, without an output projection, with the wrapper's other options and training mode. It
   * computes the same numbers as the wrapper; for several texts it draws dropout in another order.
   * @template {MultiHeadAttention} M
   * @this {new (options: any) => M} the engine's class, or a subclass; its constructor gets the options
   * @param {import('./multi-head-attention-wrapper.js').MultiHeadAttentionWrapper} wrapper
   * @returns {M}
   * @throws {HeadwiseError} ERR_VALUE: not a wrapper, or a subclass with other parameters; ERR_MEMORY; ERR_DISPOSED
   */
  static fromWrapper(wrapper) {
    const wrapped = optionsOf(wrapper);
    if (wrapped === undefined) {
      throw misfit(wrapper, 'wrapper', 'a MultiHeadAttentionWrapper');
    }
    // This does not call the state dict methods of subclasses.
    const { stateDict, loadStateDict } = MultiHeadAttention.prototype;
    const state = stackHeads(stateDict.call(wrapper), wrapped.numHeads);
    const dOut = wrapped.dOut * wrapped.numHeads;
    let fused;
    undrawn = this.prototype;
    try {
      fused = new this({ ...wrapped, dOut, outProj: false });
    } finally {
      undrawn = undefined;
    }
    try {
      loadStateDict.call(fused, state);
      return fused.train(wrapper.training);
    } catch (error) {
      fused.dispose();
      throw error;
    }
  }
}
