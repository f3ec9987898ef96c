/**
 * Which tokens a cell of a pooled map stands for, along one side of it. Cell c of `cells` covers the tokens from
 * ⌊c·n/cells⌋ up to ⌊(c+1)·n/cells⌋, at least one, as the engine's `trace.map` does; with as many cells as tokens it is
 * the token itself.
 *
 * @param {number} n tokens
 * @param {number} cells
 * @param {number} cell
 * @returns {[number, number]} first token, and one past the last
 */
export function tokensOf(n, cells, cell) {
  const start = Math.floor((cell * n) / cells);
  return [start, Math.max(start + 1, Math.floor(((cell + 1) * n) / cells))];
}

/**
 * The cell of a token, of no more cells than tokens.
 *
 * @param {number} n tokens
 * @param {number} cells
 * @param {number} token
 */
export const cellOf = (n, cells, token) => Math.ceil(((token + 1) * cells) / n) - 1;
