/**
 * The fewest lines that carry a share of a row.
 *
 * @typedef {{ key: number, weight: number }} Edge
 *
 * @param {ArrayLike<number>} weights
 * @param {number} share of the row's sum, from 0 to 1
 * @returns {{ edges: Edge[], rest: number }} the largest first; rest: what they do not carry
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
  return { edges, rest: Math.max(0, sum - carried) };
}
