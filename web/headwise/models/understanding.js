// What a decoder's heads do: how much each writes for a prediction, and what it does to tokens.
import { attribution as layout } from '../engine/abi.js';
import { asGiven, checkIndex, checkOptions, off } from '../checks/check.js';
import { addressOf } from '../engine/owned.js';
import { writeStruct } from '../engine/struct.js';
import { checkId } from '../tensor/ids.js';
import { decoderOptions, readDecoderCall } from './decoder-call.js';

/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */
/** @typedef {import('./language-model.js').LanguageModel} LanguageModel */

/**
 * Options of `attribution`.
 * @typedef {object} AttributionOptions
 * @property {number} [position] whose next token is predicted; default the last
 * @property {number | bigint} target the id whose logit is attributed
 * @property {number | bigint} [against] the id whose logit is subtracted; default none
 * @property {Tensor | import('../tensor/make-tensor.js').NestedNumbers} [headMask] [layers, heads]: factors of heads' outputs, as of
 *   `forward`: 0 mutes a head, whose part is then 0
 * @property {boolean} [directions] default false; true also returns the gradient of the total by each head's output
 */

/**
 * The parts of a logit, or of a difference of two.
 * @typedef {object} Attribution
 * @property {Tensor} heads [layers, heads]
 * @property {Tensor} mlps [layers], with the biases of their projections
 * @property {number} embedding of the token and its position
 * @property {number} biases of the attentions' output projections and of the final norm; with int8 weights also what rounding adds
 * @property {number} total the logit or the difference; heads, mlps, embedding and biases add up to it
 * @property {Tensor} [directions] [layers, heads, headDim], if requested: the gradient of the total by each head's output, after
 *   headMask and before the output projection. Times the values and the weights of the keys (`trace[layer].values`, `weights`) they split a
 *   head's part over the keys
 */

/**
 * A head's OV circuit.
 * @typedef {object} HeadCircuits
 * @property {number} copying Σλ / Σ|λ|, from -1 to 1: near 1, what the head looks at becomes more likely; 0 if all are 0
 * @property {[re: number, im: number][]} ovEigenvalues λ of W_E W_V W_O W_U, headDim of them, the largest absolute value first
 */

const table = {
  ...{ position: asGiven, target: asGiven, against: asGiven, directions: off },
  ...decoderOptions,
};

/**
 * @param {LanguageModel} model
 * @param {import('./config.js').ModelConfig} config
 * @param {import('../tensor/ids.js').Ids} ids
 * @param {AttributionOptions} options
 * @returns {Attribution}
 */
export function attribution(model, config, ids, options) {
  const name = 'attribution';
  const { numLayers, numHeads, headDim, vocabSize } = config;
  const given = readDecoderCall(config, ids, options, table, name);
  const { input, directions: hasDirections } = given;
  const tokens = input.size;
  const position = checkIndex(given.position ?? tokens - 1, 'position', tokens);
  const target = checkId(given.target, 'target', vocabSize);
  const hasAgainst = given.against !== undefined;
  const against = hasAgainst ? checkId(given.against, 'against', vocabSize) : 0;
  const { engine } = model;
  const pointer = addressOf(model);
  const count = numLayers * numHeads;
  const [struct, idsAt, heads, mlps, rest, directions, headMask] = engine.lay([
    ...[layout.bytes, input, count * 4, numLayers * 4, 3 * 4],
    hasDirections ? count * headDim * 4 : undefined,
    given.headMask,
  ]);
  writeStruct(engine, struct, layout, {
    ...{ ids: idsAt, tokens, position, target, against, hasAgainst },
    ...{ heads, mlps, rest, directions, headMask },
  });
  engine.check(engine.call.decoder_attribution(pointer, struct), name);
  const [embedding, biases, total] = engine.read(rest, [3]).data;
  return {
    heads: engine.read(heads, [numLayers, numHeads]),
    mlps: engine.read(mlps, [numLayers]),
    ...{ embedding, biases, total },
    ...(hasDirections && { directions: engine.read(directions, [numLayers, numHeads, headDim]) }),
  };
}

/**
 * @param {LanguageModel} model
 * @param {import('./config.js').ModelConfig} config
 * @param {{ layer: number, head: number }} where
 * @returns {HeadCircuits}
 */
export function headCircuits(model, { numLayers, numHeads, headDim }, where) {
  const name = 'headCircuits';
  const given = checkOptions(where, ['layer', 'head'], name);
  const layer = checkIndex(given.layer, 'layer', numLayers);
  const head = checkIndex(given.head, 'head', numHeads);
  const { engine } = model;
  const pointer = addressOf(model);
  const [copyingAt, valuesAt] = engine.lay([8, headDim * 16]);
  const { call } = engine;
  engine.check(call.decoder_head_circuit(pointer, layer, head, copyingAt, valuesAt), name);
  const view = new DataView(engine.memory.buffer);
  const numberAt = (/** @type {number} */ at) => view.getFloat64(at, true);
  return {
    copying: numberAt(copyingAt),
    ovEigenvalues: Array.from({ length: headDim }, (_, i) => [
      numberAt(valuesAt + 16 * i),
      numberAt(valuesAt + 16 * i + 8),
    ]),
  };
}
