// Bad calls of key-value caches.
import { tensor, zeros } from 'headwise';
import { any } from './table.js';

const options = { dIn: 5, dOut: 12, contextLength: 40, numHeads: 3, qkvBias: true };

/** @param {number[]} shape @param {number[]} [valueShape] */
const pastOf = (shape, valueShape = shape) => ({ key: zeros(shape), value: zeros(valueShape) });

/**
 * A module and a cache of it with room for two more tokens.
 * @param {import('./table.js').Engine} hw
 */
export function almostFull(hw) {
  const mha = new hw.MultiHeadAttention(options);
  const full = mha.createCache();
  mha.forward(zeros([1, 38, 5]), { cache: full });
  return { mha, full };
}

/**
 * @param {import('./table.js').Engine} hw
 * @param {ReturnType<typeof almostFull>} [own]
 * @returns {import('./table.js').BadCall[]}
 */
export function caches(hw, { mha, full } = almostFull(hw)) {
  const foreign = new hw.MultiHeadAttention(options).createCache();
  const ended = mha.createCache();
  ended.dispose();
  const one = zeros([1, 1, 5]);
  const append =
    (/** @type {number[]} */ shape, /** @type {any} */ more = {}) =>
    () =>
      mha.forward(zeros(shape), { cache: full, ...more });
  const create = (/** @type {any} */ asked) => () => mha.createCache(asked);
  return [
    [
      'more tokens than there is room for',
      append([1, 3, 5]),
      'ERR_VALUE',
      'x',
      '3 tokens and cache 38',
    ],
    [
      'more tokens than a cache can hold',
      append([1, 41, 5], { cache: mha.createCache() }),
      'ERR_VALUE',
      'x',
      '41 tokens and cache 0',
    ],
    ['another batch', append([2, 1, 5]), 'ERR_SHAPE', 'x', '2 sequences'],
    ['an x of another width with a cache', append([1, 1, 6]), 'ERR_SHAPE', 'x', '[1, 1, 6]'],
    [
      'a mask without the cached tokens',
      append([1, 2, 5], { mask: zeros([3, 40]) }),
      'ERR_SHAPE',
      'mask',
      '[3, 40]',
    ],
    [
      'a mask with more keys than tokens',
      append([1, 1, 5], { mask: zeros([1, 40]) }),
      'ERR_SHAPE',
      'mask',
      '[1, 40]',
    ],
    [
      "another module's cache",
      () => mha.forward(one, { cache: foreign }),
      'ERR_VALUE',
      'cache',
      'another module',
    ],
    [
      'what is no cache',
      () => mha.forward(one, any({ cache: { length: 3 } })),
      'ERR_VALUE',
      'cache',
      'a value of type Object',
    ],
    ['a disposed cache', () => mha.forward(one, { cache: ended }), 'ERR_DISPOSED', 'cache'],
    ['the length of a disposed cache', () => ended.length, 'ERR_DISPOSED', 'cache'],
    ['truncating a disposed cache', () => ended.truncate(0), 'ERR_DISPOSED', 'cache'],
    ['a truncation that would grow', () => full.truncate(39), 'ERR_VALUE', 'length', '39'],
    ['a truncation to half a token', () => full.truncate(1.5), 'ERR_VALUE', 'length', '1.5'],
    ['a negative truncation', () => full.truncate(-1), 'ERR_VALUE', 'length', '-1'],
    [
      'a truncation to nothing said',
      () => full.truncate(any(undefined)),
      'ERR_VALUE',
      'length',
      'undefined',
    ],
    ['a batch of 0', create({ batch: 0 }), 'ERR_VALUE', 'batch', '0'],
    ['a batch of text', create({ batch: '2' }), 'ERR_VALUE', 'batch', '"2"'],
    ['an unknown option of createCache', create({ size: 2 }), 'ERR_VALUE', 'createCache', 'size'],
    ['a type of no cache', create({ dtype: 'int8' }), 'ERR_VALUE', 'dtype', '"int8"'],
    [
      'a batch that no memory holds',
      create({ batch: 2 ** 31 }),
      'ERR_MEMORY',
      'a cache of 2147483648 × 40 tokens',
    ],
    [
      'a cache for a past by itself',
      create(pastOf([1, 3, 2, 4])),
      'ERR_VALUE',
      'createCache',
      'key, value',
    ],
    ['past as an array', create({ past: [1] }), 'ERR_VALUE', 'past', '[1]'],
    [
      'past without values',
      create({ past: { key: zeros([1, 3, 2, 4]) } }),
      'ERR_VALUE',
      'past.value',
      'undefined',
    ],
    [
      'past of bools',
      create({ past: { key: tensor([[true]]), value: one } }),
      'ERR_VALUE',
      'past.key',
      'bool',
    ],
    [
      'past of other heads',
      create({ past: pastOf([1, 4, 2, 4]) }),
      'ERR_SHAPE',
      'past.key',
      '[1, 4, 2, 4]',
    ],
    [
      'past of another width',
      create({ past: pastOf([1, 3, 2, 5]) }),
      'ERR_SHAPE',
      'past.key',
      '[1, 3, 2, 5]',
    ],
    ['past of rank 3', create({ past: pastOf([3, 2, 4]) }), 'ERR_SHAPE', 'past.key', '[3, 2, 4]'],
    [
      'past of another batch than asked for',
      create({ batch: 2, past: pastOf([1, 3, 2, 4]) }),
      'ERR_SHAPE',
      'past.key',
      '[1, 3, 2, 4]',
    ],
    [
      'values of another length than keys',
      create({ past: pastOf([1, 3, 2, 4], [1, 3, 1, 4]) }),
      'ERR_SHAPE',
      'past.value',
      '[1, 3, 1, 4]',
    ],
    [
      'past beyond the context',
      create({ past: pastOf([1, 3, 41, 4]) }),
      'ERR_VALUE',
      'past',
      '41 tokens',
    ],
  ];
}
