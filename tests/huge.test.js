// Sizes near 2^31 bytes and 4 GiB and beyond: computed or refused, never wrapped; and addresses beyond 2^31.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tensor, zeros } from 'headwise';
import { allClose, data, engine, throwsCode } from './helpers.js';
import * as reference from './reference.js';
import { checkFused } from './seeds.js';

/** @typedef {import('./helpers.js').Engine} Hw */

const sizes = [
  ...[2 ** 29 - 1, 2 ** 29, 2 ** 29 + 1, 2 ** 30 - 1, 2 ** 30, 2 ** 30 + 1],
  ...[2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 33, 2 ** 53 - 1],
];

const one = { dIn: 1, dOut: 1, contextLength: 1 };
const heads = { ...one, numHeads: 1 };
const block = { dModel: 1, numHeads: 1, dFf: 1 };

/**
 * What takes sizes; 8 times n bytes are too many for all of them.
 * @type {Record<string, (hw: Hw, n: number) => unknown>}
 */
const calls = {
  'zeros of a square': (_, n) => zeros([n, n]),
  'rand of rows': (hw, n) => hw.rand([n, 4]),
  'randn of a square': (hw, n) => hw.randn([n, n]),
  causalMask: (hw, n) => hw.causalMask(n),
  'Linear, in': (hw, n) => new hw.Linear({ inFeatures: n, outFeatures: 2 }),
  'Linear, out': (hw, n) => new hw.Linear({ inFeatures: 2, outFeatures: n }),
  'Linear, both': (hw, n) => new hw.Linear({ inFeatures: n, outFeatures: n }),
  'Embedding, count': (hw, n) => new hw.Embedding({ numEmbeddings: n, embeddingDim: 2 }),
  'Embedding, width': (hw, n) => new hw.Embedding({ numEmbeddings: 2, embeddingDim: n }),
  LayerNorm: (hw, n) => new hw.LayerNorm({ dim: n }),
  'SelfAttentionV1, in': (hw, n) => new hw.SelfAttentionV1({ dIn: n, dOut: 1 }),
  'SelfAttentionV1, out': (hw, n) => new hw.SelfAttentionV1({ dIn: 1, dOut: n }),
  'SelfAttentionV2, in': (hw, n) => new hw.SelfAttentionV2({ dIn: n, dOut: 1 }),
  'CausalAttention, out': (hw, n) => new hw.CausalAttention({ ...one, dOut: n }),
  'MultiHeadAttentionWrapper, in': (hw, n) =>
    new hw.MultiHeadAttentionWrapper({ ...heads, dIn: n }),
  'MultiHeadAttentionWrapper, heads': (hw, n) =>
    new hw.MultiHeadAttentionWrapper({ ...heads, numHeads: n }),
  'MultiHeadAttention, in': (hw, n) => new hw.MultiHeadAttention({ ...heads, dIn: n }),
  'MultiHeadAttention, out': (hw, n) => new hw.MultiHeadAttention({ ...heads, dOut: n }),
  'MultiHeadAttention, heads': (hw, n) =>
    new hw.MultiHeadAttention({ ...heads, dOut: n, numHeads: n }),
  'FeedForward, hidden': (hw, n) => new hw.FeedForward({ dModel: 1, dFf: n }),
  'FeedForward, width': (hw, n) => new hw.FeedForward({ dModel: n, dFf: 1 }),
  'TransformerBlock, hidden': (hw, n) => new hw.TransformerBlock({ ...block, dFf: n }),
  'TransformerBlock, width': (hw, n) => new hw.TransformerBlock({ ...block, dModel: n }),
  'TransformerStack, layers': (hw, n) => new hw.TransformerStack({ ...block, numLayers: n }),
  'TransformerStack, width': (hw, n) =>
    new hw.TransformerStack({ ...block, dModel: n, numLayers: 2 }),
};

test('whatever takes sizes refuses those that memory cannot hold', async () => {
  const hw = await engine();
  for (const n of sizes)
    for (const [name, call] of Object.entries(calls)) {
      assert.throws(() => call(hw, n), { code: 'ERR_MEMORY' }, `${name} of ${n}`);
      if (n % 2 ** 29 === 0) assert.equal(hw.softmax(zeros([1])).data[0], 1, name);
    }
  checkFused(hw);
  hw.dispose();
});

