// Random numbers bit for bit as torch's CPU generator gives them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { boolTensor, data, engine, throwsCode } from './helpers.js';

const fixture = JSON.parse(
  readFileSync(new URL('fixtures/torch-rng-vectors.json', import.meta.url), 'utf8'),
);
const vectors = fixture.avx2;
const hw = await engine();

/**
 * Float32 values as big-endian hex bit patterns.
 * @param {ArrayLike<number>} values
 */
const hex = (values) =>
  Array.from(Float32Array.from(values), (value) => {
    const view = new DataView(new ArrayBuffer(4));
    view.setFloat32(0, value);
    return view.getUint32(0).toString(16).padStart(8, '0');
  });

/** @param {ArrayLike<number>} values */
async function sha256(values) {
  const bytes = new DataView(new ArrayBuffer(values.length * 4));
  for (let i = 0; i < values.length; i++) bytes.setFloat32(i * 4, values[i], true);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * @param {ArrayLike<number>} values
 * @param {{ n: number, sha256_le_bytes: string, first16: string[], last16: string[] }} expected
 */
async function same(values, expected) {
  const all = Array.from(values);
  assert.equal(all.length, expected.n);
  assert.deepEqual(hex(all.slice(0, 16)), expected.first16);
  assert.deepEqual(hex(all.slice(-16)), expected.last16);
  assert.equal(await sha256(all), expected.sha256_le_bytes);
}

/** The uniform number that torch makes of one word of the Mersenne Twister. */
const uniform = (/** @type {number} */ word) => (word & 0xffffff) * 2 ** -24;

test('rand takes one word of the Mersenne Twister after another', () => {
  hw.manualSeed(123);
  const first = hw.rand([631]).data;
  assert.deepEqual([...first.slice(0, 16)], fixture.mt_u32_seed123_first16.map(uniform));
  assert.deepEqual([...first.slice(620)], fixture.mt_u32_seed123_index_620_to_630.map(uniform));
  hw.manualSeed(42);
  assert.deepEqual([...hw.rand([2, 4]).data], fixture.mt_u32_seed42_first8.map(uniform));
});

test('rand(3, 2) has the bits of torch, and two calls continue the sequence', () => {
  hw.manualSeed(123);
  const x = hw.rand([3, 2]);
  assert.deepEqual([...x.shape], [3, 2]);
  assert.deepEqual(hex(x.data), vectors['manual_seed(123);rand(3,2)']);
  hw.manualSeed(123);
  const parts = [...hw.rand([1]).data, ...hw.rand([5]).data];
  assert.deepEqual(hex(parts), vectors['manual_seed(123);rand(3,2)']);
});

test('Linear draws its weight, then its bias', () => {
  hw.manualSeed(123);
  const { weight, bias } = new hw.Linear({ inFeatures: 3, outFeatures: 2 }).stateDict();
  assert.deepEqual(hex(weight.data), vectors['manual_seed(123);Linear(3,2).weight']);
  assert.deepEqual(hex(bias.data), vectors['manual_seed(123);Linear(3,2).bias']);
  hw.manualSeed(123);
  const bare = new hw.Linear({ inFeatures: 3, outFeatures: 2, bias: false }).stateDict();
  assert.deepEqual(
    hex(bare.weight.data),
    vectors['manual_seed(123);Linear(3,2,bias=False).weight'],
  );
});

test('a large Linear continues the sequence where the small one ended', async () => {
  hw.manualSeed(123);
  new hw.Linear({ inFeatures: 3, outFeatures: 2 }).dispose();
  const large = new hw.Linear({ inFeatures: 768, outFeatures: 768 });
  const { weight, bias } = large.stateDict();
  await same(weight.data, vectors['(seed 123, after Linear(3,2)) Linear(768,768).weight']);
  await same(bias.data, vectors['same .bias']);
  large.dispose();
});

test('randn of 16 and more draws in blocks of 16, the last one again from fresh words', () => {
  hw.manualSeed(42);
  assert.deepEqual(hex(hw.randn([1, 5, 4]).data), vectors['manual_seed(42);randn(1,5,4)']);
});

test('randn of fewer than 16 draws in pairs and keeps the odd one past a large call', () => {
  hw.manualSeed(0);
  assert.deepEqual(hex(hw.randn([15]).data), vectors['manual_seed(0);randn(15)']);
  assert.deepEqual(hex(hw.randn([17]).data), vectors['then randn(17)']);
  hw.manualSeed(7);
  const parts = [7, 3, 33, 1, 2].flatMap((count) => [...hw.randn([count]).data]);
  const name = 'manual_seed(7);cat(randn(7),randn(3),randn(33),randn(1),randn(2))';
  assert.deepEqual(hex(parts), vectors[name]);
});

test('manualSeed forgets the normal that an odd count kept', () => {
  hw.manualSeed(0);
  hw.randn([15]);
  hw.manualSeed(0);
  assert.deepEqual(hex(hw.randn([15]).data), vectors['manual_seed(0);randn(15)']);
});

test('randn(2, 128, 768) has the bits of torch in all its 196,608 values', async () => {
  hw.manualSeed(123);
  await same(hw.randn([2, 128, 768]).data, vectors['manual_seed(123);randn(2,128,768)']);
});

test('seeds wrap as 64-bit numbers: only the low 32 bits count, negative ones too', () => {
  const draw = (/** @type {any} */ seed) => {
    hw.manualSeed(seed);
    return [...hw.rand([4]).data];
  };
  assert.deepEqual(draw(-1), draw(0xffffffff));
  assert.deepEqual(draw(2 ** 32 + 123), draw(123));
  assert.notDeepEqual(draw(1), draw(2));
});

test('a seed that is no integer is refused in words and changes nothing', () => {
  for (const seed of [1.5, NaN, Infinity, '1', undefined, null]) {
    hw.manualSeed(123);
    const bad = /** @type {any} */ (seed);
    throwsCode(() => hw.manualSeed(bad), 'ERR_VALUE', 'seed', String(seed));
    assert.deepEqual(hex(hw.rand([3, 2]).data), vectors['manual_seed(123);rand(3,2)']);
  }
});

test('a new engine starts from the seed that torch starts from', async () => {
  const fresh = await engine();
  const first = [...fresh.rand([4]).data];
  fresh.manualSeed(67280421310721);
  assert.deepEqual([...fresh.rand([4]).data], first);
  fresh.dispose();
});

/** @param {number} p */
function keptBits(p) {
  const entry = vectors[`manual_seed(123);Dropout(${p})(ones(6,100))`];
  const bits = [...entry.kept_bits_hex_msb_first].flatMap((digit) =>
    [8, 4, 2, 1].map((bit) => (parseInt(digit, 16) & bit) !== 0),
  );
  const scale = new DataView(new ArrayBuffer(4));
  scale.setUint32(0, parseInt(entry.scale_hex, 16));
  return { bits, scale: scale.getFloat32(0) };
}

for (const p of [0.1, 0.3, 0.5]) {
  test(`dropout of ${p} keeps the weights that torch keeps, scaled as torch scales them`, () => {
    const n = 24;
    const module = new hw.CausalAttention({ dIn: 3, dOut: 2, contextLength: n, dropout: p });
    const x = data(1, [1, n, 3]);
    const mask = boolTensor(new Array(n * n).fill(true), [n, n]);
    hw.manualSeed(123);
    const { weights } = module.forward(x, { mask, needWeights: true });
    module.eval();
    const { weights: full } = module.forward(x, { mask, needWeights: true });
    assert.ok(weights && full);
    assert.deepEqual([...weights.shape], [1, 1, n, n]);
    const { bits, scale } = keptBits(p);
    for (let i = 0; i < n * n; i++) {
      const expected = bits[i] ? full.data[i] * scale : 0;
      const difference = Math.abs(weights.data[i] - expected);
      assert.ok(difference <= 3e-7 * expected, `${i}: ${weights.data[i]}, expected ${expected}`);
    }
    module.dispose();
  });
}

test('dropoutP of a call drops what torch drops in the order of its weights', () => {
  const q = data(1, [2, 2, 6, 3]);
  const { bits } = keptBits(0.5);
  hw.manualSeed(123);
  const options = { dropoutP: 0.5, needWeights: true };
  const { weights } = hw.scaledDotProductAttention(q, q, q, options);
  assert.ok(weights);
  const kept = Array.from(weights.data, (weight) => weight !== 0);
  assert.deepEqual(kept, bits.slice(0, 144));
});

/** Which weights of two heads over two texts of six tokens dropout keeps. @param {'MultiHeadAttention' | 'MultiHeadAttentionWrapper'} name @param {number} dOut */
function keptWeights(name, dOut) {
  const [batch, heads, n] = [2, 2, 6];
  const sizes = { dIn: 3, dOut, contextLength: n, numHeads: heads };
  const module = new hw[name]({ ...sizes, dropout: 0.5, isCausal: false });
  hw.manualSeed(123);
  const { weights } = module.forward(data(2, [batch, n, 3]), { needWeights: true });
  assert.ok(weights);
  const kept = Array.from(weights.data, (weight) => weight !== 0);
  return { batch, heads, cells: n * n, kept };
}

test('the fused module draws its dropout mask in the order batch, head, query, key', () => {
  const { batch, heads, cells, kept } = keptWeights('MultiHeadAttention', 4);
  assert.deepEqual(kept, keptBits(0.5).bits.slice(0, batch * heads * cells));
});

test('the wrapper draws its dropout masks head after head, each over the batch', () => {
  const { batch, heads, cells, kept } = keptWeights('MultiHeadAttentionWrapper', 2);
  const { bits } = keptBits(0.5);
  for (let b = 0; b < batch; b++)
    for (let h = 0; h < heads; h++)
      for (let i = 0; i < cells; i++)
        assert.equal(kept[(b * heads + h) * cells + i], bits[(h * batch + b) * cells + i]);
});

test('under a causal mask the dropout mask still counts the hidden cells', () => {
  const n = 24;
  const module = new hw.CausalAttention({ dIn: 3, dOut: 2, contextLength: n, dropout: 0.5 });
  hw.manualSeed(123);
  const { weights } = module.forward(data(3, [1, n, 3]), { needWeights: true });
  assert.ok(weights);
  const { bits } = keptBits(0.5);
  for (let i = 0; i < n * n; i++)
    assert.equal(weights.data[i] !== 0, i % n <= Math.floor(i / n) && bits[i]);
});

test('evaluation, and dropout of 0, draw nothing from the generator', () => {
  const x = data(4, [1, 6, 3]);
  const options = { dIn: 3, dOut: 2, contextLength: 6 };
  const silent = [
    new hw.CausalAttention({ ...options, dropout: 0 }),
    new hw.CausalAttention({ ...options, dropout: 0.5 }),
  ];
  silent[1].eval();
  hw.manualSeed(123);
  for (const module of silent) module.forward(x);
  assert.deepEqual(hex(hw.rand([3, 2]).data), vectors['manual_seed(123);rand(3,2)']);
});
