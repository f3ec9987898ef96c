import { checkBoolean, checkOptions, checkSize } from '../check.js';
import { describe } from '../describe.js';
import { HeadwiseError } from '../error.js';
import { newArray, Tensor } from '../tensor.js';
import {
  AttentionModule,
  checkCommonOptions,
  firstLayer,
  forwardOptions,
} from './attention-module.js';
import { KeyValueCache } from './key-value-cache.js';
import { createModule, linearParameters } from './module.js';
import { MultiHeadAttentionWrapper } from './multi-head-attention-wrapper.js';
import { projectionNames } from './single-head.js';

/** @typedef {import('../engine.js').Engine} Engine */
/** @typedef {import('./attention-module.js').ForwardOptions} ForwardOptions */
/** @typedef {import('./attention-module.js').ForwardResult} ForwardResult */

/**
 * What a MultiHeadAttention is made with.
 * @typedef {object} MultiHeadAttentionOptions
 * @property {number} dIn width of x
 * @property {number} dOut all heads together; a multiple of numHeads
 * @property {number} contextLength the most tokens
 * @property {number} numHeads each as wide as dOut / numHeads
 * @property {number} [dropout] default 0; of the weights, in training mode
 * @property {boolean} [qkvBias] default false
 * @property {boolean} [outProj] default true: an output projection
 * @property {boolean} [outBias] default true: with a bias
 * @property {boolean} [isCausal] default true
 * @property {boolean} [packedQkv] default false: one qkv_proj instead of W_query, W_key, W_value
 */

/** The options as attention_create takes them. */
const createOrder = /** @type {const} */ ([
  ...['dIn', 'dOut', 'contextLength', 'dropout', 'numHeads'],
  ...['qkvBias', 'outProj', 'outBias', 'isCausal', 'packedQkv'],
]);

/** What forward takes. */
const cachedOptions = /** @type {const} */ ([...forwardOptions, 'cache']);

/** @param {MultiHeadAttentionOptions} options */
function checkAll(options) {
  const flags = /** @type {const} */ (['outProj', 'outBias', 'isCausal', 'packedQkv']);
  const known = ['dIn', 'dOut', 'contextLength', 'dropout', 'numHeads', 'qkvBias', ...flags];
  const given = checkOptions(options, known, 'MultiHeadAttention');
  const checked = {
    ...checkCommonOptions(given),
    numHeads: checkSize(given.numHeads, 'numHeads'),
    outProj: checkBoolean(given.outProj ?? true, 'outProj'),
    outBias: checkBoolean(given.outBias ?? true, 'outBias'),
    isCausal: checkBoolean(given.isCausal ?? true, 'isCausal'),
    packedQkv: checkBoolean(given.packedQkv ?? false, 'packedQkv'),
  };
  if (checked.dOut % checked.numHeads !== 0) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `dOut is ${checked.dOut}; expected a multiple of numHeads, ${checked.numHeads}`,
    );
  }
  return checked;
}

/**
 * @param {Engine} engine
 * @param {number} pointer
 * @param {ReturnType<typeof checkAll>} options
 */
function parametersOf(engine, pointer, { dIn, dOut, qkvBias, outProj, outBias, packedQkv }) {
  const qkv = engine.call.attention_qkv_proj(pointer) >>> 0;
  const out = engine.call.attention_out_proj(pointer) >>> 0;
  const projections = packedQkv
    ? linearParameters('qkv_proj', { linear: qkv, rows: 3 * dOut, inFeatures: dIn, bias: qkvBias })
    : projectionNames.flatMap((name, part) =>
        linearParameters(name, {
          linear: qkv,
          firstRow: part * dOut,
          rows: dOut,
          inFeatures: dIn,
          bias: qkvBias,
        }),
      );
  const output = outProj
    ? linearParameters('out_proj', { linear: out, rows: dOut, inFeatures: dOut, bias: outBias })
    : [];
  return [...projections, ...output];
}

/**
 * All heads from one projection, split by strides: [batch, tokens, dOut]. State dict: W_query.weight [dOut, dIn], W_key.weight,
 * W_value.weight (packed: qkv_proj.weight [3 · dOut, dIn]), out_proj.weight [dOut, dOut], out_proj.bias; fc_out.* is accepted
 * for out_proj.* on loading, and a causal `mask` beside the weights.
 */
