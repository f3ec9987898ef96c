import {
  checkBoolean,
  checkProbability,
  checkShape,
  checkSize,
  checkTable,
  or,
} from '../checks/check.js';
import { checkFloats, checkTensor } from '../tensor/operand.js';
import { classOf } from '../checks/describe.js';
import { HeadwiseError } from '../checks/error.js';
import { attentionForward, nothing, runForward } from './forward.js';
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

/** Options that modules share. */
export const sizeChecks = {
  ...{ dIn: checkSize, dOut: checkSize, contextLength: checkSize },
  dropout: or(checkProbability, 0),
};
export const qkvBias = or(checkBoolean, false);
export const isCausal = or(checkBoolean, true);

/**
 * @param {number} width
 * @param {string} name
 * @param {number} numHeads
 * @throws {HeadwiseError} ERR_SHAPE: heads of one width do not fill it
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

/** A module that attends, in one layer or several: checks what goes into its forward and reads what comes out. */
export class AttendingModule extends Module {
  #about;
  #dIn;
  #isMask;

  /**
   * @internal
   * @param {Engine} engine
   * @param {import('./module.js').Spec} spec
   * @param {{ dIn: number, width: number, heads: number, contextLength: number, layers?: number }} sizes width: of the
   *   output; layers: how many give weights and traces, default 1
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
    /** @type {import('./forward.js').Attending} */
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
   * @param {Readonly<Record<string, import('../checks/check.js').Check>>} [table] what checks them
   * @returns {LayerResults}
   */
  attend(input, options, table = attentionForward) {
    this.checkAlive();
    const about = this.#about;
    const asked = options === undefined ? nothing : checkTable(options, table, about.name);
    const x = checkFloats(input, 'x');
    // From here on no code of the caller's runs, which could end the module or the cache, or fill one.
    const { shape } = x;
    const { length } = shape;
    const width = this.#dIn;
    const fits = (length === 2 || length === 3) && shape[length - 1] === width;
    checkShape(x, 'x', fits, () => `[batch, tokens, ${width}] or [tokens, ${width}]`);
    return /** @type {any} */ (runForward(this, about, x, asked, input));
  }
}

/**
 * What a module of one layer returns.
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
    return /** @type {any} */ (ofOneLayer(this.attend(x, options)));
  }
}
