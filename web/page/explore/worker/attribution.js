/**
 * Which parts of a model write for a prediction.
 *
 * @import { DecoderModel } from './model.js'
 *
 * @typedef {object} Attribution the parts of a logit, or of the difference of two; they add up to `total`
 * @property {number} target id of the token
 * @property {Float32Array} heads layer after layer
 * @property {Float32Array} mlps
 * @property {number} embedding
 * @property {number} biases
 * @property {number} total
 */

/**
 * @param {DecoderModel} model
 * @param {number[]} ids
 * @param {{ at: number, target: number, against: number | null }} asked at: behind which token
 * @returns {Attribution}
 */
export function attributionOf({ decoder }, ids, { at, target, against }) {
  const read = ids.slice(0, at + 1);
  const parts = decoder.attribution(read, { target, against: against ?? undefined });
  const { embedding, biases, total } = parts;
  const [heads, mlps] = [parts.heads, parts.mlps].map(
    ({ data }) => /** @type {Float32Array} */ (data),
  );
  return { target, heads, mlps, embedding, biases, total };
}
