// A decoder's residual stream: what a forward gives of it, and forwards that begin at a layer with one.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { load as loadHere, zeros } from 'headwise';
import { loadGpt2 } from 'headwise/gpt2';
import { loadModel } from 'headwise/models';
import { load } from 'headwise/worker';
import { data, engine, throwsCode } from './helpers.js';
import { drawIds, loadCheckpoint, readCheckpoint, smallModel } from './gpt2.js';
import { decoders } from './model-fixtures.js';

const hw = await engine();
after(() => hw.dispose());
const model = smallModel(hw);
const ids = drawIds(1, 9);
const layers = 2;

/** @param {any} residuals [layers, …] @param {number} layer @returns {any} */
const before = (residuals, layer) =>
  residuals.slice([layer, layer + 1]).reshape(residuals.shape.slice(1));

/**
 * From each layer on the numbers are those of the whole forward, bit by bit.
 * @param {any} decoder
 * @param {any} text
 * @param {any} [options]
 */
function checkStarts(decoder, text, options) {
  const asked = { logits: 'all', residuals: true, ...options };
  const whole = decoder.forward(text, asked);
  const count = whole.residuals.shape[0];
  for (let layer = 0; layer < count; layer++) {
    const start = { layer, residual: before(whole.residuals, layer) };
    const rest = decoder.forward(text, { ...asked, start });
    assert.deepEqual(rest.logits, whole.logits, `logits from layer ${layer}`);
    assert.deepEqual(rest.residuals, whole.residuals.slice([layer, count]));
    assert.deepEqual(rest.weights, whole.weights?.slice(layer));
  }
  return count;
}

/**
 * The last token's logits do not depend on how many rows are multiplied with its.
 * @param {any} decoder
 * @param {number[]} text
 */
function checkLast(decoder, text) {
  const whole = decoder.forward(text, { logits: 'all', residuals: true });
  const last = whole.logits.data.slice(-decoder.config.vocabSize);
  for (let layer = 0; layer < whole.residuals.shape[0]; layer++) {
    const start = { layer, residual: before(whole.residuals, layer) };
    assert.deepEqual(decoder.forward(text, { logits: 'last', start }).logits.data, last);
  }
  assert.deepEqual(decoder.forward(text, { logits: 'last' }).logits.data, last);
}

for (const name of decoders)
  for (const dtype of /** @type {const} */ (['float32', 'bfloat16', 'float16', 'int8']))
    test(`${name} in ${dtype} goes on from any layer with the same bits`, async () => {
      const folder = new URL(`fixtures/models/${name}/`, import.meta.url);
      const decoder = await loadModel(hw, folder, { dtype });
      const { numLayers } = decoder.config;
      const text = [3, 7, 1, 7, 2];
      assert.equal(checkStarts(decoder, text, { needWeights: true }), numLayers + 1);
      checkStarts(decoder, [text, [5, 1, 4]]);
      checkLast(decoder, [3, 7, 1, 7, 2, 6, 5, 1]);
      decoder.dispose();
    });

test('GPT-2 goes on with muted and replaced heads, in batches and ragged ones', async () => {
  const decoder = await loadCheckpoint(hw, 'f32');
  const text = [3, 1, 4, 1, 5];
  const headMask = [
    [1, 0, 0.5],
    [1, 1, 0],
  ];
  checkStarts(decoder, text, { headMask, needWeights: true });
  checkStarts(decoder, [text, [2, 7, 1, 8, 2]]);
  checkStarts(decoder, [text, [2, 7]], { logits: 'last' });
  const replace = [{ layer: 1, head: 2, output: zeros([5, 8]) }];
  const whole = decoder.forward(text, { replace, residuals: true });
  const start = { layer: 1, residual: before(whole.residuals, 1) };
  assert.deepEqual(decoder.forward(text, { replace, start }).logits, whole.logits);
  decoder.dispose();
});

test('threads and both modules go on with the same bits', async () => {
  for (const simd of /** @type {const} */ (['auto', 'simd128'])) {
    const team = await loadHere({ threads: 2, simd });
    const decoder = smallModel(team, { dModel: 192, vocabSize: 500, contextLength: 64 });
    checkStarts(decoder, drawIds(5, 64, 500));
    team.dispose();
  }
});

