// Key-value caches of 16 bits: attention, weights and traces are those of the rounded keys and values, in float64.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tensor } from 'headwise';
import { halves, rounding } from './cache-types.js';
import { allClose, data, engine, throwsCode, tokens } from './helpers.js';
import * as reference from './reference.js';

/** @typedef {import('./helpers.js').Matrix} Matrix */

const hw = await engine();
after(() => hw.dispose());

const options = { dIn: 5, dOut: 12, contextLength: 900, numHeads: 3, qkvBias: true };
const close = { rtol: 1e-5, atol: 2e-6 };

/** Multiples of 1/64: their products and sums are exact, so that everybody rounds the same numbers. @param {Matrix} x */
const onGrid = (x) =>
  tensor(
    Float32Array.from(x.data, (value) => Math.round(value * 64) / 64),
    [...x.shape],
  );

/** @param {object} [more] */
function createModule(more) {
  const module = new hw.MultiHeadAttention({ ...options, ...more });
  const state = Object.entries(module.stateDict());
  return module.loadStateDict(Object.fromEntries(state.map(([name, x]) => [name, onGrid(x)])));
}

/** @param {number} seed @param {number} batch @param {number} n */
const draw = (seed, batch, n) => onGrid(data(seed, [batch, n, 5], 2));

/**
 * Keys and values [batch, heads, n, 4] of x, rounded.
 * @param {ReturnType<typeof createModule>} module
 * @param {Matrix} x
 * @param {(x: number) => number} round
 */
function stored(module, x, round) {
  const state = module.stateDict();
  return ['W_key', 'W_value'].map((name) => {
    const heads = reference.splitHeads(reference.linear(x, reference.layer(state, name)), 3);
    return { shape: heads.shape, data: heads.data.map(round) };
  });
}

/**
 * Of tokens [start, end) over all before them, in float64.
 * @param {ReturnType<typeof createModule>} module
 * @param {Matrix} x
 * @param {[number, number]} range
 * @param {(x: number) => number} round
 * @param {import('./reference.js').AttentionOptions} [more]
 */
function expected(module, x, [start, end], round, more) {
  const state = module.stateDict();
  const [k, v] = stored(module, tokens(x, 0, end), round);
  const projected = reference.linear(tokens(x, start, end), reference.layer(state, 'W_query'));
  const given = { isCausal: module.options.isCausal, causalOffset: start, ...more };
  const q = reference.splitHeads(projected, 3);
  const { output: heads, weights } = reference.scaledDotProductAttention(q, k, v, given);
  const out = reference.layer(state, 'out_proj');
  return { output: reference.linear(reference.mergeHeads(heads), out), heads, weights, values: v };
}

for (const dtype of halves) {
  const round = rounding(dtype);

  test(`${dtype}: pieces of any size are those over rounded keys and values`, () => {
    for (const isCausal of [true, false]) {
      const module = createModule({ isCausal });
      const x = draw(1, 2, 60);
      for (const pieces of [[60], [1, 7, 8, 9, 1, 1, 20], [33, 1, 2, 3]]) {
        const cache = module.createCache({ batch: 2, dtype });
        assert.equal(cache.dtype, dtype);
        let start = 0;
        for (const piece of pieces) {
          const end = start + piece;
          const part = tokens(x, start, end);
          const actual = module.forward(part, { cache, needWeights: true });
          const right = expected(module, x, [start, end], round);
          allClose(actual.output, right.output, { ...close, what: `${start} to ${end}` });
          allClose(actual.weights, right.weights, { ...close, what: `weights to ${end}` });
          start = end;
        }
        assert.equal(cache.length, start);
        cache.dispose();
      }
      module.dispose();
    }
  });

  test(`${dtype}: it differs from float32, and bits do not depend on pieces, growth or truncation`, () => {
    const module = createModule();
    const x = draw(2, 1, 800);
    const cache = module.createCache({ dtype });
    const whole = module.forward(x, { cache }).output;
    assert.notDeepEqual(whole.data, module.forward(x).output.data);
    const last = expected(module, x, [795, 800], round).output;
    allClose(tokens(whole, 795, 800), last, close);
    cache.dispose();
    for (const prefill of [1, 255, 383, 385, 513]) {
      const grown = module.createCache({ dtype });
      module.forward(tokens(x, 0, prefill), { cache: grown });
      module.forward(tensor(new Float32Array(5 * 200).fill(NaN), [1, 200, 5]), { cache: grown });
      grown.truncate(prefill);
      for (const [start, end] of [
        [prefill, prefill + 1],
        [prefill + 1, prefill + 9],
        [prefill + 9, 800],
      ]) {
        const { output } = module.forward(tokens(x, start, end), { cache: grown });
        assert.deepEqual(output.data, tokens(whole, start, end).data, `${start} to ${end}`);
      }
      grown.dispose();
    }
    module.dispose();
  });

  test(`${dtype}: a trace recomputes weights, maps, values and outputs from what is stored`, () => {
    const module = createModule();
    const x = draw(3, 2, 24);
    const cache = module.createCache({ batch: 2, dtype });
    module.forward(tokens(x, 0, 13), { cache });
    const asked = { cache, needWeights: true, trace: true };
    const { weights, trace } = module.forward(tokens(x, 13, 17), asked);
    assert.ok(weights && trace);
    module.forward(tokens(x, 17, 24), { cache });
    cache.dispose();
    const right = expected(module, x, [13, 17], round);
    allClose(weights, right.weights, close);
    for (let i = 0; i < 6; i++) {
      const where = { batch: Math.floor(i / 3), head: i % 3 };
      const of = (/** @type {Matrix} */ all, /** @type {number} */ count) =>
        Array.from(all.data).slice(i * count, (i + 1) * count);
      assert.deepEqual([...trace.weights(where).data], of(weights, 68));
      assert.equal(trace.map({ ...where, size: 1 }).data[0], Math.max(...of(weights, 68)));
      assert.deepEqual([...trace.values(where).data], of(right.values, 68));
      allClose(trace.output(where), { shape: [4, 4], data: of(right.heads, 16) }, close);
    }
    trace.dispose();
    module.dispose();
  });

  test(`${dtype}: past keys and values are rounded, and masks and dropout act as ever`, () => {
    const module = createModule({ dropout: 0.5 }).eval();
    const x = draw(4, 2, 14);
    const [key, value] = stored(module, tokens(x, 0, 11), (each) => each).map((all) =>
      tensor(Float32Array.from(all.data), [...all.shape]),
    );
    const cache = module.createCache({ past: { key, value }, dtype });
    const mask = data(5, [3, 14], 2);
    const { output } = module.forward(tokens(x, 11, 14), { cache, mask });
    const more = { mask, isCausal: false };
    allClose(output, expected(module, x, [11, 14], round, more).output, close);
    cache.truncate(11);
    hw.manualSeed(2);
    const asked = { cache, needWeights: true };
    const { weights } = module.train().forward(tokens(x, 11, 14), asked);
    const right = expected(module, x, [11, 14], round).weights.data;
    assert.ok(
      weights?.data.every((weight, i) => weight === 0 || Math.abs(weight - 2 * right[i]) < 1e-5),
    );
    module.dispose();
  });
}

