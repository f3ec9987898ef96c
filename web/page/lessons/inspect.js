/** Values as the console of a lesson shows them. */

import { Tensor } from '../../headwise/index.js';

/** What is longer goes on as an ellipsis. */
const MOST = { items: 20, depth: 3, text: 4000 };

/** @param {unknown} value @param {number} depth @returns {string} */
function words(value, depth) {
  if (typeof value === 'string') return depth === 0 ? value : `'${value}'`;
  if (typeof value === 'function') return `function ${value.name}`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof Tensor) {
    return `tensor [${value.shape.join(', ')}] ${list(value.data, depth)}`;
  }
  if (depth >= MOST.depth) return Array.isArray(value) ? '[…]' : '{…}';
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    return list(/** @type {ArrayLike<unknown>} */ (/** @type {unknown} */ (value)), depth);
  }
  const entries = Object.entries(value);
  const shown = entries
    .slice(0, MOST.items)
    .map(([key, one]) => `${key}: ${words(one, depth + 1)}`);
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

/** What a call of console.log says. @param {readonly unknown[]} values */
export function inspect(values) {
  const text = values.map((value) => words(value, 0)).join(' ');
  return text.length > MOST.text ? `${text.slice(0, MOST.text)}…` : text;
}
