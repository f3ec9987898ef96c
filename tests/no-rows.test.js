// Tensors without rows: batches and sequences of length 0. What is expected is torch's: empty results, zeros as sums of nothing, and
// gradients of zeros.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor, zeros } from 'headwise';
import { load } from 'headwise/worker';
import { MultiheadAttention } from 'headwise/torch';
import { data, engine, throwsCode } from './helpers.js';

const hw = await engine();

/** @typedef {import('headwise').Tensor} Tensor */

/** @param {Tensor} x @returns {Tensor} x */
const leaf = (x) => Object.assign(x, { requiresGrad: true });

/**
 * Of what is computed of them, and of its backward, zeros of the shapes that torch gives.
 * @param {Tensor[]} inputs
 * @param {() => Tensor} compute
 * @param {number[]} shape of the result
 */
function expectZeros(inputs, compute, shape) {
  inputs.forEach(leaf);
  const result = hw.enableGrad(compute);
  assert.deepEqual(result, zeros(shape));
  assert.ok(Object.isFrozen(result.shape));
  result.backward(zeros(shape));
  for (const input of inputs) assert.deepEqual(input.grad, zeros([...input.shape]));
}

test('products and transposes', () => {
  for (const [a, b, shape] of [
    [
      [0, 3],
      [3, 2],
      [0, 2],
    ],
    [
      [2, 0],
      [0, 2],
      [2, 2],
    ],
    [
      [3, 2],
      [2, 0],
      [3, 0],
    ],
    [[0], [0], []],
    [
      [0, 2, 3],
      [3, 4],
      [0, 2, 4],
    ],
    [
      [150, 0],
      [0, 9],
      [150, 9],
    ],
  ]) {
    const inputs = [data(1, a), data(2, b)];
    expectZeros(inputs, () => hw.matmul(inputs[0], inputs[1]), shape);
  }
  throwsCode(() => hw.matmul(zeros([2, 0]), zeros([3, 2])), 'ERR_SHAPE', 'a', '[2, 0]');
  for (const [shape, turned] of [
    [
      [0, 3],
      [3, 0],
    ],
    [
      [2, 0, 3],
      [2, 3, 0],
    ],
    [
      [0, 2, 3],
      [0, 3, 2],
    ],
  ]) {
    const x = zeros(shape);
    expectZeros([x], () => hw.transpose(x), turned);
  }
});

test('norms, embeddings and masks', async () => {
  const [weight, bias] = [data(1, [3]), data(2, [3])];
  for (const shape of [
    [0, 3],
    [2, 0, 3],
  ]) {
    const x = zeros(shape);
    expectZeros([x, weight, bias], () => hw.layerNorm(x, { weight, bias }), shape);
    expectZeros([x, weight], () => hw.rmsNorm(x, { weight }), shape);
    const fresh = await engine();
    assert.deepEqual(fresh.layerNorm(x), x, 'the first call of an engine');
    fresh.dispose();
    throwsCode(() => fresh.layerNorm(x), 'ERR_DISPOSED');
  }
  const table = data(3, [4, 2]);
  expectZeros([table], () => hw.embedding([], table), [0, 2]);
  expectZeros([table], () => hw.embedding([[], []], table), [2, 0, 2]);
  assert.deepEqual(hw.causalMask(0), tensor([], [0, 0], { dtype: 'bool' }));
});

test('losses: a mean of nothing is NaN, a sum 0', () => {
  for (const [shape, lead] of [
    [[0, 3], [0]],
    [
      [2, 0, 3],
      [2, 0],
    ],
  ]) {
    const x = zeros(shape);
    const of = (/** @type {'mean' | 'sum' | 'none'} */ reduction) =>
      hw.crossEntropy(x, zeros(lead), { reduction });
    assert.ok(Number.isNaN(of('mean').item()));
    expectZeros([x], () => of('sum'), []);
    expectZeros([x], () => of('none'), lead);
    const mean = hw.enableGrad(() => of('mean'));
    mean.backward();
    assert.deepEqual(x.grad, zeros(shape));
  }
});

test('attention: a query without keys gives zeros', () => {
  for (const [lead, queries, keys] of /** @type {[number[], number, number][]} */ ([
    [[], 0, 3],
    [[], 3, 0],
    [[], 0, 0],
    [[2], 3, 0],
    [[0, 2], 3, 4],
    [[2, 0], 3, 4],
    [[2, 2], 20, 0],
  ])) {
    const own = [...lead, queries, 4];
    const [q, k, v] = [own, [...lead, keys, 4], [...lead, keys, 4]].map((shape, i) =>
      data(i, shape),
    );
    const mask = data(4, [queries, keys]);
    const batch = lead.length === 2 ? lead[0] : 1;
    for (const options of [
      {},
      { isCausal: true, dropoutP: 0.5 },
      { mask },
      { kvLengths: Array(batch).fill(keys) },
    ]) {
      const inputs = [q, k, v, ...(options.mask ? [mask] : [])];
      const ask = () => hw.scaledDotProductAttention(q, k, v, { ...options, needWeights: true });
      expectZeros(inputs, () => ask().output, own);
      expectZeros(inputs, () => ask().weights, [...lead, queries, keys]);
    }
  }
  const none = zeros([0, 4]);
  const past = { key: data(1, [3, 4]), value: data(2, [3, 4]) };
  const { present } = hw.scaledDotProductAttention(none, none, none, { past });
  assert.deepEqual(present, past);
});

