import { causality as causalities } from '../engine/abi.js';
import {
  checkBoolean,
  checkOptions,
  checkProbability,
  checkShape,
  checkSize,
} from '../checks/check.js';
import { checkFloats, checkTensor } from '../tensor/operand.js';
import { classOf, describe } from '../checks/describe.js';
import { HeadwiseError } from '../checks/error.js';
import { checkKeyPadding, hidePadding } from '../attention/key-padding.js';
import { prepareMask } from '../attention/mask.js';
import { withLast } from '../tensor/shape.js';
import { Module } from './module.js';
import { runForward } from './run-forward.js';

/**
 * @template Option
 * @template {object} Part
 * @typedef {import('../attention/options.js').Asked<Option, Part>} Asked
 */
/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/tensor.js').AnyTensor} AnyTensor */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('../attention/trace.js').Trace} Trace */
/** @typedef {import('./key-value-cache.js').KeyValueCache} KeyValueCache */

/**
 * What a forward may be asked for besides its output.
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {object} ForwardOptions
 * @property {AnyTensor} [mask] [Lq, Lkv] or 4-D, broadcast to [batch, heads, Lq, Lkv]. bool: true may attend; float32: added to
 *   the scaled scores. Replaces the module's causal mask unless isCausal is given
 * @property {boolean} [isCausal] whether later keys are hidden, with a mask or without, whatever the module's own isCausal is;
 *   default: the module's own, with a mask false
 * @property {import('../tensor/tensor.js').Tensor<'bool'>} [keyPaddingMask] bool, [batch, Lkv] or, for x without a batch, [Lkv]; as torch's: true keys are ignored.
 *   Hides keys besides mask and causality and replaces neither
 * @property {NeedWeights} [needWeights] default false: return the weights, the n×n matrix of every head
 * @property {WithTrace} [trace] default false: keep what exact weights can be recomputed from
 */

/**
 * What a forward always returns.
 * @typedef {object} ForwardOutput
 * @property {Tensor} output [batch, tokens, width], or [tokens, width] as x
 */
/**
 * What `needWeights` asks for.
 * @typedef {object} ForwardWeights
 * @property {Tensor} weights [batch, heads, Lq, Lkv], after dropout when training
 */
/**
 * What `trace` asks for.
 * @typedef {object} ForwardTrace
 * @property {Trace} trace the caller's to dispose of
 */
/**
 * What a forward returns: its output, and what it was asked for.
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {ForwardOutput & Asked<NeedWeights, ForwardWeights> & Asked<WithTrace, ForwardTrace>} ForwardResult
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

export const forwardOptions = /** @type {const} */ ([
  ...['mask', 'isCausal', 'keyPaddingMask', 'needWeights', 'trace'],
]);

/**
 * What `needWeights` asks of several layers for.
 * @typedef {object} LayerWeights
 * @property {Tensor[]} weights one for each layer, [batch, heads, Lq, Lkv]
 */
/**
 * What `trace` asks of several layers for.
 * @typedef {object} LayerTraces
 * @property {Trace[]} trace one for each layer, the caller's to dispose of
 */
/**
 * What a module of several layers returns: the last one's output, and what it was asked for.
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {ForwardOutput & Asked<NeedWeights, LayerWeights> & Asked<WithTrace, LayerTraces>} LayerResults
 */

/**
 * @param {unknown} isCausal as the caller gave it
 * @param {boolean} hasMask whether there is a mask of the caller's, which replaces the module's own by default
 */
function causalityOf(isCausal, hasMask) {
  if (isCausal === undefined) {
    return hasMask ? causalities.off : causalities.own;
  }
  return checkBoolean(isCausal, 'isCausal') ? causalities.on : causalities.off;
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
  for (let i = 0; i < mask.size; i++) {
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

/** @param {unknown} value @param {string} name */
const checkMaybe = (value, name) => (value === undefined ? undefined : checkTensor(value, name));

/** A module that attends, in one layer or several: checks what goes into its forward and reads what comes out. */
export class AttendingModule extends Module {
  #sizes;
  #forwardName;
  #savedMasks;

  /**
   * @internal
   * @param {Engine} engine
   * @param {number} pointer the module's address
   * @param {{ dIn: number, width: number, heads: number, contextLength: number, layers?: number }} sizes width: of the
   *   output; layers: how many give weights and traces, default 1
   * @param {readonly string[]} [savedMasks] keys under which torch saves the causal mask
   */
  constructor(engine, pointer, sizes, savedMasks = []) {
    super(engine, pointer);
    this.#savedMasks = savedMasks;
    this.#sizes = { layers: 1, ...sizes };
    this.#forwardName = `${classOf(this)}.forward`;
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
   * @param {import('../tensor/operand.js').FloatOperand} x
   * @param {KeyValueCache | undefined} cache
   */
  #checkInput(x, cache) {
    const { dIn, contextLength } = this.#sizes;
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
   * @param {import('../tensor/operand.js').Operand | undefined} mask
   * @param {[number, number, number, number]} scores their shape
   */
  #checkMask(mask, scores) {
    if (mask === undefined) {
      return undefined;
    }
    const rank = mask.shape.length;
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
   * @param {Tensor} input
   * @param {Record<string, any>} given options, read and known
   * @param {KeyValueCache} [cache]
   * @returns {LayerResults}
   */
  attend(input, given, cache) {
    this.checkAlive();
    const x = checkFloats(input, 'x');
    const givenMask = checkMaybe(given.mask, 'mask');
    const givenPadding = checkMaybe(given.keyPaddingMask, 'keyPaddingMask');
    // From here on no code of the caller's runs, which could end the module or the cache, or fill one.
    const { pointer, engine } = this;
    const cacheAt = cache === undefined ? 0 : cache.addressFor(this);
    const { batch, tokens, stored } = this.#checkInput(x, cache);
    const { width, heads, layers } = this.#sizes;
    /** @type {[number, number, number, number]} */
    const weightsShape = [batch, heads, tokens, stored + tokens];
    const ownMask = this.#checkMask(givenMask, weightsShape);
    const causality = causalityOf(given.isCausal, ownMask !== undefined);
    const keys = stored + tokens;
    checkKeyPadding(givenPadding, x.shape.length === 3 ? [batch, keys] : [keys]);
    const mask = hidePadding(givenPadding, ownMask, weightsShape);
    const needWeights = checkBoolean(given.needWeights ?? false, 'needWeights');
    const trace = checkBoolean(given.trace ?? false, 'trace');

    return /** @type {any} */ (
      runForward(engine, {
        pointer,
        name: this.#forwardName,
        input: x,
        batch,
        tokens,
        logits: undefined,
        outputShape: withLast(x.shape, width),
        layers,
        weightsShape,
        mask,
        causality,
        headMask: undefined,
        cacheAt,
        stored,
        needWeights,
        trace,
      })
    );
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
   * @template {boolean} [NeedWeights=false]
   * @template {boolean} [WithTrace=false]
   * @param {Tensor} x [batch, tokens, dIn] or [tokens, dIn]
   * @param {ForwardOptions<NeedWeights, WithTrace>} [options]
   * @returns {ForwardResult<NeedWeights, WithTrace>}
   * @throws {HeadwiseError} ERR_SHAPE: x or mask do not fit, or more tokens than contextLength; ERR_VALUE; ERR_MEMORY;
   *   ERR_DISPOSED
   */
  forward(x, options) {
    return /** @type {any} */ (firstLayer(this.attend(x, this.checkForwardOptions(options))));
  }
}
