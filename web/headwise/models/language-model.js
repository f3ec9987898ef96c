// What all decoders can do: forward, caches, the loss, generation.
import { lossOptions, modelLoss } from '../autograd/model-loss.js';
import { asGiven, checkOptions, checkTable } from '../checks/check.js';
import { addressOf } from '../engine/owned.js';
import { checkRows, checkTexts } from '../tensor/ids.js';
import { decoderForward } from '../modules/forward-options.js';
import { runForward } from '../modules/forward.js';
import { KeyValueCache } from '../modules/key-value-cache.js';
import { checkFloats } from '../tensor/operand.js';
import { generate } from './generate.js';
import { innerOf, Model } from './model.js';
import { checkAsIds, withLengths } from '../tensor/ragged.js';
import { sampledBytes } from './sample.js';
import { attribution, headCircuits } from './understanding.js';

/**
 * @template Option
 * @template {object} Part
 * @typedef {import('../attention/options.js').Asked<Option, Part>} Asked
 */
/** @typedef {import('../modules/attention-module.js').LayerTraces} LayerTraces */
/** @typedef {import('../modules/attention-module.js').LayerWeights} LayerWeights */
/** @typedef {import('../tensor/ids.js').Ids} Ids */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('../attention/trace.js').Trace} Trace */
/** @typedef {import('../tensor/make-tensor.js').NestedNumbers} NestedNumbers */
/** @typedef {import('../tensor/make-tensor.js').NumberArray} NumberArray */
/** @typedef {import('../tensor/make-tensor.js').BigIntArray} BigIntArray */

/**
 * The tokens whose logits are returned: the last, all, none, or those from start up to but not including end.
 * @typedef {'last' | 'all' | 'none' | readonly [start: number, end: number]} LogitsOf
 */

/**
 * Another output for a head.
 * @typedef {object} Replacement
 * @property {number} layer whose head it is
 * @property {number} head within the layer
 * @property {Tensor | NestedNumbers} output [tokens, headDim], the same for each text, or [batch, tokens, headDim] if ids have a
 *   batch
 */

/**
 * Where a forward begins.
 * @typedef {object} Start
 * @property {number} layer the first that runs, from 0 to numLayers; with numLayers only the final norm and the unembedding run
 * @property {Tensor | NestedNumbers} residual the residual stream before it [tokens, dModel], or [batch, tokens, dModel] if ids have
 *   a batch: another forward's `residuals`, changed or not
 */

/**
 * Options of `forward`. With `trace`, `needWeights`, `headMask`, `replace`, `start`, `residuals` or `cache` there is no dropout, in
 * training mode too.
 * @template {LogitsOf} [Logits=LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @template {boolean} [WithResiduals=boolean]
 * @typedef {object} DecoderForwardOptions
 * @property {Logits} [logits] the tokens whose logits are returned: the last (default), all,
 *   none, or those from start up to but not including end
 * @property {WithTrace} [trace] default false; true returns a Trace of every layer, which recomputes exact weights
 * @property {NeedWeights} [needWeights] default false; true returns every layer's exact weights: their size is quadratic in tokens
 * @property {Tensor | NestedNumbers} [headMask] [numLayers, numHeads]: factors of the heads' outputs; 0 mutes a head. They do
 *   not change the trace and weights of the same layer, but they change the input of later layers. With requiresGrad they get
 *   their gradient, which tells how much each head matters (Michel, Levy & Neubig 2019)
 * @property {readonly Replacement[]} [replace] outputs in place of heads' own, before the output projection: zeros, a mean or
 *   another text's (`trace[layer].output({ head })`), for ablation and patching. They are applied after headMask. If several name
 *   one head, the last is used. The trace and weights of the same layer are those of its own heads. As with `cache`, a forward with this,
 *   `start` or `residuals` is not recorded
 * @property {Start} [start] begins the forward at a layer, so that the layers below are not computed again. The ids then give the
 *   shape alone; weights, traces and residuals begin with that layer. Not with a cache
 * @property {WithResiduals} [residuals] default false; true returns the residual stream before every layer that runs and after
 *   the last
 * @property {KeyValueCache} [cache] from this model's createCache; forward appends the ids to it. Such a forward is not recorded:
 *   `backward` through it throws
 * @property {Ids} [positionIds] of the ids' shape: each token's position, below contextLength; default: its place in the row, after
 *   the tokens of a cache. Learned positions and rotary angles follow it; which tokens are attended to does not
 * @property {readonly number[] | NumberArray | BigIntArray} [lengths] how many ids of each row count, at least 1; the others are padding;
 *   nothing else depends on them. The logits of 'last' are those of each row's own last id, and a cache gets no padding. With a cache
 *   a row may have no ids: its logits and weights are padding
 */

