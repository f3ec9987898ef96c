/**
 * @import { Tensor } from '../../headwise/index.js'
 * @import { Corner } from './audience.js'
 */

/**
 * The upper left corner of one of a tensor's matrices, its last two dimensions.
 *
 * @param {Tensor} value
 * @param {number} part which matrix, counted through the leading dimensions
 * @param {{ rows: number, cols: number }} most
 * @returns {Corner}
 */
export function cornerOf({ shape, data }, part, most) {
  const [height = 1, width = 1] = shape.length > 1 ? shape.slice(-2) : [1, shape[0]];
  const rows = Math.min(height, most.rows);
  const cols = Math.min(width, most.cols);
  const values = new Float32Array(rows * cols);
  for (let row = 0; row < rows; row++) {
    const start = (part * height + row) * width;
    values.set(data.subarray(start, start + cols), row * cols);
  }
  return { rows, cols, values };
}
