import { checkChoice, checkOptions } from '../checks/check.js';
import { HeadwiseError } from '../checks/error.js';
import { describe } from '../checks/describe.js';
import { copyArray, reading } from '../checks/foreign.js';
import { tokensOf } from './cells.js';
import { putColour } from './colour.js';

/**
 * One head's weights, a row for each query and a column for each key, or pooled, a row and a column for several: a
 * Tensor of shape [rows, columns] is one.
 * @typedef {object} Weights
 * @property {readonly number[]} shape [rows, columns]
 * @property {ArrayLike<number>} data row-major
 */

/**
 * How weights are drawn.
 * @typedef {object} DrawOptions
 * @property {number} [queries] tokens that the rows stand for, if the weights are pooled; default: as many as rows
 * @property {number} [keys] tokens that the columns stand for; default: as many as columns
 * @property {boolean} [causal] default false: cells of which every key comes after every query are drawn as masked; the
 *   last query is the last key's
 * @property {number | 'map' | 'row'} [max] the value at the colour scale's end; default 1; 'map': the largest weight,
 *   'row': of every row its own
 * @property {'linear' | 'log'} [scale] default 'linear', from 0; 'log': from a ten-thousandth of the end, four decades
 */

/**
 * Weights with all that was left out, checked.
 * @typedef {object} Picture
 * @property {number} rows
 * @property {number} columns
 * @property {ArrayLike<number>} values
 * @property {number} queries
 * @property {number} keys
 * @property {boolean} causal
 * @property {number | 'map' | 'row'} max
 * @property {'linear' | 'log'} scale
 */

/** The names of DrawOptions. */
export const drawOptions = /** @type {const} */ (['queries', 'keys', 'causal', 'max', 'scale']);

/** Of the logarithmic scale. */
const DECADES = 4;

/** The hatched ground of masked cells: CSS properties, and their values where nobody sets them. */
const GROUND = ['--attention-mask', 'light-dark(#eceef1, #262b33)'];
const HATCH = ['--attention-mask-line', 'light-dark(#cfd4db, #3c444f)'];

/**
 * @param {Weights} weights
 * @param {DrawOptions} [options]
 * @returns {Picture}
 * @throws {HeadwiseError} ERR_SHAPE: weights are no matrix; ERR_VALUE: max or scale is none
 */
export function pictureOf(weights, options = {}) {
  const fields = () => ({ shape: copyArray(weights?.shape, 2), data: weights?.data });
  const { shape, data } = reading(fields, 'weights', '[rows, columns]');
  if (shape?.length !== 2 || data?.length !== shape[0] * shape[1]) {
    const hint = 'one head’s weights, [rows, columns]';
    throw new HeadwiseError('ERR_SHAPE', `weights is ${describe(weights)}; expected ${hint}`);
  }
  const [rows, columns] = shape;
  const { queries = rows, keys = columns, causal = false, max = 1, scale = 'linear' } = options;
  if (!(typeof max === 'number' && max >= 0) && max !== 'map' && max !== 'row') {
    throw new HeadwiseError(
      'ERR_VALUE',
      `max is ${describe(max)}; expected a number of at least 0, "map" or "row"`,
    );
  }
  checkChoice(scale, 'scale', ['linear', 'log']);
  return { rows, columns, values: data, queries, keys, causal, max, scale };
}

/**
 * Whether all that a cell covers is masked.
 *
 * @param {Picture} picture
 * @param {number} row
 * @param {number} column
 */
export function isMasked({ rows, columns, queries, keys, causal }, row, column) {
  if (!causal) return false;
  const [firstKey] = tokensOf(keys, columns, column);
  const [, pastLastQuery] = tokensOf(queries, rows, row);
  return firstKey > pastLastQuery - 1 + (keys - queries);
}

/**
 * A colour that CSS resolves where the canvas is.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {string[]} property its name, and the value where nobody sets it
 */
function colourOf(canvas, [name, otherwise]) {
  const { color } = canvas.style;
  canvas.style.color = `var(${name}, ${otherwise})`;
  const found = getComputedStyle(canvas).color;
  canvas.style.color = color;
  return found;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} width in pixels of the canvas
 * @param {number} height
 * @param {number} ratio those pixels per CSS pixel
 */
function paintGround(context, width, height, ratio) {
  context.fillStyle = colourOf(context.canvas, GROUND);
  context.fillRect(0, 0, width, height);
  context.strokeStyle = colourOf(context.canvas, HATCH);
  context.lineWidth = ratio;
  context.beginPath();
  for (let x = -height; x < width; x += 6 * ratio) {
    context.moveTo(x, height);
    context.lineTo(x + height, 0);
  }
  context.stroke();
}

/**
 * The value at the end of each row's colour scale.
 *
 * @param {Picture} picture
 */
function scalesOf({ rows, columns, values, max }) {
  if (typeof max === 'number') return new Float32Array(rows).fill(max);
  const largest = new Float32Array(rows);
  for (let i = 0; i < rows * columns; i++) {
    const row = Math.floor(i / columns);
    if (values[i] > largest[row]) largest[row] = values[i];
  }
  return max === 'row' ? largest : new Float32Array(rows).fill(Math.max(...largest));
}

/**
 * How far along the colour scale a value is.
 *
 * @param {number} value
 * @param {number} max the value at the scale's end
 * @param {'linear' | 'log'} scale
 */
function shareOf(value, max, scale) {
  const share = max > 0 ? value / max : 0 * value; // NaN stays NaN
  if (scale === 'linear') return share;
  return share <= 0 ? 0 : 1 + Math.log10(share) / DECADES;
}

/**
 * Draws one head's weights on a canvas: a cell is a rectangle of one colour, masked cells show a hatched ground. The
 * canvas gets as many pixels as the screen has where it stands, so give it its size by CSS first.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {Weights} weights
 * @param {DrawOptions} [options]
 * @throws {HeadwiseError} ERR_SHAPE: weights are no matrix; ERR_VALUE: max or scale is none, or an unknown option
 */
export function drawWeights(canvas, weights, options) {
  paint(canvas, pictureOf(weights, checkOptions(options, drawOptions, 'drawWeights')));
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 */
export function paint(canvas, picture) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  const context = canvas.getContext('2d');
  if (!context) return;
  paintGround(context, canvas.width, canvas.height, ratio);

  const { rows, columns, values } = picture;
  if (rows * columns === 0) return;
  const image = new ImageData(columns, rows);
  const scales = scalesOf(picture);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      if (isMasked(picture, row, column)) continue; // stays transparent
      const cell = row * columns + column;
      putColour(image.data, 4 * cell, shareOf(values[cell], scales[row], picture.scale));
    }
  }
  const cells = document.createElement('canvas');
  cells.width = columns;
  cells.height = rows;
  cells.getContext('2d')?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(cells, 0, 0, canvas.width, canvas.height);
}
