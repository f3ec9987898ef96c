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
