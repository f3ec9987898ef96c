/**
 * Maps by rows: what every view asks for, of one head or of several together. A map is never held as a whole; whoever
 * needs all of it walks through it in blocks.
 *
 * @typedef {(start: number, end: number) => Float32Array} Rows the weights of queries [start, end), each a row of n
 *
 * @typedef {object} Heads where the weights come from: a model's run, or tensors that were opened
 * @property {number} n tokens
 * @property {number} layers
 * @property {number} heads in each layer
 * @property {boolean} causal
 * @property {(layer: number, head: number, start: number, end: number) => Float32Array} rows
 * @property {(layer: number, head: number, start: number, end: number) => Float32Array} [norms] of what is written for each
 *   key
 * @property {(layer: number, head: number) => Float32Array} [values] [n, headDim]
 * @property {(layer: number, head: number, size: number) => Float32Array} [map] the whole, pooled by maximum; quicker
 *   than by rows
 */

/** Rows computed at a time. */
export const BLOCK = 128;

/**
 * The rows of some heads together, weight by weight.
 *
 * @param {Heads} source
 * @param {{ layer: number, head: number }[]} heads
 * @param {(sum: number, weight: number) => number} combine
 * @returns {Rows}
 */
function combined(source, heads, combine) {
  return (start, end) => {
    const [first, ...others] = heads;
    const sum = source.rows(first.layer, first.head, start, end);
    for (const { layer, head } of others) {
      const rows = source.rows(layer, head, start, end);
      for (let i = 0; i < sum.length; i++) sum[i] = combine(sum[i], rows[i]);
    }
    return sum;
  };
}

/**
 * @param {Heads} source
 * @param {number} layer −1: every layer
 */
const headsOf = ({ layers, heads }, layer) =>
  Array.from({ length: layers * heads }, (_, i) => ({
    layer: Math.floor(i / heads),
    head: i % heads,
  })).filter((head) => layer < 0 || head.layer === layer);

/**
 * The mean of the weights over the heads of a layer, or of all (layer −1).
 *
 * @param {Heads} source
 * @param {number} layer
 * @returns {Rows}
 */
export function meanRows(source, layer) {
  const heads = headsOf(source, layer);
  const sums = combined(source, heads, (sum, weight) => sum + weight);
  return (start, end) => sums(start, end).map((sum) => sum / heads.length);
}

/**
 * The largest of the weights over the heads of a layer, or of all (layer −1). Its rows do not sum to 1.
 *
 * @param {Heads} source
 * @param {number} layer
 * @returns {Rows}
 */
export const maxRows = (source, layer) => combined(source, headsOf(source, layer), Math.max);

/**
 * A head's weights times the norms of what it writes for each key (Kobayashi et al. 2020, "Attention is Not Only a
 * Weight"), as shares of their row. Without values they are the weights.
 *
 * @param {Heads} source
 * @param {number} layer
 * @param {number} head
 * @returns {Rows}
 */
export function normRows({ n, norms, rows }, layer, head) {
  if (!norms) return (start, end) => rows(layer, head, start, end);
  return (start, end) => {
    const shares = norms(layer, head, start, end);
    for (let at = 0; at < shares.length; at += n) {
      const row = shares.subarray(at, at + n);
      const sum = row.reduce((total, norm) => total + norm, 0);
      if (sum > 0) row.forEach((norm, key) => (row[key] = norm / sum));
    }
    return shares;
  };
}
