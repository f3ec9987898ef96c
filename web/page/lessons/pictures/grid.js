/**
 * A matrix as cells in colour.
 *
 * @import { Corner, GridsPart } from '../audience.js'
 */

import { formatNumber } from '../../shared/format.js';
import { html, svg } from '../../shared/template.js';
import { colourOf, fillOf, isLight, pathsOf } from './colours.js';

/** The room for a matrix, the least and the most for one cell, in pixels. */
const ROOM = { width: 176, height: 132, least: 2, most: 22 };

/** Cells from this size on have their number written in them. */
const WRITTEN = { width: 34, height: 18 };

/** A cell of a small matrix. */
const NUMBERED = { width: 39, height: 21 };

/** Names of columns are written where each is at most this wide for each of its letters. */
const LETTER = 6.6;
const NAMES = 15;

/** Above columns or left of rows that belong to a head. */
const BRACKET = 12;

/** Matrices of this many cells or fewer say the value of each under the pointer. */
const MOST_TITLES = 64;

/** @param {readonly number[]} shape */
const shapeText = (shape) => `[${shape.join(', ')}]`;

/** The largest magnitude. @param {GridsPart} part */
const largestOf = ({ grids }) =>
  grids.reduce(
    (most, { values }) =>
      values.reduce(
        (m, value) => (Number.isFinite(value) ? Math.max(m, Math.abs(value)) : m),
        most,
      ),
    0,
  );

/**
 * How large a cell of a matrix is drawn: small matrices with their numbers, others within the room.
 *
 * @param {Corner} corner
 * @param {{ width: number, height: number }} room
 */
function cellSize({ rows, cols }, room) {
  const isFew = cols <= 4 || cols * NUMBERED.width <= room.width;
  if (rows * cols <= 24 && isFew) return NUMBERED;
  const fit = (/** @type {number} */ space, /** @type {number} */ count) =>
    Math.max(ROOM.least, Math.min(ROOM.most, space / count));
  return { width: fit(room.width, cols), height: fit(room.height, rows) };
}

/** Whether cells have their numbers. @param {{ width: number, height: number }} size of a cell */
const isWritten = ({ width, height }) => width >= WRITTEN.width && height >= WRITTEN.height;

/** So much paler are cells with numbers, which stay readable. */
const PALER = 2.2;

/** What a cell says. @param {number} value */
const written = (value) =>
  Number.isInteger(value)
    ? String(value).replace('-', '−')
    : value
        .toFixed(2)
        .replace(/^-(0\.0+)$/, '$1')
        .replace('-', '−');

/** All numbers of a picture, for those who do not see it: row after row. @param {GridsPart} part @param {Corner} corner */
function spoken({ rows: names }, { rows, cols, values }) {
  const lines = Array.from({ length: rows }, (_, row) => {
    const numbers = [...values.subarray(row * cols, (row + 1) * cols)].map(written).join(' ');
    return rows > 1 || names.length > 0 ? `${names[row] ?? `row ${row}`}: ${numbers}` : numbers;
  });
  return lines.join('; ');
}

/**
 * @param {GridsPart} part
 * @param {Corner} corner
 * @param {{ width: number, height: number }} size of a cell
 * @param {number} largest
 */
function cells({ isWeights, rows: names, cols: heads }, { rows, cols, values }, size, largest) {
  const hasNumbers = isWritten(size);
  const gap = size.width > 6 && size.height > 6 ? 1 : 0;
  const fill = (/** @type {number} */ value) =>
    fillOf(value, hasNumbers && !isWeights ? PALER * largest : largest, isWeights);
  if (rows * cols > MOST_TITLES) {
    const paths = pathsOf(values, { cols, size, gap, fill });
    return paths.map(([style, path]) => svg`<path style=${style} d=${path} />`);
  }
  return Array.from(values, (value, i) => {
    const [row, col] = [Math.floor(i / cols), i % cols];
    const [x, y] = [col * size.width, row * size.height];
    const title = `${names[row] ?? `row ${row}`}, ${heads[col] ?? `column ${col}`}: ${formatNumber(value)}`;
    const dark = isWeights && isLight(value / largest) ? 'on-light' : isWeights ? 'on-dark' : '';
    return svg`<rect
        x=${x.toFixed(2)} y=${y.toFixed(2)}
        width=${(size.width - gap).toFixed(2)} height=${(size.height - gap).toFixed(2)}
        style=${fill(value)}
      ><title>${title}</title></rect>
      ${hasNumbers ? svg`<text class=${dark} x=${x + size.width / 2} y=${y + size.height / 2}>${written(value)}</text>` : ''}`;
  });
}

