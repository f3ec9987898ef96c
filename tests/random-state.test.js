// The state of the random numbers, as torch.get_rng_state gives it: a run that is resumed with it goes on as if it had not stopped.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor, zeros } from 'headwise';
import { readSafetensors, writeSafetensors } from 'headwise/formats';
import { load } from 'headwise/worker';
import { data, engine, throwsCode } from './helpers.js';

const hw = await engine();

/** The bytes of a state. @param {{ data: ArrayLike<number> }} state */
const view = (state) => new DataView(Uint8Array.from(state.data).buffer);

test("a state has torch's layout: the seed, what is left, and MT19937's words", () => {
  hw.manualSeed(123);
  const state = view(hw.getRngState());
  assert.equal(state.byteLength, 5056);
  assert.equal(state.getBigUint64(0, true), 123n);
  assert.equal(state.getInt32(8, true), 1, 'left');
  assert.equal(state.getInt32(12, true), 1, 'seeded');
  let word = 123;
  for (let j = 0; j < 624; j++) {
    if (j > 0) word = (Math.imul(1812433253, word ^ (word >>> 30)) + j) >>> 0;
    assert.equal(state.getBigUint64(24 + 8 * j, true), BigInt(word), `word ${j}`);
  }
  hw.rand([10]);
  const later = view(hw.getRngState());
  assert.deepEqual([later.getInt32(8, true), later.getBigUint64(16, true)], [615, 10n]);
});

test('a kept normal is in the state', () => {
  hw.manualSeed(7);
  hw.randn([1]);
  const state = hw.getRngState();
  const kept = view(state);
  assert.equal(kept.getInt32(5040, true), 1);
  const [next] = hw.randn([1]).data;
  assert.equal(Math.fround(kept.getFloat64(5024, true)), next);
  hw.setRngState(state);
  assert.equal(hw.randn([1]).data[0], next);
});

test("a state that torch has not drawn from yet draws torch's first numbers", () => {
  hw.manualSeed(42);
  const bytes = view(hw.getRngState());
  const expected = [...hw.rand([5]).data];
  bytes.setBigUint64(16, 0n, true);
  hw.setRngState(tensor(new Uint8Array(bytes.buffer)));
  assert.deepEqual([...hw.rand([5]).data], expected);
});

test('training with dropout goes on to the bit from a file with weights, optimizer and state', async () => {
  const sizes = { dModel: 6, dFf: 9, dropout: 0.4 };
  const x = data(1, [5, 6]);
  /** @param {any} module @param {any} optimizer */
  const step = (module, optimizer) => {
    hw.enableGrad(() => hw.sum(module.forward(x).output)).backward();
    optimizer.step();
    optimizer.zeroGrad();
  };
  hw.manualSeed(5);
  const [first, second] = [new hw.FeedForward(sizes), new hw.FeedForward(sizes)];
  const optimizer = new hw.AdamW(first.parameters(), { lr: 0.1 });
  step(first, optimizer);
  const parts = { ...optimizer.stateDict(), rng: hw.getRngState() };
  const file = writeSafetensors({ ...parts, ...first.stateDict() });
  step(first, optimizer);
  step(first, optimizer);
  const { rng, ...rest } = (await readSafetensors(file)).tensors;
  const own = (/** @type {boolean} */ isState) =>
    Object.fromEntries(
      Object.entries(rest).filter(([key]) => key in first.stateDict() !== isState),
    );
  hw.manualSeed(99);
  second.loadStateDict(own(false));
  const resumed = new hw.AdamW(second.parameters(), { lr: 0.1 }).loadStateDict(own(true));
  hw.setRngState(rng);
  step(second, resumed);
  step(second, resumed);
  assert.deepEqual(second.stateDict(), first.stateDict());
});

test('an engine in a Worker has the same states', async () => {
  const far = await load({ threads: 1 });
  await far.manualSeed(3);
  hw.manualSeed(3);
  assert.deepEqual(await far.getRngState(), hw.getRngState());
  await far.setRngState(hw.getRngState());
  assert.deepEqual(await far.randn([20]), hw.randn([20]));
  await far.dispose();
});

test('what is no state is refused and changes nothing', () => {
  hw.manualSeed(1);
  const state = hw.getRngState();
  const with_ = (/** @type {number} */ at, /** @type {number} */ value) => {
    const changed = tensor(state.data.slice());
    changed.data[at] = value;
    return changed;
  };
  const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);
  throwsCode(() => hw.setRngState(zeros([5056])), 'ERR_VALUE', 'state', 'getRngState');
  for (const [at, value] of [
    [12, 0],
    [8, 9],
    [100, 0.5],
    [100, 256],
    [100, NaN],
    [100, -1],
  ])
    throwsCode(() => hw.setRngState(with_(at, value)), 'ERR_VALUE', 'state');
  throwsCode(() => hw.setRngState(zeros([5, 6])), 'ERR_SHAPE', 'state', '[5, 6]', '[5056]');
  throwsCode(() => hw.setRngState(any(3)), 'ERR_VALUE', 'state');
  assert.deepEqual(hw.getRngState(), state);
});
