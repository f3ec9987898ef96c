// Key-value caches: appended to in any pieces, they give what one forward over all tokens gives.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { allClose, boolData, data, engine, throwsCode, tokens } from './helpers.js';
import * as reference from './reference.js';

/** @typedef {import('./helpers.js').Matrix} Matrix */
/** @typedef {InstanceType<Awaited<ReturnType<typeof engine>>['MultiHeadAttention']>} MultiHeadAttention */

const hw = await engine();
const loose = { rtol: 1e-5, atol: 2e-6 };
const options = { dIn: 5, dOut: 12, contextLength: 40, numHeads: 3, qkvBias: true };

/**
 * Output and weights of tokens [start, end), which attend over the first `end`, in float64.
 * @param {MultiHeadAttention} module
 * @param {Matrix} x
 * @param {number} start
 * @param {number} end
 * @param {import('./reference.js').AttentionOptions} [attention]
 */
function expected(module, x, start, end, attention) {
  const state = module.stateDict();
  const { numHeads, isCausal } = module.options;
  const project = (/** @type {string} */ name, /** @type {number} */ first) => {
    const layer = reference.layer(state, name);
    return reference.splitHeads(reference.linear(tokens(x, first, end), layer), numHeads);
  };
  const [q, k, v] = [project('W_query', start), project('W_key', 0), project('W_value', 0)];
  const given = { isCausal, causalOffset: start, ...attention };
  const { output, weights } = reference.scaledDotProductAttention(q, k, v, given);
  const out = reference.layer(state, 'out_proj');
  return { output: reference.linear(reference.mergeHeads(output), out), weights };
}

/**
 * Appends in pieces and compares each with the reference.
 * @param {MultiHeadAttention} module
 * @param {Matrix} x
 * @param {number[]} pieces
 */
function appendPieces(module, x, pieces) {
  const cache = module.createCache({ batch: x.shape[0] });
  let start = 0;
  for (const piece of pieces) {
    const end = start + piece;
    const what = `tokens ${start} to ${end}`;
    const actual = module.forward(tokens(x, start, end), { cache, needWeights: true });
    const right = expected(module, x, start, end);
    assert.ok(actual.weights);
    allClose(actual.output, right.output, { ...loose, what });
    allClose(actual.weights, right.weights, { ...loose, what: `weights of ${what}` });
    assert.equal(cache.length, end);
    start = end;
  }
  cache.dispose();
}

for (const isCausal of [true, false])
  for (const batch of [1, 2])
    test(`pieces of any size agree with the reference, ${isCausal ? 'causal' : 'all keys'}, batch ${batch}`, () => {
      const module = new hw.MultiHeadAttention({ ...options, isCausal });
      const x = data(1, [batch, 40, 5]);
      for (const piece of [1, 2, 3, 5, 7, 8, 9, 17])
        appendPieces(module, x, new Array(Math.floor(40 / piece)).fill(piece));
      appendPieces(module, x, [33, 1, 1, 1, 4]);
      appendPieces(module, x, [40]);
      module.dispose();
    });

test('a causal forward is the same to the bit, whole or in pieces, around panels and blocks', () => {
  const module = new hw.MultiHeadAttention({ ...options, contextLength: 530 });
  const x = data(2, [2, 530, 5]);
  const whole = module.forward(x).output;
  for (const prefill of [1, 7, 8, 9, 130, 383, 384, 385, 512]) {
    const cache = module.createCache({ batch: 2 });
    for (let start = 0; start < prefill + 6; start += start === 0 ? prefill : 2) {
      const end = start === 0 ? prefill : start + 2;
      const { output } = module.forward(tokens(x, start, end), { cache });
      assert.deepEqual(output.data, tokens(whole, start, end).data, `${start} to ${end}`);
    }
    cache.dispose();
  }
  module.dispose();
});

test('one sequence needs no batch', () => {
  const module = new hw.MultiHeadAttention(options);
  const cache = module.createCache();
  const x = data(3, [1, 9, 5]);
  const first = module.forward(tensor(x.data.slice(0, 40), [8, 5]), { cache });
  const next = module.forward(tensor(x.data.slice(40), [1, 5]), { cache });
  assert.deepEqual([...first.output.shape], [8, 12]);
  assert.deepEqual([...next.output.shape], [1, 12]);
  assert.deepEqual([...next.output.data], [...module.forward(x).output.data.slice(8 * 12)]);
  assert.deepEqual([cache.length, cache.batch, cache.capacity], [9, 1, 40]);
});

test('truncate forgets tokens: others take their place', () => {
  const module = new hw.MultiHeadAttention(options);
  const x = data(4, [2, 40, 5]);
  const cache = module.createCache({ batch: 2 });
  module.forward(x, { cache });
  for (const length of [39, 25, 24, 8, 3, 0]) {
    assert.equal(cache.truncate(length), cache);
    assert.equal(cache.length, length);
    const other = tensor(new Float32Array(2 * 4 * 5).fill(NaN), [2, 4, 5]);
    if (length < 36) module.forward(other, { cache });
    cache.truncate(length);
    const { output } = module.forward(tokens(x, length, length + 1), { cache });
    allClose(output, expected(module, x, length, length + 1).output, loose);
  }
});

