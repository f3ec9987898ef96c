import { geluApproximation } from '../engine/abi.js';
import { decoderLoss } from '../autograd/decoder-loss.js';
import { engineOf } from '../engine/headwise.js';
import {
  checkEps,
  checkOptions,
  checkShape,
  checkSize,
  checkTable,
  oneOf,
  or,
} from '../checks/check.js';
import { misfit } from '../checks/error.js';
import { checkHeads } from '../modules/attention-module.js';
import { checkIds } from '../modules/embedding.js';
import { decoderForward, runForward } from '../modules/forward.js';
import { KeyValueCache } from '../modules/key-value-cache.js';
import { Module } from '../modules/module.js';
import { writeParameter } from '../modules/parameters.js';
import { random } from '../tensor/functions.js';
import { generate } from './generate.js';
import { gpt2Names } from './gpt2-names.js';

/**
 * @template Option
 * @template {object} Part
 * @typedef {import('../attention/options.js').Asked<Option, Part>} Asked
 */
/** @typedef {import('../modules/attention-module.js').LayerTraces} LayerTraces */
/** @typedef {import('../modules/attention-module.js').LayerWeights} LayerWeights */
/** @typedef {import('../modules/embedding.js').Ids} Ids */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('../attention/trace.js').Trace} Trace */
/** @typedef {import('../tensor/make-tensor.js').NestedNumbers} NestedNumbers */

/**
 * Options of the Gpt2 constructor.
 * @typedef {object} Gpt2Options
 * @property {number} vocabSize the number of token ids
 * @property {number} contextLength the largest number of tokens
 * @property {number} dModel width of the embeddings
 * @property {number} numHeads a divisor of dModel
 * @property {number} numLayers the number of blocks
 * @property {number} [dFf] width of the feed-forward's hidden activations; default 4 · dModel
 * @property {number} [eps] the layer norms add it to the variance; default 1e-5
 * @property {'tanh' | 'none'} [approximate] the form of GELU; default 'tanh', as in GPT-2's gelu_new
 */

/**
 * The tokens whose logits are returned: the last, all, none, or those from start up to but not including end.
 * @typedef {'last' | 'all' | 'none' | readonly [start: number, end: number]} LogitsOf
 */

/**
 * Another output for a head.
 * @typedef {object} Replacement
 * @property {number} layer
 * @property {number} head
 * @property {Tensor | NestedNumbers} output [tokens, headDim], or [batch, tokens, headDim] if ids have a batch
 */

/**
 * Options of `forward`.
 * @template {LogitsOf} [Logits=LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {object} Gpt2ForwardOptions
 * @property {Logits} [logits] the tokens whose logits are returned: the last (default), all,
 *   none, or those from start up to but not including end
 * @property {WithTrace} [trace] default false; true returns a Trace of every layer, which recomputes exact weights
 * @property {NeedWeights} [needWeights] default false; true returns every layer's exact weights: their size is quadratic in tokens
 * @property {Tensor | NestedNumbers} [headMask] [numLayers, numHeads]: factors of the heads' outputs; 0 mutes a head. They do
 *   not change the trace and weights of the same layer, but they change the input of later layers
 * @property {readonly Replacement[]} [replace] outputs in place of heads' own, before the output projection: zeros, a mean or
 *   another text's (`trace[layer].output({ head })`), for ablation and patching. They count after headMask; of several for one
 *   head the last counts. The trace and weights of the same layer are those of its own heads
 * @property {KeyValueCache} [cache] from this model's createCache; forward appends the ids to it
 */

/**
 * The part of the result that `logits` adds, unless it is 'none'.
 * @typedef {object} Gpt2Logits
 * @property {Tensor} logits [batch, tokens, vocabSize] for the requested tokens; [tokens, vocabSize] if ids have no batch
 */
