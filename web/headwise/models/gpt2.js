import {
  asGiven,
  checkEps,
  checkProbability,
  checkSize,
  checkTable,
  oneOf,
  or,
} from '../checks/check.js';
import { nameClass } from '../checks/describe.js';
import { checkEngine } from '../engine/given-engine.js';
import { checkHeads } from '../modules/attention-module.js';
import { gpt2Names } from './gpt2-names.js';
import { LanguageModel } from './language-model.js';

/** @typedef {import('../tensor/ids.js').Ids} Ids */
/** @typedef {import('./language-model.js').LogitsOf} LogitsOf */
/** @typedef {import('./language-model.js').DecoderLogits} Gpt2Logits */
/**
 * Options of `forward`.
 * @template {LogitsOf} [Logits=LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @template {boolean} [WithResiduals=boolean]
 * @typedef {import('./language-model.js').DecoderForwardOptions<Logits, NeedWeights, WithTrace, WithResiduals>} Gpt2ForwardOptions
 */
/**
 * The result of `forward`.
 * @template {LogitsOf} [Logits=LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @template {boolean} [WithResiduals=boolean]
 * @typedef {import('./language-model.js').DecoderResult<Logits, NeedWeights, WithTrace, WithResiduals>} Gpt2Result
 */

/**
 * Options of the Gpt2 constructor.
 * @typedef {object} Gpt2Options
 * @property {number} vocabSize the number of token ids
 * @property {number} contextLength the largest number of tokens
 * @property {number} dModel width of the embeddings
 * @property {number} numHeads a divisor of dModel
 * @property {number} numLayers the number of blocks
 * @property {number} [dFf] width of the feed-forward's hidden activations; default 4 · dModel; 0: blocks are attention alone,
 *   without mlp and ln_2
 * @property {number} [eps] the layer norms add it to the variance; default 1e-5
 * @property {'tanh' | 'none'} [approximate] the form of GELU; default 'tanh', as in GPT-2's gelu_new
 * @property {number} [dropout] default 0; of the sum of embeddings and of both branches of each block, in training mode
 */

const table = {
  ...{ vocabSize: checkSize, contextLength: checkSize, dModel: checkSize, numHeads: checkSize },
  ...{ numLayers: checkSize, dFf: asGiven, eps: checkEps },
  approximate: or(oneOf(/** @type {const} */ (['tanh', 'none'])), 'tanh'),
  dropout: or(checkProbability, 0),
};

/** Of generations. */
const gpt2Defaults = { temperature: 0, takesEos: true };

/** Standard deviation of GPT-2's initial weights. */
const initialDeviation = 0.02;

/** @param {unknown} options */
function checkGpt2Options(options) {
  const checked = checkTable(options, table, 'Gpt2');
  const { dModel, numHeads } = checked;
  checkHeads(dModel, 'dModel', numHeads);
  return { ...checked, dFf: checkSize(checked.dFf ?? 4 * dModel, 'dFf', 0) };
}

/**
 * @param {Required<Gpt2Options>} options
 * @returns {import('./config.js').ModelConfig}
 */
function gpt2Config({ contextLength, dModel, numHeads, numLayers, approximate, ...sizes }) {
  return {
    ...{ modelType: 'gpt2', isDecoder: true, ...sizes, contextLength, dModel, numLayers, numHeads },
    ...{ numKeyValueHeads: numHeads, headDim: dModel / numHeads, norm: 'layer', gainOffset: 0 },
    ...{ normPlace: 'pre', isParallel: false, qkNorm: false, isGated: false, tiesHead: true },
    ...{ biases: { qkv: true, out: true, mlp: true }, headActivation: 'gelu' },
    activation: approximate === 'tanh' ? 'gelu_tanh' : 'gelu',
    ...{ attentionScale: 0, attentionSoftcap: 0, logitSoftcap: 0, embeddingScale: 1 },
    ...{ positions: contextLength, firstPosition: 0, tokenTypes: 0, rotary: [], layers: [] },
  };
}

/**
 * GPT-2 (Radford et al. 2019): token and position embeddings, pre-norm blocks, a last layer norm, and the token embedding as
 * output head. The state dict has Hugging Face's names: wte.weight, wpe.weight, h.0.ln_1.weight,
 * h.0.attn.c_attn.weight [dModel, 3 · dModel] and so on. On loading, names may also begin with `transformer.`.
 */
export class Gpt2 extends LanguageModel {
  static {
    nameClass(this, 'Gpt2');
  }

  /**
   * Makes a model with random weights: randn times 0.02, as in GPT-2, in the order of the state dict. Biases are zeros and
   * the weights of norms ones.
   * @param {import('../engine/headwise.js').Headwise} hw the engine of the model
   * @param {Gpt2Options} options
   * @param {boolean} [draw] false: leave the weights zero and the generator unchanged
   * @throws {HeadwiseError} ERR_SHAPE, ERR_VALUE, ERR_MEMORY
   */
  constructor(hw, options, draw = true) {
    const engine = checkEngine(hw);
    const checked = checkGpt2Options(options);
    super(engine, {
      ...{ name: 'Gpt2', config: gpt2Config(checked), names: gpt2Names, isBare: true },
      ...{ dtype: 'float32', deviation: draw ? initialDeviation : undefined },
    });
    /**
     * The options of the model, with defaults filled in.
     * @type {Readonly<Required<Gpt2Options>>}
     * @readonly
     */
    this.options = Object.freeze(checked);
  }

  /**
   * Generates tokens that continue the ids, one after another. It takes the most likely token, or draws from the softmax of
   * logits / temperature with its own random numbers. topK (Fan, Lewis & Dauphin 2018) and topP (Holtzman et al. 2020)
   * restrict the draw to the most likely tokens. To stop early, leave the loop. It stops when the context is full.
   * @template {boolean} [WithLogProbability=false]
   * @param {Ids} ids [tokens] or [1, tokens]
   * @param {import('./generate.js').GenerateOptions<WithLogProbability>} [options]
   * @returns {Generator<WithLogProbability extends true ? import('./generate.js').Generated : number, void, void>} of ids.
   *   Ids and options are checked at once. Before the first token the cache is checked, and whether the ids fit into it and the
   *   context (else ERR_VALUE); the cache is as it was if that fails
   * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE: a bad option, or NaN among the logits; an abort's reason; other errors as in forward
   */
  generate(ids, options) {
    return this.continue(ids, options, gpt2Defaults);
  }
}