export class MultiHeadAttention extends AttentionModule {
  /**
   * @internal
   * @param {Engine} engine
   * @param {MultiHeadAttentionOptions} options
   * @param {boolean} [draw] false: leave the weights zero and the generator where it is
   */
  constructor(engine, options, draw = true) {
    const checked = checkAll(options);
    const { dIn, dOut, contextLength, numHeads } = checked;
    const values = [draw, ...createOrder.map((name) => checked[name])];
    const pointer = createModule(
      engine,
      'attention_create',
      values,
      `a MultiHeadAttention of ${dIn} × ${dOut}`,
    );
    const created = {
      pointer,
      parameters: parametersOf(engine, pointer, checked),
      savedMasks: checked.isCausal ? ['mask'] : [],
      destroy: 'attention_destroy',
      train: 'attention_train',
      forward: 'attention_forward',
    };
    super(engine, created, { dIn, width: dOut, heads: numHeads, contextLength });
    /**
     * What the module was made with, defaults filled in.
     * @type {Readonly<Required<MultiHeadAttentionOptions>>}
     */
    this.options = Object.freeze(checked);
  }

  /**
   * Room for keys and values of up to contextLength tokens, for `forward` to append to.
   * @param {import('./key-value-cache.js').CacheOptions} [options]
   * @returns {KeyValueCache}
   * @throws {HeadwiseError} ERR_SHAPE: past has another shape; ERR_VALUE: batch is no size, or past has more tokens than
   *   contextLength; ERR_MEMORY; ERR_DISPOSED
   */
  createCache(options) {
    const { dOut, numHeads, contextLength } = this.options;
    const { engine, pointer } = this;
    const owner = {
      module: this,
      heads: numHeads,
      headDim: dOut / numHeads,
      contextLength,
      create: (/** @type {number[]} */ ...past) =>
        engine.call.attention_create_cache(pointer, ...past),
    };
    return new KeyValueCache(engine, owner, options);
  }

  /**
   * Runs the module, after what is in a cache if one is given.
   * @override
   * @param {Tensor} x [batch, tokens, dIn] or [tokens, dIn]
   * @param {ForwardOptions & { cache?: KeyValueCache }} [options] cache: of this module's createCache; x's tokens are
   *   appended to it and attend over all that it holds then, causally offset by those it held before. Lkv, of a mask too,
   *   is its new length
   * @returns {ForwardResult}
   * @throws {HeadwiseError} ERR_VALUE: no room for the tokens. After any error the cache is as it was
   */
  forward(x, options) {
    const given = checkOptions(options, cachedOptions, 'MultiHeadAttention.forward');
    if (given.cache !== undefined && !(given.cache instanceof KeyValueCache)) {
      throw new HeadwiseError(
        'ERR_VALUE',
        `cache is ${describe(given.cache)}; expected what createCache returns`,
      );
    }
    return firstLayer(this.attend(x, given, given.cache));
  }

  /**
   * @override
   * @protected
   * @param {string} key
   */
  canonicalKey(key) {
    return key.replace(/^fc_out\./, 'out_proj.');
  }

  /**
   * The wrapper's weights in the fused layout: the same numbers from the other implementation, no output projection.
   * @param {MultiHeadAttentionWrapper} wrapper
   * @returns {MultiHeadAttention}
   * @throws {HeadwiseError} ERR_VALUE: not a wrapper; ERR_MEMORY; ERR_DISPOSED
   */
  static fromWrapper(wrapper) {
    if (!(wrapper instanceof MultiHeadAttentionWrapper)) {
      throw new HeadwiseError(
        'ERR_VALUE',
        `wrapper is ${describe(wrapper)}; expected a MultiHeadAttentionWrapper`,
      );
    }
    const { dOut, numHeads, qkvBias, ...same } = wrapper.options;
    const heads = wrapper.stateDict();
    const options = { ...same, dOut: dOut * numHeads, numHeads, qkvBias, outProj: false };
    const fused = new MultiHeadAttention(wrapper.engine, options, false);
    const kinds = qkvBias ? ['weight', 'bias'] : ['weight'];
    const keys = projectionNames.flatMap((name) => kinds.map((kind) => `${name}.${kind}`));
    const stacked = keys.map((key) => [
      key,
      stackRows(Array.from({ length: numHeads }, (_, head) => heads[`heads.${head}.${key}`])),
    ]);
    try {
      return fused.loadStateDict(Object.fromEntries(stacked)).train(wrapper.training);
    } catch (error) {
      fused.dispose();
      throw error;
    }
  }
}

/**
 * @param {Tensor[]} parts of one shape
 * @returns {Tensor} one below the other
 */
function stackRows(parts) {
  const data = newArray(Float32Array, parts.length * parts[0].data.length);
  parts.forEach((part, i) => data.set(part.data, i * part.data.length));
  return new Tensor(data, [parts.length * parts[0].shape[0], ...parts[0].shape.slice(1)]);
}
