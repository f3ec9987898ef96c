/**
 * What a model says next: probabilities from logits.
 *
 * @import { Token } from '../../types.js'
 *
 * @typedef {object} Prediction
 * @property {Token} token
 * @property {number} before probability when every head is heard
 * @property {number} after probability with the muted heads; as before where none is
 */

import { scoreOf as score } from '../../../headwise/understanding/model.js';

/**
 * @param {ArrayLike<number>} logits
 * @returns {Float64Array} that sum to 1
 */
export function softmaxOf(logits) {
  let largest = -Infinity;
  for (let i = 0; i < logits.length; i++) largest = Math.max(largest, logits[i]);
  const weights = Float64Array.from(logits, (logit) => Math.exp(logit - largest));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/**
 * How much a model is for a token: its log-probability, or by how much it exceeds another token's, which is the difference
 * of their logits.
 *
 * @param {Float32Array} logits
 * @param {number} target
 * @param {number | null} against
 */
export const scoreOf = (logits, target, against) =>
  score(logits, { target, against: against ?? undefined });

/**
 * The tokens that are likeliest before or after, the likeliest after first.
 *
 * @param {Float64Array} before
 * @param {Float64Array} after
 * @param {number} count
 * @returns {number[]} ids
 */
export function likeliest(before, after, count) {
  const most = (/** @type {number} */ id) => Math.max(before[id], after[id]);
  /** @type {number[]} */
  const top = [];
  for (let id = 0; id < before.length; id++) {
    if (top.length === count && most(id) <= most(top[count - 1])) continue;
    const at = top.findIndex((other) => most(id) > most(other));
    top.splice(at < 0 ? top.length : at, 0, id);
    top.length = Math.min(top.length, count);
  }
  return top.sort((a, b) => after[b] - after[a] || before[b] - before[a] || a - b);
}
