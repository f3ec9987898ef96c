/**
 * The rows of any map that can be chosen.
 *
 * @import { Heads, Rows } from './heads.js'
 *
 * @typedef {'head' | 'norms' | 'mean' | 'max' | 'rollout'} Of norms: the head's, by what it writes for each key
 * @typedef {'layer' | 'all'} Over
 *
 * @typedef {object} What which map
 * @property {Of} of
 * @property {Over} over of mean and max: the layer's heads, or all
 * @property {number} layer of rollout: up to this layer
 * @property {number} head
 * @property {boolean} hideFirst the first token's share is left out, and the rest made to sum to 1
 * @property {boolean} [isBefore] before heads were muted
 * @property {Partial<What>} [minus] another map, taken away: what is different of it
 */

import { maxRows, meanRows, normRows } from './heads.js';

/**
 * Rows without the first token, the rest made to sum to what they summed to with it. A row that had nothing else becomes
 * zeros.
 *
 * @param {Rows} rows
 * @param {number} n
 * @returns {Rows}
 */
function withoutFirst(rows, n) {
  return (start, end) => {
    const weights = rows(start, end);
    for (let at = 0; at < weights.length; at += n) {
      const row = weights.subarray(at, at + n);
      const sum = row.reduce((total, weight) => total + weight, 0);
      row[0] = 0;
      const rest = row.reduce((total, weight) => total + weight, 0);
      if (rest > 0) for (let key = 1; key < n; key++) row[key] *= sum / rest;
    }
    return weights;
  };
}

/**
 * @param {Heads} source
 * @param {What} what without `minus` and `hideFirst`
 * @param {(layer: number) => Promise<Float32Array>} rollout
 * @returns {Promise<Rows>}
 */
async function plainRows(source, { of, over, layer, head }, rollout) {
  const which = over === 'all' ? -1 : layer;
  switch (of) {
    case 'head':
      return (start, end) => source.rows(layer, head, start, end);
    case 'norms':
      return normRows(source, layer, head);
    case 'mean':
      return meanRows(source, which);
    case 'max':
      return maxRows(source, which);
    case 'rollout': {
      const whole = await rollout(layer);
      return (start, end) => whole.slice(start * source.n, end * source.n);
    }
  }
}

/**
 * The rows of a map, but for what is taken away.
 *
 * @param {Heads} source
 * @param {What} what
 * @param {(layer: number) => Promise<Float32Array>} rollout up to a layer, [n, n]: alone it is no matter of rows
 * @returns {Promise<Rows>}
 */
export async function rowsOf(source, what, rollout) {
  const plain = await plainRows(source, what, rollout);
  return what.hideFirst ? withoutFirst(plain, source.n) : plain;
}

/** @param {Rows} rows @param {Rows} away @returns {Rows} their difference */
export const minusRows = (rows, away) => (start, end) => {
  const weights = rows(start, end);
  const others = away(start, end);
  return weights.map((weight, i) => weight - others[i]);
};
