// What the functions of headwise/understanding give besides PyTorch's numbers: flows and compositions by brute force, encoders and traces,
// small weights, Workers, aborts, and what is asked for wrongly.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tensor } from 'headwise';
import { loadGpt2 } from 'headwise/gpt2';
import { loadModel } from 'headwise/models';
import {
  ablation,
  composition,
  flow,
  headScores,
  qkAttribution,
  rollout,
  sinks,
} from 'headwise/understanding';
import { load } from 'headwise/worker';
import { LayeredNetwork } from '../web/headwise/understanding/max-flow.js';
import { allClose, data, engine, rejectsCode } from './helpers.js';
import { drawIds, loadCheckpoint, readCheckpoint, smallModel } from './gpt2.js';

const hw = await engine();
after(() => hw.dispose());
const model = smallModel(hw);
const ids = drawIds(1, 9);

/** @param {string} name */
const fixture = (name) => new URL(`fixtures/models/${name}/`, import.meta.url);

/** @param {any} source @param {any} text @returns {number[][][][]} [layers, heads, queries, keys] */
const weightsOf = (source, text) =>
  source
    .forward(text, { needWeights: true })
    .weights.map((/** @type {any} */ each) => each.toNested()[0]);

/** Half of the heads' mean, half the identity. @param {number[][][]} heads @returns {number[][]} */
const mixed = (heads) =>
  heads[0].map((row, i) =>
    row.map(
      (_, j) =>
        heads.reduce((sum, one) => sum + one[i][j], 0) / heads.length / 2 + Number(i === j) / 2,
    ),
  );

/**
 * The smallest cut, which is the largest flow (Ford & Fulkerson 1956): of all ways to part the nodes.
 * @param {number[][][]} layers of capacities
 * @param {number} from @param {number} to
 */
function smallestCut(layers, from, to) {
  const n = layers[0].length;
  const nodes = n * (layers.length + 1);
  const source = layers.length * n + from;
  let smallest = Infinity;
  for (let set = 0; set < 2 ** nodes; set++) {
    const has = (/** @type {number} */ node) => (set >> node) & 1;
    if (!has(source) || has(to)) continue;
    let cut = 0;
    for (const [l, layer] of layers.entries())
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++) if (has((l + 1) * n + i) && !has(l * n + j)) cut += layer[i][j];
    smallest = Math.min(smallest, cut);
  }
  return smallest;
}

test('flows are the smallest cuts of random networks', () => {
  const n = 3;
  for (let seed = 0; seed < 12; seed++) {
    const layers = Array.from({ length: 3 }, (_, l) =>
      Array.from({ length: n }, (_row, i) =>
        Array.from(data(100 * seed + 10 * l + i, [n]).data, (value) => Math.max(0, value)),
      ),
    );
    const network = new LayeredNetwork(
      layers.map((layer) => Float64Array.from(layer.flat())),
      n,
    );
    for (let to = 0; to < n; to++) {
      const flowed = network.flow(seed % n, to);
      const cut = smallestCut(layers, seed % n, to);
      assert.ok(Math.abs(flowed - cut) < 1e-9, `seed ${seed}, to ${to}: ${flowed}, cut ${cut}`);
    }
  }
});

test('a flow takes back what an earlier way took', () => {
  // From 0 at the top to 0 at the bottom, by 0 and 0, is in the way of two others.
  const rows = [
    [1, 0, 1, 0],
    [1, 1, 1, 0],
    [1, 1, 0, 0],
  ];
  const network = new LayeredNetwork(
    rows.map((row) => Float64Array.from(row)),
    2,
  );
  assert.equal(network.flow(0, 0), 2);
});

test('flow is NaN where a way down has a capacity that is', () => {
  const half = Float64Array.of(0.5, 0, 0.5, 0.5);
  const below = Float64Array.of(1, 0, NaN, NaN);
  const network = new LayeredNetwork([below, half], 2);
  assert.equal(network.flow(0, 0), 0.5);
  assert.equal(network.flow(0, 1), 0);
  assert.equal(network.flow(1, 0), NaN);
  assert.equal(network.flow(1, 1), NaN);
});

