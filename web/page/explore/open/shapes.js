/**
 * Which tensors of which files are queries, keys or weights, and how their shapes fit together.
 *
 * @typedef {object} Part
 * @property {string} label what messages call it
 * @property {string} name by which its role and its layer are known
 * @property {readonly number[]} shape
 * @property {Float32Array} data
 *
 * @typedef {{ q: Part, k: Part }} Pair
 * @typedef {object} Size
 * @property {number} layers
 * @property {number} heads
 * @property {number} n
 *
 * @typedef {'q' | 'k' | 'v' | 'weights'} Role
 */

import { PageError } from '../../shared/errors.js';

/** @type {Record<string, Role>} */
const ROLES = {
  q: 'q',
  query: 'q',
  queries: 'q',
  k: 'k',
  key: 'k',
  keys: 'k',
  v: 'v',
  value: 'v',
  values: 'v',
};

/** @param {string} name */
const wordsOf = (name) => name.toLowerCase().match(/[a-z]+|[0-9]+/g) ?? [];

/** @param {string} name of a tensor @returns {Role} */
export function roleOf(name) {
  const word = wordsOf(name).find((part) => Object.hasOwn(ROLES, part));
  return word ? ROLES[word] : 'weights';
}

/** What remains of a name without its role: the same for the queries and keys of one layer. @param {string} name */
const placeOf = (name) =>
  wordsOf(name)
    .filter((word) => !Object.hasOwn(ROLES, word))
    .join('.');

const { compare } = new Intl.Collator('en', { numeric: true });

/** @param {Part[]} parts layers in the order of their numbers */
const inOrder = (parts) => [...parts].sort((a, b) => compare(a.name, b.name));

/** @param {readonly number[]} shape */
const written = (shape) => `[${shape.join(', ')}]`;

/** @param {Part} part @param {string} problem */
const misfit = ({ label, shape }, problem) =>
  new PageError('ERR_SHAPE', `${label} has shape ${written(shape)}: ${problem}.`);

/**
 * A shape as [layers, heads, n, last]: what is missing in front is one; a batch of one between layers and heads, as
 * Hugging Face's stacked attentions have, is dropped.
 *
 * @param {Part} part
 * @param {string} last what the last axis is
 * @returns {[number, number, number, number]}
 */
function fourOf(part, last) {
  const { shape } = part;
  const expected = `[layers, heads, n, ${last}], [heads, n, ${last}] or [n, ${last}]`;
  const empty = shape.indexOf(0);
  if (empty >= 0) throw misfit(part, `axis ${empty} has no elements; expected ${expected}`);
  if (shape.length === 5 && shape[1] !== 1) {
    throw misfit(part, `axis 1 (batch) has ${shape[1]}; expected 1: one text at a time`);
  }
  const four = shape.length === 5 ? [shape[0], ...shape.slice(2)] : shape;
  if (four.length < 2 || four.length > 4) {
    throw misfit(part, `it has ${shape.length} axes; expected ${expected}`);
  }
  const [layers, heads, n, d] = [...Array(4 - four.length).fill(1), ...four];
  return [layers, heads, n, d];
}

/** @param {Part} part @param {number} fromEnd 1: the last @param {string} what */
const axisOf = ({ shape }, fromEnd, what) => `axis ${shape.length - fromEnd} (${what})`;

/**
 * @param {Part} part
 * @param {Part} first whose sizes the others must have
 * @param {[number, string, number, number][]} axes from the end, what, size, expected size
 */
function checkSame(part, first, axes) {
  for (const [fromEnd, what, size, expected] of axes) {
    if (size !== expected) {
      throw misfit(
        part,
        `${axisOf(part, fromEnd, what)} has ${size}; expected ${expected}, as ${first.label} has (${written(first.shape)})`,
      );
    }
  }
}

/**
 * Attention weights, layer by layer.
 *
 * @param {Part[]} given
 * @returns {Size & { parts: Part[], layersOf: number[] }} layersOf: how many layers each part has
 * @throws {PageError} ERR_SHAPE, naming file and axis
 */
export function fitWeights(given) {
  const parts = inOrder(given);
  const [first] = parts;
  const [, heads, n] = fourOf(first, 'n');
  const layersOf = parts.map((part) => {
    const [layers, ownHeads, queries, keys] = fourOf(part, 'n');
    if (queries !== keys) {
      throw misfit(
        part,
        `${axisOf(part, 2, 'queries')} has ${queries} and ${axisOf(part, 1, 'keys')} ${keys}; weights have as many of each, [layers, heads, n, n]. Queries and keys come as two tensors with q and k in their names`,
      );
    }
    checkSame(part, first, [
      [3, 'heads', ownHeads, heads],
      [2, 'queries', queries, n],
    ]);
    return layers;
  });
  const layers = layersOf.reduce((sum, count) => sum + count, 0);
  return { parts, layersOf, layers, heads, n };
}

/** @param {Part[]} given @returns {Pair[]} */
function pairsOf(given) {
  /** @type {Map<string, Partial<Pair>>} */
  const pairs = new Map();
  for (const part of inOrder(given)) {
    const role = roleOf(part.name);
    if (role !== 'q' && role !== 'k') continue;
    const place = placeOf(part.name);
    const pair = pairs.get(place) ?? {};
    const other = pair[role];
    if (other) {
      throw new PageError(
        'ERR_FORMAT',
        `The names of ${other.label} and ${part.label} both say ${role}; expected one tensor of each role.`,
      );
    }
    pairs.set(place, { ...pair, [role]: part });
  }
  return [...pairs.values()].map(({ q, k }) => {
    if (!q || !k) {
      const has = /** @type {Part} */ (q ?? k).label;
      throw new PageError(
        'ERR_FORMAT',
        `${has} has no ${q ? 'keys' : 'queries'} beside it: expected a tensor with ${q ? 'k' : 'q'} in its name.`,
      );
    }
    return { q, k };
  });
}

/**
 * Queries and keys, layer by layer. Keys may have fewer heads, each for several of the queries'.
 *
 * @param {Part[]} given
 * @returns {Size & { pairs: Pair[], layersOf: number[], d: number, keyHeads: number }}
 * @throws {PageError} ERR_FORMAT, ERR_SHAPE, naming file and axis
 */
export function fitQueriesAndKeys(given) {
  const pairs = pairsOf(given);
  const [{ q: first, k: firstKeys }] = pairs;
  const [, heads, n, d] = fourOf(first, 'd');
  const [, keyHeads] = fourOf(firstKeys, 'd');
  if (heads % keyHeads !== 0) {
    throw misfit(
      firstKeys,
      `${axisOf(firstKeys, 3, 'heads')} has ${keyHeads}; expected a divisor of ${heads}, the heads of ${first.label}`,
    );
  }
  const layersOf = pairs.map(({ q, k }) => {
    const [layers, ownHeads, queries, width] = fourOf(q, 'd');
    checkSame(q, first, [
      [3, 'heads', ownHeads, heads],
      [2, 'tokens', queries, n],
      [1, 'd', width, d],
    ]);
    const [keyLayers, ownKeyHeads, keys, keyWidth] = fourOf(k, 'd');
    checkSame(k, q, [
      [4, 'layers', keyLayers, layers],
      [2, 'tokens', keys, n],
      [1, 'd', keyWidth, d],
    ]);
    checkSame(k, firstKeys, [[3, 'heads', ownKeyHeads, keyHeads]]);
    return layers;
  });
  const layers = layersOf.reduce((sum, count) => sum + count, 0);
  return { pairs, layersOf, layers, heads, n, d, keyHeads };
}
