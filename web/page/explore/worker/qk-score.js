/**
 * Why a head looks from one token at another: what its score is made of.
 *
 * @import { QkPart, QkParts } from '../../../headwise/understanding.js'
 * @import { DecoderModel, Run } from './model.js'
 *
 * @typedef {object} Side what each part of the residual stream gives the score, at the query or at the key
 * @property {Float32Array} heads of the layers below, layer after layer
 * @property {Float32Array} mlps of the layers below
 * @property {number} embedding
 * @property {number} biases
 *
 * @typedef {object} QkScore
 * @property {number} score scale · query · key, before the softmax
 * @property {Side} query its parts add up to the score
 * @property {Side} key so do these
 * @property {{ parts: QkPart[], scores: Float32Array }} pairs scores [parts, parts] of a part at the query with one at the key
 *
 * @typedef {{ layer: number, head: number, query: number, key: number }} Looked
 */

import { qkAttribution } from '../../../headwise/understanding.js';
import { headMaskOf } from './traced.js';

/** @param {QkParts} parts @param {number} layer @returns {Side} */
function sideOf({ heads, mlps, embedding, biases }, layer) {
  const [, inLayer] = heads.shape;
  const below =
    /** @param {import('../../../headwise/index.js').Tensor} all @param {number} count */ (
      { data },
      count,
    ) => /** @type {Float32Array} */ (data.slice(0, count));
  return { heads: below(heads, layer * inLayer), mlps: below(mlps, layer), embedding, biases };
}

/**
 * @param {DecoderModel} model
 * @param {Pick<Run, 'ids' | 'muted'>} run
 * @param {Looked} looked
 * @returns {Promise<QkScore>}
 */
export async function qkScoreOf({ decoder }, { ids, muted }, { layer, head, query, key }) {
  const found = await qkAttribution(decoder, ids.slice(0, query + 1), {
    ...{ layer, head, query, key, pairs: true },
    headMask: headMaskOf(decoder, muted),
  });
  const { parts, scores } = /** @type {Required<typeof found>} */ (found).pairs;
  return {
    score: found.score,
    query: sideOf(found.query, layer),
    key: sideOf(found.key, layer),
    pairs: { parts, scores: /** @type {Float32Array} */ (scores.data) },
  };
}
