// Key-value caches: what they refuse, what they are like after a failure, and how they end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { boolData, data, engine, throwsCode, tokens } from './helpers.js';

const hw = await engine();
const options = { dIn: 5, dOut: 12, contextLength: 40, numHeads: 3, qkvBias: true };
/** Past the types: what plain JavaScript can pass. */
const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);

const mha = new hw.MultiHeadAttention(options);
const twin = new hw.MultiHeadAttention(options);
const full = mha.createCache();
mha.forward(data(11, [1, 38, 5]), { cache: full });
const ended = mha.createCache();
ended.dispose();
const other = (await engine()).MultiHeadAttention;
const foreign = new other(options).createCache();
const one = data(12, [1, 1, 5]);
/** @param {number[]} shape @param {number[]} [valueShape] */
const pastOf = (shape, valueShape = shape) => ({ key: data(1, shape), value: data(2, valueShape) });

/** @type {[string, () => unknown, string, (string | RegExp)[]][]} */
const calls = [
  [
    'more tokens than there is room for',
    () => mha.forward(data(1, [1, 3, 5]), { cache: full }),
    'ERR_VALUE',
    ['x has 3 tokens', 'cache 38', 'contextLength, 40'],
  ],
  [
    'more tokens than a cache can hold',
    () => mha.forward(data(1, [1, 41, 5]), { cache: mha.createCache() }),
    'ERR_VALUE',
    ['41', 'cache 0', '40'],
  ],
  [
    'another batch',
    () => mha.forward(data(1, [2, 1, 5]), { cache: full }),
    'ERR_SHAPE',
    ['x has 2', 'expected 1', 'batch'],
  ],
  [
    'an x of another width',
    () => mha.forward(data(1, [1, 1, 6]), { cache: full }),
    'ERR_SHAPE',
    ['x', '[1, 1, 6]', '5'],
  ],
  [
    'a mask without the cached tokens',
    () => mha.forward(data(1, [1, 2, 5]), { cache: full, mask: boolData(1, [3, 40]) }),
    'ERR_SHAPE',
    ['mask', '[3, 40]', '[1, 3, 2, 40]'],
  ],
  [
    'a mask with more keys than tokens',
    () => mha.forward(one, { cache: full, mask: boolData(1, [1, 40]) }),
    'ERR_SHAPE',
    ['mask', '[1, 40]', '[1, 3, 1, 39]'],
  ],
  [
    "another module's cache",
    () => twin.forward(one, { cache: full }),
    'ERR_VALUE',
    ['cache', 'another module'],
  ],
  [
    "another engine's cache",
    () => mha.forward(one, { cache: foreign }),
    'ERR_VALUE',
    ['cache', 'another module'],
  ],
  [
    'what is no cache',
    () => mha.forward(one, any({ cache: { length: 3 } })),
    'ERR_VALUE',
    ['cache', 'createCache'],
  ],
  ['null as cache', () => mha.forward(one, any({ cache: null })), 'ERR_VALUE', ['cache', 'null']],
  [
    'a disposed cache',
    () => mha.forward(one, { cache: ended }),
    'ERR_DISPOSED',
    ['cache', 'disposed'],
  ],
  ['the length of a disposed cache', () => ended.length, 'ERR_DISPOSED', ['cache']],
  ['truncating a disposed cache', () => ended.truncate(0), 'ERR_DISPOSED', ['cache']],
  ['a truncation that would grow', () => full.truncate(39), 'ERR_VALUE', ['length', '39', '38']],
  ['a truncation to half a token', () => full.truncate(1.5), 'ERR_VALUE', ['length', '1.5']],
  ['a negative truncation', () => full.truncate(-1), 'ERR_VALUE', ['length', '-1']],
  ['no length', () => full.truncate(any(undefined)), 'ERR_VALUE', ['length', 'undefined']],
  ['a batch of 0', () => mha.createCache({ batch: 0 }), 'ERR_VALUE', ['batch', '0']],
  ['a batch of text', () => mha.createCache(any({ batch: '2' })), 'ERR_VALUE', ['batch', '"2"']],
  ['an unknown option', () => mha.createCache(any({ size: 2 })), 'ERR_VALUE', ['size', 'past']],
  [
    'a batch that no memory holds',
    () => mha.createCache({ batch: 2 ** 31 }),
    'ERR_MEMORY',
    ['2147483648'],
  ],
  ['past as an array', () => mha.createCache(any({ past: [1] })), 'ERR_VALUE', ['past']],
  ['past as null', () => mha.createCache(any({ past: null })), 'ERR_VALUE', ['past', 'null']],
  [
    'past without values',
    () => mha.createCache(any({ past: { key: data(1, [1, 3, 2, 4]) } })),
    'ERR_VALUE',
    ['past.value', 'undefined'],
  ],
  [
    'past of bools',
    () => mha.createCache({ past: { ...pastOf([1, 3, 2, 4]), key: boolData(1, [1, 3, 2, 4]) } }),
    'ERR_VALUE',
    ['past.key', 'bool'],
  ],
  [
    'past of other heads',
    () => mha.createCache({ past: pastOf([1, 4, 2, 4]) }),
    'ERR_SHAPE',
    ['past.key', '[1, 4, 2, 4]', '[batch, 3, n, 4]'],
  ],
  [
    'past of another width',
    () => mha.createCache({ past: pastOf([1, 3, 2, 5]) }),
    'ERR_SHAPE',
    ['past.key', '[1, 3, 2, 5]', '[batch, 3, n, 4]'],
  ],
  [
    'past of rank 3',
    () => mha.createCache({ past: pastOf([3, 2, 4]) }),
    'ERR_SHAPE',
    ['past.key', '[3, 2, 4]'],
  ],
  [
    'past of another batch than asked for',
    () => mha.createCache({ batch: 2, past: pastOf([1, 3, 2, 4]) }),
    'ERR_SHAPE',
    ['past.key', '[1, 3, 2, 4]', '[2, 3, n, 4]'],
  ],
  [
    'values of another length than keys',
    () => mha.createCache({ past: pastOf([1, 3, 2, 4], [1, 3, 1, 4]) }),
    'ERR_SHAPE',
    ['past.value', '[1, 3, 1, 4]', '[1, 3, 2, 4]'],
  ],
  [
    'past beyond the context',
    () => mha.createCache({ past: pastOf([1, 3, 41, 4]) }),
    'ERR_VALUE',
    ['past', '41', '40'],
  ],
];

