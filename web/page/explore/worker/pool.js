/**
 * Parts of a map with as many cells as there are pixels for, and columns of it, by blocks of rows.
 *
 * @import { Rows } from './heads.js'
 *
 * @typedef {object} Region tokens, and the cells that they are drawn in: no more than tokens
 * @property {[number, number]} queries [first, past the last]
 * @property {[number, number]} keys
 * @property {number} height cells
 * @property {number} width
 *
 * @typedef {object} Cells
 * @property {Float32Array} values height × width: of the weights that a cell covers the largest, or, where weights may
 *   be negative, the furthest from zero
 * @property {Float32Array} largest of each row of cells: the largest weight, or distance from zero, over all its keys
 */

import { cellOf } from '../../../headwise/view/cells.js';
import { BLOCK } from './heads.js';

/**
 * @param {Rows} rows
 * @param {number} n
 * @param {Region} region
 * @param {() => Promise<void>} breathe called between blocks
 * @returns {Promise<Cells>}
 */
export async function poolRegion(rows, n, region, breathe) {
  const { queries, keys, height, width } = region;
  const [top, bottom] = queries;
  const [left, right] = keys;
  const values = new Float32Array(height * width);
  const largest = new Float32Array(height);
  const columns = Uint32Array.from({ length: right - left }, (_, i) =>
    cellOf(right - left, width, i),
  );
  for (let start = top; start < bottom; start += BLOCK) {
    const end = Math.min(bottom, start + BLOCK);
    const weights = rows(start, end);
    for (let query = start; query < end; query++) {
      const row = cellOf(bottom - top, height, query - top);
      const at = (query - start) * n;
      for (let key = 0; key < n; key++) {
        largest[row] = Math.max(largest[row], Math.abs(weights[at + key]));
      }
      for (let key = left; key < right; key++) {
        const cell = row * width + columns[key - left];
        const weight = weights[at + key];
        if (Math.abs(weight) > Math.abs(values[cell])) values[cell] = weight;
      }
    }
    await breathe();
  }
  return { values, largest };
}

/**
 * The same of a whole map that was pooled elsewhere.
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
