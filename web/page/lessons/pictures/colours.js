/** Colours of what a lesson draws: they follow the scheme of the page without being drawn again. */

import { stopsOf } from '../../../headwise/view/colour.js';

/** Steps of strength: cells of the same step are one path. */
const LEVELS = 20;

const WEIGHTS = stopsOf(false, false);

/** A colour for each head or line, evenly around the circle. @param {number} i @param {number} [count] */
export function colourOf(i, count = 4) {
  const hue = count > 4 ? 255 + (i * 360) / count : [255, 55, 165, 340][i % 4];
  return `oklch(var(--series) ${hue % 360})`;
}

/**
 * How a cell is filled: weights as on the attention maps, other numbers as differences there, stronger the further from 0.
 *
 * @param {number} value
 * @param {number} largest magnitude of all that is drawn together
 * @param {boolean} isWeights
 */
export function fillOf(value, largest, isWeights) {
  if (!Number.isFinite(value)) return 'fill: var(--mask)';
  const share = largest > 0 ? Math.min(1, Math.abs(value) / largest) : 0;
  if (isWeights) return `fill: ${WEIGHTS[Math.round(share * (WEIGHTS.length - 1))]}`;
  return `fill: var(--${value < 0 ? 'minus' : 'plus'}); fill-opacity: ${Math.round(share * LEVELS) / LEVELS}`;
}

/** Whether dark text is read better on a cell of weights. @param {number} share of the largest */
export const isLight = (share) => share > 0.46;

/**
 * Cells side by side, those of the same colour as one path: a picture of thousands stays light.
 *
 * @param {ArrayLike<number>} values
 * @param {object} how
 * @param {number} how.cols
 * @param {{ width: number, height: number }} how.size of a cell
 * @param {number} how.gap between cells
 * @param {(value: number) => string} how.fill
 * @returns {[fill: string, path: string][]}
 */
export function pathsOf(values, { cols, size, gap, fill }) {
  /** @type {Map<string, string>} */
  const paths = new Map();
  const [width, height] = [size.width - gap, size.height - gap].map((side) => side.toFixed(2));
  for (let i = 0; i < values.length; i++) {
    const style = fill(values[i]);
    const [x, y] = [(i % cols) * size.width, Math.floor(i / cols) * size.height];
    const cell = `M${x.toFixed(2)} ${y.toFixed(2)}h${width}v${height}h-${width}z`;
    paths.set(style, (paths.get(style) ?? '') + cell);
  }
  return [...paths];
}
