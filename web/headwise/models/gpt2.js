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
 * What a Gpt2 is made with.
 * @typedef {object} Gpt2Options
 * @property {number} vocabSize how many token ids there are
 * @property {number} contextLength the most tokens
 * @property {number} dModel width of the embeddings
 * @property {number} numHeads a divisor of dModel
 * @property {number} numLayers blocks
 * @property {number} [dFf] of the feed-forward's hidden activations; default 4 · dModel
 * @property {number} [eps] what the layer norms add to the variance; default 1e-5
 * @property {'tanh' | 'none'} [approximate] how GELU is computed; default 'tanh', as GPT-2's gelu_new
 */

/**
 * Of which tokens logits are wanted: the last, all, none, or those from start up to but not including end.
 * @typedef {'last' | 'all' | 'none' | readonly [start: number, end: number]} LogitsOf
 */

/**
 * What a forward may be asked for.
 * @template {LogitsOf} [Logits=LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {object} Gpt2ForwardOptions
 * @property {Logits} [logits] of which tokens: the last (default), all, none, or
 *   those from start up to but not including end
 * @property {WithTrace} [trace] default false: keep what exact weights can be recomputed from
 * @property {NeedWeights} [needWeights] default false: return every layer's exact weights, which are quadratic in tokens
 * @property {Tensor | NestedNumbers} [headMask] [numLayers, numHeads]: what each head's output is multiplied by; 0 mutes it.
 *   Its own layer's trace and weights stay as they are; later layers read what is left
 * @property {KeyValueCache} [cache] of this model's createCache: the ids are appended to it
 */

/**
 * What `logits` asks for, unless it is 'none'.
 * @typedef {object} Gpt2Logits
 * @property {Tensor} logits [batch, tokens, vocabSize] of the tokens that were asked for; without batch if ids had none
 */
/**
 * What a forward returns: what it was asked for.
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
 * GPT-2 (Radford et al. 2019) for inference: embeddings of tokens and positions, pre-norm blocks, a last layer norm, and the
 * token embedding as output head. State dict: Hugging Face's, wte.weight, wpe.weight, h.0.ln_1.weight,
 * h.0.attn.c_attn.weight [dModel, 3 · dModel] and so on; names may begin with transformer. on loading.
 */
export class Gpt2 extends Module {
  #options;
  #about;

  /**
   * Weights are drawn by randn, times 0.02 as GPT-2's, in the state dict's order; biases are zeros.
   * @param {import('../engine/headwise.js').Headwise} hw the engine that it lives in
   * @param {Gpt2Options} options
   * @param {boolean} [draw] false: leave the weights zero and the generator where it is
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
     * What the model was made with, defaults filled in.
     * @type {Readonly<Required<Gpt2Options>>}
     */
    this.options = Object.freeze(checked);
    this.#options = this.options;
    /** @type {import('../modules/forward.js').Attending} */
    this.#about = {
      ...{ name: 'Gpt2.forward', input: 'ids', rank: 2, width: vocabSize },
      ...{ heads: numHeads, layers: numLayers, contextLength },
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
        this.loadRows(parameter, data, 0, parameter.shape[0]);
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
   * Room for the keys and values of all layers and up to contextLength tokens, for `forward` to append to.
   * @param {{ batch?: number }} [options] batch: sequences; default 1
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
   * Predicts the token after each of the ids.
   * @template {LogitsOf} [Logits='last']
   * @template {boolean} [NeedWeights=false]
   * @template {boolean} [WithTrace=false]
   * @param {Ids} ids [tokens] or [batch, tokens]: nested arrays, a typed array or a float32 tensor
   * @param {Gpt2ForwardOptions<Logits, NeedWeights, WithTrace>} [options]
   * @returns {Gpt2Result<Logits, NeedWeights, WithTrace>}
   * @throws {HeadwiseError} ERR_SHAPE: more tokens than contextLength, or a cache of another batch; ERR_VALUE: an id that is
   *   none, or no room in the cache; ERR_MEMORY; ERR_DISPOSED. After any error the cache is as it was
   */
  forward(ids, options) {
    this.checkAlive();
    const asked = checkTable(options, decoderForward, 'Gpt2.forward');
    const input = checkIds(ids, this.#options.vocabSize);
    // From here on no code of the caller's runs, which could end the model or the cache, or fill one.
    const { shape } = input;
    const fits = shape.length === 1 || shape.length === 2;
    checkShape(input, 'ids', fits, () => '[tokens] or [batch, tokens]');
    const { output, ...rest } = runForward(this, this.#about, input, asked, ids);
    return /** @type {any} */ (asked.logits === 'none' ? rest : { logits: output, ...rest });
  }

  /**
   * What the model is trained on: the mean cross-entropy of its predictions, computed without leaving the engine.
   * @param {Ids} ids [batch, tokens] or [tokens]
   * @param {Ids} [targets] of the same shape; default: each id's is the next id of its row, and the last one's is ignored
   * @param {import('../autograd/decoder-loss.js').LossOptions} [options]
   * @returns {Tensor} of shape []: the mean over targets that are not ignored; NaN if there are none
   * @throws {HeadwiseError} ERR_SHAPE: more tokens than contextLength, or targets of another shape; ERR_VALUE: an id or a target
   *   that is none; ERR_MEMORY; ERR_DISPOSED
   */
  loss(ids, targets, options) {
    this.checkAlive();
    const { vocabSize, contextLength } = this.#options;
    const about = { name: 'Gpt2.loss', vocabSize, contextLength };
    return decoderLoss(this, about, ids, targets, options);
  }

  /**
   * Continues the ids, one token after another: greedily, or drawn from the softmax of logits / temperature by
   * random numbers of its own; with topK (Fan, Lewis & Dauphin 2018) and topP (Holtzman et al. 2020) among the likeliest only.
   * To end early, leave the loop. It ends by itself where the context is full.
   * @template {boolean} [WithLogProbability=false]
   * @param {Ids} ids [tokens]
   * @param {import('./generate.js').GenerateOptions<WithLogProbability>} [options]
   * @returns {Generator<WithLogProbability extends true ? import('./generate.js').Generated : number, void, void>} of ids.
   *   Options are checked at once, ids and cache when the first one is asked for
   * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE: a bad option, or NaN among the logits; an abort's reason; otherwise as forward
   */
  generate(ids, options) {
    return generate(this, ids, options);
  }
}
