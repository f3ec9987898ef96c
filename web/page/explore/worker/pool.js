/**
 * Parts of a map with as many cells as there are pixels for, and columns of it, by blocks of rows.
 *
 * @import { Rows } from './heads.js'
 *
 * @typedef {import('../../../headwise/view.js').Region} Region
 * @typedef {{ values: Float32Array, largest: Float32Array }} Cells of a region, as the package's view takes them
 */

import { BLOCK } from './heads.js';

export { poolRegion } from '../../../headwise/view/pool.js';

/**
 * The cells of a whole map that was pooled elsewhere.
 *
 * @param {Float32Array} values size × size, none negative
 * @param {number} size
 * @returns {Cells}
 */
export function pooledCells(values, size) {
  const largest = new Float32Array(size);
  values.forEach((value, i) => {
    const row = Math.floor(i / size);
    if (value > largest[row]) largest[row] = value;
  });
  return { values, largest };
}

/**
 * What all queries give to one key.
 *
 * @param {Rows} rows
 * @param {number} n
 * @param {number} key
 * @param {() => Promise<void>} breathe called between blocks
 */
export async function columnOf(rows, n, key, breathe) {
  const column = new Float32Array(n);
  for (let start = 0; start < n; start += BLOCK) {
    const end = Math.min(n, start + BLOCK);
    const weights = rows(start, end);
    for (let query = start; query < end; query++)
      column[query] = weights[(query - start) * n + key];
    await breathe();
  }
  return column;
}
