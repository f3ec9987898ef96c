/**
 * Which parts of a model write for a prediction.
 *
 * @import { DecoderModel, Run } from './model.js'
 *
 * @typedef {object} Attribution the parts of a logit, or of the difference of two; they add up to `total`
 * @property {number} target id of the token
 * @property {Float32Array} heads layer after layer
 * @property {Float32Array} mlps
 * @property {number} embedding
 * @property {number} biases
 * @property {number} total
 * @property {Float32Array} [directions] of every head [headDim], if they are wanted: what the total changes by with a unit of its
 *   output
 *
 * @typedef {object} HeadKeys what a head reads at each key for a query
 * @property {Float32Array} weights of the keys
 * @property {Float64Array} shares of the head's part: weight · value · direction; they add up to it
 */

import { isSameHead } from '../../shared/head-names.js';
import { headMaskOf } from './traced.js';

/**
 * @param {DecoderModel} model
 * @param {Pick<Run, 'ids' | 'muted'>} run
 * @param {{ at: number, target: number, against: number | null, directions: boolean }} asked at: after which token
 * @returns {Attribution}
 */
export function attributionOf(
  { decoder },
  { ids, muted },
  { at, target, against, directions: areAsked },
) {
  const parts = decoder.attribution(ids.slice(0, at + 1), {
    ...{ target, against: against ?? undefined, directions: areAsked },
    headMask: headMaskOf(decoder, muted),
  });
  const { embedding, biases, total } = parts;
  const [heads, mlps, directions] = [parts.heads, parts.mlps, parts.directions].map(
    (part) => /** @type {Float32Array} */ (part?.data),
  );
  return { target, heads, mlps, embedding, biases, total, directions };
}

/**
 * A head's part of a logit, split over the keys: nothing of a muted one.
 *
 * @param {Pick<Run, 'source' | 'muted'>} run
 * @param {{ at: number, layer: number, head: number, direction: Float32Array }} asked at: the query; direction: the head's
 * @returns {HeadKeys}
 */
export function keysOf({ source, muted }, { at, layer, head, direction }) {
  const { rows, values } = source;
  const weights = rows(layer, head, at, at + 1).slice(0, at + 1);
  const isHeard = !muted.some((name) => isSameHead(name, { layer, head }));
  const all = (isHeard && values?.(layer, head)) || new Float32Array((at + 1) * direction.length);
  const shares = Float64Array.from(weights, (weight, key) => {
    const value = all.subarray(key * direction.length, (key + 1) * direction.length);
    return weight * value.reduce((sum, x, i) => sum + x * direction[i], 0);
  });
  return { weights, shares };
}
