import { lossOptions, modelLoss } from '../autograd/model-loss.js';
import { asGiven, checkTable, oneOf, or } from '../checks/check.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { checkEngine } from '../engine/given-engine.js';
import { addressOf } from '../engine/owned.js';
import { checkRows, checkTexts } from '../tensor/ids.js';
import { encoderForward } from '../modules/forward-options.js';
import { runForward, runRows } from '../modules/forward.js';
import { readDict } from '../modules/state.js';
import { checkFloats } from '../tensor/operand.js';
import { readGiven } from './given-config.js';
import { innerOf, Model } from './model.js';
import { checkAsIds, withLengths } from '../tensor/ragged.js';

/**
 * @template Option
 * @template {object} Part
 * @typedef {import('../attention/options.js').Asked<Option, Part>} Asked
 */
/** @typedef {import('../modules/attention-module.js').LayerTraces} LayerTraces */
/** @typedef {import('../modules/attention-module.js').LayerWeights} LayerWeights */
/** @typedef {import('../tensor/ids.js').Ids} Ids */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('../tensor/make-tensor.js').NumberArray} NumberArray */
/** @typedef {import('../tensor/make-tensor.js').BigIntArray} BigIntArray */

/**
 * Options of an encoder's `forward`. With `trace`, `needWeights` or `headMask` there is no dropout, in training mode too.
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {object} EncoderForwardOptions
 * @property {'all' | 'none'} [logits] the tokens whose logits are returned, if the model has a head: all (default) or none
 * @property {Ids} [tokenTypes] of the ids' shape: which of two texts a token is of; default: zeros. Not for models without token
 *   types, such as DistilBERT
 * @property {readonly number[] | NumberArray | BigIntArray} [lengths] how many tokens of each sequence count, at least 1: what follows is
 *   padding, which no token attends to. Default: all
 * @property {WithTrace} [trace] default false; true returns a Trace of every layer, which recomputes exact weights
 * @property {NeedWeights} [needWeights] default false; true returns every layer's exact weights: their size is quadratic in tokens
 * @property {Tensor | import('../tensor/make-tensor.js').NestedNumbers} [headMask] [numLayers, numHeads]: factors of the heads'
 *   outputs; 0 mutes a head. One with requiresGrad gets its gradient
 */

/**
 * The result of an encoder's `forward`.
 * @typedef {object} EncoderOutput
 * @property {Tensor} hidden [batch, tokens, dModel], or [tokens, dModel] if ids have no batch: what the last layer leaves
 * @property {Tensor} [logits] [batch, tokens, vocabSize], of the masked-language-model head, if the model has one and they were not
 *   declined
 */
/**
 * The result of `forward`: hidden states, logits if there is a head, weights and traces if requested.
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {EncoderOutput & Asked<NeedWeights, LayerWeights> & Asked<WithTrace, LayerTraces>} EncoderResult
 */

/**
 * Options of an encoder's `loss`.
 * @typedef {object} EncoderLossOptions
 * @property {number} [ignoreIndex] default -100; targets of this value do not count
 * @property {Ids} [tokenTypes] as of `forward`
 * @property {readonly number[] | NumberArray | BigIntArray} [lengths] how many ids of each row count, at least 1: the others are padding,
 *   which no token attends to and whose targets do not count. Default: all
 */

const forwardOptions = {
  ...encoderForward,
  ...{ logits: or(oneOf(['all', 'none']), 'all'), tokenTypes: asGiven },
};
const encoderLossOptions = { ...lossOptions, tokenTypes: asGiven };

/**
 * An encoder of an architecture that Hugging Face's library knows: bert, roberta, distilbert. Every token attends to all tokens, itself
 * included.
 * RoBERTa's positions count from pad_token_id + 1 by place in the row.
 */
