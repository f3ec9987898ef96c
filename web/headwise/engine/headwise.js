import { disposeSymbol } from './dispose.js';
import * as functions from '../tensor/functions.js';
import { ComposedModule } from '../modules/composed-module.js';
import { CausalAttention } from '../modules/causal-attention.js';
import { Embedding } from '../modules/embedding.js';
import { FeedForward } from '../modules/feed-forward.js';
import { LayerNorm } from '../modules/layer-norm.js';
import { Linear } from '../modules/linear.js';
import { MultiHeadAttention } from '../modules/multi-head-attention.js';
import { MultiHeadAttentionWrapper } from '../modules/multi-head-attention-wrapper.js';
import { SelfAttentionV1, SelfAttentionV2 } from '../modules/self-attention.js';
import { TransformerBlock } from '../modules/transformer-block.js';
import { TransformerStack } from '../modules/transformer-stack.js';
import { scaledDotProductAttention } from '../attention/scaled-dot-product-attention.js';
import { binary, dropout, sumAlong } from '../tensor/broadcast.js';
import { embedding } from '../tensor/embedding.js';
import { crossEntropy, mseLoss } from '../tensor/losses.js';
import { clipGradNorm } from '../autograd/clip.js';
import { AdamW, SGD } from '../autograd/optimizers.js';
import { beginStretch, setRecording } from '../autograd/record.js';
import { checkBoolean } from '../checks/check.js';
import { misfit } from '../checks/error.js';
import { version } from './version.js';

/** @typedef {import('./engine.js').Engine} Engine */
/** @typedef {import('../autograd/optimizers.js').AdamWOptions} AdamWOptions */
/** @typedef {import('../autograd/optimizers.js').SGDOptions} SGDOptions */
/**
 * @template Settings
 * @typedef {import('../autograd/optimizers.js').Parameters<Settings>} Parameters
 */
/**
 * @template {import('../tensor/tensor.js').DType} [D='float32']
 * @typedef {import('../tensor/tensor.js').Tensor<D>} Tensor
 */

/**
 * A module class whose instances belong to one engine; other classes may extend it.
 * @template {object} Options
 * @template {object} Instance
 * @param {Engine} engine
 * @param {new (engine: Engine, options: Options) => Instance} Module
 * @returns {new (options: Options) => Instance}
 */
function bind(engine, Module) {
  /** @param {any[]} given options, of an optimizer parameters before them */
  function Bound(...given) {
    // Of a class that extends this one, if it is called for such a one.
    const Wanted = new.target === undefined || new.target === Bound ? Module : new.target;
    return Reflect.construct(Module, [engine, ...given], Wanted);
  }
  Object.defineProperty(Bound, 'name', { value: Module.name });
  Object.defineProperty(Bound, 'prototype', { value: Module.prototype });
  return /** @type {any} */ (Bound);
}

/** @param {any} value */
const isThenable = (value) => {
  try {
    return typeof value?.then === 'function';
  } catch {
    return false;
  }
};

/**
 * @internal The engine of a Headwise, for the package's other entries; undefined for what is none, a Proxy of one too.
 * @type {(hw: unknown) => Engine | undefined}
 */
export let engineOf;

/**
 * What an engine is.
 * @typedef {object} EngineInfo
 * @property {string} version the package's
 * @property {'relaxed' | 'simd128'} simd which of the modules runs
 * @property {number} threads how many run
 * @property {string} threadsReason in words, why they are fewer than were asked for, or one; else ''
 */

/**
 * An engine with memory and a random number generator of its own; `load` makes it. Every method throws a HeadwiseError:
 * ERR_SHAPE and ERR_VALUE for arguments, ERR_MEMORY where memory ends, ERR_DISPOSED after `dispose`, ERR_LOAD once a thread
 * has died at work. Results are new tensors that own their memory.
 */
export class Headwise {
  #engine;

  static {
    engineOf = (hw) =>
      typeof hw === 'object' && hw !== null && #engine in hw ? hw.#engine : undefined;
  }

