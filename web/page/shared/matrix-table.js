/**
 * A matrix as a table, to four decimals; what is not shown is said.
 *
 * @import { Matrix } from '../types.js'
 */

import { el } from './dom.js';
import { formatCount, formatNumber, plural } from './format.js';

/**
 * @param {Matrix} matrix
 * @param {object} words
 * @param {string} words.caption
 * @param {string[]} words.rows label of every row
 * @param {string[]} [words.cols] label of every column; otherwise its number
 * @param {string} [words.corner] label of the labels
 * @param {(value: number, row: number, col: number) => string} [words.format]
 * @param {(row: number, col: number) => boolean} [words.differs] marks a cell
 */
export function matrixTable(
  { shape, rows, cols, values },
  { caption, rows: names, cols: heads, corner = 'token', format, differs },
) {
  const write = format ?? ((value) => formatNumber(value));
  const moreCols = shape[1] > cols;
  const head = el('tr', {}, el('th', { scope: 'col', translate: 'yes' }, corner));
  for (let j = 0; j < cols; j++) {
    head.append(el('th', { scope: 'col' }, heads ? heads[j] : String(j + 1)));
  }
  if (moreCols) {
    const left = formatCount(shape[1] - cols);
    head.append(el('th', { scope: 'col', class: 'more' }, `+${left}`));
  }
  const body = el('tbody', { translate: 'no' });
  for (let i = 0; i < rows; i++) {
    const line = el('tr', {}, el('th', { scope: 'row' }, names[i]));
    for (let j = 0; j < cols; j++) {
      const marked = differs?.(i, j) && { class: 'differs' };
      line.append(el('td', marked || {}, write(values[i * cols + j], i, j)));
    }
    if (moreCols) line.append(el('td', { class: 'more' }, '…'));
    body.append(line);
  }
  const table = el(
    'table',
    { class: 'matrix' },
    el('caption', {}, caption),
    el('thead', { translate: 'no' }, head),
    body,
  );
  if (shape[0] > rows) {
    const more = `and ${plural(shape[0] - rows, 'more row')}`;
    const span = cols + 1 + Number(moreCols);
    const cell = el('td', { colspan: span, class: 'more' }, more);
    table.append(el('tfoot', {}, el('tr', {}, cell)));
  }
  return table;
}