/** Modules, each for rows of 4. */
const modules = {
  Linear: new hw.Linear({ inFeatures: 4, outFeatures: 4 }),
  LayerNorm: new hw.LayerNorm({ dim: 4 }),
  FeedForward: new hw.FeedForward({ dModel: 4, dFf: 6, dropout: 0.5 }),
  CausalAttention: new hw.CausalAttention({ dIn: 4, dOut: 4, contextLength: 3 }),
  MultiHeadAttention: new hw.MultiHeadAttention({
    ...{ dIn: 4, dOut: 4, contextLength: 9, numHeads: 2, dropout: 0.5 },
  }),
  MultiHeadAttentionWrapper: new hw.MultiHeadAttentionWrapper({
    ...{ dIn: 4, dOut: 2, contextLength: 9, numHeads: 2 },
  }),
  TransformerBlock: new hw.TransformerBlock({ dModel: 4, numHeads: 2, dFf: 6, norm: 'post' }),
  TransformerStack: new hw.TransformerStack({ numLayers: 2, dModel: 4, numHeads: 2, dFf: 6 }),
};

for (const [name, module] of Object.entries(modules)) {
  test(`${name}: parameters get gradients of zeros`, () => {
    for (const shape of [
      [0, 4],
      [0, 3, 4],
      [2, 0, 4],
    ]) {
      for (const parameter of module.parameters()) parameter.grad = null;
      const x = zeros(shape);
      expectZeros([x], () => module.forward(x).output, shape);
      for (const { grad, shape: own } of module.parameters()) {
        assert.deepEqual(grad, zeros([...own]));
      }
    }
  });
}

test('Embedding.forward', () => {
  const module = new hw.Embedding({ numEmbeddings: 5, embeddingDim: 4 });
  const { output } = hw.enableGrad(() => module.forward([]));
  assert.deepEqual(output, zeros([0, 4]));
  output.backward(zeros([0, 4]));
  assert.deepEqual(module.parameters()[0].grad, zeros([5, 4]));
});

test('masks, weights, traces and caches of attention without tokens', () => {
  const module = modules.MultiHeadAttention.eval();
  const asked = { needWeights: /** @type {const} */ (true), trace: /** @type {const} */ (true) };
  const none = zeros([2, 0, 4]);
  const mask = tensor([], [0, 0], { dtype: 'bool' });
  const keyPaddingMask = tensor([], [2, 0], { dtype: 'bool' });
  const { weights, trace } = module.forward(none, { ...asked, mask, keyPaddingMask });
  assert.deepEqual(weights, zeros([2, 2, 0, 0]));
  assert.deepEqual(trace.weights({ head: 0 }), zeros([0, 0]));
  assert.deepEqual(trace.norms({ head: 0 }), zeros([0, 0]));
  assert.deepEqual(trace.output({ head: 1 }), zeros([0, 2]));
  const map = trace.map({ head: 0, size: 4 });
  assert.deepEqual(map, zeros([4, 4]));
  assert.ok(Object.isFrozen(map.shape));
  trace.dispose();
  const x = data(1, [1, 5, 4]);
  const expected = module.forward(x).output;
  const cache = module.createCache();
  for (const [start, end] of [
    [0, 0],
    [0, 5],
    [5, 5],
  ]) {
    const part = x.slice([], [start, end]);
    assert.deepEqual(module.forward(part, { cache }).output, expected.slice([], [start, end]));
    assert.equal(cache.length, end);
  }
  modules.MultiHeadAttention.train();
});

test('MultiheadAttention of headwise/torch', () => {
  const module = new MultiheadAttention(hw, { embedDim: 4, numHeads: 2, batchFirst: true });
  for (const shape of [
    [0, 3, 4],
    [2, 0, 4],
  ]) {
    const x = leaf(zeros(shape));
    const { output, weights } = hw.enableGrad(() => module.forward(x, x, x));
    assert.deepEqual(output, zeros(shape));
    assert.deepEqual(weights, zeros([shape[0], shape[1], shape[1]]));
    output.backward(zeros(shape));
    for (const { grad, shape: own } of module.parameters()) assert.deepEqual(grad, zeros([...own]));
  }
});

test('an engine in a Worker takes them too', async () => {
  const far = await load();
  assert.deepEqual(await far.matmul(zeros([0, 3]), zeros([3, 2])), zeros([0, 2]));
  const linear = await new far.Linear({ inFeatures: 3, outFeatures: 2 });
  assert.deepEqual((await linear.forward(zeros([0, 3]))).output, zeros([0, 2]));
  assert.deepEqual(await far.embedding([], zeros([3, 2])), zeros([0, 2]));
  assert.deepEqual(await far.multiply(tensor([2, 3]), tensor([true, false])), tensor([2, 0]));
  await far.dispose();
});
