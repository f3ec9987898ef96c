/**
 * Boxes from top to bottom, with arrows from each row to the next.
 *
 * @import { FlowNode, FlowRow } from '../audience.js'
 */

import { html, svg } from '../../shared/template.js';
import { colourOf } from './colours.js';
import { gridsOf } from './grid.js';

/** The room for a matrix in a box, by how many boxes stand side by side. */
const roomFor = (/** @type {number} */ beside) =>
  beside > 2 ? { width: 84, height: 84 } : { width: 150, height: 96 };

/** @param {FlowNode} node @param {number} beside how many boxes are in its row */
function box({ label, note, part, head }, beside) {
  const style = head === undefined ? '' : `--head: ${colourOf(head)}`;
  return html`<div class="box ${head === undefined ? '' : 'of-head'}" style=${style}>
    ${
      part
        ? gridsOf(part, { labelled: beside === 1, room: roomFor(beside) })
        : html`<p class="grids-label" translate="no"><b>${label}</b></p>`
    }
    ${note ? html`<p class="note">${note}</p>` : ''}
  </div>`;
}

/**
 * Arrows from every box of a row to every box of the next where one of them is alone; else from each to its own.
 *
 * @param {number} from how many
 * @param {number} to how many
 */
export function arrows(from, to) {
  const place = (/** @type {number} */ i, /** @type {number} */ count) => ((i + 0.5) * 100) / count;
  const pairs =
    from === to
      ? Array.from({ length: from }, (_, i) => [i, i])
      : Array.from({ length: from * to }, (_, i) => [Math.floor(i / to), i % to]);
  return html`<div class="arrows" aria-hidden="true">
    <svg viewBox="0 0 100 20" preserveAspectRatio="none">
      ${pairs.map(([a, b]) => {
        const [x, y] = [place(a, from), place(b, to)];
        return svg`<path d="M${x} 0C${x} 12 ${y} 8 ${y} 20" />`;
      })}
    </svg>
    ${[...new Set(pairs.map(([, b]) => b))].map(
      (b) => html`<i style="left: ${place(b, to)}%"></i>`,
    )}
  </div>`;
}

/** How many arrows begin, or end, at a row. @param {FlowRow} row */
const countOf = (row) => ('nodes' in row ? row.nodes.length : 1);

/** @param {FlowRow[]} rows @returns {unknown} */
export const flowOf = (rows) =>
  rows.map((row, i) => {
    const before = i > 0 ? arrows(countOf(rows[i - 1]), countOf(row)) : '';
    if ('nodes' in row) {
      const { nodes } = row;
      return html`${before}
        <div class="boxes">${nodes.map((node) => box(node, nodes.length))}</div>`;
    }
    return html`${before}
      <div class="around">
        <div>${flowOf(row.around)}</div>
        ${arrows(1, 1)}
        <p class="sum"><b>+</b> ${row.adds}</p>
      </div>`;
  });
