/**
 * What the part of a map that is seen holds: its largest weight, and how much of the colours each scale would use.
 *
 * @import { MapScale } from './address.js'
 * @import { KnownCells, Viewport } from '../../headwise/view.js'
 *
 * @typedef {object} SeenWeights
 * @property {number} largest
 * @property {number} brightest how far along the scale the brightest cell is, from 0 to 1
 * @property {{ head: number, log: number }} spread bits that a cell's colour would say with these scales
 */

import { cellOf, tokensOf } from '../../headwise/view/cells.js';
import { shareOf } from '../../headwise/view/colour.js';
import { endOf } from '../../headwise/view/paint.js';
import { SCALES } from './colours.js';

/** A query of which fewer keys are visible has large weights of necessity: it says nothing about the scale. */
const FEW_KEYS = 16;
const BINS = 32;
const OFFERED = /** @type {const} */ (['head', 'log']);

/** @param {Uint32Array} bins @returns {number} entropy in bits */
function entropyOf(bins) {
  const total = bins.reduce((sum, count) => sum + count, 0);
  return bins.reduce(
    (sum, count) => (count > 0 ? sum - (count / total) * Math.log2(count / total) : sum),
    0,
  );
}

/** @param {[number, number]} side @param {number} cells @param {number} start @param {number} span */
function cellsIn([first, past], cells, start, span) {
  const last = Math.min(past, Math.ceil(start + span)) - 1;
  const at = (/** @type {number} */ token) => cellOf(past - first, cells, token - first);
  return [at(Math.max(first, Math.floor(start))), at(last)];
}

/**
 * @param {KnownCells} cells that cover the view
 * @param {Viewport} view
 * @param {{ scale: MapScale, map: number, causal: boolean }} how map: the whole map's largest weight
 * @returns {SeenWeights}
 */
export function seenIn(cells, view, { scale, map, causal }) {
  const { values, largest, height, width, queries, keys } = cells;
  const [top, bottom] = cellsIn(queries, height, view.query, view.span);
  const [left, right] = cellsIn(keys, width, view.key, view.span);
  const few = causal && view.query + view.span > 2 * FEW_KEYS ? FEW_KEYS : 0;
  const bins = OFFERED.map(() => new Uint32Array(BINS));
  let most = 0;
  let brightest = 0;
  for (let row = top; row <= bottom; row++) {
    const lastQuery = queries[0] + tokensOf(queries[1] - queries[0], height, row)[1] - 1;
    for (let column = left; column <= right; column++) {
      const firstKey = keys[0] + tokensOf(keys[1] - keys[0], width, column)[0];
      if (causal && firstKey > lastQuery) break;
      const weight = Math.abs(values[row * width + column]);
      if (weight > most) most = weight;
      if (Number.isNaN(weight) || lastQuery < few) continue;
      const share = (/** @type {MapScale} */ name) =>
        shareOf(weight, endOf(SCALES[name], largest[row], map), SCALES[name].scale);
      brightest = Math.max(brightest, share(scale));
      for (const [i, other] of OFFERED.entries()) {
        bins[i][Math.min(BINS - 1, Math.floor(share(other) * BINS))]++;
      }
    }
  }
  const spread = { head: entropyOf(bins[0]), log: entropyOf(bins[1]) };
  return { largest: most, brightest, spread };
}
