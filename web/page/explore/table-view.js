/**
 * The table behind the map: all weights while they can be read, else the row of the token in question.
 *
 * @import { RunSummary } from './session.js'
 * @import { Pin } from './address.js'
 */

import { formatCount, formatWeight } from '../format.js';
import { matrixTable } from '../parts/matrix-table.js';

/** Up to here a whole map fits into a table that can be read. */
export const TABLE_TOKENS = 48;

/**
 * @param {HTMLElement} room
 * @param {RunSummary} run
 * @param {object} shown
 * @param {string} shown.title
 * @param {Float32Array} [shown.whole] of at most TABLE_TOKENS tokens
 * @param {Pin} shown.pin whose line is shown otherwise
 * @param {Float32Array} shown.line
 */
export function showTable(room, { n, tokens, causal }, { title, whole, pin, line }) {
  const names = tokens.map(({ text }, i) => `${text} ${i + 1}`);
  const masked = (/** @type {number} */ query, /** @type {number} */ key) => causal && key > query;
  if (whole) {
    room.replaceChildren(
      matrixTable(
        { shape: [n, n], rows: n, cols: n, values: whole },
        {
          caption: `${title}. A row is a query, a column a key; – is masked.`,
          rows: names,
          cols: names,
          corner: 'query \\ key',
          format: (value, query, key) => (masked(query, key) ? '–' : formatWeight(value)),
        },
      ),
    );
    return;
  }
  const { side, token } = pin;
  const isQuery = side === 'query';
  room.replaceChildren(
    matrixTable(
      { shape: [n, 1], rows: n, cols: 1, values: line },
      {
        caption: `${title}. Too large to read as a whole: what “${tokens[token].text}” (${formatCount(token + 1)}) ${isQuery ? 'attends to' : 'is attended by'}.`,
        rows: names,
        cols: ['weight'],
        corner: isQuery ? 'key' : 'query',
        format: (value, at) =>
          (isQuery ? masked(token, at) : masked(at, token)) ? '–' : formatWeight(value),
      },
    ),
  );
}