/**
 * The result of `forward`: logits, weights and traces, each if requested.
 * @template {LogitsOf} [Logits=LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {Asked<'none' extends Logits ? false : Logits, Gpt2Logits> & Asked<NeedWeights, LayerWeights>
 *   & Asked<WithTrace, LayerTraces>} Gpt2Result
 */

const table = {
  ...{ vocabSize: checkSize, contextLength: checkSize, dModel: checkSize, numHeads: checkSize },
  ...{ numLayers: checkSize, dFf: (/** @type {any} */ value) => value, eps: checkEps },
  approximate: or(oneOf(/** @type {const} */ (['tanh', 'none'])), 'tanh'),
};

/** Standard deviation of GPT-2's initial weights. */
const initialDeviation = 0.02;

/** @param {unknown} hw */
export function checkEngine(hw) {
  const engine = engineOf(hw);
  if (engine === undefined) {
    throw misfit(hw, 'hw', 'what load() gives');
  }
  return engine;
}

/** @param {unknown} options */
function checkGpt2Options(options) {
  const checked = checkTable(options, table, 'Gpt2');
  const { dModel, numHeads } = checked;
  checkHeads(dModel, 'dModel', numHeads);
  return { ...checked, dFf: checkSize(checked.dFf ?? 4 * dModel, 'dFf') };
}

/**
 * GPT-2 (Radford et al. 2019): token and position embeddings, pre-norm blocks, a last layer norm, and the token embedding as
 * output head. The state dict has Hugging Face's names: wte.weight, wpe.weight, h.0.ln_1.weight,
 * h.0.attn.c_attn.weight [dModel, 3 · dModel] and so on. On loading, names may also begin with `transformer.`.
 */
export class Gpt2 extends Module {
  #options;
  #about;

