/**
 * Draws one head's weights on a canvas: a cell is a rectangle of one colour,
 * masked cells show the hatched ground.
 *
 * @import { MapData } from '../types.js'
 */

import { tokensOf } from '../cells.js';
import { putColour } from './colour.js';

/**
 * Whether all that a cell covers is masked.
 *
 * @param {MapData} map
 * @param {number} row
 * @param {number} col
 */
export function isMasked(map, row, col) {
  return map.causal && tokensOf(map, col)[0] > tokensOf(map, row)[1] - 1;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} side in pixels of the canvas
 * @param {number} ratio those pixels per CSS pixel
 */
function paintGround(context, side, ratio) {
  const style = getComputedStyle(context.canvas);
  context.fillStyle = style.getPropertyValue('--mask') || '#e4e6ea';
  context.fillRect(0, 0, side, side);
  context.strokeStyle = style.getPropertyValue('--mask-line') || '#c8ccd2';
  context.lineWidth = ratio;
  context.beginPath();
  for (let x = -side; x < side; x += 6 * ratio) {
    context.moveTo(x, side);
    context.lineTo(x + side, 0);
  }
  context.stroke();
}

/**
 * @param {HTMLCanvasElement} canvas as large as its style makes it
 * @param {MapData} map
 * @param {number | Float32Array} max the value at the colour scale's end, one
 *   for all or one for every row of cells
 */
export function paintMap(canvas, map, max) {
  const ratio = devicePixelRatio || 1;
  const side = Math.max(1, Math.round(canvas.clientWidth * ratio));
  canvas.width = side;
  canvas.height = side;
  const context = canvas.getContext('2d');
  if (!context) return;
  paintGround(context, side, ratio);

  const { size, values } = map;
  if (size === 0) return;
  const image = new ImageData(size, size);
  for (let row = 0; row < size; row++) {
    const end = typeof max === 'number' ? max : max[row];
    for (let col = 0; col < size; col++) {
      if (isMasked(map, row, col)) continue; // stays transparent
      const cell = row * size + col;
      putColour(image.data, 4 * cell, values[cell], end);
    }
  }
  const cells = document.createElement('canvas');
  cells.width = size;
  cells.height = size;
  cells.getContext('2d')?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(cells, 0, 0, side, side);
}

/**
 * The largest weight of a map.
 *
 * @param {MapData} map
 */
export function largest({ values }) {
  let max = 0;
  for (const value of values) if (value > max) max = value;
  return max;
}

/**
 * The largest weight of every row of a map.
 *
 * @param {MapData} map
 */
export function largestOfRows({ size, values }) {
  const max = new Float32Array(size);
  values.forEach((value, i) => {
    const row = Math.floor(i / size);
    if (value > max[row]) max[row] = value;
  });
  return max;
}