test('past keys and values are copied, and the batch is theirs', () => {
  const module = new hw.MultiHeadAttention(options);
  const x = data(5, [2, 20, 5]);
  const state = module.stateDict();
  const past = (/** @type {string} */ name, /** @type {number} */ n) => {
    const projected = reference.linear(tokens(x, 0, n), reference.layer(state, name));
    const heads = reference.splitHeads(projected, 3);
    return tensor(Float32Array.from(heads.data), heads.shape);
  };
  for (const n of [0, 1, 7, 8, 9, 19]) {
    const [key, value] = [past('W_key', n), past('W_value', n)];
    const cache = module.createCache({ past: { key, value } });
    key.data.fill(NaN);
    value.data.fill(NaN);
    assert.deepEqual([cache.length, cache.batch], [n, 2]);
    const { output } = module.forward(tokens(x, n, 20), { cache });
    allClose(output, expected(module, x, n, 20).output, loose);
    cache.dispose();
  }
  const two = module.createCache({
    batch: 2,
    past: { key: past('W_key', 3), value: past('W_value', 3) },
  });
  assert.equal(two.batch, 2);
});

test('a mask spans the cached tokens and the new ones, and replaces the causal mask', () => {
  const module = new hw.MultiHeadAttention(options);
  const x = data(6, [2, 14, 5]);
  const cache = module.createCache({ batch: 2 });
  module.forward(tokens(x, 0, 11), { cache });
  const masks = [boolData(1, [3, 14]), data(2, [3, 14], 2), boolData(3, [2, 1, 3, 14])];
  masks.push(data(4, [1, 3, 3, 14]), boolData(5, [2, 3, 3, 14]), data(6, [1, 14]));
  masks.push(boolData(8, [3, 1]), data(9, [2, 3, 1, 14]));
  for (const mask of [boolData(7, [3, 3]), data(10, [3, 9]), boolData(11, [2, 1, 3, 13])])
    throwsCode(
      () => module.forward(tokens(x, 11, 14), { cache, mask }),
      'ERR_SHAPE',
      'mask',
      `[${mask.shape.join(', ')}]`,
      '[2, 3, 3, 14]',
    );
  for (const mask of masks) {
    const actual = module.forward(tokens(x, 11, 14), { cache, mask, needWeights: true });
    assert.ok(actual.weights);
    const right = expected(module, x, 11, 14, { mask, isCausal: false });
    allClose(actual.output, right.output, { ...loose, what: `mask [${mask.shape}]` });
    allClose(actual.weights, right.weights, { ...loose, what: `mask [${mask.shape}] weights` });
    cache.truncate(11);
  }
});

test('a trace of an append gives weights over all tokens, after the cache went on and ended', () => {
  const module = new hw.MultiHeadAttention({ ...options, dropout: 0.4 });
  for (const training of [true, false]) {
    module.train(training);
    const x = data(7, [2, 24, 5]);
    const cache = module.createCache({ batch: 2 });
    module.forward(tokens(x, 0, 13), { cache });
    const append = { cache, needWeights: true, trace: true };
    const { weights, trace } = module.forward(tokens(x, 13, 17), append);
    assert.ok(weights && trace);
    assert.deepEqual([...weights.shape], [2, 3, 4, 17]);
    assert.deepEqual([...trace.shape], [2, 3, 4, 17]);
    if (!training) allClose(weights, expected(module, x, 13, 17).weights, loose);
    module.forward(tokens(x, 17, 24), { cache });
    cache.dispose();
    for (let i = 0; i < 6; i++) {
      const where = { batch: Math.floor(i / 3), head: i % 3 };
      /** @type {number[]} */
      const right = [...weights.data.slice(i * 68, (i + 1) * 68)];
      assert.deepEqual([...trace.weights(where).data], right);
      const map = trace.map({ ...where, size: 1 });
      assert.equal(map.data[0], Math.max(...right));
    }
    trace.dispose();
  }
});

test('dropout acts on appends in training mode, and its draws are repeatable', () => {
  const module = new hw.MultiHeadAttention({ ...options, dropout: 0.5 });
  const x = data(8, [1, 12, 5]);
  const run = () => {
    hw.manualSeed(3);
    const cache = module.createCache();
    module.forward(tokens(x, 0, 10), { cache });
    const { output, weights } = module.forward(tokens(x, 10, 12), { cache, needWeights: true });
    cache.dispose();
    return { output: [...output.data], weights: [...(weights?.data ?? [])] };
  };
  const training = run();
  assert.deepEqual(run(), training);
  const right = [...expected(module, x, 10, 12).weights.data];
  const dropped = training.weights.filter((weight, i) => weight === 0 && right[i] !== 0);
  assert.ok(dropped.length > 10 && dropped.length < 60, `${dropped.length} dropped`);
  training.weights.forEach((weight, i) => {
    if (weight !== 0) assert.ok(Math.abs(weight - 2 * right[i]) < 1e-5);
  });
  module.eval();
  assert.notDeepEqual(run().output, training.output);
});

test('several caches of a module are independent', () => {
  const module = new hw.MultiHeadAttention(options);
  const sequences = [data(9, [1, 9, 5]), data(10, [1, 9, 5])];
  const caches = sequences.map(() => module.createCache());
  for (let t = 0; t < 9; t++)
    sequences.forEach((x, i) => {
      const { output } = module.forward(tokens(x, t, t + 1), { cache: caches[i] });
      assert.deepEqual(output.data, tokens(module.forward(x).output, t, t + 1).data);
    });
});