test('flow is the smallest cut of attention with its residual connections', async () => {
  const text = ids.slice(0, 3);
  const layers = weightsOf(model, text).map(mixed);
  for (const position of [2, 1]) {
    const expected = text.map((_, to) => smallestCut(layers, position, to));
    allClose(await flow(model, text, { position }), tensor(expected), {
      ...{ rtol: 0, atol: 1e-6, what: `position ${position}` },
    });
  }
  const all = await flow(model, ids);
  assert.ok(all.data.every((part) => part > 0 && part <= 1 + 1e-6));
  const lowest = await flow(model, ids, { upTo: 0, position: 8 });
  allClose(lowest, await rollout(model, ids, { upTo: 0, position: 8 }), {
    ...{ rtol: 0, atol: 1e-6, what: 'through one layer a flow is its edge' },
  });
});

test('rollout, sinks and scores take encoders, and traces in place of a text', async () => {
  const bert = await loadModel(hw, fixture('bert'));
  const text = [3, 7, 1, 9, 2, 5];
  const expected = weightsOf(bert, text)
    .map(mixed)
    .reduce((below, layer) =>
      layer.map((row) =>
        row.map((_, j) => row.reduce((sum, share, k) => sum + share * below[k][j], 0)),
      ),
    );
  const close = { rtol: 0, atol: 1e-6, what: 'rollout' };
  allClose(await rollout(bert, text), tensor(expected), close);
  allClose(await rollout(bert, text, { position: 1 }), tensor(expected[1]), close);
  const { trace } = /** @type {any} */ (bert.forward([text, [...text].reverse()], { trace: true }));
  allClose(await rollout(trace, { batch: 0 }), tensor(expected), close);
  const each = await Promise.all([text, [...text].reverse()].map((one) => sinks(bert, one)));
  const both = await sinks(trace);
  const mean = each[0].scores.data.map((score, i) => (score + each[1].scores.data[i]) / 2);
  allClose(both.scores, tensor(mean, both.scores.shape), close);
  const none = await sinks(trace, { threshold: 1 });
  assert.equal(none.share, 0);
  for (const layer of trace) layer.dispose();
  await rejectsCode(rollout(trace), 'ERR_DISPOSED', 'trace');
  const { induction, ids: rows } = await headScores(bert, { tokens: 4, batch: 1 });
  assert.deepEqual(
    [induction.shape, rows.shape],
    [
      [2, 3],
      [1, 8],
    ],
  );
  bert.dispose();
});

test('scores of heads are means of their weights on repeated tokens, the same for a seed', async () => {
  const scores = await headScores(model, { tokens: 6, seed: 3, batch: 2 });
  const again = await headScores(model, { tokens: 6, seed: 3, batch: 2 });
  assert.deepEqual(again, scores);
  const other = await headScores(model, { tokens: 6, seed: 4, batch: 2 });
  assert.notDeepEqual(other.ids, scores.ids);
  // As manualSeed takes it: of what is large or negative, the low 32 bits.
  for (const seed of [3n, 3n + 2n ** 40n, 3 - 2 ** 32])
    assert.deepEqual(await headScores(model, { tokens: 6, seed, batch: 2 }), scores);
  const rows = scores.ids.toNested();
  for (const row of rows) {
    assert.deepEqual(row.slice(0, 6), row.slice(6));
    assert.equal(new Set(row).size, 6);
  }
  const means = [0, 1, 2, 3].map((kind) => {
    let sum = 0;
    for (const row of rows) {
      const map = weightsOf(model, row)[1][2];
      for (let q = 6; q < 12; q++) sum += map[q][[q - 1, 0, q - 6, q - 5][kind]] / 12;
    }
    return sum;
  });
  const { previous, first, duplicate, induction } = scores;
  for (const [kind, score] of [previous, first, duplicate, induction].entries()) {
    assert.ok(Math.abs(score.toNested()[1][2] - means[kind]) < 1e-6, `kind ${kind}`);
  }
  assert.equal((await headScores(model)).ids.shape[1], 20);
});

test('heads that write nothing compose with none', async () => {
  const still = smallModel(hw);
  const state = still.stateDict();
  state['h.0.attn.c_proj.weight'].data.fill(0);
  still.loadStateDict(state);
  const { query, key, value } = await composition(still);
  for (const scores of [query, key, value]) assert.ok(scores.data.every((score) => score === 0));
  still.dispose();
  await rejectsCode(composition(still), 'ERR_DISPOSED', 'Gpt2');
});