export class Encoder extends Model {
  /**
   * Makes a model with random weights: randn times the config's initializer_range (0.02), in the order of the state dict. Biases
   * are zeros and the weights of norms ones. It has a masked-language-model head.
   * @overload
   * @param {import('../engine/headwise.js').Headwise} hw the engine of the model; `new hw.Encoder(config, options)` is the same
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
    super(checkEngine(hw), readGiven('Encoder', config, options, known));
    /**
     * What the config says, with defaults filled in.
     * @type {Readonly<import('./config.js').ModelConfig>}
     * @readonly
     */
    this.config = innerOf(this).config;
  }

  /** @override @protected @param {string} key */
  keeps(key) {
    return innerOf(this).hasHead || !key.startsWith(innerOf(this).names.head);
  }

  /**
   * Copies parameters into the model. A dict of the base model alone, such as a BertModel's, leaves the model without a head for
   * masked tokens: its forward gives no logits.
   * @override
   * @param {Record<string, import('../tensor/tensor.js').AnyTensor>} dict as of any module
   * @param {Record<string, never>} [options] none are supported
   */
  loadStateDict(dict, options) {
    const given = readDict(dict);
    const inner = innerOf(this);
    const { canonical, head } = inner.names;
    const before = inner.hasHead;
    inner.hasHead = Object.keys(given).some(
      (key) => canonical(key).startsWith(head) && !this.ignoresEntry(key),
    );
    try {
      return super.loadStateDict(given, options);
    } catch (error) {
      inner.hasHead = before;
      throw error;
    }
  }

  /** @param {any} tokenTypes @returns {import('../tensor/operand.js').IdsOperand | undefined} */
  #readTypes(tokenTypes) {
    if (tokenTypes === undefined) {
      return undefined;
    }
    const count = innerOf(this).config.tokenTypes;
    if (count === 0) {
      throw misfit(tokenTypes, 'tokenTypes', 'none: the model has no token types');
    }
    return checkRows(tokenTypes, 'tokenTypes', count);
  }

  /**
   * Computes the hidden state of each token, and its logits if the model has a head.
   * @template {boolean} [NeedWeights=false]
   * @template {boolean} [WithTrace=false]
   * @param {Ids} ids [tokens] or [batch, tokens]: nested arrays, a typed array or a float32 tensor. Rows of a nested array may
   *   differ in length: they are padded at the right, to 2^20 ids at most, as with `lengths`; token types then
   *   have rows of these lengths too
   * @param {EncoderForwardOptions<NeedWeights, WithTrace>} [options]
   * @returns {EncoderResult<NeedWeights, WithTrace>}
   * @throws {HeadwiseError} ERR_SHAPE: more tokens than contextLength, or token types of another shape; ERR_VALUE: an id, type or
   *   length out of range, or types for a model without; ERR_MEMORY; ERR_DISPOSED
   */
  forward(ids, options) {
    addressOf(this);
    const { about, config } = innerOf(this);
    const { name } = about;
    const { logits, ...asked } = checkTable(options, forwardOptions, name);
    asked.tokenTypes = this.#readTypes(asked.tokenTypes);
    const input = checkTexts(ids, config.vocabSize);
    checkAsIds(asked.tokenTypes, 'tokenTypes', input);
    const padded = withLengths(input, asked.lengths);
    const { output: hidden, ...rest } = runForward(this, about, padded, asked, ids);
    if (!innerOf(this).hasHead || logits === 'none') {
      return /** @type {any} */ ({ hidden, ...rest });
    }
    try {
      return /** @type {any} */ ({ hidden, logits: this.#predict(hidden, input), ...rest });
    } catch (error) {
      rest.trace?.forEach((trace) => trace.dispose());
      throw error;
    }
  }

  /**
   * The logits of hidden states.
   * @param {Tensor} hidden
   * @param {import('../tensor/operand.js').IdsOperand} ids
   */
  #predict(hidden, { shape, size }) {
    const { config, about } = innerOf(this);
    const input = checkFloats(hidden, 'hidden');
    return runRows(this, about.name, input, size, [...shape, config.vocabSize], hidden);
  }

  /**
   * Computes the training loss in the engine: the mean cross-entropy of the masked-language-model head's predictions.
   * @param {Ids} ids [batch, tokens] or [tokens], some of them masked. Rows of a nested array may differ in length: they are padded
   *   at the right, to 2^20 ids at most, as with `lengths`; targets and token types then have rows of these lengths too
   * @param {Ids} targets of the same shape, one per id, such as the ids before they were masked; ignoreIndex where nothing is to be
   *   predicted
   * @param {EncoderLossOptions} [options]
   * @returns {Tensor} of shape []: the mean over targets that are not ignored; NaN if there are none
   * @throws {HeadwiseError} ERR_SHAPE: more tokens than contextLength, or targets or token types of another shape; ERR_VALUE: an id,
   *   target, type or length out of range, no targets, or no head; ERR_MEMORY; ERR_DISPOSED
   */
  loss(ids, targets, options) {
    addressOf(this);
    const { loss: about } = innerOf(this);
    if (!innerOf(this).hasHead) {
      throw new HeadwiseError(
        'ERR_VALUE',
        `${about.name}: the model has no masked-language-model head; expected one`,
      );
    }
    if ((targets ?? null) === null) {
      throw misfit(targets, 'targets', 'one per id');
    }
    const { tokenTypes, ...asked } = checkTable(options, encoderLossOptions, about.name);
    return modelLoss(this, about, ids, targets, asked, {
      tokenTypes: this.#readTypes(tokenTypes),
    });
  }
}
