// The functions over weights with texts that differ in length, with gradients on, and what they ask of a model's forward.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadModel } from 'headwise/models';
import { flow, headScores, rollout, sinks } from 'headwise/understanding';
import { engine } from './helpers.js';

const hw = await engine();
after(() => hw.dispose());

/** @param {string} name @param {any} [options] @returns {Promise<any>} */
const open = (name, options, at = hw) =>
  loadModel(at, new URL(`fixtures/models/${name}/`, import.meta.url), options);

const names = ['bert', 'llama', 'gpt2-own-head'];

/** Calls back with a model that tells of its forwards. @param {any} model @param {(options: any, result: any) => void} heard */
function hear(model, heard) {
  const { forward } = model;
  model.forward = (/** @type {any} */ ids, /** @type {any} */ options) => {
    const result = forward.call(model, ids, options);
    heard(options, result);
    return result;
  };
}

test('no logits are computed where weights are read', async () => {
  for (const name of names) {
    const model = await open(name);
    /** @type {string[]} */
    const keys = [];
    hear(model, (_, result) => keys.push(...Object.keys(result)));
    await sinks(model, [3, 7, 1]);
    await headScores(model, { tokens: 2, batch: 1 });
    assert.equal(keys.filter((key) => key === 'trace').length, 2, name);
    assert.equal(keys.includes('logits'), false, name);
    model.dispose();
  }
});

test('weights are read without recording while gradients are on, with int8 weights too', async () => {
  for (const name of ['bert', 'llama'])
    for (const dtype of /** @type {const} */ (['float32', 'int8'])) {
      const model = await open(name, { dtype });
      const text = [3, 7, 1, 9];
      const all = async () => [
        await rollout(model, text),
        await flow(model, text),
        await sinks(model, text),
        await headScores(model, { tokens: 3, batch: 1 }),
      ];
      const expected = await all();
      /** @type {boolean[]} */
      const recorded = [];
      hear(model, () => recorded.push(hw.isGradEnabled()));
      hw.setGradEnabled(true);
      try {
        assert.deepEqual(await all(), expected);
        assert.equal(hw.isGradEnabled(), true);
        await assert.rejects(sinks(model, [1e6]));
        assert.equal(hw.isGradEnabled(), true, 'after an error');
      } finally {
        hw.setGradEnabled(false);
      }
      assert.deepEqual(recorded, [false, false, false, false], `${name}, ${dtype}`);
      model.dispose();
    }
});
