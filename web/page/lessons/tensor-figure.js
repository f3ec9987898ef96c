/**
 * A tensor as a table, beside the document's.
 *
 * @import { TensorItem, TensorPart } from './audience.js'
 * @import { Printed } from './parse.js'
 */

import { el } from '../shared/dom.js';
import { formatNumber, plural } from '../shared/format.js';
import { matrixTable } from '../shared/matrix-table.js';
import { differenceOfShapes, judge, matricesOf, sameCell } from './check.js';
import { formatList, formatValue, HERE, markOf, whose } from './words.js';

/** Larger matrices of a document are written as a line. */
const MOST = { parts: 6, rows: 16, cols: 8 };

/**
 * @typedef {object} Shown one matrix as it is shown
 * @property {number} rows
 * @property {number} cols
 * @property {Float32Array} values
 */

/**
 * @param {TensorItem} item
 * @param {Shown} shown
 * @param {readonly number[]} whole height and width of the matrix
 * @param {string} caption
 * @param {(row: number, col: number) => boolean} differs
 */
function partTable(item, { rows, cols, values }, whole, caption, differs) {
  const labels = (/** @type {string[]} */ given, /** @type {number} */ count) =>
    given.length >= count
      ? given.map((label) => label.replace(/^-(?=\d)/, '\u2212'))
      : Array.from({ length: count }, (_, i) => String(i));
  const table = matrixTable(
    { shape: [...whole], rows, cols, values },
    {
      caption,
      rows: labels(item.rows, rows),
      cols: labels(item.cols, cols),
      corner: 'row',
      format: item.dtype === 'bool' ? String : formatNumber,
      differs,
    },
  );
  return el('div', { class: 'table-room' }, table);
}

/**
 * The document's matrices, if they are small enough for tables.
 *
 * @param {Printed | undefined} printed
 * @returns {Shown[]}
 */
function documentParts(printed) {
  const matrices = printed ? matricesOf(printed.value) : [];
  const [rows, cols] = [matrices[0]?.length ?? 0, matrices[0]?.[0]?.length ?? 0];
  if (matrices.length > MOST.parts || rows > MOST.rows || cols > MOST.cols) return [];
  return matrices.map((matrix) => ({ rows, cols, values: Float32Array.from(matrix.flat()) }));
}

/** @param {readonly number[]} shape */
const heightAndWidth = (shape) => (shape.length > 1 ? shape.slice(-2) : [1, shape[0] ?? 1]);

/**
 * @param {TensorItem} item
 * @param {Shown[]} there
 * @param {Printed | undefined} printed
 */
function pairsOf(item, there, printed) {
  const { shape, parts } = item;
  /** @type {HTMLElement[]} */
  const pairs = [];
  for (let p = 0; p < Math.max(parts.length, there.length); p++) {
    /** @type {TensorPart | undefined} */
    const here = parts[p];
    const theirs = there[p];
    const at = here && here.index.length > 0 ? ` [${here.index.join(', ')}]` : '';
    // What one has and the other has not is no difference of a number.
    const differs = (/** @type {number} */ i, /** @type {number} */ j) =>
      here !== undefined &&
      theirs !== undefined &&
      i < Math.min(here.rows, theirs.rows) &&
      j < Math.min(here.cols, theirs.cols) &&
      !sameCell(here.values[i * here.cols + j], theirs.values[i * theirs.cols + j]);
    // Alone, the matrices stand next to each other; else each next to the document's.
    if (p === 0 || there.length > 0) {
      pairs.push(el('div', { class: 'pair', 'data-cols': (here ?? theirs).cols }));
    }
    const pair = pairs[pairs.length - 1];
    if (here) {
      const ours = partTable(item, here, heightAndWidth(shape), HERE + at, differs);
      // Nothing stands beside it, and the figure has a name.
      if (!printed && at === '') ours.classList.add('unnamed');
      pair.append(ours);
    }
    if (theirs && printed) {
      const whole = [theirs.rows, theirs.cols];
      const table = partTable(item, theirs, whole, whose([printed]) + at, differs);
      table.classList.add('theirs');
      pair.append(table);
    }
  }
  return pairs;
}

/**
 * @param {TensorItem} item
 * @param {Printed | undefined} printed
 * @param {boolean} changed
 */
export function tensorFigure(item, printed, changed) {
  const { name, shape, parts } = item;
  const verdict = printed && judge(item, printed);
  const words = printed && differenceOfShapes(item, printed);
  const mark = verdict && markOf(verdict, { changed, words, counted: true });
  const title = el('span', { translate: 'no' }, el('b', {}, name), ` ${formatList(shape)}`);
  const figure = el('figure', { class: changed ? 'result after-change' : 'result' });
  figure.append(el('figcaption', {}, title, ...(mark ? [mark] : [])));
  const there = documentParts(printed);
  figure.append(...pairsOf(item, there, printed));
  if (printed && there.length === 0) {
    const text = formatValue(printed.value);
    figure.append(el('p', { class: 'note' }, `${whose([printed])}: ${text}`));
  }
  const more = shape.slice(0, -2).reduce((product, size) => product * size, 1) - parts.length;
  if (more > 0)
    figure.append(
      el('p', { class: 'note' }, `and ${plural(more, 'more matrix', 'more matrices')}`),
    );
  return figure;
}
