// Attribution and circuits of heads: what is asked for wrongly, and Workers.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadGpt2 } from 'headwise/gpt2';
import { loadModel } from 'headwise/models';
import { load } from 'headwise/worker';
import { engine, throwsCode } from './helpers.js';
import { drawIds, loadCheckpoint, readCheckpoint, smallModel } from './gpt2.js';

const hw = await engine();
after(() => hw.dispose());
const model = smallModel(hw);
const ids = drawIds(1, 9);

test('attribution names what does not fit', () => {
  const bad = (/** @type {any} */ options, /** @type {string[]} */ ...parts) =>
    throwsCode(() => model.attribution(ids, options), 'ERR_VALUE', ...parts);
  bad(undefined, 'target', 'undefined');
  bad({}, 'target', 'undefined');
  bad({ target: 31 }, 'target', '31');
  bad({ target: 1, against: -1 }, 'against', '-1');
  bad({ target: 1, position: 9 }, 'position', '9');
  bad({ target: 1, layer: 0 }, 'layer');
  bad({ target: 1, directions: 1 }, 'directions');
  bad({ target: 1, headMask: 1 }, 'headMask');
  throwsCode(
    () => model.attribution(ids, { target: 1, headMask: [[1]] }),
    'ERR_SHAPE',
    'headMask',
    'layers and heads',
  );
  for (const texts of [[[1], [2]], [[[1, 2]]], []])
    throwsCode(() => model.attribution(texts, { target: 1 }), 'ERR_SHAPE', 'ids', '[tokens]');
  throwsCode(() => model.attribution(drawIds(2, 21), { target: 1 }), 'ERR_SHAPE', 'ids', '20');
  throwsCode(() => model.attribution([31], { target: 1 }), 'ERR_VALUE', 'ids');
});

test('headCircuits names what does not fit', () => {
  const bad = (/** @type {any} */ where, /** @type {string[]} */ ...parts) =>
    throwsCode(() => model.headCircuits(where), 'ERR_VALUE', ...parts);
  bad(undefined, 'layer');
  bad({ layer: 2, head: 0 }, 'layer', '2');
  bad({ layer: 0, head: 3 }, 'head', '3');
  bad({ layer: 0, head: 0, of: 1 }, 'of');
});

test('a text in a batch of one is that text, and the last position is asked for by default', () => {
  const whole = model.attribution([ids], { target: 3 });
  assert.deepEqual(whole, model.attribution(ids, { target: 3, position: 8 }));
  const { total } = model.attribution(ids, { target: 3, against: 3 });
  assert.equal(total, 0);
});

test('heads that write nothing have no circuit', () => {
  const still = smallModel(hw);
  const state = still.stateDict();
  state['h.1.attn.c_proj.weight'].data.fill(0);
  still.loadStateDict(state);
  const { copying, ovEigenvalues } = still.headCircuits({ layer: 1, head: 2 });
  assert.equal(copying, 0);
  assert.deepEqual(
    ovEigenvalues,
    Array.from({ length: 4 }, () => [0, 0]),
  );
  still.dispose();
  throwsCode(() => still.headCircuits({ layer: 0, head: 0 }), 'ERR_DISPOSED', 'Gpt2');
  throwsCode(() => still.attribution(ids, { target: 0 }), 'ERR_DISPOSED', 'Gpt2');
});

for (const name of ['llama', 'gemma3_text-caps', 'gpt_neox', 'qwen3']) {
  for (const dtype of /** @type {const} */ (['float32', 'bfloat16', 'float16', 'int8'])) {
    test(`the parts of ${name}’s logits add up to them with weights in ${dtype}`, async () => {
      const folder = new URL(`fixtures/models/${name}/`, import.meta.url);
      const decoder = await loadModel(hw, folder, { dtype });
      const text = [3, 7, 1, 7, 2];
      const { data } = decoder.forward(text).logits;
      for (const against of [undefined, 4]) {
        const { heads, mlps, embedding, biases, total } = decoder.attribution(text, {
          ...{ target: 9, against },
        });
        const parts = [...heads.data, ...mlps.data, embedding, biases];
        const sum = parts.reduce((all, part) => all + part, 0);
        const logit = data[9] - (against === undefined ? 0 : data[against]);
        const scale = Math.max(1, ...parts.map(Math.abs));
        assert.ok(Math.abs(sum - total) <= 1e-5 * scale, `parts: ${sum}, total: ${total}`);
        assert.ok(Math.abs(total - logit) <= 1e-5 * scale, `total: ${total}, logit: ${logit}`);
      }
      const { numLayers, numHeads } = decoder.config;
      const row = Array.from({ length: numHeads }, (_, head) => head % 2);
      const headMask = Array.from({ length: numLayers }, () => row);
      const { heads } = decoder.attribution(text, { target: 9, headMask });
      heads.data.forEach((part, i) =>
        assert.equal(part !== 0, (i % numHeads) % 2 > 0, `part ${i}`),
      );
      decoder.dispose();
    });
  }
}

