/**
 * Weights to colours. Viridis for weights; for differences of two heads, away from neutral to one of two colours that
 * all eyes tell apart.
 *
 * @import { MapScale } from './address.js'
 * @import { Cells, Region } from './worker/pool.js'
 */

import { tokensOf } from '../../headwise/view/cells.js';
import { viridis } from '../../headwise/view/viridis.js';
import { isDark, palette } from './palette.js';

/** The logarithmic scale begins at 10 to the minus this. */
export const DECADES = 4;

const STEPS = 256;
const NOT_A_NUMBER = [214, 39, 108];
/** Neutral, the first head's, the second's. */
const SIGNED = {
  light: [
    [244, 245, 247],
    [179, 88, 6],
    [84, 39, 136],
  ],
  dark: [
    [40, 45, 54],
    [253, 184, 99],
    [178, 171, 210],
  ],
};

/** @param {number[]} rgb as a pixel's 32 bits in memory */
const wordOf = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;

/** @param {number[]} from @param {number[]} to @param {number} share */
const between = (from, to, share) =>
  from.map((value, i) => Math.round(value + share * (to[i] - value)));

/** @param {boolean} isSigned @returns {number[][]} RGB for shares from −1 (or 0) to 1, in equal steps */
function stepsOf(isSigned) {
  if (!isSigned) {
    return Array.from({ length: STEPS }, (_, i) => {
      const hex = Number.parseInt(viridis.slice(6 * i, 6 * i + 6), 16);
      return [hex >> 16, (hex >> 8) & 255, hex & 255];
    });
  }
  const [neutral, first, second] = isDark() ? SIGNED.dark : SIGNED.light;
  return Array.from({ length: STEPS + 1 }, (_, i) => {
    const share = (2 * i) / STEPS - 1;
    return between(neutral, share < 0 ? second : first, Math.abs(share));
  });
}

/** @type {Map<string, Uint32Array>} */
const tables = new Map();

/** @param {boolean} isSigned the steps as pixels */
function coloursOf(isSigned) {
  const name = `${isSigned} ${isDark()}`;
  const table = tables.get(name) ?? Uint32Array.from(stepsOf(isSigned), wordOf);
  tables.set(name, table);
  return table;
}

/** @param {boolean} isSigned @returns {string[]} colours of the scale at equal steps, from its start to its end */
export const colourStops = (isSigned) => {
  const steps = stepsOf(isSigned);
  return Array.from({ length: 17 }, (_, i) => {
    const rgb = steps[Math.round((i / 16) * (steps.length - 1))];
    return `#${rgb.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
  });
};

/** @param {boolean} isSigned @returns {string} the scale as a CSS gradient */
export const gradientOf = (isSigned) =>
  `linear-gradient(to right, ${colourStops(isSigned).join(', ')})`;

/**
 * How far along the scale a weight is, from 0 to 1.
 *
 * @param {number} weight not negative
 * @param {MapScale} scale
 * @param {number} row the row's largest
 * @param {number} map the map's largest
 */
export function shareOf(weight, scale, row, map) {
  switch (scale) {
    case 'unit':
      return weight;
    case 'row':
      return row > 0 ? weight / row : 0;
    case 'head':
      return map > 0 ? weight / map : 0;
    case 'log':
      return weight > 0 ? Math.max(0, 1 + Math.log10(weight) / DECADES) : 0;
  }
}

/**
 * @param {Float32Array} values
 * @returns {number} the largest distance from zero
 */
export function largestOf(values) {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most;
}

/**
 * A picture of cells, a pixel each; those of which every key comes after every query are left out.
 *
 * @param {Cells & Region} cells
 * @param {{ scale: MapScale, map: number, isSigned: boolean, causal: boolean }} how map: the whole map's largest weight
 * @returns {HTMLCanvasElement}
 */
export function pictureOf(cells, { scale, map, isSigned, causal }) {
  const { values, largest, height, width, queries, keys } = cells;
  const colours = coloursOf(isSigned);
  const last = colours.length - 1;
  const noNumber = wordOf(NOT_A_NUMBER);
  const image = new ImageData(width, height);
  const words = new Uint32Array(image.data.buffer);
  const firstKeys = Uint32Array.from(
    { length: width },
    (_, column) => keys[0] + tokensOf(keys[1] - keys[0], width, column)[0],
  );
  for (let row = 0; row < height; row++) {
    const lastQuery = queries[0] + tokensOf(queries[1] - queries[0], height, row)[1] - 1;
    for (let column = 0; column < width; column++) {
      if (causal && firstKeys[column] > lastQuery) break;
      const at = row * width + column;
      const value = values[at];
      const share = Math.min(1, shareOf(Math.abs(value), scale, largest[row], map));
      const place = isSigned ? (1 + Math.sign(value) * share) / 2 : share;
      words[at] = Number.isNaN(value) ? noNumber : colours[Math.round(place * last)];
    }
  }
  const picture = document.createElement('canvas');
  picture.width = width;
  picture.height = height;
  picture.getContext('2d')?.putImageData(image, 0, 0);
  return picture;
}

/** A hatched ground for what is masked, in the page's colours. @param {number} ratio */
export function hatchOf(ratio) {
  const { mask, maskLine } = palette();
  const size = Math.round(6 * ratio);
  const tile = document.createElement('canvas');
  tile.width = size;
  tile.height = size;
  const context = tile.getContext('2d');
  if (context) {
    context.fillStyle = mask;
    context.fillRect(0, 0, size, size);
    context.strokeStyle = maskLine;
    context.lineWidth = ratio;
    context.beginPath();
    for (const x of [-size, 0, size]) {
      context.moveTo(x - ratio, size + ratio);
      context.lineTo(x + size + ratio, -ratio);
    }
    context.stroke();
  }
  return tile;
}
