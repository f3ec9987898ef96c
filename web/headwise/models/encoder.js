import { checkShape, checkTable } from '../checks/check.js';
import { describe } from '../checks/describe.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { copyArray } from '../checks/foreign.js';
import { checkIds, checkIntegers } from '../modules/embedding.js';
import { encoderForward, runForward } from '../modules/forward.js';
import { Module } from '../modules/module.js';
import { sameShape } from '../tensor/shape.js';
import { tensorOf } from '../tensor/tensor.js';
import { drawWeights } from './draw-weights.js';
import { readGivenConfig } from './given-config.js';
import { layModel } from './lay-model.js';
import { namesOf } from './names.js';

/**
 * @template Option
 * @template {object} Part
 * @typedef {import('../attention/options.js').Asked<Option, Part>} Asked
 */
/** @typedef {import('../modules/attention-module.js').LayerTraces} LayerTraces */
/** @typedef {import('../modules/attention-module.js').LayerWeights} LayerWeights */
/** @typedef {import('../modules/embedding.js').Ids} Ids */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * Options of an encoder's `forward`.
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {object} EncoderForwardOptions
 * @property {Ids} [tokenTypes] of the ids' shape: which of two texts a token is of; default: zeros
 * @property {readonly number[]} [lengths] how many tokens of each sequence count: what follows is padding, which no token attends
 *   to. Default: all
 * @property {WithTrace} [trace] default false; true returns a Trace of every layer, which recomputes exact weights
 * @property {NeedWeights} [needWeights] default false; true returns every layer's exact weights: their size is quadratic in tokens
 * @property {Tensor | import('../tensor/make-tensor.js').NestedNumbers} [headMask] [numLayers, numHeads]: factors of the heads'
 *   outputs; 0 mutes a head
 */

/**
 * The result of an encoder's `forward`.
 * @typedef {object} EncoderOutput
 * @property {Tensor} hidden [batch, tokens, dModel], or [tokens, dModel] if ids have no batch: what the last layer leaves
 * @property {Tensor} [logits] [batch, tokens, vocabSize], of the masked-language-model head, if the model has one
 */
/**
 * The result of `forward`: hidden states, logits if there is a head, weights and traces if requested.
 * @template {boolean} [NeedWeights=boolean]
 * @template {boolean} [WithTrace=boolean]
 * @typedef {EncoderOutput & Asked<NeedWeights, LayerWeights> & Asked<WithTrace, LayerTraces>} EncoderResult
 */

/** @param {unknown} lengths @param {number} batch @param {number} tokens */
function checkLengths(lengths, batch, tokens) {
  const list = copyArray(lengths, batch);
  const fits = (/** @type {unknown} */ n) =>
    Number.isInteger(n) && Number(n) >= 1 && Number(n) <= tokens;
  if (list?.length !== batch || !list.every(fits)) {
    throw misfit(lengths, 'lengths', `${batch} integers from 1 to ${tokens}`);
  }
  return /** @type {number[]} */ (list);
}

/**
 * True where there is padding.
 * @param {readonly number[]} shape of the ids
 * @param {readonly number[]} lengths
 */
function paddingOf(shape, lengths) {
  const tokens = shape[shape.length - 1];
  const data = Uint8Array.from({ length: lengths.length * tokens }, (_, i) =>
    Number(i % tokens >= lengths[Math.floor(i / tokens)]),
  );
  return { dtype: /** @type {const} */ ('bool'), shape, data, size: data.length };
}

/**
 * The first columns of a matrix, and the others.
 * @param {Tensor} x
 * @param {number} width of the first
 */
function splitColumns({ data, shape }, width) {
  const columns = shape[shape.length - 1];
  const part = (/** @type {number} */ start, /** @type {number} */ end) => {
    const values = new Float32Array((data.length / columns) * (end - start));
    for (let row = 0; row * columns < data.length; row++) {
      values.set(data.subarray(row * columns + start, row * columns + end), row * (end - start));
    }
    return tensorOf(values, Object.freeze([...shape.slice(0, -1), end - start]));
  };
  return [part(0, width), part(width, columns)];
}

/**
 * @internal The config of an encoder, as configOf of decoders.
 * @type {(model: unknown) => import('./config.js').ModelConfig | undefined}
 */
export let encoderConfigOf;

/**
 * An encoder of an architecture that Hugging Face's library knows: bert, roberta, distilbert. Every token attends to all others.
 * RoBERTa's positions count from pad_token_id + 1 by place in the row.
 */