test('a model in a Worker gives the same numbers', async () => {
  const there = await load();
  try {
    const near = await loadCheckpoint(hw, 'f32');
    /** @type {any} */
    const far = await loadGpt2(there, readCheckpoint('f32'));
    const text = [3, 1, 4, 1, 5];
    const asked = { target: 9, against: 2 };
    assert.deepEqual(await far.attribution(text, asked), near.attribution(text, asked));
    const where = { layer: 1, head: 2 };
    assert.deepEqual(await far.headCircuits(where), near.headCircuits(where));
    near.dispose();
  } finally {
    there.dispose();
  }
});

test('with factors of heads, the parts are those of a forward with them: a muted head has none', () => {
  const [numLayers, numHeads] = model.attribution(ids, { target: 9 }).heads.shape;
  const headMask = Array.from({ length: numLayers }, (_, layer) =>
    Array.from({ length: numHeads }, (__, head) => (layer + head) % 2 && 0.5),
  );
  const asked = { target: 9, against: 2, headMask };
  const { heads, mlps, embedding, biases, total, directions } = model.attribution(ids, {
    ...{ ...asked, directions: true },
  });
  const { data } = model.forward(ids, { headMask }).logits;
  assert.ok(Math.abs(total - (data[9] - data[2])) < 1e-5, `${total}`);
  const all = [...heads.data, ...mlps.data, embedding, biases];
  assert.ok(Math.abs(all.reduce((a, b) => a + b) - total) < 1e-5);
  const own = headMask.flat();
  const { trace } = model.forward(ids, { headMask, trace: true });
  const [, , headDim] = directions?.shape ?? [];
  own.forEach((factor, i) => {
    assert.equal(heads.data[i] !== 0, factor !== 0, `part ${i}`);
    const output = trace[Math.floor(i / numHeads)].output({ head: i % numHeads });
    const last = output.data.subarray(-headDim);
    const direction = directions?.data.subarray(i * headDim, (i + 1) * headDim) ?? [];
    const part = last.reduce((sum, x, j) => sum + factor * x * direction[j], 0);
    assert.ok(Math.abs(part - heads.data[i]) < 1e-5, `part ${i}: ${part}, ${heads.data[i]}`);
  });
  for (const layer of trace) layer.dispose();
});

for (const name of ['gpt2-own-head', 'llama', 'gemma3_text-caps', 'gpt_neox'])
  test(`the heads’ parts of ${name}’s logits, split over the keys, add up to them`, async () => {
    const folder = new URL(`fixtures/models/${name}/`, import.meta.url);
    const decoder = await loadModel(hw, folder, { dtype: 'float32' });
    const text = [3, 7, 1, 7, 2];
    const position = 3;
    const asked = { target: 9, against: 4, position };
    const { heads, directions = heads } = decoder.attribution(text, {
      ...asked,
      directions: true,
    });
    assert.deepEqual(decoder.attribution(text, asked).heads, heads);
    const [layers, inLayer, headDim] = directions.shape;
    assert.deepEqual([layers, inLayer], heads.shape);
    const { trace } = decoder.forward(text, { trace: true });
    for (const [i, part] of heads.data.entries()) {
      const [layer, head] = [Math.floor(i / inLayer), i % inLayer];
      const weights = trace[layer].weights({ head, rows: [position, position + 1] }).data;
      const values = trace[layer].values({ head }).data;
      const direction = directions.data.subarray(i * headDim, (i + 1) * headDim);
      const shares = Array.from(weights, (weight, key) =>
        direction.reduce((sum, x, j) => sum + weight * x * values[key * headDim + j], 0),
      );
      const sum = shares.reduce((a, b) => a + b);
      assert.ok(Math.abs(sum - part) <= 1e-5, `L${layer}H${head}: ${sum}, ${part}`);
    }
    for (const layer of trace) layer.dispose();
    decoder.dispose();
  });