/**
 * The part of the result that `logits` adds, unless it is 'none'.
 * @typedef {object} DecoderLogits
 * @property {Tensor} logits [batch, tokens, vocabSize] for the requested tokens; [tokens, vocabSize] if ids have no batch
 */
/**
 * The part of the result that `residuals` adds.
 * @typedef {object} DecoderResiduals
 * @property {Tensor} residuals [numLayers + 1, tokens, dModel], or [numLayers + 1, batch, tokens, dModel] if ids have a batch: the
 *   residual stream before every layer and after the last, ahead of the final norm. With `start` the first is that of its layer
 */
/**
 * The result of `forward`: logits, weights, traces and residuals, each if requested.
 * @template {LogitsOf} [Logits=LogitsOf]
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @template {boolean} [WithResiduals=boolean]
 * @typedef {Asked<'none' extends Logits ? false : Logits, DecoderLogits> & Asked<NeedWeights, LayerWeights>
 *   & Asked<WithTrace, LayerTraces> & Asked<WithResiduals, DecoderResiduals>} DecoderResult
 */

const decoderLossOptions = { ...lossOptions, positionIds: asGiven };

/** The base class of decoders. */
export class LanguageModel extends Model {
  /**
   * Makes a cache for the keys and values of all layers and up to contextLength tokens. `forward` appends to it.
   * @param {{ batch?: number, dtype?: 'float32' | 'bfloat16' | 'float16' }} [options] batch: the number of sequences; default 1.
   *   dtype: the type of keys and values in the cache; default 'float32'. With 16 bits it takes half the memory; logits, weights and
   *   traces are then those of the rounded keys and values
   * @returns {KeyValueCache}
   * @throws {HeadwiseError} ERR_VALUE, ERR_MEMORY, ERR_DISPOSED
   */
  createCache(options) {
    const { numKeyValueHeads: heads, headDim, contextLength } = innerOf(this).config;
    addressOf(this);
    const checked = checkOptions(options, ['batch', 'dtype'], 'createCache');
    return new KeyValueCache(this, { heads, headDim, contextLength }, checked);
  }