/**
 * The lines that tell which columns or rows belong to which head.
 *
 * @param {GridsPart} part
 * @param {Corner} corner
 * @param {{ width: number, height: number }} size
 */
function brackets({ heads, by, width, height }, { rows, cols }, size) {
  if (heads === 0 || by === 'part') return [];
  const isCols = by === 'cols';
  const share = (isCols ? width : height) / heads;
  const unit = isCols ? size.width : size.height;
  const end = (isCols ? cols : rows) * unit;
  return Array.from({ length: heads }, (_, head) => {
    const from = head * share * unit;
    const length = Math.min((head + 1) * share * unit, end) - from - 1;
    if (length <= 0) return '';
    const [x, y, w, h] = isCols ? [from, -5, length, 3] : [-5, from, 3, length];
    const style = `fill: ${colourOf(head, heads)}`;
    return svg`<rect x=${x} y=${y} width=${w} height=${h} style=${style}><title>Head H${head}</title></rect>`;
  });
}

/**
 * One matrix.
 *
 * @param {GridsPart} part
 * @param {number} at which of its grids
 * @param {object} options
 * @param {boolean} options.labelled whether the labels of its rows are written
 * @param {{ width: number, height: number }} [options.room]
 */
function gridOf(part, at, { labelled, room = ROOM }) {
  const corner = part.grids[at];
  const size = cellSize(corner, room);
  const { rows, cols } = corner;
  const hasBrackets = part.heads > 0 && part.by !== 'part';
  const columns = hasBrackets ? [] : part.cols.slice(0, cols);
  const hasColumns =
    columns.some(Boolean) && columns.every((name) => name.length * LETTER < size.width);
  const top = hasBrackets && part.by === 'cols' ? BRACKET - 5 : hasColumns ? NAMES : 1;
  const names = labelled && size.height >= 11 ? part.rows.slice(0, rows) : [];
  const longest = Math.max(0, ...names.map((name) => name.length));
  const left =
    (hasBrackets && part.by === 'rows' ? BRACKET - 5 : 1) +
    (longest > 0 ? longest * LETTER + 6 : 0);
  const [width, height] = [left + cols * size.width + 1, top + rows * size.height + 1];
  const more = [
    part.width > cols && `the first ${cols} of ${part.width} columns`,
    part.height > rows && `the first ${rows} of ${part.height} rows`,
    isWritten(size) && spoken(part, corner),
  ].filter(Boolean);
  const alone = `${part.label} ${shapeText(part.shape)}`;
  const label = part.by === 'part' ? `${alone}, head H${at}` : alone;
  return html`<svg
    role="img"
    aria-label=${[label, ...more].join(', ')}
    width=${Math.ceil(width)}
    height=${Math.ceil(height)}
    viewBox="0 0 ${width} ${height}"
    class=${part.width > cols ? 'goes-on' : ''}
  >
    <g transform="translate(${left} ${top})">
      ${names.map(
        (name, row) => svg`<text class="name" x="-6" y=${(row + 0.5) * size.height}>${name}</text>`,
      )}
      ${hasColumns ? columns.map((name, col) => svg`<text class="column" x=${(col + 0.5) * size.width} y="-8">${name}</text>`) : ''}
      ${brackets(part, corner, size)} ${cells(part, corner, size, largestOf(part))}
    </g>
  </svg>`;
}

/**
 * A tensor with its label and its shape: one matrix, or one for each head.
 *
 * @param {GridsPart} part
 * @param {{ labelled?: boolean, room?: { width: number, height: number } }} [options]
 */
export function gridsOf(part, { labelled = true, room } = {}) {
  const isSplit = part.by === 'part';
  const left = isSplit ? part.heads - part.grids.length : 0;
  const colour = part.head === undefined ? '' : `--head: ${colourOf(part.head)}`;
  return html`<div class="grids" style=${colour}>
    <div class="grids-row">
      ${part.grids.map(
        (_, at) =>
          html`<span
            class=${isSplit ? 'of-head' : ''}
            style=${isSplit ? `--head: ${colourOf(at, part.heads)}` : ''}
            >${gridOf(part, at, { labelled: labelled && at === 0, room })}</span
          >`,
      )}
      ${left > 0 ? html`<span class="note">+ ${left}</span>` : ''}
    </div>
    <p class="grids-label" translate="no"><b>${part.label}</b> <span>${shapeText(part.shape)}</span></p>
  </div>`;
}
