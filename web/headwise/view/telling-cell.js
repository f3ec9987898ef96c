import { tokensOf } from './cells.js';
import { spansOf } from './viewport.js';

/** @typedef {import('./readout.js').Layer} Layer */
/** @typedef {import('./viewport.js').Sides} Sides */
/** @typedef {import('./viewport.js').Viewport} Viewport */

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
 * The most telling cell, the default if no cell is chosen: the weight that is most above an even one,
 * 1 / (visible keys). The first key is left out unless it is chosen: what heads with nothing to say give to it is larger
 * than all else, and the same everywhere. Where all is zero, it is the last query in view, at the last key that it sees.
 *
 * @param {Layer | undefined} layer that covers the view
 * @param {Viewport} view
 * @param {{ size: Sides, causal: boolean }} map
 * @param {{ query: number, key: number }} chosen a token that is fixed; −1: the best
 * @returns {{ query: number, key: number }}
 */
export function tellingCell(layer, view, { size, causal }, chosen) {
  const spans = spansOf(view, size);
  const lastQuery = Math.min(size.queries, Math.floor(view.query + spans.queries)) - 1;
  const lastKey = Math.min(size.keys, Math.floor(view.key + spans.keys)) - 1;
  const visible = (/** @type {number} */ last) =>
    causal ? last + 1 + size.keys - size.queries : size.keys;
  const query = chosen.query < 0 ? lastQuery : chosen.query;
  const key = Math.min(visible(query) - 1, lastKey);
  let best = { query, key: chosen.key < 0 ? key : chosen.key };
  if (!layer) return best;
  const rows = cellsIn(layer.queries, layer.height, view.query, spans.queries, chosen.query);
  const columns = cellsIn(layer.keys, layer.width, view.key, spans.keys, chosen.key);
  let most = 0;
  for (const row of rows) {
    for (const column of columns) {
      if (chosen.key < 0 && column.first === 0) continue;
      const weight = Math.abs(layer.values[row.at * layer.width + column.at]);
      const above = weight * visible(row.last);
      if (!(above > most)) continue;
      most = above;
      best = { query: tokenOf(row, chosen.query), key: tokenOf(column, chosen.key) };
    }
  }
  return best;
}
