// Gpt2's forward beside PyTorch's numbers (torch-gpt2): which logits, caches, batches, muted heads, state dicts, threads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, Tensor, tensor, zeros } from 'headwise';
import { Gpt2 } from 'headwise/gpt2';
import { drawIds, small, smallModel } from './gpt2.js';
import { allClose, engine, throwsCode } from './helpers.js';

/** @typedef {import('./helpers.js').Engine} Engine */
/** @typedef {import('headwise/gpt2').Gpt2ForwardOptions} Gpt2ForwardOptions */

const hw = await engine();
const model = smallModel(hw);
const { vocabSize, contextLength, dModel, numHeads, numLayers } = small;
const headDim = dModel / numHeads;

/** Both are float32 of another order of sums. */
const near = { rtol: 1e-5, atol: 2e-5 };

/**
 * @param {import('headwise/gpt2').Gpt2} of
 * @param {any} ids
 * @param {Gpt2ForwardOptions} [options]
 * @returns {Tensor}
 */
function logitsOf(of, ids, options) {
  const { logits } = of.forward(ids, { logits: 'all', ...options });
  assert.ok(logits);
  return logits;
}

/** The largest difference. @param {Tensor} a @param {Tensor} b */
const apart = (a, b) => Math.max(...Array.from(a.data, (value, i) => Math.abs(value - b.data[i])));

/**
 * Rows [start, end) of [tokens, vocabSize].
 * @param {Tensor} logits
 * @param {number} start
 * @param {number} end
 */
const rows = (logits, start, end) =>
  new Tensor(logits.data.slice(start * vocabSize, end * vocabSize), [end - start, vocabSize]);

test('logits are of the last token, of all, of none, or of a range', () => {
  const ids = drawIds(1, 9);
  const all = logitsOf(model, ids);
  assert.deepEqual([...all.shape], [9, vocabSize]);
  const { logits: last } = model.forward(ids);
  assert.deepEqual(last, model.forward(ids, { logits: 'last' }).logits);
  allClose(/** @type {Tensor} */ (last), rows(all, 8, 9), near);
  assert.deepEqual(model.forward(ids, { logits: 'none' }), {});
  for (const [start, end] of [
    [0, 9],
    [0, 1],
    [8, 9],
    [3, 7],
  ])
    allClose(logitsOf(model, ids, { logits: [start, end] }), rows(all, start, end), near);
  for (const at of [0, 4, 9])
    assert.deepEqual(model.forward(ids, { logits: [at, at] }).logits.shape, [0, vocabSize]);
});

test('a result has what was asked for and nothing else, and inputs stay as they are', () => {
  const ids = Int32Array.from(drawIds(2, 5));
  const kept = ids.slice();
  const {
    trace = [],
    weights = [],
    ...others
  } = model.forward(ids, { trace: true, needWeights: true });
  assert.deepEqual(Object.keys(others), ['logits']);
  assert.deepEqual([trace.length, weights.length], [numLayers, numLayers]);
  for (const layer of [0, 1]) {
    assert.deepEqual([...weights[layer].shape], [1, numHeads, 5, 5]);
    assert.deepEqual([...trace[layer].shape], [1, numHeads, 5, 5]);
  }
  trace.forEach((each) => each.dispose());
  assert.deepEqual(ids, kept);
});

test('sequences of a batch are computed as if alone, with the batch in the logits’ shape', () => {
  const batch = [drawIds(3, 7), drawIds(4, 7), drawIds(5, 7)];
  const { logits, weights = [] } = model.forward(batch, { logits: [2, 6], needWeights: true });
  assert.ok(logits);
  assert.deepEqual([...logits.shape], [3, 4, vocabSize]);
  assert.deepEqual([...weights[1].shape], [3, numHeads, 7, 7]);
  batch.forEach((ids, b) => {
    const own = logitsOf(model, ids, { logits: [2, 6] });
    const size = 4 * vocabSize;
    allClose(new Tensor(logits.data.slice(b * size, (b + 1) * size), own.shape), own, near);
  });
  assert.deepEqual([...logitsOf(model, [batch[0]]).shape], [1, 7, vocabSize]);
});

test('ids are nested arrays, typed arrays of any kind, or a tensor', () => {
  const ids = drawIds(6, 8);
  const expected = logitsOf(model, ids);
  for (const same of [
    Int32Array.from(ids),
    Uint8Array.from(ids),
    BigInt64Array.from(ids, BigInt),
    tensor(ids),
    tensor(Float32Array.from(ids), [8]),
  ])
    assert.deepEqual(logitsOf(model, same), expected);
});

