/**
 * The cell that says most, to go to where nobody has chosen one.
 *
 * @import { Viewport } from '../address.js'
 * @import { Layer } from './map-cells.js'
 */

import { tokensOf } from '../../../headwise/view/cells.js';

/**
 * The cells of one side in view, or the chosen token's.
 *
 * @param {[number, number]} side of the layer
 * @param {number} cells
 * @param {number} start of the view
 * @param {number} span
 * @param {number} chosen
 */
function cellsIn([first, past], cells, start, span, chosen) {
  const all = Array.from({ length: cells }, (_, at) => {
    const [from, to] = tokensOf(past - first, cells, at);
    return { at, first: first + from, last: first + to - 1 };
  });
  return all.filter((cell) =>
    chosen < 0
      ? cell.first + 0.5 >= start && cell.last + 0.5 <= start + span
      : cell.first <= chosen && cell.last >= chosen,
  );
}

/** @param {{ first: number, last: number }} cell @param {number} chosen */
const tokenOf = ({ first, last }, chosen) => (chosen < 0 ? Math.floor((first + last) / 2) : chosen);

/**
 * The weight that is most above an even one, 1 / (visible keys). The first key is left out unless it is chosen: what
 * heads with nothing to say give to it is larger than all else, and the same everywhere. Where all is zero, it is the
 * last query in view, at the last key that it sees.
 *
 * @param {Layer | undefined} layer that covers the view
 * @param {Viewport} view
 * @param {{ n: number, causal: boolean }} map
 * @param {{ query: number, key: number }} chosen a token that is fixed; −1: the best
 * @returns {{ query: number, key: number }}
 */
export function tellingCell(layer, view, { n, causal }, chosen) {
  const end = (/** @type {number} */ start) => Math.min(n, Math.floor(start + view.span)) - 1;
  const query = chosen.query < 0 ? end(view.query) : chosen.query;
  const key = causal ? Math.min(query, end(view.key)) : end(view.key);
  let best = { query, key: chosen.key < 0 ? key : chosen.key };
  if (!layer) return best;
  const rows = cellsIn(layer.queries, layer.height, view.query, view.span, chosen.query);
  const columns = cellsIn(layer.keys, layer.width, view.key, view.span, chosen.key);
  let most = 0;
  for (const row of rows) {
    const visible = causal ? row.last + 1 : n;
    for (const column of columns) {
      if (chosen.key < 0 && column.first === 0) continue;
      const above = Math.abs(layer.values[row.at * layer.width + column.at]) * visible;
      if (!(above > most)) continue;
      most = above;
      best = { query: tokenOf(row, chosen.query), key: tokenOf(column, chosen.key) };
    }
  }
  return best;
}
