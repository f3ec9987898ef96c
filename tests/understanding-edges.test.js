// Functions of headwise/understanding at their edges: a position before the last, training mode, and what is asked for wrongly.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { load as loadHere, tensor, zeros } from 'headwise';
import {
  ablation,
  flow,
  headScores,
  logitLens,
  patching,
  rollout,
  sinks,
} from 'headwise/understanding';
import { load } from 'headwise/worker';
import { MersenneTwister } from '../web/headwise/models/mersenne-twister.js';
import { allClose, engine, rejectsCode } from './helpers.js';
import { drawIds, smallConfig, smallModel } from './gpt2.js';

const hw = await engine();
after(() => hw.dispose());
const small = smallModel(hw);
const ids = drawIds(1, 9);
const question = { target: 3, against: 5 };

test('the mean of ablation is over the text up to the position: later tokens change nothing', async () => {
  const position = 4;
  const asked = { ...question, position, method: /** @type {const} */ ('mean') };
  const { effects, base } = await ablation(small, ids, asked);
  const read = ids.slice(0, position + 1);
  const whole = small.forward(read, { trace: true });
  /** @param {any} replace */
  const score = (replace) => {
    const { data } = small.forward(read, { replace }).logits;
    return data[question.target] - data[question.against];
  };
  const expected = whole.trace.map((each, layer) =>
    [0, 1, 2].map((head) => {
      /** @type {any[]} */
      const rows = each.output({ head }).toNested();
      const mean = rows[0].map((/** @type {number} */ _, /** @type {number} */ i) =>
        rows.reduce((sum, row) => sum + row[i] / rows.length, 0),
      );
      return score([{ layer, head, output: tensor(rows.map(() => mean)) }]) - score([]);
    }),
  );
  assert.equal(base, score([]));
  allClose(effects, tensor(expected), { rtol: 0, atol: 1e-6, what: 'effects' });
  const others = [...read, ...drawIds(7, 4)];
  for (const text of [read, others])
    assert.deepEqual((await ablation(small, text, asked)).effects, effects);
});

test('patching looks no further than the position: it is that of texts that end there', async () => {
  const [position, other] = [4, drawIds(2, 9)];
  for (const how of /** @type {const} */ ([{ of: 'heads' }, { at: 2 }, { of: 'residual' }])) {
    const asked = { ...question, ...how };
    const whole = await patching(small, { clean: ids, corrupted: other, position, ...asked });
    const [clean, corrupted] = [ids, other].map((text) => text.slice(0, position + 1));
    assert.deepEqual(whole, await patching(small, { clean, corrupted, ...asked }));
  }
});

test('what functions hold while they read is free at once: no collector has to find it', async () => {
  const own = await loadHere({ threads: 1 });
  const model = smallModel(own, { contextLength: 256 });
  const text = drawIds(3, 256);
  const all = {
    ablation: () => ablation(model, text, { ...question, method: 'mean', position: 255 }),
    headScores: () => headScores(model, { batch: 1 }),
    sinks: () => sinks(model, text),
  };
  for (const [name, act] of Object.entries(all)) {
    for (let i = 0; i < 3; i++) await act();
    const before = own.memoryBytes;
    for (let i = 0; i < 25; i++) await act();
    assert.equal(own.memoryBytes, before, name);
  }
  own.dispose();
});

test('sweeps of a model in training mode have no dropout', async () => {
  const model = new hw.Decoder({ model_type: 'gpt2', ...smallConfig }, { dropout: 0.5 });
  const other = drawIds(2, 9);
  const all = async () => [
    await ablation(model, ids, { ...question, method: 'mean' }),
    await patching(model, { clean: ids, corrupted: other, ...question }),
    await patching(model, { clean: ids, corrupted: other, ...question, of: 'residual' }),
  ];
  const expected = await all();
  assert.deepEqual(await (model.train(), all()), expected);
  model.eval();
  assert.deepEqual(await all(), expected);
  model.dispose();
});

test('one trace in place of an array of them is named, from a Worker too', async () => {
  const there = await load();
  try {
    const config = { model_type: 'gpt2', ...smallConfig };
    const far = await new there.Decoder(config);
    for (const { trace } of [
      small.forward(ids, { trace: true }),
      await far.forward(ids, { trace: true }),
    ])
      for (const each of /** @type {any[]} */ ([sinks, rollout, flow])) {
        const expected = ['traces is a Trace', 'expected an array'];
        await rejectsCode(each(trace[0]), 'ERR_VALUE', ...expected);
        await rejectsCode(each(trace[0], { onProgress() {} }), 'ERR_VALUE', ...expected);
        assert.ok(await each(trace));
      }
  } finally {
    there.dispose();
  }
});

