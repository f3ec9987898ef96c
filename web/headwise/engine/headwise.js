import { disposeSymbol } from './dispose.js';
import * as functions from '../tensor/functions.js';
import { scaledDotProductAttention } from '../attention/scaled-dot-product-attention.js';
import { binary, dropout, sumAlong } from '../tensor/broadcast.js';
import { embedding } from '../tensor/embedding.js';
import { crossEntropy, mseLoss } from '../tensor/losses.js';
import { clipGradNorm } from '../autograd/clip.js';
import { withRecording } from '../autograd/record.js';
import { checkBoolean } from '../checks/check.js';
import { EngineClasses } from './classes.js';
import { keepEngine } from './given-engine.js';
import { version } from './version.js';

/** @typedef {import('./engine.js').Engine} Engine */
/**
 * @template {import('../tensor/tensor.js').DType} [D='float32']
 * @typedef {import('../tensor/tensor.js').Tensor<D>} Tensor
 */

/**
 * A description of an engine.
 * @typedef {object} EngineInfo
 * @property {string} version the version of the package
 * @property {'relaxed' | 'simd128'} simd the module that runs
 * @property {number} threads the number of threads that run
 * @property {string} threadsReason in words, why there is one thread, or fewer than requested; otherwise ''
 */

/**
 * An engine with its own memory and random number generator. `load` makes it. Every method may throw a HeadwiseError:
 * ERR_SHAPE or ERR_VALUE for bad arguments, ERR_MEMORY when memory runs out, ERR_DISPOSED after `dispose`, ERR_LOAD after
 * a thread has ended during a computation. Results are new tensors that own their memory.
 */
export class Headwise extends EngineClasses {
  #engine;

  /** @internal @param {Engine} engine @param {number} threads @param {string} threadsReason */
  constructor(engine, threads, threadsReason) {
    super(engine);
    this.#engine = engine;
    keepEngine(this, engine);
    /**
     * A description of this engine.
     * @type {Readonly<EngineInfo>}
     * @readonly
     */
    this.info = Object.freeze({
      version,
      simd: engine.call.has_relaxed_simd() !== 0 ? 'relaxed' : 'simd128',
      threads,
      threadsReason,
    });
    // Alone too, as in `const { matmul } = hw`.
    const methods = Object.getOwnPropertyDescriptors(Headwise.prototype);
    for (const [name, { value }] of Object.entries(methods)) {
      if (!value || value === Headwise) continue;
      const bound = { value: value.bind(this), writable: true, configurable: true };
      Object.defineProperty(this, name, bound);
    }
  }

  /** Size of the engine's memory in bytes. The memory grows with need and never shrinks. */
  get memoryBytes() {
    this.#engine.checkAlive();
    return this.#engine.memory.buffer.byteLength;
  }