for (const [title, call, code, parts] of calls)
  test(`${title}: ${code}, and the cache goes on`, () => {
    throwsCode(call, code, ...parts);
    assert.equal(full.length, 38);
    const { output } = mha.forward(one, { cache: full });
    full.truncate(38);
    const all = tensor([...data(11, [1, 38, 5]).data, ...one.data], [1, 39, 5]);
    assert.deepEqual(output.data, tokens(mha.forward(all).output, 38, 39).data);
  });

test('modules without caches refuse the option', () => {
  const wrapper = new hw.MultiHeadAttentionWrapper({ ...options, dOut: 4 });
  const causal = new hw.CausalAttention({ dIn: 5, dOut: 4, contextLength: 40 });
  for (const module of [wrapper, causal])
    throwsCode(() => module.forward(one, any({ cache: full })), 'ERR_VALUE', 'cache', 'mask');
});

test('when there is no memory for the result, the cache is as it was', () => {
  const module = new hw.MultiHeadAttention(options);
  const x = data(13, [1, 12, 5]);
  const cache = module.createCache();
  module.forward(tokens(x, 0, 9), { cache });
  const piece = tokens(x, 9, 12);
  const { slice } = Float32Array.prototype;
  Float32Array.prototype.slice = () => {
    throw new RangeError('no memory');
  };
  try {
    for (const asked of [{}, { trace: true }, { needWeights: true }])
      throwsCode(() => module.forward(piece, { cache, ...asked }), 'ERR_MEMORY');
  } finally {
    Float32Array.prototype.slice = slice;
  }
  assert.equal(cache.length, 9);
  const { output } = module.forward(tokens(x, 9, 12), { cache });
  assert.deepEqual(output.data, tokens(module.forward(x).output, 9, 12).data);
});

test('a disposed cache gives its memory back, twice is once, and the module goes on', () => {
  const module = new hw.MultiHeadAttention({ ...options, contextLength: 4096 });
  module.createCache({ batch: 8 }).dispose();
  const before = hw.memoryBytes;
  for (let i = 0; i < 20; i++) {
    const cache = module.createCache({ batch: 8 });
    cache.dispose();
    cache.dispose();
  }
  assert.equal(hw.memoryBytes, before);
  assert.deepEqual([...module.forward(one).output.shape], [1, 1, 12]);
});

test('a cache outlives its module, but no forward takes it', () => {
  const module = new hw.MultiHeadAttention(options);
  const cache = module.createCache();
  module.forward(one, { cache });
  module.dispose();
  assert.equal(cache.length, 1);
  throwsCode(() => module.forward(one, { cache }), 'ERR_DISPOSED', 'MultiHeadAttention');
  throwsCode(() => module.createCache(), 'ERR_DISPOSED', 'MultiHeadAttention');
  cache.truncate(0);
  cache.dispose();
});

test('a disposed engine ends its caches', async () => {
  const ending = await engine();
  const module = new ending.MultiHeadAttention(options);
  const cache = module.createCache();
  ending.dispose();
  throwsCode(() => cache.length, 'ERR_DISPOSED', 'engine');
  throwsCode(() => cache.truncate(0), 'ERR_DISPOSED', 'engine');
  throwsCode(() => module.forward(one, { cache }), 'ERR_DISPOSED', 'engine');
  throwsCode(() => module.createCache(), 'ERR_DISPOSED', 'engine');
  cache.dispose();
});
