import {
  checkBoolean,
  checkFloats,
  checkOptions,
  checkProbability,
  checkShape,
  checkSize,
  checkTensor,
} from '../check.js';
import { describe } from '../describe.js';
import { aligned, maskWords } from '../engine.js';
import { HeadwiseError } from '../error.js';
import { maskBytes, prepareMask, writeMask } from '../mask.js';
import { sizeOf, withLast } from '../tensor.js';
import { Trace } from '../trace.js';
import { Module } from './module.js';

/** @typedef {import('../engine.js').Engine} Engine */
/** @typedef {import('../tensor.js').Tensor} Tensor */
/** @typedef {import('./key-value-cache.js').KeyValueCache} KeyValueCache */

/**
 * What a forward may be asked for besides its output.
 * @typedef {object} ForwardOptions
 * @property {Tensor} [mask] [Lq, Lkv] or 4-D, broadcast to [batch, heads, Lq, Lkv]; replaces the module's causal mask.
 *   bool: true may attend; float32: added to the scaled scores
 * @property {boolean} [needWeights] default false: return the weights, the n×n matrix of every head
 * @property {boolean} [trace] default false: keep what exact weights can be recomputed from
 */

/**
 * What a forward returns.
 * @typedef {object} ForwardResult
 * @property {Tensor} output [batch, tokens, width], or [tokens, width] as x
 * @property {Tensor} [weights] [batch, heads, Lq, Lkv], after dropout when training
 * @property {Trace} [trace] if it was asked for; the caller's to dispose of
 */

/**
 * Options that all attention modules have, checked.
 * @param {Record<string, any>} given
 */
export function checkCommonOptions(given) {
  return {
    dIn: checkSize(given.dIn, 'dIn'),
    dOut: checkSize(given.dOut, 'dOut'),
    contextLength: checkSize(given.contextLength, 'contextLength'),
    dropout: checkProbability(given.dropout ?? 0, 'dropout'),
    qkvBias: checkBoolean(given.qkvBias ?? false, 'qkvBias'),
  };
}

export const forwardOptions = /** @type {const} */ (['mask', 'needWeights', 'trace']);

/**
 * What `needWeights` and `trace` of a module of several layers give: one for each.
 * @typedef {object} LayerResults
 * @property {Tensor} output of the last layer
 * @property {Tensor[]} [weights] if they were asked for
 * @property {Trace[]} [trace] if it was asked for; the caller's to dispose of
 */

/** Words of hw_forward_options. */
export const optionWords = maskWords + 4;

/**
 * Lays the mask and, behind it, an hw_forward_options and room for the addresses of traces into staging memory.
 * @param {Engine} engine
 * @param {number} address
 * @param {{ mask?: import('../mask.js').Mask, weights: number, trace: boolean, cache: number, headMask?: number }} asked weights,
 *   cache and headMask: addresses, 0 for none
 * @returns {number} the struct's address
 */
export function writeOptions(engine, address, { mask, weights, trace, cache, headMask = 0 }) {
  const struct = address + aligned(maskBytes(mask));
  if (mask !== undefined) {
    engine.write(address, mask.tensor);
  }
  const at = struct / 4;
  writeMask(engine.words, at, mask, address);
  engine.words[at + maskWords] = weights;
  engine.words[at + maskWords + 1] = trace ? struct + optionWords * 4 : 0;
  engine.words[at + maskWords + 2] = cache;
  engine.words[at + maskWords + 3] = headMask;
  return struct;
}

/**
 * The notebooks' classes save their causal mask with their weights: ones above the diagonal.
 * @param {unknown} value
 * @param {string} key
 * @param {number} n contextLength
 */
function checkSavedMask(value, key, n) {
  const mask = checkTensor(value, key);
  const fits = mask.shape.length === 2 && mask.shape[0] === n && mask.shape[1] === n;
  checkShape(mask, key, fits, () => `[${n}, ${n}], contextLength on both sides`);
  for (let i = 0; i < mask.data.length; i++) {
    const row = Math.floor(i / n);
    if (mask.data[i] !== Number(i % n > row)) {
      const found = `${mask.data[i]} at [${row}, ${i % n}]`;
      throw new HeadwiseError(
        'ERR_VALUE',
        `${key} holds ${found}; expected the causal mask, ones above the diagonal and zeros elsewhere`,
      );
    }
  }
}

/** A module that attends, in one layer or several: checks what goes into its forward and reads what comes out. */
export class AttendingModule extends Module {
  #sizes;
  #forward;
  #forwardName;
  #savedMasks;

  /**
   * @internal
   * @param {Engine} engine
   * @param {ConstructorParameters<typeof Module>[1] & { forward: string, savedMasks?: string[] }} created savedMasks: keys
   *   under which torch saves the causal mask, if it does
   * @param {{ dIn: number, width: number, heads: number, contextLength: number, layers?: number }} sizes width: of the
   *   output; layers: how many give weights and traces, default 1
   */
  constructor(engine, created, sizes) {
    super(engine, created);
    this.#forward = created.forward;
    this.#savedMasks = created.savedMasks ?? [];
    this.#sizes = { layers: 1, ...sizes };
    this.#forwardName = `${this.constructor.name}.forward`;
  }

