// Calls that end in ERR_MEMORY late, when some of their work is done: what they had made until then is freed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { Encoder } from 'headwise/models';
import { TransformerEncoderLayer } from 'headwise/torch';
import { engineOfPages } from './filled-memory.js';
import { data, throwsCode } from './helpers.js';

/** @typedef {import('./helpers.js').Engine} Hw */

/** How many LayerNorms of 64 KiB an engine still has room for. @param {Hw} hw */
function roomOf(hw) {
  const held = [];
  try {
    for (;;) held.push(new hw.LayerNorm({ dim: 8192 }));
  } catch {
    held.forEach((each) => each.dispose());
    return held.length;
  }
}

/** @param {Hw} hw @param {() => unknown} call */
function leavesNothing(hw, call) {
  throwsCode(call, 'ERR_MEMORY');
  const before = roomOf(hw);
  for (let i = 0; i < 12; i++) throwsCode(call, 'ERR_MEMORY');
  assert.equal(roomOf(hw), before);
}

for (const normFirst of [false, true]) {
  test(`a torch layer without memory after its attention frees the trace, ${normFirst ? 'pre' : 'post'}-norm`, async () => {
    const hw = await engineOfPages(1, 19);
    const options = { dModel: 16, nhead: 2, dimFeedforward: 2048, dropout: 0, batchFirst: true };
    const layer = new TransformerEncoderLayer(hw, { ...options, normFirst });
    leavesNothing(hw, () => layer.forward(data(1, [1, 100, 16]), { trace: true }));
  });
}

test('an encoder without memory for its head frees the traces', async () => {
  const hw = await engineOfPages(1, 24);
  const model = new Encoder(hw, {
    ...{ model_type: 'bert', vocab_size: 3000, hidden_size: 32, intermediate_size: 32 },
    ...{ num_hidden_layers: 1, num_attention_heads: 2 },
    ...{ max_position_embeddings: 64, type_vocab_size: 2 },
  });
  leavesNothing(hw, () => model.forward(new Array(60).fill(1), { trace: true }));
});

test('an optimizer without memory for a state dict keeps its own', async () => {
  const hw = await engineOfPages(1, 60);
  const linear = new hw.Linear({ inFeatures: 400, outFeatures: 400 });
  const optimizer = new hw.AdamW(linear.parameters(), { lr: 0.1 });
  linear.parameters().forEach((each, i) => (each.grad = data(i + 1, [...each.shape])));
  optimizer.step();
  const dict = optimizer.stateDict();
  const halved = Object.entries(dict).map(([key, value]) => {
    const values = Float32Array.from(value.data, (one) => Number(one) / 2);
    return [key, /exp_avg/.test(key) ? tensor(values, [...value.shape]) : value];
  });
  leavesNothing(hw, () => optimizer.loadStateDict(Object.fromEntries(halved)));
  assert.deepEqual(optimizer.stateDict(), dict);
  optimizer.step();
});
