// The functions over weights with texts that differ in length, with gradients on, and what they ask of a model's forward.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tensor } from 'headwise';
import { loadModel } from 'headwise/models';
import { flow, headScores, rollout, sinks } from 'headwise/understanding';
import { load } from 'headwise/worker';
import { allClose, engine, rejectsCode } from './helpers.js';

const hw = await engine();
after(() => hw.dispose());

/** @param {string} name @param {any} [options] @param {any} [at] @returns {Promise<any>} */
const open = (name, options, at = hw) =>
  loadModel(at, new URL(`fixtures/models/${name}/`, import.meta.url), options);

const names = ['bert', 'llama', 'gpt2-own-head'];

const long = [3, 7, 1, 9, 2, 5, 4, 6];
const short = [4, 2, 8];
const close = (/** @type {string} */ what) => ({ rtol: 0, atol: 2e-6, what });

/** @param {any} model @param {number[]} text @returns {number[][][][]} [layers, heads, queries, keys] */
const weightsOf = (model, text) =>
  model
    .forward(text, { needWeights: true })
    .weights.map((/** @type {any} */ each) => each.toNested()[0]);

/** The mean weight of the first token. @param {number[][][][]} weights @returns {number[][]} */
const firstOf = (weights) =>
  weights.map((heads) =>
    heads.map((rows) => rows.reduce((sum, row) => sum + row[0] / rows.length, 0)),
  );

/** Half of the heads' mean, half the identity, multiplied. @param {number[][][][]} weights @returns {number[][]} */
const rolledOut = (weights) =>
  weights
    .map((heads) =>
      heads[0].map((row, i) =>
        row.map(
          (_, j) =>
            heads.reduce((sum, rows) => sum + rows[i][j], 0) / heads.length / 2 +
            Number(i === j) / 2,
        ),
      ),
    )
    .reduce((below, layer) =>
      layer.map((row) => row.map((_, j) => row.reduce((sum, w, k) => sum + w * below[k][j], 0))),
    );

/** @param {number[]} row */
const padded = (row) => [...row, ...new Array(long.length - row.length).fill(0)];

for (const name of names) {
  test(`sinks of ${name}: the mean over each text's own queries, then over texts`, async () => {
    const model = await open(name);
    const [first, second] = [long, short].map((text) => firstOf(weightsOf(model, text)));
    const mean = first.map((row, layer) =>
      row.map((score, head) => (score + second[layer][head]) / 2),
    );
    const expected = tensor(mean);
    allClose((await sinks(model, [long, short])).scores, expected, close('a model'));
    const { trace } = model.forward([long, short], { trace: true });
    allClose((await sinks(trace)).scores, expected, close('traces'));
    const lengths = [long.length, short.length];
    const given = model.forward([long, [...short, ...long.slice(3)]], { trace: true, lengths });
    const { scores, share } = await sinks(given.trace, { threshold: 0.31 });
    allClose(scores, expected, close('the option lengths'));
    const flat = mean.flat();
    assert.equal(share, flat.filter((score) => score > 0.31).length / flat.length);
    model.dispose();
  });

  test(`rollout and flow of ${name}: of a shorter text what it gives alone`, async () => {
    const model = await open(name);
    const batch = { batch: 1 };
    const rows = rolledOut(weightsOf(model, short));
    const { trace } = model.forward([long, short], { trace: true });
    for (const [what, run] of /** @type {[string, (how: any, options: any) => Promise<any>][]} */ ([
      ['a model', (how, options) => how(model, [long, short], options)],
      ['traces', (how, options) => how(trace, options)],
    ])) {
      const whole = await run(rollout, batch);
      assert.deepEqual(whole.shape, [8, 8]);
      const nothing = new Array(5).fill(padded([]));
      allClose(whole, tensor([...rows.map(padded), ...nothing]), close(what));
      assert.deepEqual(whole.toNested().slice(3), nothing);
      const row = await run(rollout, { ...batch, position: 2 });
      allClose(row, tensor(padded(rows[2])), close(what));
      const alone = await flow(model, short, { position: 2 });
      allClose(await run(flow, batch), tensor(padded([...alone.data])), close(what));
      const asked = { ...batch, upTo: 0, position: 1 };
      const [lowest] = [rolledOut(weightsOf(model, short).slice(0, 1))];
      allClose(await run(flow, asked), tensor(padded(lowest[1])), close('an edge'));
      for (const how of [rollout, flow]) {
        const beyond = run(how, { ...batch, position: 3 });
        await rejectsCode(beyond, 'ERR_VALUE', 'position is 3', 'from 0 to 2');
        await run(how, { batch: 0, position: 7 });
      }
    }
    model.dispose();
  });
}

test('a text without tokens has no sinks, no flow and no rollout', async () => {
  const model = await open('llama');
  const cache = model.createCache({ batch: 2 });
  const { trace } = model.forward([short, short], { trace: true, cache, lengths: [3, 0] });
  const alone = tensor(firstOf(weightsOf(model, short)));
  allClose((await sinks(trace)).scores, alone, close('one text'));
  const whole = await rollout(trace, { batch: 1 });
  assert.deepEqual([...whole.data], new Array(9).fill(0));
  await rejectsCode(flow(trace, { batch: 1 }), 'ERR_VALUE', 'batch is 1', 'has tokens');
  model.dispose();
});

test('a padded text after a cache is refused, though it has as many queries as there are keys', async () => {
  const model = await open('llama');
  const cache = model.createCache();
  model.forward(short, { cache });
  const ids = [Array(model.config.contextLength).fill(1)];
  const { trace } = model.forward(ids, { trace: true, cache, lengths: [5] });
  const [, , queries, keys] = trace[0].shape;
  assert.equal(queries, keys);
  await rejectsCode(rollout(trace), 'ERR_SHAPE', 'without a cache');
  model.dispose();
});

test('a Worker knows the lengths of its traces', async () => {
  const there = await load();
  try {
    const [near, far] = [await open('bert'), await open('bert', {}, there)];
    const { trace } = await far.forward([long, short], { trace: true });
    const { trace: own } = near.forward([long, short], { trace: true });
    assert.deepEqual(await sinks(trace), await sinks(own));
    assert.deepEqual(await flow(trace, { batch: 1 }), await flow(own, { batch: 1 }));
    near.dispose();
  } finally {
    there.dispose();
  }
});

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