test('traces of several forwards are refused', async () => {
  const traceOf = (/** @type {any} */ text) => small.forward(text, { trace: true }).trace;
  const [one, other] = [
    [[1, 2, 3], [4]],
    [
      [1, 2],
      [4, 5, 6],
    ],
  ].map(traceOf);
  const elsewhere = await loadHere();
  const model = new elsewhere.Decoder({ model_type: 'gpt2', ...smallConfig });
  const foreign = model.forward([[1, 2, 3], [4]], { trace: true }).trace;
  for (const second of [other[1], foreign?.[1]])
    for (const each of /** @type {any[]} */ ([sinks, rollout, flow]))
      await rejectsCode(each([one[0], second]), 'ERR_VALUE', 'traces are of several forwards');
  elsewhere.dispose();
});

test('of weights that are NaN, rollout, flow and the ranks of logitLens are NaN, and nothing can be recovered', async () => {
  const broken = smallModel(hw);
  const state = broken.stateDict();
  state['wte.weight'].data[ids[0] * smallConfig.n_embd] = NaN;
  broken.loadStateDict(state);
  for (const each of [rollout, flow]) {
    const { data } = await each(broken, ids, { position: 8 });
    assert.deepEqual([...data], Array(9).fill(NaN));
  }
  const patched = patching(broken, { clean: ids, corrupted: drawIds(2, 9), ...question });
  await rejectsCode(patched, 'ERR_VALUE', 'clean and corrupted are NaN', 'expected finite ones');
  const { target } = await logitLens(broken, ids, { target: 3, positions: [0] });
  assert.deepEqual([...(target?.ranks.data ?? [])], Array(3).fill(NaN));
});

test('logitLens says how many positions it takes', async () => {
  const asked = logitLens(small, [1, 2], { positions: [0, 0, 1] });
  await rejectsCode(asked, 'ERR_VALUE', 'positions is [0, 0, 1]', 'an array of 1 to 2 positions');
  assert.deepEqual((await logitLens(small, [1, 2], { positions: [1, 1] })).ids.shape, [3, 2, 5]);
});

test('of equally likely tokens logitLens tells the lowest ids, and a share of sinks has heads above its threshold alone', async () => {
  const flat = smallModel(hw);
  const zeroed = Object.entries(flat.stateDict()).map(([name, { shape }]) => [name, zeros(shape)]);
  flat.loadStateDict(Object.fromEntries(zeroed));
  const { ids: found } = await logitLens(flat, [1], { top: 3 });
  assert.deepEqual([...found.data], [0, 1, 2, 0, 1, 2, 0, 1, 2]);
  // One token attends to itself alone.
  for (const [threshold, share] of [
    [0.99, 1],
    [1, 0],
  ])
    assert.equal((await sinks(small, [1], { threshold })).share, share);
});

test('a head mask that is changed during a sweep does not change it', async () => {
  const make = () =>
    tensor([
      [1, 0.5, 1],
      [0, 1, 1],
    ]);
  const { effects } = await ablation(small, ids, { ...question, headMask: make() });
  const headMask = make();
  const onProgress = () => void headMask.data.fill(1);
  const again = await ablation(small, ids, { ...question, headMask, onProgress });
  assert.deepEqual(again.effects, effects);
});

test('headScores draws its rows as it goes, and refuses more than memory holds', async (t) => {
  const short = smallModel(hw, { contextLength: 4 });
  const drawn = t.mock.method(MersenneTwister.prototype, 'uniform').mock;
  const controller = new AbortController();
  const asked = { batch: 1000, signal: controller.signal, onProgress: () => controller.abort() };
  await assert.rejects(headScores(short, asked), { name: 'AbortError' });
  // Two tokens a row.
  assert.ok(drawn.callCount() < 20, `${drawn.callCount()} numbers were drawn`);
  await rejectsCode(headScores(short, { batch: 2 ** 31 }), 'ERR_MEMORY', 'ids');
});

test('headScores repeats 50 tokens where the model takes more, and all that it takes where less', async () => {
  for (const [sizes, tokens] of /** @type {const} */ ([
    [{ vocabSize: 60, contextLength: 128 }, 50],
    [{ vocabSize: 60, contextLength: 81 }, 40],
    [{ vocabSize: 17, contextLength: 128 }, 17],
  ])) {
    const { ids: drawn } = await headScores(smallModel(hw, sizes), { batch: 1 });
    assert.deepEqual(drawn.shape, [1, 2 * tokens]);
  }
});

test('headScores asks for a context of 2 tokens, and takes one', async () => {
  const of = (/** @type {number} */ contextLength) => smallModel(hw, { contextLength });
  await rejectsCode(
    headScores(of(1)),
    'ERR_VALUE',
    'contextLength of the model is 1',
    'at least 2',
  );
  await rejectsCode(
    headScores(of(1), { tokens: 1 }),
    'ERR_VALUE',
    'contextLength of the model is 1',
  );
  assert.deepEqual((await headScores(of(2))).ids.shape, [4, 2]);
});
