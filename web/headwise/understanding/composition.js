import { asGiven, checkIndex, checkOptions, checkTable, off } from '../checks/check.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { addressOf } from '../engine/owned.js';
import { product, transposed } from '../tensor/compute.js';
import { tensorOf } from '../tensor/tensor.js';
import { matricesOf, normOf, shortProduct } from './head-circuits.js';
import { calledThere, decoderConfig } from './source.js';
import { Work, workTable } from './work.js';

/** @typedef {import('../models/config.js').ModelConfig} ModelConfig */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * A head.
 * @typedef {object} HeadPlace
 * @property {number} layer from 0
 * @property {number} head from 0, within the layer
 */

/**
 * Options of `composition`.
 * @typedef {object} CompositionOptions
 * @property {HeadPlace} [from] the head that writes; with `to`: the scores of this pair alone
 * @property {HeadPlace} [to] the head that reads, in a later layer
 * @property {boolean} [gains] whether weights of norms are multiplied into the matrices: of the norm before attention into W_Q, W_K and
 *   W_V, of norms of queries and keys into W_Q and W_K, of a norm after attention into W_O; default false: raw matrices, as
 *   in headCircuits
 */

/**
 * Composition scores: numbers of one pair, or of all pairs [layers, heads, layers, heads], the head that writes first; 0 where it is not
 * in an earlier layer.
 * @template {number | Tensor} [Scores=number | Tensor]
 * @typedef {object} Composition
 * @property {Scores} query how much of what the first head writes is in what the second one's queries read
 * @property {Scores} key the same of its keys
 * @property {Scores} value the same of its values
 */

const kinds = /** @type {const} */ (['query', 'key', 'value']);

const table = { from: asGiven, to: asGiven, gains: off, ...workTable };

/** @param {unknown} place @param {string} name @param {ModelConfig} config @returns {HeadPlace} */
function checkPlace(place, name, { numLayers, numHeads }) {
  if (place === undefined) {
    throw misfit(place, name, 'a head { layer, head }: from and to go together');
  }
  const given = checkOptions(place, ['layer', 'head'], name, name);
  return {
    layer: checkIndex(given.layer, `${name}.layer`, numLayers),
    head: checkIndex(given.head, `${name}.head`, numHeads),
  };
}

/**
 * Heads of one layer, one below another: what they write, or what one of their kinds reads.
 * @typedef {object} Stack
 * @property {Float32Array} rows [heads · headDim, dModel]
 * @property {number[]} norms
 */

/** The matrices of heads of a layer. */
class Layer {
  #sizes;
  #matrices;

  /** @param {any} model @param {ModelConfig} config @param {number} layer @param {readonly number[]} heads @param {boolean} gains */
  constructor(model, config, layer, heads, gains) {
    this.#sizes = config;
    this.#matrices = heads.map((head) => matricesOf(model, layer, head, gains, config));
  }

  /** @param {(matrices: import('./head-circuits.js').Matrices) => [Float32Array, Float32Array]} pair @returns {Stack} */
  #stack(pair) {
    const shorts = this.#matrices.map((matrices) => shortProduct(...pair(matrices), this.#sizes));
    const rows = new Float32Array(shorts.length * shorts[0].length);
    shorts.forEach((short, i) => rows.set(short, i * short.length));
    return { rows, norms: shorts.map(normOf) };
  }

  /** W_V · W_O */
  written() {
    return this.#stack(({ value, out }) => [value, out]);
  }

  /** W_K · W_Qᵀ, W_Q · W_Kᵀ, and W_Oᵀ · W_Vᵀ, whose last factor reads the residual stream. */
  read() {
    return [
      this.#stack(({ query, key }) => [key, query]),
      this.#stack(({ query, key }) => [query, key]),
      this.#stack(({ value, out }) => [out, value]),
    ];
  }
}

/**
 * Scores of all pairs of two stacks.
 * @param {import('../engine/engine.js').Engine} engine
 * @param {Stack} from
 * @param {Stack} to
 * @param {ModelConfig} config
 * @returns {Float64Array} [from, to]
 */
function scoresOf(engine, from, to, { headDim, dModel }) {
  const operand = (/** @type {Float32Array} */ data) => ({
    ...{ dtype: /** @type {const} */ ('float32'), data, size: data.length },
    shape: [data.length / dModel, dModel],
  });
  const columns = to.norms.length * headDim;
  const turned = transposed(engine, operand(to.rows));
  const right = { ...operand(turned.data), shape: [dModel, columns] };
  const { data } = product(engine, operand(from.rows), right);
  const sums = new Float64Array(from.norms.length * to.norms.length);
  for (let i = 0; i < data.length; i++) {
    const row = Math.floor(i / columns / headDim);
    sums[row * to.norms.length + Math.floor((i % columns) / headDim)] += data[i] * data[i];
  }
  return sums.map((sum, i) => {
    const size = from.norms[Math.floor(i / to.norms.length)] * to.norms[i % to.norms.length];
    return size === 0 ? 0 : Math.sqrt(sum) / size;
  });
}

