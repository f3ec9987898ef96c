// Key-value caches: what they refuse, what they are like after a failure, and how they end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { almostFull, caches } from './bad-calls/caches.js';
import { data, engine, throwsCode, tokens } from './helpers.js';

const hw = await engine();
const options = { dIn: 5, dOut: 12, contextLength: 40, numHeads: 3, qkvBias: true };
const one = data(12, [1, 1, 5]);

test('every bad call leaves the cache as it was', () => {
  const { mha, full } = almostFull(hw);
  const expected = mha.forward(one, { cache: full }).output;
  full.truncate(38);
  for (const [title, call] of caches(hw, { mha, full })) {
    assert.throws(call, title);
    assert.equal(full.length, 38, title);
    assert.deepEqual(mha.forward(one, { cache: full }).output, expected, title);
    full.truncate(38);
  }
});

test("another engine's cache is refused", async () => {
  const [mha, foreign] = [hw, await engine()].map((each) => new each.MultiHeadAttention(options));
  const cache = foreign.createCache();
  throwsCode(() => mha.forward(one, { cache }), 'ERR_VALUE', 'cache', 'another module');
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