  /** @internal @param {Engine} engine @param {number} threads @param {string} threadsReason */
  constructor(engine, threads, threadsReason) {
    this.#engine = engine;
    /**
     * What this engine is.
     * @type {Readonly<EngineInfo>}
     */
    this.info = Object.freeze({
      version,
      simd: engine.call.has_relaxed_simd() !== 0 ? 'relaxed' : 'simd128',
      threads,
      threadsReason,
    });
    /** torch.nn.Module: the base of classes that are made of modules. */
    this.Module = /** @type {new () => ComposedModule} */ (
      /** @type {unknown} */ (bind(engine, ComposedModule))
    );
    /** torch.nn.Linear */
    this.Linear = bind(engine, Linear);
    /** torch.nn.Embedding */
    this.Embedding = bind(engine, Embedding);
    /** torch.nn.LayerNorm over the last dimension */
    this.LayerNorm = bind(engine, LayerNorm);
    /** One head without a mask, its weights [dIn, dOut] drawn by rand (exercise 3.1). */
    this.SelfAttentionV1 = bind(engine, SelfAttentionV1);
    /** The same head made of Linear layers: its weights are the transposes. */
    this.SelfAttentionV2 = bind(engine, SelfAttentionV2);
    /** One head with a causal mask ("Build a Large Language Model", 3.5). */
    this.CausalAttention = bind(engine, CausalAttention);
    /** One module per head, one after another, outputs side by side (listing 3.4). */
    this.MultiHeadAttentionWrapper = bind(engine, MultiHeadAttentionWrapper);
    /** All heads from one projection (listing 3.5). */
    this.MultiHeadAttention = Object.assign(bind(engine, MultiHeadAttention), {
      /** A wrapper's weights in the fused layout: the same numbers from the other implementation. */
      fromWrapper: MultiHeadAttention.fromWrapper,
    });
    /** fc2(dropout(gelu(fc1(x)))) */
    this.FeedForward = bind(engine, FeedForward);
    /** Attention and feed-forward with layer norms, before or after, and residual connections. */
    this.TransformerBlock = bind(engine, TransformerBlock);
    /** Transformer blocks one after another, in one call. */
    this.TransformerStack = bind(engine, TransformerStack);
    /** torch.optim.AdamW */
    this.AdamW =
      /** @type {new (parameters: Parameters<AdamWOptions>, options?: AdamWOptions) => AdamW} */ (
        bind(engine, /** @type {any} */ (AdamW))
      );
    /** torch.optim.SGD */
    this.SGD =
      /** @type {new (parameters: Parameters<SGDOptions>, options?: SGDOptions) => SGD} */ (
        bind(engine, /** @type {any} */ (SGD))
      );
    // What goes through an engine's classes finds those of its modules.
    for (const name of ['Module', 'AdamW', 'SGD']) {
      Object.defineProperty(this, name, { enumerable: false });
    }
  }

  /** Bytes of the engine's memory: everything it holds or has held at once. */
  get memoryBytes() {
    this.#engine.checkAlive();
    return this.#engine.memory.buffer.byteLength;
  }

