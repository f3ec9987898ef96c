import { asGiven, checkIndex, off } from '../checks/check.js';
import { qkAttribution as layout } from '../engine/abi.js';
import { addressOf } from '../engine/owned.js';
import { writeStruct } from '../engine/struct.js';
import { decoderOptions, readDecoderCall } from '../models/decoder-call.js';
import { tensorOf } from '../tensor/tensor.js';
import { calledThere, decoderConfig } from './source.js';

/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * Options of `qkAttribution`.
 * @typedef {object} QkAttributionOptions
 * @property {number} layer whose head it is
 * @property {number} head within the layer
 * @property {number} [query] position of the token that looks; default the last
 * @property {number} key position of the token that is looked at, not after the query
 * @property {Tensor | import('../tensor/make-tensor.js').NestedNumbers} [headMask] [layers, heads]: factors of heads' outputs
 * @property {boolean} [pairs] whether the scores of all pairs of parts are wanted too; default false
 */

/**
 * What each part of the residual stream gives a score. Heads and MLPs of the head's own layer and later ones have 0: they
 * write later.
 * @typedef {object} QkParts
 * @property {Tensor} heads [layers, heads]
 * @property {Tensor} mlps [layers], with the biases of their projections
 * @property {number} embedding of the token and its position
 * @property {number} biases of the attentions' output projections, of norms, and of the query's or key's own projection; with int8
 *   weights also what rounding adds
 */

/**
 * A part of the residual stream.
 * @typedef {object} QkPart
 * @property {'head' | 'mlp' | 'embedding' | 'biases'} kind what wrote it
 * @property {number} [layer] of a head or an MLP
 * @property {number} [head] of a head
 */

/**
 * The scores of pairs of parts.
 * @typedef {object} QkPairs
 * @property {QkPart[]} parts those below the layer: heads, MLPs, the embedding and biases
 * @property {Tensor} scores [parts, parts]: of a part at the query and one at the key. Rows add up to the query's parts, columns to
 *   the key's
 */

/**
 * What a head's score is made of.
 * @typedef {object} QkAttribution
 * @property {QkParts} query what each part at the query gives, with the whole key; they add up to score
 * @property {QkParts} key what each part at the key gives, with the whole query; they add up to score
 * @property {number} score scale · query · key, before softcap, mask and softmax
 * @property {QkPairs} [pairs] if asked for
 */

const table = {
  ...{ layer: asGiven, head: asGiven, query: asGiven, key: asGiven },
  ...{ pairs: off, ...decoderOptions },
};

/**
 * @param {Float32Array} data [layer · heads + layer + 2]
 * @param {number} layer
 * @param {{ numLayers: number, numHeads: number }} sizes
 * @returns {QkParts}
 */
function partsOf(data, layer, { numLayers, numHeads }) {
  const heads = new Float32Array(numLayers * numHeads);
  const mlps = new Float32Array(numLayers);
  heads.set(data.subarray(0, layer * numHeads));
  mlps.set(data.subarray(layer * numHeads, layer * (numHeads + 1)));
  const [embedding, biases] = data.subarray(layer * (numHeads + 1));
  return {
    heads: tensorOf(heads, [numLayers, numHeads]),
    mlps: tensorOf(mlps, [numLayers]),
    ...{ embedding, biases },
  };
}

/** @param {number} layers @param {number} heads @returns {QkPart[]} */
function listParts(layers, heads) {
  const all = Array.from({ length: layers * heads }, (_, i) => ({
    ...{ kind: /** @type {const} */ ('head'), layer: Math.floor(i / heads), head: i % heads },
  }));
  const mlps = Array.from({ length: layers }, (_, layer) => ({
    ...{ kind: /** @type {const} */ ('mlp'), layer },
  }));
  return [...all, ...mlps, { kind: 'embedding' }, { kind: 'biases' }];
}

/**
 * Why a query looks at a key: a head's score split over what wrote the residual stream (as in direct logit attribution: Elhage et al.
 * 2021, "A Mathematical Framework for Transformer Circuits"). score = scale · q · k, and q and k are linear in the residual stream
 * before the layer if the scales of norms are held fixed: of the layer's norm, of norms of queries and keys, and of norms
 * after earlier attentions and MLPs. So q = Σ q_p over the parts p that wrote it: the embedding, each earlier head's
 * output, each earlier MLP's, and biases; the same with k. Rotary positions rotate each part as they rotate the whole.
 *
 * It costs a forward up to the layer, and a product with the output projection of each earlier layer.
 *
 * @param {import('./source.js').DecoderModel} model
 * @param {import('../tensor/ids.js').Ids} ids [tokens]
 * @param {QkAttributionOptions} options
 * @returns {Promise<QkAttribution>}
 * @throws {HeadwiseError} ERR_SHAPE: more than one text, or more tokens than contextLength; ERR_VALUE: an id, layer, head, query or key
 *   out of range; ERR_MEMORY; ERR_DISPOSED
 */
export async function qkAttribution(model, ids, options) {
  const name = 'qkAttribution';
  const answer = calledThere(name, model, ids, options);
  if (answer) return answer;
  const config = decoderConfig(model);
  const { numLayers, numHeads } = config;
  const given = readDecoderCall(config, ids, options, table, name);
  const { input } = given;
  const tokens = input.size;
  const layer = checkIndex(given.layer, 'layer', numLayers);
  const head = checkIndex(given.head, 'head', numHeads);
  const query = checkIndex(given.query ?? tokens - 1, 'query', tokens);
  const key = checkIndex(given.key, 'key', query + 1);
  const { engine } = /** @type {any} */ (model);
  const pointer = addressOf(/** @type {any} */ (model));
  const count = layer * (numHeads + 1) + 2;
  const pairBytes = given.pairs ? 4 * count * count : undefined;
  const [struct, idsAt, queryParts, keyParts, score, pairs, headMask] = engine.lay([
    ...[layout.bytes, input, 4 * count, 4 * count, 4, pairBytes, given.headMask],
  ]);
  const call = {
    ...{ ids: idsAt, tokens, layer, head, query, key },
    ...{ queryParts, keyParts, pairs, score, headMask },
  };
  writeStruct(engine, struct, layout, call);
  engine.check(engine.call.decoder_qk_attribution(pointer, struct), name);
  const read = (/** @type {number} */ at) => partsOf(engine.read(at, [count]).data, layer, config);
  return {
    query: read(queryParts),
    key: read(keyParts),
    score: engine.read(score, [1]).item(),
    ...(given.pairs && {
      pairs: { parts: listParts(layer, numHeads), scores: engine.read(pairs, [count, count]) },
    }),
  };
}