test('a forward in pieces through a cache gives the logits of the whole, however it is split', () => {
  const ids = drawIds(7, contextLength);
  const whole = logitsOf(model, ids);
  const splits = [
    ...Array.from({ length: contextLength - 1 }, (_, i) => [i + 1, contextLength - 1 - i]),
    ...[Array(contextLength).fill(1), [1, 2, 3, 5, 8, 1], [7, 1, 1, 11]],
  ];
  for (const split of splits) {
    const cache = model.createCache();
    let start = 0;
    for (const count of split) {
      const piece = ids.slice(start, start + count);
      const { logits, weights = [] } = model.forward(piece, {
        logits: 'all',
        cache,
        needWeights: true,
      });
      assert.ok(logits);
      allClose(logits, rows(whole, start, start + count), { ...near, what: `[${split}]` });
      assert.deepEqual([...weights[1].shape], [1, numHeads, count, start + count]);
      start += count;
      assert.equal(cache.length, start);
    }
    cache.dispose();
  }
});

test('traces and weights of a piece are the whole’s last rows', () => {
  const ids = drawIds(8, 12);
  const { weights: whole = [] } = model.forward(ids, { needWeights: true });
  const cache = model.createCache();
  model.forward(ids.slice(0, 7), { cache, logits: 'none' });
  const { trace = [], weights = [] } = model.forward(ids.slice(7), {
    ...{ cache, trace: true, needWeights: true },
  });
  for (const [layer, each] of trace.entries())
    for (let head = 0; head < numHeads; head++) {
      const start = (head * 12 + 7) * 12;
      const expected = new Tensor(whole[layer].data.slice(start, start + 5 * 12), [5, 12]);
      allClose(each.weights({ head }), expected, near);
      const own = weights[layer].data.slice(head * 60, (head + 1) * 60);
      allClose(new Tensor(own, [5, 12]), expected, near);
    }
  trace.forEach((each) => each.dispose());
  cache.dispose();
});

test('a truncated cache goes on as if it had never been longer, in a batch too', () => {
  const batch = [drawIds(9, 20), drawIds(10, 20)];
  const part = (/** @type {number} */ start, /** @type {number} */ end) =>
    batch.map((ids) => ids.slice(start, end));
  const cache = model.createCache({ batch: 2 });
  model.forward(part(0, 20), { cache });
  for (const length of [19, 12, 5, 0]) {
    cache.truncate(length);
    model.forward([drawIds(11, 20 - length), drawIds(12, 20 - length)], { cache });
    cache.truncate(length);
    const again = logitsOf(model, part(length, length + 1), { cache });
    const expected = logitsOf(model, part(0, length + 1), { logits: [length, length + 1] });
    allClose(again, expected, near);
    cache.truncate(length);
  }
  cache.dispose();
});

test('an error leaves the cache as it was', () => {
  const ids = drawIds(13, 15);
  const cache = model.createCache();
  model.forward(ids, { cache });
  throwsCode(() => model.forward(drawIds(14, 6), { cache }), 'ERR_VALUE', 'cache 15');
  throwsCode(() => model.forward([vocabSize], { cache }), 'ERR_VALUE', 'ids[0]');
  throwsCode(() => model.forward([[1], [2]], { cache }), 'ERR_SHAPE', 'batch');
  throwsCode(() => model.forward([1], { cache, logits: [1, 2] }), 'ERR_VALUE', 'logits');
  assert.equal(cache.length, 15);
  const expected = logitsOf(model, [...ids, 3], { logits: [15, 16] });
  allClose(logitsOf(model, [3], { cache }), expected, near);
  cache.dispose();
});

/**
 * The model with rows of one head of attn.c_proj.weight multiplied: what its output adds to the stream.
 * @param {[layer: number, head: number][]} heads
 * @param {number} factor
 */
function withScaledHeads(heads, factor) {
  const state = model.stateDict();
  for (const [layer, head] of heads) {
    const { data } = state[`h.${layer}.attn.c_proj.weight`];
    for (let i = head * headDim * dModel; i < (head + 1) * headDim * dModel; i++) data[i] *= factor;
  }
  return new Gpt2(hw, small, false).loadStateDict(state);
}

for (const factor of [0, 0.5, -1, 3])
  test(`a head with the factor ${factor} is one whose rows of attn.c_proj.weight have it`, () => {
    const ids = drawIds(15, contextLength);
    const plain = logitsOf(model, ids);
    for (let layer = 0; layer < numLayers; layer++)
      for (let head = 0; head < numHeads; head++) {
        const scaled = withScaledHeads([[layer, head]], factor);
        const expected = logitsOf(scaled, ids);
        const headMask = Array.from({ length: numLayers }, () => Array(numHeads).fill(1));
        headMask[layer][head] = factor;
        const muted = logitsOf(model, ids, { headMask });
        allClose(muted, expected, near);
        const moved = apart(muted, plain);
        assert.ok(moved > 0.01, `moved by ${moved} only`);
        scaled.dispose();
      }
  });