  /**
   * torch.manual_seed: what is drawn from here on, initial weights and dropout too, is what torch draws.
   * @param {number | bigint} seed an integer from -2^63 to 2^64 - 1
   */
  manualSeed(seed) {
    functions.manualSeed(this.#engine, seed);
  }

  /**
   * torch.rand: uniform in [0, 1).
   * @param {readonly number[]} shape
   * @param {Record<string, never>} [options] there are none: torch's `generator` and the like are refused
   * @returns {Tensor}
   */
  rand(shape, options) {
    return functions.random(this.#engine, 'rand', shape, options);
  }

  /**
   * torch.randn: standard normal.
   * @param {readonly number[]} shape
   * @param {Record<string, never>} [options] there are none: torch's `generator` and the like are refused
   * @returns {Tensor}
   */
  randn(shape, options) {
    return functions.random(this.#engine, 'randn', shape, options);
  }

  /**
   * Matrix product over the last two dimensions, the leading ones broadcast.
   * @param {Tensor} a […, m, k]
   * @param {Tensor} b […, k, n]
   * @returns {Tensor} […, m, n]
   */
  matmul(a, b) {
    return functions.matmul(this.#engine, a, b);
  }

  /**
   * The last two dimensions swapped.
   * @param {Tensor} a […, rows, columns]
   * @param {Record<string, never>} [options] there are none: torch's dimensions are refused
   * @returns {Tensor} […, columns, rows]
   */
  transpose(a, options) {
    return functions.transpose(this.#engine, a, options);
  }

  /**
   * a + b, element by element, shapes broadcast.
   * @param {Tensor | number} a
   * @param {Tensor | number} b
   * @returns {Tensor}
   */
  add(a, b) {
    return binary(this.#engine, 'add', a, b);
  }

  /**
   * a − b, element by element, shapes broadcast.
   * @param {Tensor | number} a
   * @param {Tensor | number} b
   * @returns {Tensor}
   */
  subtract(a, b) {
    return binary(this.#engine, 'subtract', a, b);
  }

  /**
   * a · b, element by element, shapes broadcast.
   * @param {Tensor | number} a
   * @param {Tensor | number} b
   * @returns {Tensor}
   */
  multiply(a, b) {
    return binary(this.#engine, 'multiply', a, b);
  }

  /**
   * The sum of all elements, or along some axes. Added up in double precision.
   * @param {Tensor} x
   * @param {import('../tensor/broadcast.js').ReduceOptions} [options]
   * @returns {Tensor} of the axes that are left; of shape [] if none is
   */
  sum(x, options) {
    return sumAlong(this.#engine, 'sum', x, options);
  }

  /**
   * The mean of all elements, or along some axes.
   * @param {Tensor} x
   * @param {import('../tensor/broadcast.js').ReduceOptions} [options]
   * @returns {Tensor} of the axes that are left; of shape [] if none is
   */
  mean(x, options) {
    return sumAlong(this.#engine, 'mean', x, options);
  }

  /**
   * Softmax over the last dimension. A row of -Infinity gives zeros.
   * @param {Tensor} x […, n]
   * @param {Record<string, never>} [options] there are none: torch's dimension is refused
   * @returns {Tensor} like x
   */
  softmax(x, options) {
    return functions.softmax(this.#engine, x, options);
  }

  /**
   * torch.nn.functional.gelu: x·Φ(x), Φ the standard normal's distribution function, or its tanh form. -Infinity gives 0.
   * @param {Tensor} x
   * @param {functions.GeluOptions} [options]
   * @returns {Tensor} like x
   */
  gelu(x, options) {
    return functions.gelu(this.#engine, x, options);
  }

  /**
   * torch.nn.functional.layer_norm over the last dimension, with the biased variance.
   * @param {Tensor} x […, n]
   * @param {functions.LayerNormFunctionOptions} [options]
   * @returns {Tensor} like x
   */
  layerNorm(x, options) {
    return functions.layerNorm(this.#engine, x, options);
  }

  /**
   * torch.nn.functional.dropout in training mode, with torch's masks.
   * @param {Tensor} x
   * @param {import('../tensor/broadcast.js').DropoutOptions} [options]
   * @returns {Tensor} like x; what is kept is multiplied by 1/(1 − p)
   */
  dropout(x, options) {
    return dropout(this.#engine, x, options);
  }

  /**
   * torch.nn.functional.embedding: a row of the weight for every id.
   * @param {import('../modules/embedding.js').Ids} ids integers from 0 to numEmbeddings - 1 of any shape
   * @param {Tensor} weight [numEmbeddings, embeddingDim]
   * @returns {Tensor} […, embeddingDim]
   */
  embedding(ids, weight) {
    return embedding(this.#engine, ids, weight);
  }

  /**
   * torch.nn.functional.mse_loss: the squares of input − target.
   * @param {Tensor} input
   * @param {Tensor} target of the same shape
   * @param {import('../tensor/losses.js').MseLossOptions} [options]
   * @returns {Tensor} of shape [], or like input with reduction 'none'
   */
  mseLoss(input, target, options) {
    return mseLoss(this.#engine, input, target, options);
  }

  /**
   * max(x, 0)
   * @param {Tensor} x
   * @param {Record<string, never>} [options] there are none
   * @returns {Tensor} like x
   */
  relu(x, options) {
    return functions.activate(this.#engine, 'relu', x, options);
  }

  /**
   * torch.nn.functional.silu: x / (1 + exp(−x)). -Infinity gives 0.
   * @param {Tensor} x
   * @param {Record<string, never>} [options] there are none
   * @returns {Tensor} like x
   */
  silu(x, options) {
    return functions.activate(this.#engine, 'silu', x, options);
  }

  /**
   * The hyperbolic tangent.
   * @param {Tensor} x
   * @param {Record<string, never>} [options] there are none
   * @returns {Tensor} like x
   */
  tanh(x, options) {
    return functions.activate(this.#engine, 'tanh', x, options);
  }

  /**
   * x / √(mean of x² + eps) · weight over the last dimension (Zhang & Sennrich 2019).
   * @param {Tensor} x […, n]
   * @param {functions.RmsNormOptions} [options]
   * @returns {Tensor} like x
   */
  rmsNorm(x, options) {
    return functions.rmsNorm(this.#engine, x, options);
  }

  /**
   * torch.nn.functional.cross_entropy: of each row of logits how unlikely its target is.
   * @param {Tensor} logits […, classes]
   * @param {import('../modules/embedding.js').Ids} targets integers from 0 to classes - 1, or ignoreIndex, of the shape of logits without the last dimension
   * @param {import('../tensor/losses.js').CrossEntropyOptions} [options]
   * @returns {Tensor} of shape [], or like targets with reduction 'none'. NaN if all targets are ignored
   */
  crossEntropy(logits, targets, options) {
    return crossEntropy(this.#engine, logits, targets, options);
  }

  /**
   * A mask for tokens that see themselves and those before them.
   * @param {number} n
   * @returns {Tensor<'bool'>} [n, n], true on and below the diagonal
   */
  causalMask(n) {
    this.#engine.checkAlive();
    return functions.causalMask(n);
  }

  /**
   * torch.nn.functional.scaled_dot_product_attention, streamed: no n×n matrix unless needWeights asks for it. A query
   * that may see no key gives zeros; a key that is masked for a query does not influence it, NaN or not.
   * @template {import('../attention/options.js').WeightsKind} [NeedWeights=false]
   * @param {Tensor} q […, Lq, E], rank 2, 3 or 4: [batch, heads, tokens, headDim]
   * @param {Tensor} k […, Lkv, E]
   * @param {Tensor} v […, Lkv, Ev]
   * @param {import('../attention/options.js').AttentionOptions<NeedWeights>} [options]
   * @returns {import('../attention/scaled-dot-product-attention.js').AttentionResult<NeedWeights>}
   */
  scaledDotProductAttention(q, k, v, options) {
    return /** @type {any} */ (scaledDotProductAttention(this.#engine, [q, k, v], options));
  }

  /**
   * torch.nn.utils.clip_grad_norm_: multiplies all gradients by maxNorm / norm where their norm is larger.
   * @param {readonly (import('../modules/parameter.js').Parameter | Tensor)[]} parameters of modules, or tensors with requiresGrad
   * @param {number} maxNorm
   * @returns {number} their norm before
   */
  clipGradNorm(parameters, maxNorm) {
    return clipGradNorm(this.#engine, parameters, maxNorm);
  }

  /**
   * Whether results know from now on what they came from, for `backward`. Off at first, unlike torch's.
   * @param {boolean} mode
   */
  setGradEnabled(mode) {
    this.#engine.checkAlive();
    setRecording(this.#engine, checkBoolean(mode, 'mode'));
  }

  /**
   * Whether results know what they came from.
   * @returns {boolean}
   */
  isGradEnabled() {
    this.#engine.checkAlive();
    return this.#engine.isRecording;
  }

  /**
   * Calls a function with gradients on, an async one until its promise settles.
   * @template T
   * @param {() => T} fn
   * @returns {T} what fn returns
   */
  enableGrad(fn) {
    return this.#withGrad(true, fn);
  }

  /**
   * Calls a function with gradients off, an async one until its promise settles.
   * @template T
   * @param {() => T} fn
   * @returns {T} what fn returns
   */
  noGrad(fn) {
    return this.#withGrad(false, fn);
  }

  /** @template T @param {boolean} mode @param {() => T} fn @returns {T} */
  #withGrad(mode, fn) {
    const engine = this.#engine;
    engine.checkAlive();
    if (typeof fn !== 'function') {
      throw misfit(fn, 'fn', 'a function');
    }
    const end = beginStretch(engine, mode);
    let result;
    try {
      result = fn();
    } catch (error) {
      end();
      throw error;
    }
    if (isThenable(result)) {
      return /** @type {any} */ (Promise.resolve(result).finally(end));
    }
    end();
    return result;
  }

  /**
   * Frees the engine's memory with all modules and traces in it, and ends its threads. Calls after this throw
   * ERR_DISPOSED.
   */
  dispose() {
    this.#engine.dispose();
    setRecording(this.#engine, false);
  }

  /** What it is, for consoles; Vue makes no proxy of what says so. */
  get [Symbol.toStringTag]() {
    return 'Headwise';
  }

  /** `dispose`, for `using`. */
  [disposeSymbol]() {
    this.dispose();
  }
}
