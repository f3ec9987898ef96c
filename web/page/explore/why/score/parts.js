/**
 * The parts of a head's score: those at the query, those at the key, and pairs of them.
 *
 * @import { QkPart } from '../../../../headwise/understanding.js'
 * @import { QkScore, Side } from '../../worker/qk-score.js'
 * @import { Part } from '../sum.js'
 *
 * @typedef {{ query: QkPart, key: QkPart, value: number }} Pair
 */

import { largestFirst, partsOf, sumOf } from '../sum.js';

/**
 * The parts of one side, the largest first; parts that give nothing are left out.
 *
 * @param {Side} side
 * @param {number} most so many; the others are one part
 */
export const sideParts = (side, most) =>
  largestFirst(
    partsOf(side)
      .flatMap((part) => part.parts ?? [part])
      .filter(({ value }) => value !== 0),
    most,
  );

/**
 * The pairs that give most, and the others together.
 *
 * @param {QkScore['pairs']} all
 * @param {number} most
 * @returns {{ pairs: Pair[], rest: number, restValue: number }}
 */
export function largestPairs({ parts, scores }, most) {
  const order = Array.from(scores, (_, i) => i)
    .filter((i) => scores[i] !== 0)
    .sort((a, b) => Math.abs(scores[b]) - Math.abs(scores[a]) || a - b);
  const others = order.slice(most);
  return {
    pairs: order.slice(0, most).map((i) => ({
      query: parts[Math.floor(i / parts.length)],
      key: parts[i % parts.length],
      value: scores[i],
    })),
    rest: others.length,
    restValue: sumOf(others.map((i) => scores[i])),
  };
}

/** A part within a sentence. @param {QkPart} part */
export function partInWords({ kind, layer, head }) {
  switch (kind) {
    case 'head':
      return `what L${layer}H${head} wrote`;
    case 'mlp':
      return `what the feed-forward of layer ${layer} wrote`;
    case 'embedding':
      return 'the embedding';
    case 'biases':
      return 'the biases';
  }
}

/** The token that gets the most of a row. @param {ArrayLike<number>} weights */
export const strongestKey = (weights) =>
  Array.from(weights).reduce((best, weight, key) => (weight > weights[best] ? key : best), 0);
