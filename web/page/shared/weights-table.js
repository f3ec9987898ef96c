/** The table behind a map, for those who read numbers. */

import { formatWeight } from './format.js';
import { matrixTable } from './matrix-table.js';

/** Up to here a whole map fits into a table that can be read. */
export const TABLE_TOKENS = 48;

/**
 * @typedef {object} Named
 * @property {string[]} names of the tokens
 * @property {boolean} causal whether later keys are masked
 */

/** How a cell is written. @param {boolean} causal */
const writerOf =
  (causal) =>
  (/** @type {number} */ value, /** @type {number} */ query, /** @type {number} */ key) =>
    causal && key > query ? '–' : formatWeight(value);

/**
 * All cells of a map.
 *
 * @param {Float32Array} values
 * @param {Named} named
 * @param {string} [title]
 */
export function wholeTable(values, { names, causal }, title) {
  const n = names.length;
  return matrixTable(
    { shape: [n, n], rows: n, cols: n, values },
    {
      caption: `${title ? `${title}. ` : ''}A row is a query, a column a key${causal ? '; – is masked' : ''}.`,
      rows: names,
      cols: names,
      corner: 'query \\ key',
      format: writerOf(causal),
    },
  );
}

/**
 * What a query attends to, or what attends to a key, of a map that is too large.
 *
 * @param {Float32Array} values
 * @param {Named} named
 * @param {object} line
 * @param {'query' | 'key'} line.side
 * @param {number} line.token
 * @param {string} line.caption
 * @param {string} [line.noun] of what is in the cells
 */
export function lineTable(values, { names, causal }, { side, token, caption, noun = 'weight' }) {
  const isQuery = side === 'query';
  const write = writerOf(causal);
  const n = names.length;
  return matrixTable(
    { shape: [n, 1], rows: n, cols: 1, values },
    {
      caption,
      rows: names,
      cols: [noun],
      corner: isQuery ? 'key' : 'query',
      format: (value, at) => (isQuery ? write(value, token, at) : write(value, at, token)),
    },
  );
}