  /** @param {unknown} positionIds */
  #readPositions(positionIds) {
    return positionIds === undefined
      ? undefined
      : checkRows(positionIds, 'positionIds', innerOf(this).config.contextLength);
  }

  /**
   * Computes the logits of the token that follows each id.
   * @template {LogitsOf} [Logits='last']
   * @template {boolean} [NeedWeights=false]
   * @template {boolean} [WithTrace=false]
   * @template {boolean} [WithResiduals=false]
   * @param {Ids} ids [tokens] or [batch, tokens]: nested arrays, a typed array or a float32 tensor. Rows of a nested array may
   *   differ in length: they are padded at the right, to 2^20 ids at most, as with `lengths`
   * @param {DecoderForwardOptions<Logits, NeedWeights, WithTrace, WithResiduals>} [options]
   * @returns {DecoderResult<Logits, NeedWeights, WithTrace, WithResiduals>}
   * @throws {HeadwiseError} ERR_SHAPE: more tokens than contextLength, positions of another shape, or a cache of another
   *   batch; ERR_VALUE: an id or position out of range, or no room in the cache; ERR_MEMORY; ERR_DISPOSED. After any error the
   *   cache is unchanged
   */
  forward(ids, options) {
    return /** @type {any} */ (this.#forward(ids, options));
  }

  /**
   * Like forward with logits of the last token, but these are not copied. Ahead of them is room for sampledBytes.
   * @internal
   * @template T
   * @param {Ids} ids [tokens]
   * @param {Pick<DecoderForwardOptions, 'headMask' | 'cache'>} options
   * @param {(logits: number) => T} choose is given their address; what it throws leaves the cache as it was
   * @returns {T} what choose returns
   */
  choose(ids, options, choose) {
    if (this.forward === LanguageModel.prototype.forward) {
      return /** @type {any} */ (this.#forward(ids, options, choose)).logits;
    }
    // A class that extends this one, with a forward of its own.
    const { logits } = this.forward(ids, options);
    return choose(this.engine.lay([sampledBytes, checkFloats(logits, 'logits')])[1]);
  }

  /**
   * @param {Ids} ids
   * @param {DecoderForwardOptions | undefined} options
   * @param {(logits: number) => unknown} [readOutput]
   */
  #forward(ids, options, readOutput) {
    addressOf(this);
    const { about, config } = innerOf(this);
    const asked = checkTable(options, decoderForward, about.name);
    const input = checkTexts(ids, config.vocabSize);
    asked.positionIds = this.#readPositions(asked.positionIds);
    checkAsIds(asked.positionIds, 'positionIds', input);
    // No code of the caller's runs from here on: it could end the model, or end or fill the cache.
    const { output, ...rest } = runForward(
      this,
      about,
      withLengths(input, asked.lengths, asked.cache ? 0 : 1),
      asked,
      ids,
      readOutput,
    );
    return asked.logits === 'none' ? rest : { logits: output, ...rest };
  }

  /**
   * Direct logit attribution (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"): what each part of the
   * model writes to the residual stream, through the final norm, along the unembedding of `target` (minus that of `against`).
   * The scales of norms, and of a capped logit, are held fixed, so that the parts add up to the logit (difference).
   * @param {Ids} ids [tokens]
   * @param {import('./understanding.js').AttributionOptions} options
   * @returns {import('./understanding.js').Attribution}
   * @throws {HeadwiseError} ERR_SHAPE: more than one text, or more tokens than contextLength; ERR_VALUE: an id, the position, target
   *   or against out of range; ERR_MEMORY; ERR_DISPOSED
   */
  attribution(ids, options) {
    addressOf(this);
    return attribution(this, innerOf(this).config, ids, options);
  }

  /**
   * The OV circuit of a head, W_E W_V W_O W_U, by its eigenvalues (Elhage et al. 2021). The matrices are raw, without gains of
   * norms. The eigenvalues are those of W_O W_U W_E W_V [headDim, headDim]; the large product has zeros besides.
   * @param {{ layer: number, head: number }} where
   * @returns {import('./understanding.js').HeadCircuits}
   * @throws {HeadwiseError} ERR_VALUE: layer or head out of range; ERR_MEMORY; ERR_DISPOSED
   */
  headCircuits(where) {
    addressOf(this);
    return headCircuits(this, innerOf(this).config, where);
  }

  /**
   * Computes the training loss in the engine: the mean cross-entropy of the model's predictions.
   * @param {Ids} ids [batch, tokens] or [tokens]. Rows of a nested array may differ in length: they are padded at the right, to
   *   2^20 ids at most, as with `lengths`
   * @param {Ids | null} [targets] of the same shape, with rows of the same lengths; default: the target of each id is the next id
   *   of its row; the last id has no target
   * @param {import('../autograd/model-loss.js').LossOptions} [options]
   * @returns {Tensor} of shape []: the mean over targets that are not ignored; NaN if there are none
   * @throws {HeadwiseError} ERR_SHAPE: more tokens than contextLength, or targets or positions of another shape; ERR_VALUE: an id, target
   *   or position out of range; ERR_MEMORY; ERR_DISPOSED
   */
  loss(ids, targets, options) {
    addressOf(this);
    const { loss: about } = innerOf(this);
    const asked = checkTable(options, decoderLossOptions, about.name);
    const positionIds = this.#readPositions(asked.positionIds);
    return modelLoss(this, about, ids, targets, asked, { positionIds });
  }

  /**
   * Generates tokens that continue the ids.
   * @internal
   * @template {boolean} [WithLogProbability=false]
   * @param {Ids} ids [tokens] or [1, tokens]
   * @param {import('./generate.js').GenerateOptions<WithLogProbability> | undefined} options
   * @param {import('./generate.js').Defaults} defaults
   */
  continue(ids, options, defaults) {
    return generate(this, innerOf(this).config.vocabSize, ids, options, defaults);
  }
}