test('beyond 65,504 a float16 is infinite and a bfloat16 is not', () => {
  const module = new hw.MultiHeadAttention({ ...options, qkvBias: false });
  const one = tensor(new Float32Array(12), [1, 3, 1, 4]);
  const large = (/** @type {number} */ value) =>
    tensor(new Float32Array(12).fill(value), [1, 3, 1, 4]);
  const x = data(6, [1, 1, 5]);
  for (const [dtype, value, isFinite] of /** @type {const} */ ([
    ['float16', 65519, true],
    ['float16', 65520, false],
    ['bfloat16', 1e30, true],
  ])) {
    const cache = module.createCache({ past: { key: one, value: large(value) }, dtype });
    const { output } = module.forward(x, { cache });
    assert.equal(output.data.every(Number.isFinite), isFinite, `${dtype} of ${value}`);
  }
  module.dispose();
});

test('16 bits take half the memory', async () => {
  const [floats, half] = await Promise.all(
    [undefined, halves[0]].map(async (dtype) => {
      const own = await engine();
      const sizes = { dIn: 4, dOut: 1024, contextLength: 4096, numHeads: 8, outProj: false };
      const module = new own.MultiHeadAttention(sizes);
      const one = data(1, [1, 1, 4]);
      const cache = module.createCache({ batch: 16, dtype });
      const before = own.memoryBytes;
      const key = data(2, [16, 8, 1, 128]);
      cache.dispose();
      const past = { key, value: key };
      for (let i = 0; i < 3; i++) module.createCache({ past, dtype });
      const { memoryBytes } = own;
      module.forward(one);
      own.dispose();
      return memoryBytes - before;
    }),
  );
  // 2 · 256 tokens · 16 · 1024 floats are 32 MiB a cache.
  assert.ok(half > 0 && half < 0.6 * floats, `${half} of ${floats} bytes`);
});

test('a dtype that is none of a cache’s is refused by its name, and nothing is made', () => {
  const module = createModule();
  const before = hw.memoryBytes;
  for (const dtype of ['int8', 'FLOAT16', '', 1, {}, ['float16'], Symbol('float16')])
    throwsCode(
      () => module.createCache({ dtype: /** @type {any} */ (dtype) }),
      'ERR_VALUE',
      'dtype',
      '"float32", "bfloat16" or "float16"',
    );
  assert.equal(hw.memoryBytes, before);
  let reads = 0;
  const cache = module.createCache({
    get dtype() {
      return reads++ === 0 ? 'float16' : /** @type {any} */ ('int8');
    },
  });
  assert.deepEqual([cache.dtype, reads], ['float16', 1]);
  assert.equal(module.createCache().dtype, 'float32');
  module.dispose();
});