for (const name of ['llama', 'gemma3_text-caps', 'gpt_neox', 'qwen3']) {
  for (const dtype of /** @type {const} */ (['float32', 'bfloat16', 'float16', 'int8'])) {
    test(`a score of ${name} with weights in ${dtype} is the sum of its parts`, async () => {
      const decoder = await loadModel(hw, fixture(name), { dtype });
      const text = [3, 7, 1, 7, 2];
      const asked = { layer: 1, head: 1, query: 4, key: 3, pairs: true };
      const { query, key, pairs, score } = await qkAttribution(decoder, text, asked);
      const sums = [query, key].map(({ heads, mlps, embedding, biases }) =>
        [...heads.data, ...mlps.data, embedding, biases].reduce((all, part) => all + part, 0),
      );
      const whole = /** @type {any} */ (pairs).scores.data.reduce(
        (/** @type {number} */ a, /** @type {number} */ b) => a + b,
        0,
      );
      for (const sum of [...sums, whole]) {
        assert.ok(Math.abs(sum - score) <= 1e-5 * Math.max(1, Math.abs(score)), `${sum}, ${score}`);
      }
      decoder.dispose();
    });
  }
}

test('with factors of heads, a score is that of a forward with them', async () => {
  const text = [3, 7, 1, 7, 2];
  const decoder = await loadModel(hw, fixture('llama'), { dtype: 'float32' });
  const { numLayers, numHeads } = decoder.config;
  const headMask = Array.from({ length: numLayers }, (_, layer) =>
    Array.from({ length: numHeads }, (__, head) => (layer + head) % 2 && 0.5),
  );
  const [layer, head] = [numLayers - 1, 0];
  const { trace } = decoder.forward(text, { headMask, trace: true });
  const row = trace[layer].weights({ head, rows: [4, 5] }).data;
  const asked = text.map((_, key) => qkAttribution(decoder, text, { layer, head, key, headMask }));
  const all = await Promise.all(asked);
  const exponentials = all.map(({ score }) => Math.exp(score));
  const sum = exponentials.reduce((a, b) => a + b);
  all.forEach(({ query }, key) => {
    assert.ok(Math.abs(exponentials[key] / sum - row[key]) < 1e-5, `key ${key}`);
    headMask
      .slice(0, layer)
      .flat()
      .forEach((factor, i) => assert.equal(query.heads.data[i] !== 0, factor !== 0, `part ${i}`));
  });
  for (const each of trace) each.dispose();
  decoder.dispose();
});

test('what is asked for wrongly is named', async () => {
  const text = [1, 2, 3];
  const { trace } = model.forward(text, { trace: true });
  const [first] = /** @type {any[]} */ (trace);
  const value = (/** @type {Promise<any>} */ asked, /** @type {string[]} */ ...parts) =>
    rejectsCode(asked, 'ERR_VALUE', ...parts);
  const any = /** @type {any} */ (undefined);
  for (const each of /** @type {any[]} */ ([rollout, flow, sinks])) {
    await value(each(undefined, text), 'model');
    await value(each({ config: {} }, text), 'model');
    await value(each([]), 'traces');
    await value(each([1]), 'traces');
    await value(each(trace, { of: 1 }), 'of');
    await value(each(model, [31]), 'ids');
    await value(each(model, text, { signal: 1 }), 'signal');
  }
  await value(rollout(model, text, { upTo: 2 }), 'upTo', '2');
  await value(rollout(model, text, { position: 3 }), 'position', '3');
  await value(rollout(model, text, { residual: 2 }), 'residual', '2');
  await value(rollout(/** @type {any} */ (trace), { batch: 1 }), 'batch', '1');
  await value(sinks(model, text, { threshold: -1 }), 'threshold', '-1');
  const { trace: other } = model.forward([1, 2], { trace: true });
  await rejectsCode(rollout(/** @type {any} */ ([first, ...(other ?? [])])), 'ERR_SHAPE', 'traces');
  await value(headScores(any), 'model');
  await value(headScores(model, { tokens: 11 }), 'tokens', '11', '10');
  await value(headScores(model, { seed: 0.5 }), 'seed', '0.5');
  await value(headScores(model, { batch: 0 }), 'batch', '0');
  const head = { layer: 0, head: 0 };
  await value(composition(any), 'model');
  await value(
    composition(model, /** @type {any} */ ({ from: head })),
    'to is undefined',
    'together',
  );
  await value(composition(model, { from: head, to: head }), 'to.layer', '0');
  await value(composition(model, { from: head, to: { layer: 2, head: 0 } }), 'to.layer', '2');
  await value(composition(model, { from: { layer: 0, head: 3 }, to: head }), 'from.head', '3');
  await value(composition(model, /** @type {any} */ ({ gains: 1 })), 'gains', '1');
  const look = (/** @type {any} */ options, /** @type {string[]} */ ...parts) =>
    value(qkAttribution(model, text, options), ...parts);
  await look(undefined, 'layer');
  await look({ layer: 2, head: 0, key: 0 }, 'layer', '2');
  await look({ layer: 0, head: 3, key: 0 }, 'head', '3');
  await look({ layer: 0, head: 0, key: 3 }, 'key', '3');
  await look({ layer: 0, head: 0, query: 1, key: 2 }, 'key', '2');
  await look({ layer: 0, head: 0, query: 3, key: 0 }, 'query', '3');
  await look({ ...head, key: 0, headMask: 1 }, 'headMask');
  await rejectsCode(
    qkAttribution(model, text, { ...head, key: 0, headMask: [[1]] }),
    'ERR_SHAPE',
    'headMask',
  );
  await rejectsCode(qkAttribution(model, [text, text], { ...head, key: 0 }), 'ERR_SHAPE', 'ids');
  await rejectsCode(qkAttribution(model, drawIds(2, 21), { ...head, key: 0 }), 'ERR_SHAPE', '20');
});

