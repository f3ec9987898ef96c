// Document 003, "Attention Is All You Need" from self-attention to stacked blocks: its classes at its own sizes. Their
// numbers are PyTorch's by tests/torch-blocks.test.js.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engine } from './helpers.js';

const hw = await engine();
const gpt2 = { dModel: 768, numHeads: 12, dFf: 3072 };

/** @param {{ data: ArrayLike<number> }} a @param {{ data: ArrayLike<number> }} b */
const meanDifference = (a, b) => {
  let sum = 0;
  for (let i = 0; i < a.data.length; i++) sum += Math.abs(a.data[i] - b.data[i]);
  return sum / a.data.length;
};

test('003, 5: the feed-forward network takes [2, 6, 768] to the same shape', () => {
  const ffn = new hw.FeedForward({ dModel: 768, dFf: 3072, dropout: 0.1 });
  assert.deepEqual([...ffn.forward(hw.randn([2, 6, 768])).output.shape], [2, 6, 768]);
  ffn.dispose();
});

test('003, 5: a block gives output and causal weights, and its output differs from its input, moderately', () => {
  hw.manualSeed(1);
  const block = new hw.TransformerBlock(gpt2).eval();
  const x = hw.randn([2, 6, 768]);
  const { output, weights } = block.forward(x, { needWeights: true });
  assert.ok(weights);
  assert.deepEqual([...output.shape], [2, 6, 768]);
  assert.deepEqual([...weights.shape], [2, 12, 6, 6]);
  weights.data.forEach((weight, i) => {
    if (i % 6 > Math.floor(i / 6) % 6) assert.equal(weight, 0);
    else assert.ok(weight > 0 && weight <= 1);
  });
  const difference = meanDifference(output, x);
  assert.ok(difference > 0.05 && difference < 0.5, `difference ${difference}`);
  block.dispose();
});

test('003, 7: token ids become embeddings, and these context-aware vectors', () => {
  const embed = new hw.Embedding({ numEmbeddings: 5000, embeddingDim: 768 });
  const block = new hw.TransformerBlock({ ...gpt2, dropout: 0.1 });
  // The same token twice: its embedding is the same, what the block makes of it is not.
  const { output: embeddings } = embed.forward([[464, 3797, 3332, 319, 262, 464]]);
  assert.deepEqual([...embeddings.shape], [1, 6, 768]);
  const token = (/** @type {typeof embeddings} */ x, /** @type {number} */ i) => ({
    data: x.data.subarray(i * 768, (i + 1) * 768),
  });
  assert.equal(meanDifference(token(embeddings, 0), token(embeddings, 5)), 0);
  const { output } = block.eval().forward(embeddings);
  assert.ok(meanDifference(token(output, 0), token(output, 5)) > 0.01);
  embed.dispose();
  block.dispose();
});

test('003, exercise 4: one head and twelve have 2,359,296 parameters each, and other outputs', () => {
  const options = { dIn: 768, dOut: 768, contextLength: 6, packedQkv: true, outBias: false };
  const single = new hw.MultiHeadAttention({ ...options, numHeads: 1 });
  const multi = new hw.MultiHeadAttention({ ...options, numHeads: 12 });
  assert.equal(single.parameterCount(), 2_359_296);
  assert.equal(multi.parameterCount(), 2_359_296);
  multi.loadStateDict(single.stateDict());
  const x = hw.randn([2, 6, 768]);
  assert.ok(meanDifference(multi.forward(x).output, single.forward(x).output) > 1e-3);
  single.dispose();
  multi.dispose();
});

test('003, exercise 6: three blocks keep the shape, and each leads further from the input', () => {
  hw.manualSeed(6);
  const stack = new hw.TransformerStack({ ...gpt2, numLayers: 3 });
  const x = hw.randn([1, 6, 768]);
  const { output, weights } = stack.forward(x, { needWeights: true });
  assert.deepEqual([...output.shape], [1, 6, 768]);
  assert.equal(weights?.length, 3);
  const one = new hw.TransformerBlock(gpt2);
  const first = Object.entries(stack.stateDict()).filter(([key]) => key.startsWith('blocks.0.'));
  one.loadStateDict(Object.fromEntries(first.map(([key, value]) => [key.slice(9), value])));
  assert.ok(meanDifference(output, x) > meanDifference(one.forward(x).output, x));
  stack.dispose();
  one.dispose();
});

test('003, exercise 7: post-norm gives rows of mean 0 and variance 1 where pre-norm does not', () => {
  const pre = new hw.TransformerBlock(gpt2);
  const post = new hw.TransformerBlock({ ...gpt2, norm: 'post' });
  post.loadStateDict(pre.stateDict());
  const x = hw.randn([1, 6, 768]);
  const spread = (/** @type {{ data: ArrayLike<number> }} */ { data }) => {
    const row = Array.from(data).slice(0, 768);
    const mean = row.reduce((a, b) => a + b, 0) / 768;
    return [mean, row.reduce((a, b) => a + (b - mean) ** 2, 0) / 768];
  };
  const [mean, variance] = spread(post.forward(x).output);
  assert.ok(Math.abs(mean) < 1e-6 && Math.abs(variance - 1) < 1e-4, `${mean}, ${variance}`);
  assert.ok(Math.abs(spread(pre.forward(x).output)[1] - 1) > 1e-3);
  pre.dispose();
  post.dispose();
});

test('003, exercise 8: the parameters of a block are 7,084,800', () => {
  const block = new hw.TransformerBlock(gpt2);
  const state = block.stateDict();
  const count = (/** @type {string} */ prefix) =>
    Object.entries(state).reduce(
      (sum, [key, { data }]) => sum + (key.startsWith(prefix) ? data.length : 0),
      0,
    );
  assert.equal(count('attn.qkv_proj'), 1_769_472);
  assert.equal(count('attn.out_proj'), 589_824);
  assert.equal(count('ffn.'), 4_722_432);
  assert.equal(count('ln'), 3072);
  assert.equal(block.parameterCount(), 7_084_800);
  block.dispose();
});

test('a Linear of GPT-2’s width has 590,592 parameters, an attention layer with biases 2,362,368', () => {
  const linear = new hw.Linear({ inFeatures: 768, outFeatures: 768 });
  const options = { dIn: 768, dOut: 768, contextLength: 1024, numHeads: 12, qkvBias: true };
  const attention = new hw.MultiHeadAttention(options);
  assert.equal(linear.parameterCount(), 590_592);
  assert.equal(attention.parameterCount(), 2_362_368);
  const feed = new hw.FeedForward({ dModel: 768, dFf: 3072 });
  assert.equal(feed.parameterCount(), 4_722_432);
  for (const module of [linear, attention, feed]) module.dispose();
});
