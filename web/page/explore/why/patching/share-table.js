/**
 * Shares as a table of coloured cells: a row for each layer, a column for each head or token.
 */

import { html } from '../../../shared/template.js';

/** Beyond so many columns numbers have no room in their cells. */
const MOST_WRITTEN = 20;

/** @param {number} share with two decimals, so that 0.00 has no sign */
export const written = (share) => {
  if (!Number.isFinite(share)) return '';
  const words = Math.abs(share).toFixed(2);
  return share < 0 && Number(words) !== 0 ? `−${words}` : words;
};

/** @param {number} share all decimals that say something */
export const exact = (share) =>
  share
    .toFixed(4)
    .replace(/^-(0\.0+)$/, '$1')
    .replace('-', '−');

/** The end of the scale: 1, unless something brings back more than all. @param {ArrayLike<number>[]} all */
export const endOf = (...all) =>
  all
    .flatMap((values) => Array.from(values))
    .reduce((most, share) => (Math.abs(share) > most ? Math.abs(share) : most), 1);

/** How a cell is coloured. @param {number} share @param {number} end */
export const tone = (share, end) =>
  `--share: ${Number.isFinite(share) ? ((100 * Math.abs(share)) / end).toFixed(1) : 0}%`;

/** The cell that lies next in a direction. @param {KeyboardEvent} event of the table */
function followArrows(event) {
  /** @type {Record<string, [number, number]>} */
  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const way = ways[event.key];
  const from = document.activeElement?.closest('td');
  const table = /** @type {HTMLTableElement} */ (event.currentTarget);
  if (!way || !from) return;
  event.preventDefault();
  const row = /** @type {HTMLTableRowElement} */ (from.parentElement);
  const next = table.rows[row.rowIndex + way[1]]?.cells[from.cellIndex + way[0]];
  const button = next?.querySelector('button');
  if (!button) return;
  for (const other of table.querySelectorAll('button')) other.tabIndex = other === button ? 0 : -1;
  button.focus();
}

/**
 * @param {object} shown
 * @param {string} shown.caption
 * @param {unknown[]} shown.columns their headings
 * @param {number} shown.layers
 * @param {ArrayLike<number>} shown.values layer after layer
 * @param {number} shown.end of the scale
 * @param {(layer: number, column: number) => boolean} shown.isChosen
 * @param {(layer: number, column: number) => string} shown.nameOf
 * @param {(layer: number, column: number) => void} shown.choose
 * @param {(words: string) => void} shown.point tells of a cell
 */
export function shareTable({
  caption,
  columns,
  layers,
  values,
  end,
  isChosen,
  nameOf,
  choose,
  point,
}) {
  const count = columns.length;
  const cell = (/** @type {number} */ layer, /** @type {number} */ column) => {
    const share = values[layer * count + column];
    const isKnown = Number.isFinite(share);
    const words = `${nameOf(layer, column)}: ${isKnown ? exact(share) : 'not yet known'}`;
    const tell = () => point(words);
    const isFirst = layer === 0 && column === 0;
    const chosen = isChosen(layer, column);
    return html`<td class=${share < 0 ? 'against' : ''} style=${tone(share, end)} @pointerenter=${tell}>
      <button type="button" tabindex=${chosen || isFirst ? 0 : -1} title=${words}
        aria-pressed=${chosen} @focus=${tell} @click=${() => choose(layer, column)}
        ><span class="visually-hidden">${nameOf(layer, column)}: ${count > MOST_WRITTEN ? written(share) : ''}</span
        >${count <= MOST_WRITTEN ? html`<b>${written(share)}</b>` : ''}</button>
    </td>`;
  };
  return html`<div class="share-scroll">
    <table class="shares ${count > MOST_WRITTEN ? 'many' : ''}" @keydown=${followArrows}>
      <caption class="visually-hidden">${caption}</caption>
      <thead>
        <tr><td></td>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr>
      </thead>
      <tbody>
        ${Array.from(
          { length: layers },
          (_, layer) =>
            html`<tr><th scope="row">L${layer}</th>${columns.map((__, column) => cell(layer, column))}</tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