test('all heads of both layers can be muted, in pieces through a cache too', () => {
  const ids = drawIds(16, 11);
  const all = Array.from({ length: numLayers * numHeads }, (_, i) => [
    Math.floor(i / numHeads),
    i % numHeads,
  ]);
  const scaled = withScaledHeads(/** @type {[number, number][]} */ (all), 0);
  const headMask = zeros([numLayers, numHeads]);
  allClose(logitsOf(model, ids, { headMask }), logitsOf(scaled, ids), near);
  const other = tensor([
    [0, 1, 0.25],
    [1, -2, 0],
  ]);
  const whole = logitsOf(model, ids, { headMask: other });
  const cache = model.createCache();
  for (let i = 0; i < 11; i += 4) {
    const end = Math.min(11, i + 4);
    const piece = logitsOf(model, ids.slice(i, end), { headMask: other, cache });
    allClose(piece, rows(whole, i, end), near);
  }
  cache.dispose();
  scaled.dispose();
});

test('a head mask of ones changes nothing, and none changes the first layer’s weights', () => {
  const ids = drawIds(17, 10);
  const ones = [
    [1, 1, 1],
    [1, 1, 1],
  ];
  allClose(logitsOf(model, ids, { headMask: ones }), logitsOf(model, ids), near);
  const plain = model.forward(ids, { needWeights: true });
  const headMask = [
    [0, 0, 1],
    [1, 1, 1],
  ];
  const muted = model.forward(ids, { needWeights: true, trace: true, headMask });
  assert.deepEqual(muted.weights?.[0], plain.weights?.[0]);
  assert.notDeepEqual(muted.weights?.[1], plain.weights?.[1]);
  muted.trace?.forEach((each, layer) => {
    const expected = muted.weights?.[layer].data.slice(0, 100) ?? [];
    allClose(each.weights({ head: 0 }), tensor(expected, [10, 10]), near);
    each.dispose();
  });
});

test('options have defaults, are frozen, and decide what is computed', () => {
  assert.deepEqual(model.options, {
    ...small,
    dFf: 48,
    eps: 1e-5,
    approximate: 'tanh',
    dropout: 0,
  });
  assert.ok(Object.isFrozen(model.options));
  const ids = drawIds(19, 9);
  const exact = logitsOf(smallModel(hw, { approximate: 'none' }), ids);
  const tanh = logitsOf(model, ids);
  const distance = apart(exact, tanh);
  assert.ok(distance > 1e-5 && distance < 1e-2, `GELUs are ${distance} apart`);
});

test('without eps norms are those of the variance alone', () => {
  const ids = drawIds(20, 9);
  const none = smallModel(hw, { eps: 0 });
  assert.equal(none.options.eps, 0);
  const least = logitsOf(smallModel(hw, { eps: 1e-12 }), ids);
  allClose(logitsOf(none, ids), least, near);
  const usual = logitsOf(model, ids);
  assert.notDeepEqual(usual, least);
});

test('results do not depend on the number of threads, to the bit', async () => {
  const results = async (/** @type {number} */ threads) => {
    const own = await load({ simd: /** @type {any} */ (hw.info.simd), threads });
    assert.equal(own.info.threads, threads);
    const wide = { vocabSize: 300, contextLength: 200, dModel: 64, numHeads: 4, numLayers: 2 };
    own.manualSeed(3);
    const big = new Gpt2(own, wide);
    const cache = big.createCache({ batch: 2 });
    const ids = [drawIds(21, 150, 300), drawIds(22, 150, 300)];
    const headMask = [
      [1, 0, 1, 0.5],
      [1, 1, 1, 0],
    ];
    const { trace = [], weights = [] } = big.forward(ids, { trace: true, needWeights: true });
    const all = [
      logitsOf(big, ids, { headMask }),
      logitsOf(big, ids, { cache }),
      logitsOf(big, [[1], [2]], { cache }),
      trace[1].map({ batch: 1, head: 2, size: 40 }),
      ...weights,
    ].map(({ data }) => data);
    const tokens = [...big.generate(ids[0], { temperature: 1, topK: 50, seed: 4, maxTokens: 30 })];
    own.dispose();
    return { all, tokens };
  };
  const expected = await results(1);
  for (let repeat = 0; repeat < 3; repeat++) assert.deepEqual(await results(2), expected);
});

test('a disposed model and what is made of it say so', () => {
  const other = smallModel(hw);
  const cache = other.createCache();
  other.dispose();
  throwsCode(() => other.forward([1]), 'ERR_DISPOSED', 'Gpt2');
  throwsCode(() => other.createCache(), 'ERR_DISPOSED', 'Gpt2');
  throwsCode(() => other.stateDict(), 'ERR_DISPOSED', 'Gpt2');
  throwsCode(() => other.generate([1]).next(), 'ERR_DISPOSED', 'Gpt2');
  assert.equal(cache.length, 0);
  cache.dispose();
});

test('running and making again takes no more memory', () => {
  const run = () => {
    const other = smallModel(hw);
    const cache = other.createCache();
    other.forward(drawIds(23, 20), { cache, trace: true }).trace?.forEach((each) => each.dispose());
    cache.dispose();
    other.dispose();
  };
  run();
  const bytes = hw.memoryBytes;
  for (let i = 0; i < 200; i++) run();
  assert.equal(hw.memoryBytes, bytes);
});