  /**
   * @protected
   * @param {unknown} options
   */
  checkForwardOptions(options) {
    return checkOptions(options, forwardOptions, this.#forwardName);
  }

  /**
   * @override
   * @protected
   * @param {string} key
   * @param {unknown} value
   */
  ignoresEntry(key, value) {
    if (!this.#savedMasks.includes(key)) {
      return false;
    }
    checkSavedMask(value, key, this.#sizes.contextLength);
    return true;
  }

  /**
   * @param {Tensor} x
   * @param {KeyValueCache | undefined} cache
   */
  #checkInput(x, cache) {
    const { dIn, contextLength } = this.#sizes;
    checkFloats(x, 'x');
    const fits =
      (x.shape.length === 2 || x.shape.length === 3) && x.shape[x.shape.length - 1] === dIn;
    checkShape(x, 'x', fits, () => `[batch, tokens, ${dIn}] or [tokens, ${dIn}]`);
    const batch = x.shape.length === 3 ? x.shape[0] : 1;
    const tokens = x.shape[x.shape.length - 2];
    const stored = cache === undefined ? 0 : cache.checkRoom(batch, tokens, 'x');
    if (tokens > contextLength) {
      throw new HeadwiseError(
        'ERR_SHAPE',
        `x has ${tokens} tokens; expected at most contextLength, ${contextLength}`,
      );
    }
    return { batch, tokens, stored };
  }

  /**
   * @param {Tensor | undefined} mask
   * @param {[number, number, number, number]} scores their shape
   */
  #checkMask(mask, scores) {
    if (mask === undefined) {
      return undefined;
    }
    const rank = checkTensor(mask, 'mask').shape.length;
    if (rank === 3) {
      const hint =
        '[batch, 1, Lq, Lkv] for one per batch entry or [1, heads, Lq, Lkv] for one per head';
      throw new HeadwiseError(
        'ERR_SHAPE',
        `mask has shape ${describe(mask.shape)}, which is ambiguous; expected ${hint}`,
      );
    }
    const expected = '[Lq, Lkv] or [batch, heads, Lq, Lkv]';
    if (rank === 1) {
      throw new HeadwiseError(
        'ERR_SHAPE',
        `mask has shape ${describe(mask.shape)}; expected ${expected}`,
      );
    }
    return prepareMask(mask, scores, expected);
  }

  /**
   * @protected
   * @param {Tensor} x
   * @param {Record<string, any>} given options that are known
   * @param {KeyValueCache} [cache]
   * @returns {LayerResults}
   */
  attend(x, given, cache) {
    const { pointer, engine } = this;
    const cacheAt = cache === undefined ? 0 : cache.addressFor(this);
    const { batch, tokens, stored } = this.#checkInput(x, cache);
    const { width, heads, layers } = this.#sizes;
    const outputShape = withLast(x.shape, width);
    /** @type {[number, number, number, number]} */
    const weightsShape = [batch, heads, tokens, stored + tokens];
    const mask = this.#checkMask(given.mask, weightsShape);
    const needWeights = checkBoolean(given.needWeights ?? false, 'needWeights');
    const trace = checkBoolean(given.trace ?? false, 'trace');

    const xBytes = aligned(x.data.byteLength);
    const outputBytes = aligned(sizeOf(outputShape, 'output') * 4);
    const layerBytes = needWeights ? sizeOf(weightsShape, 'weights') * 4 : 0;
    const weightsBytes = aligned(layers * layerBytes);
    const optionBytes = (optionWords + layers) * 4;
    const at = engine.stage(
      xBytes + outputBytes + weightsBytes + aligned(maskBytes(mask)) + optionBytes,
    );
    const output = at + xBytes;
    const weights = needWeights ? output + outputBytes : 0;
    engine.write(at, x);
    const asked =
      mask !== undefined || needWeights || trace || cache !== undefined
        ? writeOptions(engine, output + outputBytes + weightsBytes, {
            mask,
            weights,
            trace,
            cache: cacheAt,
          })
        : 0;
    engine.check(
      engine.call[this.#forward](pointer, at, batch, tokens, output, asked),
      this.#forwardName,
    );
    const traces = trace ? this.#traces(asked + optionWords * 4, weightsShape) : undefined;
    try {
      /** @type {LayerResults} */
      const result = { output: engine.read(output, outputShape) };
      if (needWeights) {
        result.weights = Array.from({ length: layers }, (_, layer) =>
          engine.read(weights + layer * layerBytes, weightsShape),
        );
      }
      if (traces !== undefined) {
        result.trace = traces;
      }
      return result;
    } catch (error) {
      traces?.forEach((each) => each.dispose());
      cache?.truncate(stored);
      throw error;
    }
  }

  /**
   * @param {number} address of the layers' traces' addresses
   * @param {readonly number[]} shape
   */
  #traces(address, shape) {
    const { engine } = this;
    const { layers } = this.#sizes;
    const pointers = engine.words.slice(address / 4, address / 4 + layers);
    return Array.from(pointers, (pointer) => new Trace(engine, pointer, shape));
  }
}

/**
 * What a module of one layer returns.
 * @param {LayerResults} results
 * @returns {ForwardResult}
 */
export function firstLayer({ output, weights, trace }) {
  /** @type {ForwardResult} */
  const result = { output };
  if (weights !== undefined) {
    result.weights = weights[0];
  }
  if (trace !== undefined) {
    result.trace = trace[0];
  }
  return result;
}

/** A module that attends in one layer. */
export class AttentionModule extends AttendingModule {
  /**
   * Runs the module.
   * @param {Tensor} x [batch, tokens, dIn] or [tokens, dIn]
   * @param {ForwardOptions} [options]
   * @returns {ForwardResult}
   * @throws {HeadwiseError} ERR_SHAPE: x or mask do not fit, or more tokens than contextLength; ERR_VALUE; ERR_MEMORY;
   *   ERR_DISPOSED
   */
  forward(x, options) {
    return firstLayer(this.attend(x, this.checkForwardOptions(options)));
  }
}
