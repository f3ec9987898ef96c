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
 * @typedef {object} ForwardOptions
 * @property {Tensor} [mask] [Lq, Lkv] or 4-D, broadcast to [batch, heads, Lq, Lkv]; replaces the module's causal mask.
 *   bool: true may attend; float32: added to the scaled scores
 * @property {boolean} [needWeights] default false
 * @property {boolean} [trace] default false: keep what exact weights can be recomputed from
 */

/**
 * @typedef {object} ForwardResult
 * @property {Tensor} output [batch, tokens, width], or [tokens, width] as x
 * @property {Tensor} [weights] [batch, heads, Lq, Lkv], after dropout when training
 * @property {Trace} [trace]
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

/**
 * Creates by an export that leaves the module's address in the result slot.
 * @param {Engine} engine
 * @param {string} create
 * @param {(number | boolean)[]} values
 * @param {string} what for the message
 */
export function createModule(engine, create, values, what) {
  engine.check(engine.call[create](...values), what);
  return engine.result;
}

export const forwardOptions = /** @type {const} */ (['mask', 'needWeights', 'trace']);

/** Words of hw_forward_arguments. */
const argumentWords = maskWords + 3;

/**
 * Lays the mask and, behind it, an hw_forward_arguments into staging memory.
 * @param {Engine} engine
 * @param {number} address
 * @param {{ mask: import('../mask.js').Mask | undefined, weights: number, trace: boolean, cache: number }} asked weights
 *   and cache: addresses, 0 for none
 * @returns {number} the struct's address
 */
function writeArguments(engine, address, { mask, weights, trace, cache }) {
  const struct = address + aligned(maskBytes(mask));
  if (mask !== undefined) {
    engine.write(address, mask.tensor);
  }
  const at = struct / 4;
  writeMask(engine.words, at, mask, address);
  engine.words[at + maskWords] = weights;
  engine.words[at + maskWords + 1] = Number(trace);
  engine.words[at + maskWords + 2] = cache;
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

/** A module that attends: checks what goes into its forward and reads what comes out. */
export class AttentionModule extends Module {
  #sizes;
  #exports;
  #forwardName;
  #savedMasks;

  /**
   * @param {Engine} engine
   * @param {ConstructorParameters<typeof Module>[1] & { forward: string, train: string, savedMasks: string[] }} created
   *   savedMasks: keys under which torch saves the causal mask; none if the module has no such mask
   * @param {{ dIn: number, width: number, heads: number, contextLength: number }} sizes width: of the output
   */
  constructor(engine, created, sizes) {
    super(engine, created);
    this.#exports = created;
    this.#sizes = sizes;
    this.#savedMasks = created.savedMasks;
    this.#forwardName = `${this.constructor.name}.forward`;
  }

  /**
   * @override
   * @param {boolean} [mode]
   */
  train(mode = true) {
    this.engine.call[this.#exports.train](this.pointer, mode);
    return super.train(mode);
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
    const stored = cache === undefined ? 0 : cache.checkRoom(batch, tokens);
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
    if (mask.shape?.length === 3) {
      const hint =
        '[batch, 1, Lq, Lkv] for one per batch entry or [1, heads, Lq, Lkv] for one per head';
      throw new HeadwiseError(
        'ERR_SHAPE',
        `mask has shape ${describe(mask.shape)}, which is ambiguous; expected ${hint}`,
      );
    }
    const expected = '[Lq, Lkv] or [batch, heads, Lq, Lkv]';
    if (mask.shape?.length === 1) {
      throw new HeadwiseError(
        'ERR_SHAPE',
        `mask has shape ${describe(mask.shape)}; expected ${expected}`,
      );
    }
    return prepareMask(mask, scores, expected);
  }

  /**
   * @param {Tensor} x [batch, tokens, dIn] or [tokens, dIn]
   * @param {ForwardOptions} [options]
   * @returns {ForwardResult}
   */
  forward(x, options) {
    return this.attend(x, checkOptions(options, forwardOptions, this.#forwardName));
  }

  /**
   * @protected
   * @param {Tensor} x
   * @param {Record<string, any>} given options that are known
   * @param {KeyValueCache} [cache]
   * @returns {ForwardResult}
   */
  attend(x, given, cache) {
    const { pointer, engine } = this;
    const cacheAt = cache === undefined ? 0 : cache.addressFor(this);
    const { batch, tokens, stored } = this.#checkInput(x, cache);
    const { width, heads } = this.#sizes;
    const outputShape = withLast(x.shape, width);
    /** @type {[number, number, number, number]} */
    const weightsShape = [batch, heads, tokens, stored + tokens];
    const mask = this.#checkMask(given.mask, weightsShape);
    const needWeights = checkBoolean(given.needWeights ?? false, 'needWeights');
    const trace = checkBoolean(given.trace ?? false, 'trace');

    const xBytes = aligned(x.data.byteLength);
    const outputBytes = aligned(sizeOf(outputShape, 'output') * 4);
    const weightsBytes = needWeights ? aligned(sizeOf(weightsShape, 'weights') * 4) : 0;
    const at = engine.stage(
      xBytes + outputBytes + weightsBytes + aligned(maskBytes(mask)) + argumentWords * 4,
    );
    const output = at + xBytes;
    const weights = needWeights ? output + outputBytes : 0;
    const maskAt = output + outputBytes + weightsBytes;
    engine.write(at, x);
    const asked =
      mask !== undefined || needWeights || trace || cache !== undefined
        ? writeArguments(engine, maskAt, { mask, weights, trace, cache: cacheAt })
        : 0;
    engine.check(
      engine.call[this.#exports.forward](pointer, at, batch, tokens, output, asked),
      this.#forwardName,
    );
    try {
      return this.#collect({ output, outputShape, weights, weightsShape, needTrace: trace });
    } catch (error) {
      cache?.truncate(stored);
      throw error;
    }
  }

  /**
   * @param {{ output: number, outputShape: readonly number[], weights: number, weightsShape: number[], needTrace: boolean }} made
   * @returns {ForwardResult}
   */
  #collect({ output, outputShape, weights, weightsShape, needTrace }) {
    const { engine } = this;
    const trace = needTrace ? new Trace(engine, engine.result, weightsShape) : undefined;
    try {
      /** @type {ForwardResult} */
      const result = { output: engine.read(output, outputShape) };
      if (weights !== 0) {
        result.weights = engine.read(weights, weightsShape);
      }
      if (trace !== undefined) {
        result.trace = trace;
      }
      return result;
    } catch (error) {
      trace?.dispose();
      throw error;
    }
  }
}