test('results that memory cannot hold are refused, however small their inputs', async () => {
  const hw = await engine();
  const n = 65536;
  const [row, column] = [zeros([1, n]), zeros([n, 1])];
  const linear = new hw.Linear({ inFeatures: 1, outFeatures: n, bias: false });
  const embedding = new hw.Embedding({ numEmbeddings: 2, embeddingDim: n });
  const mha = new hw.MultiHeadAttention({ ...heads, contextLength: 2 ** 30 });
  const causal = new hw.CausalAttention({ ...one, contextLength: n });
  const tall = new hw.TransformerBlock(block);
  const { trace } = mha.forward(zeros([2, 1]), { trace: true });
  assert.ok(trace);
  /** @type {Record<string, () => unknown>} */
  const cases = {
    matmul: () => hw.matmul(column, row),
    'matmul of a batch': () => hw.matmul(zeros([n, 1, 1]), zeros([1, 1, n])),
    'Embedding.forward': () => embedding.forward(new Uint8Array(n)),
    weights: () => hw.scaledDotProductAttention(column, column, column, { needWeights: true }),
    scores: () => hw.scaledDotProductAttention(column, column, column, { needWeights: 'scores' }),
    'MultiHeadAttention.forward': () => mha.forward(column, { needWeights: true }),
    'CausalAttention.forward': () => causal.forward(column, { needWeights: true }),
    'TransformerBlock.forward': () => tall.forward(column, { needWeights: true }),
    'trace.map': () => trace.map({ head: 0, size: n }),
  };
  for (const count of [16384, 32768, 65535, 65536, 65537])
    cases[`Linear.forward of ${count} rows`] = () => linear.forward(zeros([count, 1]));
  for (const batch of [2 ** 28 - 1, 2 ** 29, 2 ** 31, 2 ** 32 - 1])
    cases[`a cache of ${batch} sequences`] = () => mha.createCache({ batch });
  for (const size of [2 ** 15.5, 2 ** 16 - 1, 2 ** 16 + 1, 2 ** 31, 2 ** 32 - 1].map(Math.ceil))
    cases[`a map of ${size}`] = () => trace.map({ head: 0, size });
  for (const [name, call] of Object.entries(cases)) {
    assert.throws(call, { code: 'ERR_MEMORY' }, name);
    assert.equal(hw.softmax(zeros([1])).data[0], 1, name);
  }
  checkFused(hw);
  hw.dispose();
});

test('what lies beyond 2^31 bytes is computed with as everything else', async () => {
  const hw = await engine();
  const shape = { dIn: 1, dOut: 8, numHeads: 1, contextLength: 2 ** 24, outProj: false };
  const large = new hw.MultiHeadAttention(shape);
  // Memory for the first tokens: a GiB of keys and values each.
  const batch = 2 ** 16;
  const caches = [large.createCache({ batch }), large.createCache({ batch })];
  assert.ok(hw.memoryBytes > 2 ** 31);
  checkFused(hw);
  const [first, second] = caches.map(
    (cache) => large.forward(data(1, [batch, 1, 1]), { cache }).output,
  );
  assert.deepEqual(first, second);
  const mha = new hw.MultiHeadAttention({ ...heads, dIn: 30, dOut: 40, contextLength: 200 });
  const x = data(2, [2, 200, 30]);
  const { output, weights, trace } = mha.forward(x, { needWeights: true, trace: true });
  const expected = reference.multiHeadAttention(x, mha.stateDict(), {
    numHeads: 1,
    isCausal: true,
  });
  allClose(output, expected.output, { rtol: 2e-4, atol: 4e-5 });
  assert.ok(trace && weights);
  const rows = new Tensor(weights.data.slice(200 * 200), [200, 200]);
  allClose(trace.weights({ batch: 1, head: 0 }), rows, { rtol: 2e-4, atol: 4e-5 });
  const embedding = new hw.Embedding({ numEmbeddings: 300, embeddingDim: 7 });
  const { weight } = embedding.stateDict();
  assert.deepEqual(embedding.forward([299, 0]).output.data.slice(7), weight.data.slice(0, 7));
  throwsCode(() => large.createCache({ batch: 2 * batch }), 'ERR_MEMORY');
  hw.dispose();
});
