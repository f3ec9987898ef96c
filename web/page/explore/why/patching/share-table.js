/**
 * Shares as a table of coloured cells: a row for each layer, a column for each head or token.
 */

import { formatNumber } from '../../../shared/format.js';
import { html, made, nothing } from '../../../shared/template.js';
import { followArrows } from '../follow-arrows.js';
import { reveal } from '../reveal.js';

/** Beyond so many columns numbers have no room in their cells. */
const MOST_WRITTEN = 20;

/** @param {number} share with two decimals, so that 0.00 has no sign */
export const written = (share) => {
  if (!Number.isFinite(share)) return '';
  const words = Math.abs(share).toFixed(2);
  return share < 0 && Number(words) !== 0 ? `−${words}` : words;
};

/** @param {number} share all decimals that say something */
export const exact = formatNumber;

/** The end of the scale: 1, unless something brings back more than all. @param {ArrayLike<number>[]} all */
export const endOf = (...all) =>
  all
    .flatMap((values) => Array.from(values))
    .reduce((most, share) => (Math.abs(share) > most ? Math.abs(share) : most), 1);

/** How a cell is coloured. @param {number} share @param {number} end */
const tone = (share, end) =>
  `--share: ${Number.isFinite(share) ? ((100 * Math.abs(share)) / end).toFixed(1) : 0}%`;

/**
 * @typedef {object} Shares
 * @property {object} about the question that they answer
 * @property {string} caption
 * @property {unknown[]} columns their headings
 * @property {number} layers
 * @property {ArrayLike<number>} values layer after layer
 * @property {number} end of the scale
 * @property {(layer: number, column: number) => boolean} isChosen
 * @property {(layer: number, column: number) => string} nameOf
 * @property {(layer: number, column: number) => void} [choose] what a click does, besides telling
 */

/** What a cell says. @param {Shares} shares @param {number} layer @param {number} column */
export function wordsAt({ columns, values, nameOf }, layer, column) {
  const share = values[layer * columns.length + column];
  return `${nameOf(layer, column)}: ${Number.isFinite(share) ? exact(share) : 'not yet known'}`;
}

/** @param {Shares} shares @param {(place?: { layer: number, column: number }) => void} point tells of a cell, or of none */
export function shareTable(shares, point) {
  const { about, caption, columns, layers, values, end, isChosen, nameOf, choose } = shares;
  const count = columns.length;
  const cell = (/** @type {number} */ layer, /** @type {number} */ column) => {
    const share = values[layer * count + column];
    const words = wordsAt(shares, layer, column);
    const tell = () => point({ layer, column });
    const press = () => {
      // Not every browser focuses a button that is tapped.
      tell();
      choose?.(layer, column);
    };
    const isFirst = layer === 0 && column === 0;
    const chosen = isChosen(layer, column);
    return html`<td class=${share < 0 ? 'against' : ''} style=${tone(share, end)} @pointerenter=${tell}>
      <button type="button" tabindex=${chosen || isFirst ? 0 : -1} title=${words}
        aria-pressed=${choose ? chosen : nothing} @focus=${tell} @click=${press}
        ><span class="visually-hidden">${nameOf(layer, column)}: ${count > MOST_WRITTEN ? written(share) : ''}</span
        >${count <= MOST_WRITTEN ? html`<b>${written(share)}</b>` : ''}</button>
    </td>`;
  };
  return html`<div class="share-scroll" ${made(reveal, 'th:has(.other)', about)}>
    <table class="shares ${count > MOST_WRITTEN ? 'many' : ''}" data-columns=${count}
      @keydown=${followArrows} @pointerleave=${() => point()} @focusout=${() => point()}>
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
