import { checkEngine } from '../engine/given-engine.js';
import { readGiven } from './given-config.js';
import { LanguageModel } from './language-model.js';
import { innerOf } from './model.js';

/** @typedef {import('../tensor/ids.js').Ids} Ids */

/** Of generations, as in Hugging Face's library. */
const defaults = { temperature: 1, takesEos: false };

/**
 * A decoder: a language model of an architecture that Hugging Face's library knows: gpt2, gpt_neox, llama, mistral, qwen2, qwen3,
 * gemma3_text or smollm3. Its config says which. State-dict keys are Hugging Face's.
 */
export class Decoder extends LanguageModel {
  /**
   * Makes a model with random weights: randn times the config's initializer_range (0.02), in the order of the state dict. Biases
   * are zeros and the weights of norms ones (Gemma 3's are zeros, to which it adds 1).
   * @overload
   * @param {import('../engine/headwise.js').Headwise} hw the engine of the model; `new hw.Decoder(config, options)` is the same
   * @param {object} config Hugging Face's config.json as an object
   * @param {import('./given-config.js').ModelOptions} [options]
   * @throws {HeadwiseError} ERR_VALUE, naming the key of the config; ERR_MEMORY; ERR_DISPOSED
   */
  /**
   * @param {unknown} hw
   * @param {object} config
   * @param {import('./given-config.js').ModelOptions} [options]
   * @param {import('./given-config.js').Known} [known] leaves weights zero and the generator unchanged; config is not read
   */
  constructor(hw, config, options, known) {
    super(checkEngine(hw), readGiven('Decoder', config, options, known));
    /**
     * What the config says, with defaults filled in.
     * @type {Readonly<import('./config.js').ModelConfig>}
     * @readonly
     */
    this.config = innerOf(this).config;
  }

  /**
   * Generates tokens that continue the ids, one after another, drawn from the softmax of logits / temperature with random
   * numbers of this generation's own. topK (Fan, Lewis & Dauphin 2018) and topP (Holtzman et al. 2020) restrict the draw to the
   * most likely tokens; temperature 0 takes the most likely. To stop early, leave the loop. It stops when the context is full.
   * @template {boolean} [WithLogProbability=false]
   * @param {Ids} ids [tokens] or [1, tokens]
   * @param {Omit<import('./generate.js').GenerateOptions<WithLogProbability>, 'eosTokenId'>} [options] temperature: default 1
   * @returns {Generator<WithLogProbability extends true ? import('./generate.js').Generated : number, void, void>} of ids.
   *   Ids and options are checked at once. Before the first token the cache is checked, and whether the ids fit into it and the
   *   context (else ERR_VALUE); the cache is as it was if that fails
   * @throws {HeadwiseError} ERR_VALUE, ERR_SHAPE: a bad option, or NaN among the logits; an abort's reason; other errors as in forward
   */
  generate(ids, options) {
    return this.continue(ids, options, defaults);
  }
}