  /**
   * torch.manual_seed: seeds the generator. Later random numbers, initial weights and dropout masks equal torch's for the seed.
   * @param {number | bigint} seed an integer from -2^63 to 2^64 - 1
   */
  manualSeed(seed) {
    functions.manualSeed(this.#engine, seed);
  }

  /**
   * torch.get_rng_state: the generator's state. A run that was saved with it resumes with the same random numbers and dropout
   * masks.
   * @returns {Tensor} [5056]: each number is a byte of torch's state
   */
  getRngState() {
    return functions.getRngState(this.#engine);
  }

  /**
   * torch.set_rng_state: continues from a state.
   * @param {import('../tensor/tensor.js').AnyTensor} state float32 [5056]: of getRngState, or of torch's CPU generator
   * @throws {HeadwiseError} ERR_SHAPE; ERR_VALUE: not such a state. The generator is unchanged
   */
  setRngState(state) {
    functions.setRngState(this.#engine, state);
  }

  /**
   * torch.rand: uniform in [0, 1).
   * @param {readonly number[]} shape
   * @param {Record<string, never>} [options] none are supported; torch's `generator`, for example, throws
   * @returns {Tensor}
   */
  rand(shape, options) {
    return functions.random(this.#engine, 'rand', shape, options);
  }

  /**
   * torch.randn: standard normal.
   * @param {readonly number[]} shape
   * @param {Record<string, never>} [options] none are supported; torch's `generator`, for example, throws
   * @returns {Tensor}
   */
  randn(shape, options) {
    return functions.random(this.#engine, 'randn', shape, options);
  }

  /**
   * Matrix product over the last two dimensions, as torch.matmul. The leading dimensions broadcast. An element is summed in
   * float32, one product after another: it is off by at most about k · 2⁻²⁴ times the sum of its products' magnitudes.
   * @param {Tensor} a […, m, k], or a vector [k], which counts as one row
   * @param {Tensor} b […, k, n], or a vector [k], which counts as one column
   * @param {Record<string, never>} [options] none are supported
   * @returns {Tensor} […, m, n], without m or n where an operand was a vector
   */
  matmul(a, b, options) {
    return functions.matmul(this.#engine, a, b, options);
  }

  /**
   * Swaps the last two dimensions.
   * @template {import('../tensor/tensor.js').DType} [D='float32']
   * @param {Tensor<D>} a […, rows, columns]
   * @param {Record<string, never>} [options] none are supported; torch's dimensions throw
   * @returns {Tensor<D>} […, columns, rows]
   */
  transpose(a, options) {
    return functions.transpose(this.#engine, a, options);
  }

  /**
   * a + b, element by element. The shapes broadcast; booleans count as 0 and 1.
   * @param {import('../tensor/tensor.js').AnyTensor | number} a
   * @param {import('../tensor/tensor.js').AnyTensor | number} b
   * @param {Record<string, never>} [options] none are supported; torch's `alpha`, for example, throws
   * @returns {Tensor}
   */
  add(a, b, options) {
    return binary(this.#engine, 'add', a, b, options);
  }

  /**
   * a − b, element by element. The shapes broadcast; booleans count as 0 and 1.
   * @param {import('../tensor/tensor.js').AnyTensor | number} a
   * @param {import('../tensor/tensor.js').AnyTensor | number} b
   * @param {Record<string, never>} [options] none are supported; torch's `alpha`, for example, throws
   * @returns {Tensor}
   */
  subtract(a, b, options) {
    return binary(this.#engine, 'subtract', a, b, options);
  }

  /**
   * a · b, element by element. The shapes broadcast; booleans count as 0 and 1.
   * @param {import('../tensor/tensor.js').AnyTensor | number} a
   * @param {import('../tensor/tensor.js').AnyTensor | number} b
   * @param {Record<string, never>} [options] none are supported
   * @returns {Tensor}
   */
  multiply(a, b, options) {
    return binary(this.#engine, 'multiply', a, b, options);
  }

  /**
   * The sum of all elements, or along some axes. It is accumulated in double precision; booleans count as 0 and 1.
   * @param {import('../tensor/tensor.js').AnyTensor} x
   * @param {import('../tensor/broadcast.js').ReduceOptions} [options]
   * @returns {Tensor} with the remaining axes; shape [] if none remain
   */
  sum(x, options) {
    return sumAlong(this.#engine, 'sum', x, options);
  }

  /**
   * The mean of all elements, or along some axes.
   * @param {Tensor} x
   * @param {import('../tensor/broadcast.js').ReduceOptions} [options]
   * @returns {Tensor} with the remaining axes; shape [] if none remain
   */
  mean(x, options) {
    return sumAlong(this.#engine, 'mean', x, options);
  }

  /**
   * Softmax over the last dimension. A row of -Infinity gives zeros.
   * @param {Tensor} x […, n]
   * @param {Record<string, never>} [options] none are supported; torch's dimension throws
   * @returns {Tensor} like x
   */
  softmax(x, options) {
    return functions.softmax(this.#engine, x, options);
  }

  /**
   * torch.nn.functional.gelu: x·Φ(x), or its tanh form. Φ is the standard normal distribution function. -Infinity gives 0.
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
   * @returns {Tensor} like x; the kept elements are multiplied by 1/(1 − p), the others by 0
   */
  dropout(x, options) {
    return dropout(this.#engine, x, options);
  }

  /**
   * torch.nn.functional.embedding: looks up one row of the weight for each id.
   * @param {import('../tensor/ids.js').Ids} ids integers from 0 to numEmbeddings - 1, of any shape
   * @param {Tensor} weight [numEmbeddings, embeddingDim]
   * @param {Record<string, never>} [options] none are supported; torch's `padding_idx`, for example, throws
   * @returns {Tensor} […, embeddingDim]
   */
  embedding(ids, weight, options) {
    return embedding(this.#engine, ids, weight, options);
  }

  /**
   * torch.nn.functional.mse_loss: the squared differences of input and target.
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
   * @param {Record<string, never>} [options] none are supported
   * @returns {Tensor} like x
   */
  relu(x, options) {
    return functions.activate(this.#engine, 'relu', x, options);
  }

  /**
   * torch.nn.functional.silu: x / (1 + exp(−x)). -Infinity gives 0.
   * @param {Tensor} x
   * @param {Record<string, never>} [options] none are supported
   * @returns {Tensor} like x
   */
  silu(x, options) {
    return functions.activate(this.#engine, 'silu', x, options);
  }

  /**
   * The hyperbolic tangent.
   * @param {Tensor} x
   * @param {Record<string, never>} [options] none are supported
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
   * torch.nn.functional.cross_entropy: the cross-entropy of each row of logits and its target.
   * @param {Tensor} logits […, classes]
   * @param {import('../tensor/ids.js').Ids} targets integers from 0 to classes - 1, or ignoreIndex, of the shape of logits without the last dimension
   * @param {import('../tensor/losses.js').CrossEntropyOptions} [options]
   * @returns {Tensor} of shape [], or like targets with reduction 'none'. NaN if all targets are ignored
   */
  crossEntropy(logits, targets, options) {
    return crossEntropy(this.#engine, logits, targets, options);
  }

  /**
   * A mask that lets each token attend to itself and to earlier tokens.
   * @param {number} n
   * @param {Record<string, never>} [options] none are supported; a `dtype`, for example, throws
   * @returns {Tensor<'bool'>} [n, n], true on and below the diagonal
   */
  causalMask(n, options) {
    this.#engine.checkAlive();
    return functions.causalMask(n, options);
  }

  /**
   * torch.nn.functional.scaled_dot_product_attention, streamed: it makes an n×n matrix only for needWeights. A query whose
   * keys are all masked gives zeros. A masked key does not influence a query, not even if the key is NaN.
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
   * torch.nn.utils.clip_grad_norm_: multiplies all gradients by maxNorm / (norm + 1e-6) if that is below 1. Squares are float32's: a
   * gradient from 2e19 on makes the norm Infinity and all finite gradients 0. Several gradients with a norm from 1.8e19 on may do so too.
   * @param {readonly (import('../modules/parameter.js').Parameter | Tensor)[]} parameters of modules, or tensors with requiresGrad
   * @param {number} maxNorm
   * @param {Record<string, never>} [options] none are supported; torch's `norm_type`, for example, throws
   * @returns {number} the norm of all gradients before clipping
   */
  clipGradNorm(parameters, maxNorm, options) {
    return clipGradNorm(this.#engine, parameters, maxNorm, options);
  }

  /**
   * Turns the recording of operations for `backward` on or off. Unlike torch, it is off at first. Within `enableGrad` or
   * `noGrad` it holds until that ends. What is recorded takes memory until the `backward`, or until the garbage collector finds
   * the result.
   * @param {boolean} mode
   */
  setGradEnabled(mode) {
    this.#engine.checkAlive();
    this.#engine.modes.set(checkBoolean(mode, 'mode'));
  }

  /**
   * Whether operations are recorded for `backward`.
   * @returns {boolean}
   */
  isGradEnabled() {
    this.#engine.checkAlive();
    return this.#engine.isRecording;
  }

  /**
   * Calls a function with gradients on. For an async function, they stay on until its promise settles. While several calls of
   * `enableGrad` and `noGrad` of this engine are under way, the one that began last decides.
   * @template T
   * @param {() => T} fn
   * @returns {T} what fn returns
   */
  enableGrad(fn) {
    return withRecording(this.#engine, true, fn);
  }

  /**
   * Calls a function with gradients off. For an async function, they stay off until its promise settles. While several calls of
   * `enableGrad` and `noGrad` of this engine are under way, the one that began last decides.
   * @template T
   * @param {() => T} fn
   * @returns {T} what fn returns
   */
  noGrad(fn) {
    return withRecording(this.#engine, false, fn);
  }

  /**
   * Frees the engine's memory with all its modules and traces, and ends its threads. Later calls throw ERR_DISPOSED.
   */
  dispose() {
    this.#engine.dispose();
  }

  /** The class name, for consoles. Vue makes no proxy of an object that has a tag. */
  get [Symbol.toStringTag]() {
    return 'Headwise';
  }

  /** `dispose`, for `using`. */
  [disposeSymbol]() {
    this.dispose();
  }
}
