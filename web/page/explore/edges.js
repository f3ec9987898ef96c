import { formatPercent } from '../shared/format.js';

/**
 * The fewest lines that carry a share of a row.
 *
 * @typedef {{ key: number, weight: number }} Edge
 *
 * @param {ArrayLike<number>} weights
 * @param {number} share of the row's sum, from 0 to 1
 * @returns {{ edges: Edge[], rest: number }} the largest first; rest: the share of the sum that they do not carry
 */
export function topEdges(weights, share) {
  const keys = Array.from(weights, (_, key) => key)
    .filter((key) => weights[key] > 0)
    .sort((a, b) => weights[b] - weights[a] || a - b);
  const sum = keys.reduce((total, key) => total + weights[key], 0);
  /** @type {Edge[]} */
  const edges = [];
  let carried = 0;
  for (const key of keys) {
    // What rounding leaves of a whole row is no reason for a line.
    if (carried >= share * sum * (1 - 1e-6)) break;
    edges.push({ key, weight: weights[key] });
    carried += weights[key];
  }
  return { edges, rest: sum > 0 ? (sum - carried) / sum : 0 };
}

/**
 * A line from a query to a key, as SVG draws it: the stronger the weight, the stronger the line.
 *
 * @param {{ left: number, right: number }} sides where it begins and ends
 * @param {number} from height of the query
 * @param {number} to height of the key
 * @param {number} weight
 */
export function curveOf({ left, right }, from, to, weight) {
  const bend = (right - left) / 2;
  return {
    d: `M${left} ${from}C${left + bend} ${from} ${right - bend} ${to} ${right} ${to}`,
    'stroke-opacity': Math.min(1, 0.12 + 0.88 * weight),
    'stroke-width': 1 + 3 * Math.min(1, weight),
  };
}

/** @param {readonly import('./address.js').Pin[]} pins @param {'query' | 'key'} side @returns {Set<number>} its tokens */
export const pinnedOn = (pins, side) =>
  new Set(pins.filter((pin) => pin.side === side).map(({ token }) => token));

/** What lines carry, as it was chosen. @param {number} topP of a row */
export const leastWords = (topP) => `at least ${Math.round(1000 * topP) / 10} %`;

/** What is said of attention that no line carries. @param {number} most of a row @param {string} upTo before it */
export const restWords = (most, upTo) =>
  `${most < 0.0005 ? 'less than 0.1 %' : `${upTo}${formatPercent(most)}`} is not shown.`;
