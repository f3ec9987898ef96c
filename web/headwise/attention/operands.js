import { checkOptions, checkShape } from '../checks/check.js';
import { checkFloats, viewOf } from '../tensor/operand.js';
import { describe } from '../checks/describe.js';
import { misshapen } from '../checks/error.js';

/** @typedef {import('../tensor/operand.js').FloatOperand} FloatOperand */
/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * Keys and values of earlier tokens. For a cache they are [batch, heads, n, headDim].
 * @typedef {object} Past
 * @property {Tensor} key […, n, E], n may be 0
 * @property {Tensor} value […, n, Ev]
 */

/**
 * Whether all dimensions but the last two go together.
 * @param {readonly number[]} query
 * @param {readonly number[]} key
 * @param {boolean} isGrouped whether there may be fewer heads of keys
 */
function sameBatch(query, key, isGrouped) {
  for (let axis = 0; axis < query.length - 2; axis++) {
    const shares = isGrouped && axis === query.length - 3 && query[axis] % key[axis] === 0;
    if (query[axis] !== key[axis] && !shares) {
      return false;
    }
  }
  return query.length === key.length;
}

/**
 * The leading dimensions in words.
 * @param {readonly number[]} shape
 * @param {boolean} [isGrouped]
 */
function prefix(shape, isGrouped = false) {
  const heads = shape.length - 3;
  return shape
    .slice(0, -2)
    .map((n, axis) => `${isGrouped && axis === heads ? `heads that divide ${n}` : n}, `)
    .join('');
}

/**
 * @param {readonly [q: unknown, k: unknown, v: unknown]} tensors
 * @param {boolean} isGrouped enableGqa
 */
export function checkOperands(tensors, isGrouped) {
  const q = checkFloats(tensors[0], 'q');
  const rank = q.shape.length;
  const width = q.shape[rank - 1];
  const fits = rank >= 2 && rank <= 4 && width > 0;
  checkShape(q, 'q', fits, () => '[…, Lq, E] of rank 2, 3 or 4, E > 0');
  const k = checkFloats(tensors[1], 'k');
  const tokens = k.shape[k.shape.length - 2];
  checkShape(
    k,
    'k',
    sameBatch(q.shape, k.shape, isGrouped) && k.shape[rank - 1] === width,
    () =>
      `[${prefix(q.shape, isGrouped)}Lkv, ${width}], to go with q of shape ${describe(q.shape)}`,
  );
  const v = checkFloats(tensors[2], 'v');
  checkShape(
    v,
    'v',
    sameBatch(k.shape, v.shape, false) && v.shape[rank - 2] === tokens && v.shape[rank - 1] > 0,
    () => `[${prefix(k.shape)}${tokens}, Ev], Ev > 0, to go with k of shape ${describe(k.shape)}`,
  );
  return { q, k, v };
}

/**
 * @param {unknown} value
 * @param {string} name
 * @param {FloatOperand} own what it goes before
 * @param {number | string} tokens
 */
function checkPart(value, name, own, tokens) {
  const part = checkFloats(value, name);
  const { shape } = part;
  const rank = own.shape.length;
  const width = own.shape[rank - 1];
  const n = shape[rank - 2];
  const fits = sameBatch(own.shape, shape, false) && shape[rank - 1] === width;
  if (!fits || (typeof tokens === 'number' && n !== tokens)) {
    throw misshapen(shape, name, `[${prefix(own.shape)}${tokens}, ${width}]`);
  }
  return part;
}

/** @param {unknown} value @param {FloatOperand} k @param {FloatOperand} v */
export function checkPast(value, k, v) {
  const past = checkOptions(value, ['key', 'value'], 'past', 'past');
  const key = checkPart(past.key, 'past.key', k, 'n');
  const tokens = key.shape[key.shape.length - 2];
  return { key, value: checkPart(past.value, 'past.value', v, tokens), tokens, from: past };
}

/**
 * For every head its past rows and then its own, as the next call's past: [batch, heads, n + own tokens, width].
 * @param {import('../engine/engine.js').Engine} engine
 * @param {number} address
 * @param {FloatOperand} past
 * @param {FloatOperand} own
 */
export function writeJoined(engine, address, past, own) {
  const heads = own.shape.slice(0, -2).reduce((product, n) => product * n, 1);
  const parts = [viewOf(past), viewOf(own)];
  let at = address / 4;
  for (let head = 0; head < heads; head++) {
    for (const data of parts) {
      const size = data.length / heads;
      engine.floats.set(data.subarray(head * size, (head + 1) * size), at);
      at += size;
    }
  }
}
