import { checkProbability, checkShape, checkSize, checkTable, or } from '../checks/check.js';
import { addressOf } from '../engine/owned.js';
import { checkFloats, checkTensor } from '../tensor/operand.js';
import { classOf } from '../checks/describe.js';
import { HeadwiseError } from '../checks/error.js';
import { attentionForward, nothing } from './forward-options.js';
import { runForward } from './forward.js';
import { Module } from './module.js';

/**
 * @template Option
 * @template {object} Part
 * @typedef {import('../attention/options.js').Asked<Option, Part>} Asked
 */
/** @typedef {import('../engine/engine.js').Engine} Engine */
/** @typedef {import('../tensor/tensor.js').AnyTensor} AnyTensor */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('../attention/trace.js').Trace} Trace */

/**
 * Options of `forward`.
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {object} ForwardOptions
 * @property {AnyTensor} [mask] [Lq, Lkv] or 4-D, broadcast to [batch, heads, Lq, Lkv]. bool: true may attend; float32: added to
 *   the scaled scores. If it has requiresGrad, it gets a gradient. Without a cache a shorter last axis, if it is not 1, is
 *   masked beyond its end. The mask replaces the module's causal mask unless isCausal is given
 * @property {boolean} [isCausal] whether later keys are masked, with or without mask. It overrides the module's isCausal.
 *   Default: the module's isCausal, or false with a mask
 * @property {import('../tensor/tensor.js').Tensor<'bool'>} [keyPaddingMask] bool, [batch, Lkv] or, for x without a batch, [Lkv]; as in torch: true keys are ignored.
 *   It applies in addition to mask and isCausal
 * @property {NeedWeights} [needWeights] default false; true returns the weights, an n×n matrix for every head
 * @property {WithTrace} [trace] default false; true returns a Trace, which recomputes exact weights
 */

/**
 * The part of the result that `forward` always returns.
 * @typedef {object} ForwardOutput
 * @property {Tensor} output [batch, tokens, width], or [tokens, width] if x has no batch
 */
/**
 * The part of the result that `needWeights` adds.
 * @typedef {object} ForwardWeights
 * @property {Tensor} weights [batch, heads, Lq, Lkv], after dropout when training
 */
/**
 * The part of the result that `trace` adds.
 * @typedef {object} ForwardTrace
 * @property {Trace} trace owned by the caller, who disposes of it
 */
/**
 * The result of `forward`: the output, and the weights and trace if requested.
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {ForwardOutput & Asked<NeedWeights, ForwardWeights> & Asked<WithTrace, ForwardTrace>} ForwardResult
 */

/** Options that modules share. */
export const sizeChecks = {
  ...{ dIn: checkSize, dOut: checkSize, contextLength: checkSize },
  dropout: or(checkProbability, 0),
};

/**
 * @param {number} width
 * @param {string} name
 * @param {number} numHeads
 * @throws {HeadwiseError} ERR_SHAPE: width is not a multiple of numHeads
 */
export function checkHeads(width, name, numHeads) {
  if (width % numHeads !== 0) {
    throw new HeadwiseError(
      'ERR_SHAPE',
      `${name} is ${width}; expected a multiple of numHeads, ${numHeads}`,
    );
  }
}

/**
 * The part of the result that `needWeights` adds for several layers.
 * @typedef {object} LayerWeights
 * @property {Tensor[]} weights one for each layer, [batch, heads, Lq, Lkv]
 */
/**
 * The part of the result that `trace` adds for several layers.
 * @typedef {object} LayerTraces
 * @property {Trace[]} trace one for each layer, owned by the caller, who disposes of them
 */
/**
 * The result of a module of several layers: the last layer's output, and every layer's weights and trace if requested.
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {ForwardOutput & Asked<NeedWeights, LayerWeights> & Asked<WithTrace, LayerTraces>} LayerResults
 */

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

/** An attention module of one or several layers. It checks the arguments of `forward` and reads the results. */
export class AttendingModule extends Module {
  #about;
  #dIn;
  #isMask;

  /**
   * @internal
   * @param {Engine} engine
   * @param {import('./module.js').Spec} spec
   * @param {{ dIn: number, width: number, heads: number, contextLength: number, layers?: number }} sizes width: of the
   *   output; layers: the number of layers with weights and traces, default 1
   * @param {(key: string) => boolean} [isMask] whether torch saves the causal mask under a key
   */
  constructor(
    engine,
    spec,
    { dIn, width, heads, contextLength, layers = 1 },
    isMask = () => false,
  ) {
    super(engine, spec);
    this.#dIn = dIn;
    this.#isMask = isMask;
    /** @type {import('./attending.js').Attending} */
    this.#about = {
      ...{ name: `${classOf(this)}.forward`, input: 'x', rank: 3 },
      ...{ width, heads, layers, contextLength },
    };
  }

  /** @override @protected @param {string} key @param {unknown} value */
  ignoresEntry(key, value) {
    if (!this.#isMask(key)) {
      return false;
    }
    checkSavedMask(value, key, this.#about.contextLength);
    return true;
  }

  /**
   * @protected
   * @param {Tensor} input
   * @param {unknown} options
   * @param {Readonly<Record<string, import('../checks/check.js').Check>>} [table] the checks of the options
   * @returns {LayerResults}
   */
  attend(input, options, table = attentionForward) {
    addressOf(this);
    const about = this.#about;
    const asked = options === undefined ? nothing : checkTable(options, table, about.name);
    const x = checkFloats(input, 'x');
    // No code of the caller's runs from here on: it could end the module, or end or fill the cache.
    const { shape } = x;
    const { length } = shape;
    const width = this.#dIn;
    const fits = (length === 2 || length === 3) && shape[length - 1] === width;
    checkShape(x, 'x', fits, () => `[batch, tokens, ${width}] or [tokens, ${width}]`);
    return /** @type {any} */ (runForward(this, about, x, asked, input));
  }
}

/**
 * The result of a module of one layer.
 * @param {any} results
 * @returns {ForwardResult}
 */
export function ofOneLayer(results) {
  if (results.weights !== undefined) {
    [results.weights] = results.weights;
  }
  if (results.trace !== undefined) {
    [results.trace] = results.trace;
  }
  return results;
}

/** An attention module of one layer. */
export class AttentionModule extends AttendingModule {
  /**
   * Runs the module.
   * @template {boolean} [NeedWeights=false]
   * @template {boolean} [WithTrace=false]
   * @param {Tensor} x [batch, tokens, dIn] or [tokens, dIn]
   * @param {ForwardOptions<NeedWeights, WithTrace>} [options]
   * @returns {ForwardResult<NeedWeights, WithTrace>}
   * @throws {HeadwiseError} ERR_SHAPE: x or mask has a wrong shape, or more tokens than contextLength; ERR_VALUE; ERR_MEMORY;
   *   ERR_DISPOSED
   */
  forward(x, options) {
    return /** @type {any} */ (ofOneLayer(this.attend(x, options)));
  }
}
