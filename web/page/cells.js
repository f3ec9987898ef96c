/**
 * Which tokens a cell of a pooled map stands for. Cell c of `size` covers the
 * tokens from ⌊c·n/size⌋ up to ⌊(c+1)·n/size⌋, as the engine's `trace.map`
 * does; with as many cells as tokens it is the token itself.
 *
 * @typedef {{ n: number, size: number }} Cells
 */

/**
 * @param {Cells} cells
 * @param {number} cell
 * @returns {[number, number]} first token, and one past the last
 */
export function tokensOf({ n, size }, cell) {
  return [Math.floor((cell * n) / size), Math.floor(((cell + 1) * n) / size)];
}

/**
 * The cell of a token.
 *
 * @param {Cells} cells
 * @param {number} token
 */
export const cellOf = ({ n, size }, token) => Math.ceil(((token + 1) * size) / n) - 1;