test('flow refuses what takes too long, and says how much does not', async () => {
  const long = smallModel(hw, { contextLength: 800 });
  const text = drawIds(3, 800);
  await rejectsCode(flow(long, text), 'ERR_SHAPE', '800', '724');
  long.dispose();
});

test('long computations tell their progress and end with their signal', async () => {
  /** @type {[string, (options: any) => Promise<any>][]} */
  const all = [
    ['rollout', (options) => rollout(model, ids, options)],
    ['a row of rollout', (options) => rollout(model, ids, { ...options, position: 4 })],
    ['flow', (options) => flow(model, ids, options)],
    ['sinks', (options) => sinks(model, ids, options)],
    ['headScores', (options) => headScores(model, options)],
    ['composition', (options) => composition(model, options)],
  ];
  for (const [name, run] of all) {
    /** @type {{ done: number, total: number }[]} */
    const told = [];
    await run({ onProgress: (/** @type {any} */ progress) => told.push(progress) });
    const total = told.length;
    assert.ok(total > 0, name);
    assert.deepEqual(
      told,
      Array.from({ length: total }, (_, i) => ({ done: i + 1, total })),
      name,
    );
    const reason = new Error('enough');
    await assert.rejects(run({ signal: AbortSignal.abort(reason) }), reason, name);
    const controller = new AbortController();
    const onProgress = () => controller.abort(reason);
    await assert.rejects(run({ signal: controller.signal, onProgress }), reason, name);
    const throwing = () => {
      throw reason;
    };
    for (const each of [throwing, async () => throwing()])
      await assert.rejects(run({ onProgress: each }), reason, name);
  }
});

test('a model in a Worker gives the same numbers, and stops', async () => {
  const there = await load();
  try {
    const near = await loadCheckpoint(hw, 'f32');
    const far = await loadGpt2(there, readCheckpoint('f32'));
    const text = [3, 1, 4, 1, 5];
    const look = { layer: 1, head: 2, key: 3, pairs: true };
    const pair = { from: { layer: 0, head: 1 }, to: { layer: 1, head: 0 } };
    assert.deepEqual(await qkAttribution(far, text, look), await qkAttribution(near, text, look));
    assert.deepEqual(await rollout(far, text), await rollout(near, text));
    assert.deepEqual(await flow(far, text), await flow(near, text));
    assert.deepEqual(await sinks(far, text), await sinks(near, text));
    assert.deepEqual(await headScores(far), await headScores(near));
    assert.deepEqual(await composition(far), await composition(near));
    assert.deepEqual(await composition(far, pair), await composition(near, pair));
    const { trace } = await far.forward(text, { trace: true });
    assert.deepEqual(await rollout(trace), await rollout(near, text));
    let steps = 0;
    await headScores(far, { onProgress: () => (steps += 1) });
    assert.ok(steps > 0);
    const reason = new Error('enough');
    await assert.rejects(composition(far, { signal: AbortSignal.abort(reason) }), reason);
    await rejectsCode(rollout(far, [9999]), 'ERR_VALUE', 'ids');
    /** @type {Record<string, any>} */
    const computations = { rollout, flow, sinks, ablation };
    for (const [name, compute] of Object.entries(computations)) {
      const options = name === 'ablation' ? { target: 3 } : {};
      const controller = new AbortController();
      const computing = compute(far, text, { ...options, signal: controller.signal });
      controller.abort(reason); // It may have ended there before it hears of this.
      await assert.rejects(computing, reason, name);
    }
    near.dispose();
  } finally {
    there.dispose();
  }
});
