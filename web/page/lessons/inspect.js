/** Values as the console of a lesson shows them. */

import { Tensor } from '../../headwise/index.js';

/** What is longer goes on as an ellipsis. */
const MOST = { items: 20, depth: 3, text: 4000 };

/** @param {unknown} value @param {number} depth @returns {string} */
function words(value, depth) {
  if (typeof value === 'string') return depth === 0 ? value : `'${value}'`;
  if (typeof value === 'function') return functionWords(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Date || value instanceof RegExp) return String(value);
  if (value instanceof Promise) return 'Promise';
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof Tensor) {
    return `tensor [${value.shape.join(', ')}] ${list(value.data, depth)}`;
  }
  if (depth >= MOST.depth) return Array.isArray(value) ? '[…]' : '{…}';
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    return list(/** @type {ArrayLike<unknown>} */ (/** @type {unknown} */ (value)), depth);
  }
  if (value instanceof Set) return `Set ${list([...value], depth)}`;
  if (value instanceof Map) {
    return `Map ${pairs([...value], ' → ', (key) => words(key, depth + 1), depth)}`;
  }
  return pairs(Object.entries(value), ': ', String, depth);
}

/** By its name; where it has none, as it is written. @param {Function} value */
function functionWords(value) {
  const [text] = String(value).split('\n');
  if (text.startsWith('class')) return `class ${value.name}`;
  return value.name === '' ? text : `function ${value.name}`;
}

/**
 * @param {[unknown, unknown][]} entries
 * @param {string} sign between a key and its value
 * @param {(key: unknown) => string} write a key
 * @param {number} depth
 */
function pairs(entries, sign, write, depth) {
  const shown = entries
    .slice(0, MOST.items)
    .map(([key, one]) => `${write(key)}${sign}${words(one, depth + 1)}`);
  if (entries.length > MOST.items) shown.push('…');
  return shown.length > 0 ? `{ ${shown.join(', ')} }` : '{}';
}

/** @param {ArrayLike<unknown>} values @param {number} depth */
function list(values, depth) {
  const shown = Array.from({ length: Math.min(values.length, MOST.items) }, (_, i) =>
    words(values[i], depth + 1),
  );
  if (values.length > MOST.items) shown.push(`… ${values.length} in all`);
  return `[${shown.join(', ')}]`;
}

/** What stands in a text for the next value, as in C; a style has no words. */
const PLACES = /%[sdifoOc%]/g;

/** @param {string} place @param {unknown} value */
function fill(place, value) {
  if (place === '%c') return '';
  if (place === '%s' || typeof value === 'symbol') return words(value, 0);
  // An object need not become a number.
  const number = typeof value === 'object' && value !== null ? NaN : Number(value);
  if (place === '%d' || place === '%f') return String(number);
  if (place === '%i') return String(Math.trunc(number));
  return words(value, 1);
}

/** What a call of console.log says. @param {readonly unknown[]} values */
export function inspect(values) {
  const rest = [...values];
  const put = (/** @type {string} */ place) => {
    if (place === '%%') return '%';
    return rest.length > 0 ? fill(place, rest.shift()) : place;
  };
  const isPattern = typeof values[0] === 'string' && values.length > 1;
  const first = isPattern ? [String(rest.shift()).replace(PLACES, put)] : [];
  const text = [...first, ...rest.map((value) => words(value, 0))].join(' ');
  return text.length > MOST.text ? `${text.slice(0, MOST.text)}…` : text;
}
