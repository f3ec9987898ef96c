// What the engine may hold at once: no n×n matrix hides anywhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zeros } from 'headwise';
import { engine } from './helpers.js';

const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/**
 * @param {number} bytes
 * @param {number} most
 */
const within = (bytes, most) =>
  assert.ok(bytes <= most, `${megabytes(bytes)}, allowed are ${megabytes(most)}`);

test('a causal layer of 768, 12 heads, over 4,096 tokens stays within 100 MB, weights included', async () => {
  const hw = await engine();
  const mha = new hw.MultiHeadAttention({ dIn: 768, dOut: 768, contextLength: 4096, numHeads: 12 });
  mha.forward(zeros([4096, 768]));
  within(hw.memoryBytes, 100e6);
  hw.dispose();
});

test('a trace, its maps and its rows take memory by the token, not by the pair of tokens', async () => {
  const hw = await engine();
  const [tokens, width] = [20000, 8];
  const options = { dIn: width, dOut: width, contextLength: tokens, numHeads: 1 };
  const mha = new hw.MultiHeadAttention(options);
  const { trace } = mha.forward(zeros([tokens, width]), { trace: true });
  assert.ok(trace);
  trace.map({ head: 0, size: 64 });
  trace.weights({ head: 0, rows: [tokens - 5, tokens] });
  // The n×n matrix would be 1.6 GB.
  within(hw.memoryBytes, 16e6);
  hw.dispose();
});

test('running again takes no more memory', async () => {
  const hw = await engine();
  const mha = new hw.MultiHeadAttention({ dIn: 64, dOut: 64, contextLength: 500, numHeads: 4 });
  const run = () => mha.forward(zeros([500, 64]), { needWeights: true, trace: true });
  run().trace?.dispose();
  const after = hw.memoryBytes;
  for (let i = 0; i < 50; i++) run().trace?.dispose();
  assert.equal(hw.memoryBytes, after);
  hw.dispose();
});

test('after a long run and one of a token, its memory serves what comes next', async () => {
  const hw = await engine();
  const mha = new hw.MultiHeadAttention({ dIn: 64, dOut: 64, contextLength: 9000, numHeads: 4 });
  mha.forward(zeros([9000, 64]));
  const held = hw.memoryBytes;
  mha.forward(zeros([1, 64]));
  // Queries, keys and values of the long run, whose scratch it was, took three times the floats of its input.
  const weights = new hw.Linear({ inFeatures: 1024, outFeatures: (9000 * 64 * 2) / 1024 });
  assert.equal(hw.memoryBytes, held);
  weights.dispose();
  hw.dispose();
});
