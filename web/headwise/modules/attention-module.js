import {
  checkBoolean,
  checkFloats,
  checkOptions,
  checkProbability,
  checkShape,
  checkSize,
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

const forwardOptions = /** @type {const} */ (['mask', 'needWeights', 'trace']);

/** Words of hw_forward_arguments. */
const argumentWords = maskWords + 2;

/**
 * Lays the mask and, behind it, an hw_forward_arguments into staging memory.
 * @param {Engine} engine
 * @param {number} address
 * @param {import('../mask.js').Mask | undefined} mask
 * @param {number} weights address, 0 for none
 * @param {boolean} trace
 * @returns {number} the struct's address
 */
function writeArguments(engine, address, mask, weights, trace) {
  const struct = address + aligned(maskBytes(mask));
  if (mask !== undefined) {
    engine.write(address, mask.tensor);
  }
  const at = struct / 4;
  writeMask(engine.words, at, mask, address);
  engine.words[at + maskWords] = weights;
  engine.words[at + maskWords + 1] = Number(trace);
  return struct;
}

/** A module that attends: checks what goes into its forward and reads what comes out. */
export class AttentionModule extends Module {
  #sizes;
  #exports;
  #forwardName;

  /**
   * @param {Engine} engine
   * @param {ConstructorParameters<typeof Module>[1] & { forward: string, train: string }} created
   * @param {{ dIn: number, width: number, heads: number, contextLength: number }} sizes width: of the output
   */
  constructor(engine, created, sizes) {
    super(engine, created);
    this.#exports = created;
    this.#sizes = sizes;
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

  /** @param {Tensor} x */
  #checkInput(x) {
    const { dIn, contextLength } = this.#sizes;
    checkFloats(x, 'x');
    const fits =
      (x.shape.length === 2 || x.shape.length === 3) && x.shape[x.shape.length - 1] === dIn;
    checkShape(x, 'x', fits, () => `[batch, tokens, ${dIn}] or [tokens, ${dIn}]`);
    const batch = x.shape.length === 3 ? x.shape[0] : 1;
    const tokens = x.shape[x.shape.length - 2];
    if (tokens > contextLength) {
      throw new HeadwiseError(
        'ERR_SHAPE',
        `x has ${tokens} tokens; expected at most contextLength, ${contextLength}`,
      );
    }
    return { batch, tokens };
  }

  /**
   * @param {Tensor | undefined} mask
   * @param {number} batch
   * @param {number} tokens
   */
  #checkMask(mask, batch, tokens) {
    if (mask === undefined) {
      return undefined;
    }
    const { heads } = this.#sizes;
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
    return prepareMask(mask, [batch, heads, tokens, tokens], expected);
  }

  /**
   * @param {Tensor} x [batch, tokens, dIn] or [tokens, dIn]
   * @param {ForwardOptions} [options]
   * @returns {ForwardResult}
   */
  forward(x, options) {
    const { pointer, engine } = this;
    const given = checkOptions(options, forwardOptions, this.#forwardName);
    const { batch, tokens } = this.#checkInput(x);
    const mask = this.#checkMask(given.mask, batch, tokens);
    const needWeights = checkBoolean(given.needWeights ?? false, 'needWeights');
    const needTrace = checkBoolean(given.trace ?? false, 'trace');
    const { width, heads } = this.#sizes;
    const outputShape = withLast(x.shape, width);
    const weightsShape = [batch, heads, tokens, tokens];

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
      mask !== undefined || needWeights || needTrace
        ? writeArguments(engine, maskAt, mask, weights, needTrace)
        : 0;
    engine.check(
      engine.call[this.#exports.forward](pointer, at, batch, tokens, output, asked),
      this.#forwardName,
    );
    return this.#collect({ output, outputShape, weights, weightsShape, needTrace });
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