  /**
   * Makes a model with random weights: randn times 0.02, as in GPT-2, in the order of the state dict. Biases are zeros.
   * @param {import('../engine/headwise.js').Headwise} hw the engine of the model
   * @param {Gpt2Options} options
   * @param {boolean} [draw] false: leave the weights zero and the generator unchanged
   * @throws {HeadwiseError} ERR_SHAPE, ERR_VALUE, ERR_MEMORY
   */
  constructor(hw, options, draw = true) {
    const engine = checkEngine(hw);
    const checked = checkGpt2Options(options);
    const { vocabSize, contextLength, dModel, numHeads, numLayers, approximate } = checked;
    // Of the engine's config a zero eps is the default; to any variance the least double is a zero.
    const engineOptions = { ...checked, eps: checked.eps || Number.MIN_VALUE };
    const kind = { normFirst: true, isCausal: true, attentionBias: true };
    const block = { ...engineOptions, ...kind, approximate: geluApproximation[approximate] };
    const config = { ...checked, block };
    const what = `a Gpt2 of ${numLayers} layers × ${dModel} and ${vocabSize} tokens`;
    super(engine, { kind: 'decoder', config, what, draw: false });
    /**
     * The options of the model, with defaults filled in.
     * @type {Readonly<Required<Gpt2Options>>}
     */
    this.options = Object.freeze(checked);
    this.#options = this.options;
    /** @type {import('../modules/forward.js').Attending} */
    this.#about = {
      ...{ name: 'Gpt2.forward', input: 'ids', rank: 2, width: vocabSize },
      ...{ heads: numHeads, layers: numLayers, contextLength, headDim: dModel / numHeads },
    };
    if (draw) {
      this.#draw();
    }
  }

  #draw() {
    try {
      for (const parameter of this.parameterList.filter((each) => each.shape.length === 2)) {
        const { data } = random(this.engine, 'randn', parameter.shape);
        data.forEach((value, i) => (data[i] = value * initialDeviation));
        writeParameter(this.engine, this.pointer, parameter, {
          ...{ dtype: 'float32', shape: parameter.shape, data, size: data.length },
        });
      }
    } catch (error) {
      super.dispose();
      throw error;
    }
  }

  /** @override @protected @param {string} key */
  canonicalKey(key) {
    return gpt2Names.canonical(key);
  }

  /** @override @protected @param {string} key */
  ignoresEntry(key) {
    return gpt2Names.isUnused(gpt2Names.canonical(key));
  }

  /**
   * Makes a cache for the keys and values of all layers and up to contextLength tokens. `forward` appends to it.
   * @param {{ batch?: number }} [options] batch: the number of sequences; default 1
   * @returns {KeyValueCache}
   * @throws {HeadwiseError} ERR_VALUE, ERR_MEMORY, ERR_DISPOSED
   */
  createCache(options) {
    const { dModel, numHeads: heads, contextLength } = this.#options;
    this.checkAlive();
    const checked = checkOptions(options, ['batch'], 'createCache');
    return new KeyValueCache(this, { heads, headDim: dModel / heads, contextLength }, checked);
  }

  /**
   * Computes the logits of the token that follows each id.
   * @template {LogitsOf} [Logits='last']
   * @template {boolean} [NeedWeights=false]
   * @template {boolean} [WithTrace=false]
   * @param {Ids} ids [tokens] or [batch, tokens]: nested arrays, a typed array or a float32 tensor
   * @param {Gpt2ForwardOptions<Logits, NeedWeights, WithTrace>} [options]
   * @returns {Gpt2Result<Logits, NeedWeights, WithTrace>}
   * @throws {HeadwiseError} ERR_SHAPE: more tokens than contextLength, or a cache of another batch; ERR_VALUE: an id out of
   *   range, or no room in the cache; ERR_MEMORY; ERR_DISPOSED. After any error the cache is unchanged
   */
  forward(ids, options) {
    this.checkAlive();
    const asked = checkTable(options, decoderForward, 'Gpt2.forward');
    const input = checkIds(ids, this.#options.vocabSize);
    // No code of the caller's runs from here on: it could end the model, or end or fill the cache.
    const { shape } = input;
    const fits = shape.length === 1 || shape.length === 2;
    checkShape(input, 'ids', fits, () => '[tokens] or [batch, tokens]');
    const { output, ...rest } = runForward(this, this.#about, input, asked, ids);
    return /** @type {any} */ (asked.logits === 'none' ? rest : { logits: output, ...rest });
  }

  /**
   * Computes the training loss in the engine: the mean cross-entropy of the model's predictions.
   * @param {Ids} ids [batch, tokens] or [tokens]
   * @param {Ids} [targets] of the same shape; default: the target of each id is the next id of its row; the last id has no target
   * @param {import('../autograd/decoder-loss.js').LossOptions} [options]
   * @returns {Tensor} of shape []: the mean over targets that are not ignored; NaN if there are none
   * @throws {HeadwiseError} ERR_SHAPE: more tokens than contextLength, or targets of another shape; ERR_VALUE: an id or target out
   *   of range; ERR_MEMORY; ERR_DISPOSED
   */
  loss(ids, targets, options) {
    this.checkAlive();
    const { vocabSize, contextLength } = this.#options;
    const about = { name: 'Gpt2.loss', vocabSize, contextLength };
    return decoderLoss(this, about, ids, targets, options);
  }

  /**
   * Generates tokens that continue the ids, one after another. It takes the most likely token, or draws from the softmax of
   * logits / temperature with its own random numbers. topK (Fan, Lewis & Dauphin 2018) and topP (Holtzman et al. 2020)
   * restrict the draw to the most likely tokens. To stop early, leave the loop. It stops when the context is full.
   * @template {boolean} [WithLogProbability=false]
   * @param {Ids} ids [tokens]
   * @param {import('./generate.js').GenerateOptions<WithLogProbability>} [options]
   * @returns {Generator<WithLogProbability extends true ? import('./generate.js').Generated : number, void, void>} of ids.
   *   Options are checked at once; ids and cache are checked before the first token
   * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE: a bad option, or NaN among the logits; an abort's reason; other errors as in forward
   */
  generate(ids, options) {
    return generate(this, ids, options);
  }
}
