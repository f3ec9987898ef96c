import {
  checkBoolean,
  checkFloats,
  checkOptions,
  checkProbability,
  checkShape,
  checkSize,
} from '../check.js';
import { describe } from '../describe.js';
import { maskWords } from '../engine.js';
import { HeadwiseError } from '../error.js';
import { maskBytes, prepareMask, writeMask } from '../mask.js';
import { sizeOf } from '../tensor.js';
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

/** A module that attends: checks what goes into its forward and reads what comes out. */
export class AttentionModule extends Module {
  #sizes;
  #exports;

  /**
   * @param {Engine} engine
   * @param {ConstructorParameters<typeof Module>[1] & { forward: string, train: string }} created
   * @param {{ dIn: number, width: number, heads: number, contextLength: number }} sizes width: of the output
   */
  constructor(engine, created, sizes) {
    super(engine, created);
    this.#exports = created;
    this.#sizes = sizes;
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
    checkShape(x, 'x', fits, `[batch, tokens, ${dIn}] or [tokens, ${dIn}]`);
    const [batch, tokens] = x.shape.length === 3 ? x.shape : [1, x.shape[0]];
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
    const name = `${this.constructor.name}.forward`;
    const given = checkOptions(options, ['mask', 'needWeights', 'trace'], name);
    const { batch, tokens } = this.#checkInput(x);
    const mask = this.#checkMask(given.mask, batch, tokens);
    const needWeights = checkBoolean(given.needWeights ?? false, 'needWeights');
    const needTrace = checkBoolean(given.trace ?? false, 'trace');
    const outputShape = [...x.shape.slice(0, -1), this.#sizes.width];
    const weightsShape = [batch, this.#sizes.heads, tokens, tokens];

    const [at, output, weights, maskAt, structAt] = engine.stage([
      x.data.byteLength,
      sizeOf(outputShape, 'output') * 4,
      needWeights ? sizeOf(weightsShape, 'weights') * 4 : 0,
      maskBytes(mask),
      (maskWords + 2) * 4,
    ]);
    engine.write(at, x);
    if (mask !== undefined) {
      engine.write(maskAt, mask.tensor);
    }
    writeMask(engine.words, structAt / 4, mask, maskAt);
    engine.words[structAt / 4 + maskWords] = needWeights ? weights : 0;
    engine.words[structAt / 4 + maskWords + 1] = Number(needTrace);
    engine.check(
      engine.call[this.#exports.forward](pointer, at, batch, tokens, output, structAt),
      name,
    );
    return this.#collect({
      output,
      outputShape,
      weights: needWeights ? weights : 0,
      weightsShape,
      needTrace,
    });
  }

  /**
   * @param {{ output: number, outputShape: number[], weights: number, weightsShape: number[], needTrace: boolean }} made
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