export class Encoder extends Module {
  #config;
  #about;
  #names;
  #hasHead;

  static {
    encoderConfigOf = (model) =>
      typeof model === 'object' && model !== null && #config in model ? model.#config : undefined;
  }

  /**
   * Makes a model with random weights: randn times the config's initializer_range (0.02), in the order of the state dict. Biases
   * are zeros. It has a masked-language-model head.
   * @internal
   * @param {import('../engine/engine.js').Engine} engine
   * @param {object} config Hugging Face's config.json as an object
   * @param {import('./decoder.js').Known & { hasHead: boolean }} [known] leaves weights zero and the generator unchanged; config
   *   is not read
   */
  constructor(engine, config, known) {
    const { model, deviation } =
      known === undefined ? readGivenConfig(config, false) : { model: known.config, deviation: 0 };
    const { hasHead = true, dtype = 'float32' } = known ?? {};
    const { numLayers, dModel, vocabSize, numHeads, contextLength } = model;
    const laid = { ...model, layers: [], hasHead };
    super(engine, {
      ...{ kind: 'encoder', config: layModel(laid, dtype, false), draw: false },
      what: `an Encoder of ${numLayers} layers × ${dModel} and ${vocabSize} tokens`,
    });
    /**
     * What the config says, with defaults filled in.
     * @type {Readonly<import('./config.js').ModelConfig>}
     */
    this.config = Object.freeze({ ...model });
    this.#config = this.config;
    this.#names = namesOf(model);
    this.#hasHead = hasHead;
    /** @type {import('../modules/forward.js').Attending} */
    this.#about = {
      ...{ name: 'Encoder.forward', input: 'ids', rank: 2, heads: numHeads, layers: numLayers },
      ...{ width: dModel + (hasHead ? vocabSize : 0), contextLength, headDim: model.headDim },
    };
    if (known === undefined) {
      drawWeights(this, deviation);
    }
  }

  /** @override @protected @param {string} key */
  canonicalKey(key) {
    return this.#names.canonical(key);
  }

  /** @override @protected @param {string} key */
  ignoresEntry(key) {
    return this.#names.isUnused(this.#names.canonical(key));
  }

  /**
   * Computes the hidden state of each token, and its logits if the model has a head.
   * @template {boolean} [NeedWeights=false]
   * @template {boolean} [WithTrace=false]
   * @param {Ids} ids [tokens] or [batch, tokens]: nested arrays, a typed array or a float32 tensor
   * @param {EncoderForwardOptions<NeedWeights, WithTrace>} [options]
   * @returns {EncoderResult<NeedWeights, WithTrace>}
   * @throws {HeadwiseError} ERR_SHAPE: more tokens than contextLength, or token types of another shape; ERR_VALUE: an id, type or
   *   length out of range, or gradients are to be recorded; ERR_MEMORY; ERR_DISPOSED
   */
  forward(ids, options) {
    this.checkAlive();
    const { tokenTypes, lengths, ...asked } = checkTable(options, encoderForward, this.#about.name);
    const { vocabSize, tokenTypes: typeCount, dModel } = this.#config;
    const types = tokenTypes && checkIntegers(tokenTypes, 'tokenTypes', typeCount);
    const input = checkIds(ids, vocabSize);
    const { shape } = input;
    const fits = shape.length === 1 || shape.length === 2;
    checkShape(input, 'ids', fits, () => '[tokens] or [batch, tokens]');
    if (types !== undefined) {
      const expected = () => `${describe(shape)}, as ids`;
      checkShape(types, 'tokenTypes', sameShape(types.shape, shape), expected);
    }
    const batch = shape.length === 2 ? shape[0] : 1;
    const tokens = shape[shape.length - 1];
    const padding = lengths && paddingOf(shape, checkLengths(lengths, batch, tokens));
    if (this.engine.isRecording) {
      const expected = 'a call within hw.noGrad: encoders have no gradients';
      throw new HeadwiseError(
        'ERR_VALUE',
        `Encoder.forward has gradients to record; expected ${expected}`,
      );
    }
    const wanted = { ...asked, keyPaddingMask: padding, tokenTypes: types };
    const { output, ...rest } = runForward(this, this.#about, input, wanted, ids);
    if (!this.#hasHead) {
      return /** @type {any} */ ({ hidden: output, ...rest });
    }
    const [hidden, logits] = splitColumns(output, dModel);
    return /** @type {any} */ ({ hidden, logits, ...rest });
  }
}
