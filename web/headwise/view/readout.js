import { cellOf, tokensOf } from './cells.js';
import { formatWeight } from './format.js';

/** @typedef {import('./pool.js').Region & { values: ArrayLike<number> }} Layer */
/** @typedef {[number, number]} Tokens [first, past the last] */
/** @typedef {{ value: number, queries: Tokens, keys: Tokens }} Cell */

const whole = new Intl.NumberFormat('en');

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
 * @param {readonly Layer[]} layers from the coarse to the fine
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

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** A token's text, between marks that keep its direction from what follows. @param {string} text */
const isolated = (text) => (RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text);

/**
 * A cell in words.
 *
 * @param {Cell} cell
 * @param {object} map
 * @param {readonly string[]} map.queryNames
 * @param {readonly string[]} map.keyNames
 * @param {string} map.noun what a value is called
 * @param {{ causal: boolean, signed: boolean }} map.how
 */
export function wordsOf({ value, queries, keys }, { queryNames, keyNames, noun, how }) {
  const { causal, signed } = how;
  /** @param {Tokens} tokens @param {readonly string[]} names */
  const name = ([start, end], names) =>
    end - start === 1
      ? `“${isolated(names[start])}” (${whole.format(start + 1)})`
      : `tokens ${whole.format(start + 1)} to ${whole.format(end)}`;
  const places = `${name(queries, queryNames)} → ${name(keys, keyNames)}`;
  if (causal && keys[0] > queries[1] - 1 + keyNames.length - queryNames.length) {
    return `${places}: masked, a later token`;
  }
  const isPooled = queries[1] - queries[0] > 1 || keys[1] - keys[0] > 1;
  // A sign says enough.
  const isNamed = isPooled || (noun !== 'weight' && !signed);
  const sign = value < 0 ? '−' : signed && value > 0 ? '+' : '';
  const what = isNamed ? `${isPooled ? 'largest ' : ''}${noun} ` : '';
  return `${places}: ${what}${sign}${formatWeight(Math.abs(value))}`;
}

/**
 * Places the readout above or below its cell, inside the map.
 *
 * @param {HTMLElement} tip
 * @param {{ x: number, y: number }} cell in shares of the map's sides
 */
export function placeTip(tip, { x, y }) {
  const share = (/** @type {number} */ at) => `${100 * Math.max(0, Math.min(1, at))}%`;
  tip.style.setProperty('--x', share(x));
  tip.style.setProperty('--y', share(y));
  tip.classList.toggle('above', y > 0.5);
}
