/**
 * Heads as the package's view takes and shows them.
 *
 * @import { MapData } from '../types.js'
 */

import { AttentionMap } from '../../headwise/view.js';
import { el } from './dom.js';
import { formatWeight } from './format.js';
import { showWeightLegend } from './legend.js';
import { matrixTable } from './matrix-table.js';

/** @param {MapData} map one head's weights */
export const viewOf = ({ n, size, values, causal }) => ({
  weights: { shape: [size, size], data: values },
  queries: n,
  keys: n,
  causal,
});

/** @param {number} head @param {(row: number) => void} pin */
function newFigure(head, pin) {
  const map = new AttentionMap();
  map.toggleAttribute('compact', true);
  map.addEventListener('pin', ({ detail }) => pin(detail));
  const behind = el('div', { class: 'visually-hidden' });
  return el('figure', {}, el('figcaption', {}, `Head H${head}`), map, behind);
}

/**
 * Exact maps side by side, each with the same as a table for those who do not see it. The elements stay from time to
 * time, so that focus does.
 *
 * @param {HTMLElement} room
 * @param {object} shown
 * @param {{ head: number, values: Float32Array, name: string, caption: string }[]} shown.maps
 * @param {readonly string[]} shown.tokens
 * @param {boolean} shown.causal
 * @param {(row: number) => void} shown.pin
 */
export function showMaps(room, { maps, tokens, causal, pin }) {
  const n = tokens.length;
  const legend = el('div');
  const figures = [...room.querySelectorAll('figure')];
  figures.push(...maps.slice(figures.length).map(({ head }) => newFigure(head, pin)));
  room.replaceChildren(...figures, legend);
  maps.forEach(({ values, name, caption }, i) => {
    const [, map, behind] = figures[i].children;
    const view = viewOf({ n, size: n, values, causal });
    /** @type {AttentionMap} */ (map).show({ ...view, tokens, max: 1, name });
    const labels = { rows: [...tokens], cols: [...tokens], corner: 'query \\ key' };
    const matrix = { shape: [n, n], rows: n, cols: n, values };
    behind.replaceChildren(matrixTable(matrix, { caption, ...labels, format: formatWeight }));
  });
  showWeightLegend(legend, causal);
}