test('the residual stream begins with the embedding and ends ahead of the final norm', () => {
  const state = model.stateDict();
  const { residuals, logits } = model.forward(ids, { residuals: true, logits: 'all' });
  const [tokens, width] = [9, 12];
  assert.deepEqual(residuals.shape, [layers + 1, tokens, width]);
  const [wte, wpe] = ['wte.weight', 'wpe.weight'].map((key) => state[key].data);
  ids.forEach((id, at) => {
    for (let i = 0; i < width; i++) {
      const sum = Math.fround(wte[id * width + i] + wpe[at * width + i]);
      assert.equal(residuals.data[at * width + i], sum);
    }
  });
  const normed = hw.layerNorm(before(residuals, layers), {
    weight: state['ln_f.weight'],
    bias: state['ln_f.bias'],
  });
  const again = hw.matmul(normed, hw.transpose(state['wte.weight']));
  again.data.forEach((logit, i) => assert.ok(Math.abs(logit - logits.data[i]) < 1e-5));
});

test("traces of a forward that begins at a layer are that layer's and those above", () => {
  const asked = /** @type {const} */ ({ trace: true, residuals: true });
  const whole = model.forward(ids, asked);
  const start = { layer: 1, residual: before(whole.residuals, 1) };
  const rest = model.forward(ids, { trace: true, needWeights: true, start });
  assert.equal(rest.trace.length, 1);
  assert.equal(rest.weights.length, 1);
  for (const head of [0, 2])
    for (const name of /** @type {const} */ (['output', 'values', 'weights', 'norms']))
      assert.deepEqual(rest.trace[0][name]({ head }), whole.trace[1][name]({ head }));
  const end = { layer: 2, residual: before(whole.residuals, 2) };
  const none = model.forward(ids, { trace: true, needWeights: true, start: end });
  assert.deepEqual([none.trace, none.weights], [[], []]);
  assert.deepEqual(none.logits, whole.logits);
  [...whole.trace, ...rest.trace].forEach((each) => each.dispose());
});

test('another residual stream gives other logits, with ids for the shape alone', () => {
  const { residuals, logits } = model.forward(ids, { residuals: true });
  const start = { layer: 1, residual: before(residuals, 1) };
  assert.deepEqual(model.forward(drawIds(2, 9), { start }).logits, logits);
  start.residual.data[7] += 1;
  assert.notDeepEqual(model.forward(ids, { start }).logits, logits);
  const nested = { layer: 1, residual: start.residual.toNested() };
  assert.deepEqual(model.forward(ids, { start: nested }), model.forward(ids, { start }));
});

test('the residual stream of tokens after a cache is theirs', () => {
  const cache = model.createCache();
  model.forward(ids.slice(0, 5), { cache, logits: 'none' });
  const { residuals } = model.forward(ids.slice(5), { cache, residuals: true, logits: 'none' });
  const whole = model.forward(ids, { residuals: true }).residuals.slice([0, 3], [5, 9]);
  residuals.data.forEach((x, i) => assert.ok(Math.abs(x - whole.data[i]) < 1e-5));
  cache.dispose();
});

test('what does not fit is named', () => {
  const residual = zeros([9, 12]);
  const bad = (
    /** @type {any} */ options,
    /** @type {any} */ code,
    /** @type {string[]} */ ...parts
  ) => throwsCode(() => model.forward(ids, options), code, ...parts);
  bad({ start: 3 }, 'ERR_VALUE', 'start', '3');
  bad({ start: { layer: 1, residual, head: 0 } }, 'ERR_VALUE', 'head');
  bad({ start: { residual } }, 'ERR_VALUE', 'start.layer', 'undefined');
  bad({ start: { layer: 3, residual } }, 'ERR_VALUE', 'start.layer', '3', '2');
  bad({ start: { layer: 0 } }, 'ERR_VALUE', 'start.residual', 'undefined');
  bad({ start: { layer: 0, residual: zeros([9, 11]) } }, 'ERR_SHAPE', 'start.residual', '[9, 12]');
  bad({ start: { layer: 0, residual: zeros([1, 9, 12]) } }, 'ERR_SHAPE', 'start.residual');
  bad({ residuals: 1 }, 'ERR_VALUE', 'residuals', '1');
  const replace = [{ layer: 0, head: 0, output: data(3, [9, 4]) }];
  bad({ start: { layer: 1, residual }, replace }, 'ERR_VALUE', 'replace[0].layer', 'start.layer');
  const cache = model.createCache();
  bad({ start: { layer: 1, residual }, cache }, 'ERR_VALUE', 'cache', 'start');
  assert.equal(cache.length, 0);
  cache.dispose();
});

test('a model in a Worker goes on from a residual stream that was here', async () => {
  const there = await load();
  try {
    const remote = await loadGpt2(there, readCheckpoint('f32'));
    const text = [3, 1, 4, 1, 5];
    const { logits, residuals } = await remote.forward(text, { residuals: true });
    const start = { layer: 1, residual: before(residuals, 1) };
    assert.deepEqual((await remote.forward(text, { start })).logits, logits);
  } finally {
    there.dispose();
  }
});
