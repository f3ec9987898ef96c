// What PyTorch computed in float64 of GPT-2 checkpoints in Hugging Face's format: logits, weights, greedy continuations.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tensor } from 'headwise';
import { readSafetensors } from 'headwise/formats';
import { engine } from './helpers.js';
import { loadCheckpoint, readCheckpoint } from './gpt2.js';
import { gpt2 } from './reference-gpt2.js';
import { isTorchs, noticesErrors, readGroup } from './torch.js';

/** @typedef {import('./torch.js').Case & { checkpoint: import('./gpt2.js').Checkpoint, greedy?: number[][] }} Gpt2Case */

const hw = await engine();
const group = readGroup('gpt2');
const cases = /** @type {Gpt2Case[]} */ (group.cases);

/** @param {any} ids a spec */
function rows({ shape: [batch, tokens], values }) {
  return Array.from({ length: batch }, (_, b) => values.slice(b * tokens, (b + 1) * tokens));
}

for (const fixture of cases) {
  const { title, checkpoint, expect } = fixture;
  const ids = rows(/** @type {any} */ (fixture).ids);

  test(title, async () => {
    const model = await loadCheckpoint(hw, checkpoint);
    const { logits, weights } = model.forward(ids, { logits: 'all', needWeights: true });
    assert.ok(logits && weights);
    isTorchs(logits, expect.logits, group, 'logits');
    assert.equal(weights.length, model.options.numLayers);
    assert.equal(Object.keys(expect).length, 1 + weights.length);
    weights.forEach((layer, i) => isTorchs(layer, expect[`weights.${i}`], group, `weights.${i}`));
    // Without weights attention goes another way.
    const alone = model.forward(ids, { logits: 'all' });
    assert.deepEqual(Object.keys(alone), ['logits']);
    isTorchs(/** @type {Tensor} */ (alone.logits), expect.logits, group, 'logits alone');
    model.dispose();
  });

  test(`${title}: traces give the weights too`, async () => {
    const model = await loadCheckpoint(hw, checkpoint);
    const { trace } = model.forward(ids, { trace: true, logits: 'none' });
    assert.ok(trace);
    assert.equal(trace.length, model.options.numLayers);
    for (const [layer, each] of trace.entries()) {
      const [batch, heads, tokens] = each.shape;
      const data = new Float32Array(batch * heads * tokens * tokens);
      for (let i = 0; i < batch * heads; i++) {
        const where = { batch: Math.floor(i / heads), head: i % heads };
        data.set(each.weights(where).data, i * tokens * tokens);
      }
      const name = `weights.${layer}`;
      isTorchs(new Tensor(data, each.shape), expect[name], group, `traced ${name}`);
      each.dispose();
    }
    model.dispose();
  });

  if (fixture.greedy)
    test(`${title}: greedy generation gives PyTorch's tokens`, async () => {
      const model = await loadCheckpoint(hw, checkpoint);
      fixture.greedy?.forEach((expected, b) =>
        assert.deepEqual([...model.generate(ids[b], { maxTokens: expected.length })], expected),
      );
      model.dispose();
    });
}

test('there are cases with and without continuations, of every checkpoint', () => {
  for (const name of ['f32', 'f16', 'bf16']) {
    const own = cases.filter(({ checkpoint }) => checkpoint === name);
    assert.equal(own.length, 2);
    assert.equal(own.filter(({ greedy }) => greedy).length, 1);
  }
});

test('every fixture of gpt2 notices a number that is off by more than its tolerance', () => {
  for (const fixture of cases) noticesErrors(fixture, group);
});

test('the float64 reference gives PyTorch’s logits', async () => {
  for (const fixture of /** @type {any[]} */ (group.cases)) {
    const { config, weights } = readCheckpoint(fixture.checkpoint);
    const { tensors } = await readSafetensors(weights);
    const state = Object.fromEntries(
      Object.entries(tensors).map(([key, value]) => [key.replace(/^transformer\./, ''), value]),
    );
    const { vocab_size: vocabSize, n_head: numHeads, n_layer: numLayers } = config;
    const options = { numHeads, numLayers, eps: config.layer_norm_epsilon };
    const [batch, tokens] = fixture.ids.shape;
    const logitRows = Array.from({ length: batch }, (_, b) =>
      Array.from(gpt2(fixture.ids.values.slice(b * tokens, (b + 1) * tokens), state, options).data),
    );
    const logits = new Tensor(Float32Array.from(logitRows.flat()), [batch, tokens, vocabSize]);
    isTorchs(logits, fixture.expect.logits, group, fixture.title);
  }
});
