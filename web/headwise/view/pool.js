import { cellOf } from './cells.js';

/**
 * A part of a map and its number of cells, at most one for each token.
 * @typedef {object} Region
 * @property {[number, number]} queries [first, past the last]
 * @property {[number, number]} keys [first, past the last]
 * @property {number} height the number of cells along the queries
 * @property {number} width the number of cells along the keys
 */

/**
 * The values of a region's cells.
 * @typedef {object} Cells
 * @property {ArrayLike<number>} values height × width: the largest weight that each cell covers or, if weights may be
 *   negative, the weight furthest from zero
 * @property {ArrayLike<number>} [largest] for each row of cells, the largest weight or distance from zero over all keys of the
 *   map; default: over the keys of the region
 */

/** Rows read at a time. */
const BLOCK = 128;

/**
 * Pools rows that come one block after another.
 *
 * @param {Region} region
 * @param {number} n keys of a row
 */
export function pooling({ queries: [top, bottom], keys: [left, right], height, width }, n) {
  const values = new Float32Array(height * width);
  const largest = new Float32Array(height);
  const columns = Uint32Array.from({ length: right - left }, (_, i) =>
    cellOf(right - left, width, i),
  );
  /**
   * @param {ArrayLike<number>} weights
   * @param {number} start the first query
   * @param {number} end past the last
   * @param {number} from where the first one's weights begin
   */
  const add = (weights, start, end, from = 0) => {
    for (let query = start; query < end; query++) {
      const row = cellOf(bottom - top, height, query - top);
      const at = from + (query - start) * n;
      for (let key = 0; key < n; key++) {
        const size = Math.abs(weights[at + key]);
        if (size > largest[row] && size < Infinity) largest[row] = size;
      }
      for (let key = left; key < right; key++) {
        const cell = row * width + columns[key - left];
        const weight = weights[at + key];
        // NaN stays.
        if (Math.abs(weight) > Math.abs(values[cell]) || Number.isNaN(weight))
          values[cell] = weight;
      }
    }
  };
  return { cells: { values, largest }, add };
}

/**
 * @param {(start: number, end: number) => ArrayLike<number> | Promise<ArrayLike<number>>} rows
 * @param {number} n keys of a row
 * @param {Region} region
 * @param {() => Promise<void>} breathe called between blocks
 */
export async function poolRegion(rows, n, region, breathe) {
  const { cells, add } = pooling(region, n);
  const [top, bottom] = region.queries;
  for (let start = top; start < bottom; start += BLOCK) {
    const end = Math.min(bottom, start + BLOCK);
    add(await rows(start, end), start, end);
    await breathe();
  }
  return cells;
}

/**
 * The same of weights that are all there.
 *
 * @param {ArrayLike<number>} weights [tokens, n]
 * @param {number} n
 * @param {Region} region
 */
export function poolWeights(weights, n, region) {
  const { cells, add } = pooling(region, n);
  const [top, bottom] = region.queries;
  add(weights, top, bottom, top * n);
  return cells;
}