/** @param {any} model @param {ModelConfig} config @param {HeadPlace} from @param {HeadPlace} to @param {boolean} gains */
function pairOf(model, config, from, to, gains) {
  const written = new Layer(model, config, from.layer, [from.head], gains).written();
  const read = new Layer(model, config, to.layer, [to.head], gains).read();
  const scores = read.map((stack) => scoresOf(model.engine, written, stack, config)[0]);
  return Object.fromEntries(kinds.map((kind, i) => [kind, scores[i]]));
}

/** @param {any} model @param {ModelConfig} config @param {boolean} gains @param {Work} work */
async function allOf(model, config, gains, work) {
  const { numLayers, numHeads } = config;
  const heads = Array.from({ length: numHeads }, (_, head) => head);
  const size = numLayers * numHeads;
  const scores = kinds.map(() => new Float32Array(size * size));
  /** @type {Stack[]} */
  const written = [];
  for (let to = 0; to < numLayers; to++) {
    addressOf(model);
    const layer = new Layer(model, config, to, heads, gains);
    const read = layer.read();
    for (const [from, stack] of written.entries()) {
      for (const [kind, each] of read.entries()) {
        const found = scoresOf(model.engine, stack, each, config);
        for (let head = 0; head < numHeads; head++) {
          const row = found.subarray(head * numHeads, (head + 1) * numHeads);
          scores[kind].set(row, (from * numHeads + head) * size + to * numHeads);
        }
      }
      await work.step();
    }
    written.push(layer.written());
    await work.step();
  }
  const shape = [numLayers, numHeads, numLayers, numHeads];
  return Object.fromEntries(kinds.map((kind, i) => [kind, tensorOf(scores[i], shape)]));
}

/**
 * Composition scores of heads (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"): how much of what one head
 * writes is in what a head of a later layer reads, ‖W_OV · X‖ / (‖W_OV‖ · ‖X‖) in Frobenius norms, with X = W_Q W_Kᵀ for queries,
 * W_K W_Qᵀ for keys and W_V W_O for values of the second head and W_OV = W_V W_O of the first. Rotary positions are left out.
 *
 * The products [dModel, dModel] are never made: of W_V W_O, R W_O [headDim, dModel] has the same norms, with the triangular R of
 * W_V = Q R. All pairs cost layers² / 2 products of three matrices [heads · headDim, dModel]: of a model of 12 layers some 200
 * products of the size of one attention projection over dModel tokens.
 *
 * @overload
 * @param {import('./source.js').DecoderModel} model
 * @param {CompositionOptions & import('./work.js').WorkOptions & { from: HeadPlace, to: HeadPlace }} options
 * @returns {Promise<Composition<number>>}
 * @throws {HeadwiseError} ERR_VALUE: a head out of range, not both or none of them, or `to` in no later layer; ERR_MEMORY; ERR_DISPOSED; an
 *   abort's reason
 */
/**
 * The same of all pairs.
 *
 * @overload
 * @param {import('./source.js').DecoderModel} model
 * @param {CompositionOptions & import('./work.js').WorkOptions} [options]
 * @returns {Promise<Composition<Tensor>>}
 * @throws {HeadwiseError} ERR_VALUE, ERR_MEMORY, ERR_DISPOSED; an abort's reason
 */
/**
 * @param {any} model
 * @param {CompositionOptions & import('./work.js').WorkOptions} [options]
 * @returns {Promise<any>}
 */
export async function composition(model, options) {
  const answer = calledThere('composition', model, options);
  if (answer) return answer;
  const config = decoderConfig(model);
  const checked = checkTable(options, table, 'composition');
  const { gains } = checked;
  if (checked.from === undefined && checked.to === undefined) {
    const { numLayers } = config;
    return allOf(model, config, gains, new Work(checked, (numLayers * (numLayers + 1)) / 2));
  }
  const from = checkPlace(checked.from, 'from', config);
  const to = checkPlace(checked.to, 'to', config);
  if (to.layer <= from.layer) {
    const problem = `to.layer is ${to.layer}; expected a layer after that of from, ${from.layer}`;
    throw new HeadwiseError('ERR_VALUE', problem);
  }
  const work = new Work(checked, 1);
  const scores = pairOf(model, config, from, to, gains);
  await work.step();
  return scores;
}
