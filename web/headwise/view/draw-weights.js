import { checkBoolean, checkChoice, checkIndex, checkOptions } from '../checks/check.js';
import { HeadwiseError, misfit } from '../checks/error.js';
import { describe } from '../checks/describe.js';
import { copyArray, isArray, isObject, kindOf, reading } from '../checks/foreign.js';
import { Layers } from './layers.js';
import { giveSize, hatchOf, paint } from './paint.js';
import { weightsSource } from './source.js';
import { wholeOf } from './viewport.js';

/**
 * One head's weights: a row for each query and a column for each key. Pooled weights have a row or column for several
 * tokens. A Tensor of shape [rows, columns] fits.
 * @typedef {object} Weights
 * @property {readonly number[]} shape [rows, columns]
 * @property {ArrayLike<number>} data row-major
 */
/**
 * Weights as an array of rows, one for each query; a row may be a typed array.
 * @typedef {readonly ArrayLike<number>[]} NestedWeights
 */

/**
 * Options for drawing weights.
 * @typedef {object} DrawOptions
 * @property {number} [queries] the number of queries, if the weights are pooled; default: the number of rows
 * @property {number} [keys] the number of keys, if the weights are pooled; default: the number of columns
 * @property {boolean} [causal] default false; true draws a cell as masked if all its keys come after all its queries. The
 *   last query and the last key are the same token
 * @property {number | 'map' | 'row'} [max] the value at the colour scale's end; default 1; 'map': the largest
 *   weight; 'row': the largest weight of each row
 * @property {'linear' | 'log'} [scale] default 'linear', from 0; 'log': four decades, from max / 10000
 * @property {boolean} [signed] default false; true is for differences: negative values have their own colours, and `max` is
 *   a distance from zero
 */

/** @typedef {Required<Omit<DrawOptions, 'queries' | 'keys'>>} How checked */
/** @typedef {{ rows: number, columns: number, values: ArrayLike<number> }} Matrix */

/** The names of DrawOptions. */
export const drawOptions = /** @type {const} */ ([
  ...['queries', 'keys', 'causal', 'max', 'scale', 'signed'],
]);

/**
 * @param {DrawOptions} options
 * @returns {How}
 * @throws {HeadwiseError} ERR_VALUE: a bad value
 */
export function howOf({ causal = false, max = 1, scale = 'linear', signed = false }) {
  if (!(typeof max === 'number' && max >= 0) && max !== 'map' && max !== 'row') {
    throw new HeadwiseError(
      'ERR_VALUE',
      `max is ${describe(max)}; expected a number of at least 0, "map" or "row"`,
    );
  }
  checkChoice(scale, 'scale', ['linear', 'log']);
  checkBoolean(causal, 'causal');
  checkBoolean(signed, 'signed');
  return { causal, max, scale, signed };
}

/** More tokens along a side are no map's. */
export const MOST_TOKENS = 2 ** 24;

/**
 * @param {DrawOptions} options
 * @returns {{ queries?: number, keys?: number }}
 * @throws {HeadwiseError} ERR_VALUE: not a number of tokens
 */
export function sidesOf({ queries, keys }) {
  for (const [name, count] of Object.entries({ queries, keys })) {
    if (count !== undefined) checkIndex(count, name, MOST_TOKENS + 1);
  }
  return { queries, keys };
}

/** @param {ArrayLike<number>} values @returns {Float32Array | undefined} a copy; undefined: they are no numbers */
function numbersOf(values) {
  if (!isObject(values)) return undefined;
  const kind = kindOf(values);
  if (kind !== undefined) return kind.startsWith('Big') ? undefined : Float32Array.from(values);
  const list = Array.from(values);
  return list.every((value) => typeof value === 'number') ? Float32Array.from(list) : undefined;
}

/** @param {NestedWeights} weights */
function ofRows(weights) {
  const rows = weights.map(numbersOf);
  const columns = rows[0]?.length;
  const isEven = rows.every((row) => row && row.length === columns);
  const data = isEven ? rows.flatMap((row) => Array.from(row ?? [])) : [];
  return { shape: isEven ? [rows.length, columns] : undefined, data: Float32Array.from(data) };
}

/**
 * @param {Weights | NestedWeights} weights
 * @returns {Matrix} a copy
 * @throws {HeadwiseError} ERR_SHAPE: weights are not a matrix
 */
export function matrixOf(weights) {
  const read = () => {
    if (isArray(weights)) return ofRows(/** @type {NestedWeights} */ (weights));
    const { shape, data } = /** @type {Weights} */ (weights) ?? {};
    return { shape: copyArray(shape, 2), data: numbersOf(data) };
  };
  const { shape, data } = reading(read, 'weights', '[rows, columns]');
  const isMatrix =
    shape?.length === 2 && shape.every((count) => Number.isInteger(count) && count >= 0);
  if (!isMatrix || data?.length !== shape[0] * shape[1]) {
    const hint = 'one head’s weights, [rows, columns]';
    throw new HeadwiseError('ERR_SHAPE', `weights is ${describe(weights)}; expected ${hint}`);
  }
  return { rows: shape[0], columns: shape[1], values: data };
}

/**
 * Draws one head's weights on a canvas. Each cell is a rectangle of one colour. Masked cells show a hatched ground. If there
 * are more weights than pixels, a pixel shows the largest weight that it covers. The function sets the canvas's resolution
 * to the screen's, so set its size by CSS first.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {Weights | NestedWeights} weights
 * @param {DrawOptions} [options]
 * @throws {HeadwiseError} ERR_SHAPE: weights are not a matrix; ERR_VALUE: no canvas, a bad value of an option, or an
 *   unknown option
 */
export function drawWeights(canvas, weights, options) {
  const isElement = () => typeof canvas?.getContext === 'function' && 'style' in canvas;
  if (!reading(isElement, 'canvas', 'a canvas element')) {
    throw misfit(canvas, 'canvas', 'a canvas element');
  }
  const given = checkOptions(options, drawOptions, 'drawWeights');
  const matrix = matrixOf(weights);
  const { queries = matrix.rows, keys = matrix.columns } = sidesOf(given);
  const size = { queries, keys };
  const layers = new Layers(canvas, () => {});
  layers.use(weightsSource(matrix, size), howOf(given));
  giveSize(canvas);
  layers.want(wholeOf(size), { queries: canvas.height, keys: canvas.width });
  paint(canvas, { layers: layers.all, view: wholeOf(size), size, hatch: hatchOf(canvas) });
}
