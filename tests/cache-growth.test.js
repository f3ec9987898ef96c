// Caches take memory as their tokens come: a model of a long context can be asked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { data, engine, throwsCode, tokens } from './helpers.js';

const hw = await engine();
const options = { dIn: 5, dOut: 12, contextLength: 1500, numHeads: 3, qkvBias: true };

test('a cache that grew gives what one forward gives, to the bit, and traces too', () => {
  const mha = new hw.MultiHeadAttention(options);
  const x = data(1, [2, 1100, 5]);
  const { output } = mha.forward(x);
  const cache = mha.createCache({ batch: 2 });
  let start = 0;
  // One below, at and above what there is memory for.
  for (const end of [255, 256, 257, 300, 511, 513, 1100]) {
    const part = mha.forward(tokens(x, start, end), { cache, trace: true });
    assert.deepEqual(part.output, tokens(output, start, end), `${start} to ${end}`);
    assert.deepEqual([...part.trace.shape], [2, 3, end - start, end]);
    part.trace.dispose();
    start = end;
  }
  cache.truncate(200);
  const { output: again } = mha.forward(tokens(x, 200, 600), { cache });
  assert.deepEqual(again, tokens(output, 200, 600));
  mha.dispose();
});

test('a past of more tokens than a cache begins with is held whole', () => {
  const mha = new hw.MultiHeadAttention(options);
  const past = { key: data(1, [1, 3, 700, 4]), value: data(2, [1, 3, 700, 4]) };
  const one = data(3, [1, 1, 5]);
  const cache = mha.createCache({ past });
  assert.equal(cache.length, 700);
  const shorter = mha.createCache({ past });
  shorter.truncate(700);
  assert.deepEqual(mha.forward(one, { cache }).output, mha.forward(one, { cache: shorter }).output);
  throwsCode(() => mha.forward(data(4, [1, 800, 5]), { cache }), 'ERR_VALUE');
  assert.equal(cache.length, 701);
  mha.dispose();
});

test("a model with Qwen3-0.6B's keys and context generates", async () => {
  const own = await engine();
  const model = new own.Decoder({
    ...{ model_type: 'qwen3', vocab_size: 50, hidden_size: 64, head_dim: 128 },
    ...{ intermediate_size: 64, num_hidden_layers: 28, num_attention_heads: 16 },
    ...{ num_key_value_heads: 8, max_position_embeddings: 40960 },
  });
  const before = own.memoryBytes;
  assert.equal([...model.generate([1, 2, 3], { maxTokens: 4 })].length, 4);
  // All 40,960 tokens would take 9 GB.
  assert.ok(own.memoryBytes - before < 100e6, `${own.memoryBytes - before} bytes`);
  own.dispose();
});

test('where memory ends, a cache keeps its tokens', async () => {
  const own = await engine();
  const mha = new own.MultiHeadAttention({
    ...{ dIn: 4, dOut: 4096, contextLength: 2 ** 20, numHeads: 1, outProj: false },
  });
  const cache = mha.createCache({ batch: 64 });
  const { output } = mha.forward(data(1, [64, 3, 4]), { cache });
  // Keys and values of 2,000 more tokens are 4 GB.
  throwsCode(() => mha.forward(data(2, [64, 2000, 4]), { cache }), 'ERR_MEMORY');
  assert.equal(cache.length, 3);
  cache.truncate(2);
  const last = mha.forward(tokens(data(1, [64, 3, 4]), 2, 3), { cache }).output;
  assert.deepEqual(last, tokens(output, 2, 3));
  own.dispose();
});
