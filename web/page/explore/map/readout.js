/**
 * A cell of a map in words.
 *
 * @import { Cells, Region } from '../worker/pool.js'
 *
 * @typedef {[number, number]} Tokens [first, past the last]
 * @typedef {{ value: number, queries: Tokens, keys: Tokens }} Cell
 */

import { cellOf, tokensOf } from '../../../headwise/view/cells.js';
import { formatCount, formatWeight } from '../../format.js';

/** @param {number} token @param {Tokens} side @param {number} cells */
function placeOf(token, [start, end], cells) {
  const n = end - start;
  const cell = cellOf(n, cells, token - start);
  const [first, past] = tokensOf(n, cells, cell);
  return { cell, tokens: /** @type {Tokens} */ ([start + first, start + past]) };
}

/**
 * The finest cell that is known of two tokens.
 *
 * @param {(Cells & Region)[]} layers from the coarse to the fine
 * @param {number} query
 * @param {number} key
 * @returns {Cell | undefined}
 */
export function cellAt(layers, query, key) {
  const isIn = (/** @type {number} */ token, /** @type {Tokens} */ [start, end]) =>
    token >= start && token < end;
  const layer = layers.findLast(({ queries, keys }) => isIn(query, queries) && isIn(key, keys));
  if (!layer) return undefined;
  const row = placeOf(query, layer.queries, layer.height);
  const column = placeOf(key, layer.keys, layer.width);
  const value = layer.values[row.cell * layer.width + column.cell];
  return { value, queries: row.tokens, keys: column.tokens };
}

/**
 * @param {Cell} cell
 * @param {{ names: readonly string[], causal: boolean, isSigned: boolean }} map
 */
export function wordsOf({ value, queries, keys }, { names, causal, isSigned }) {
  /** @param {Tokens} tokens */
  const name = ([start, end]) =>
    end - start === 1
      ? `“${names[start]}” (${formatCount(start + 1)})`
      : `tokens ${formatCount(start + 1)} to ${formatCount(end)}`;
  const noun = isSigned ? 'difference' : 'weight';
  const isPooled = queries[1] - queries[0] > 1 || keys[1] - keys[0] > 1;
  const plus = isSigned && value > 0 ? '+' : '';
  const number = `${value < 0 ? '−' : plus}${formatWeight(Math.abs(value))}`;
  const isMasked = causal && keys[0] > queries[1] - 1;
  const what = isMasked
    ? 'masked: a later token'
    : `${isPooled ? `largest ${noun} ` : ''}${number}`;
  return `${name(queries)} → ${name(keys)}: ${what}`;
}
