// The trainer of the Train room, in Node: what is learnt, that it is the same however it is watched, and steps that are found again.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { load } from 'headwise';
import { Checkpoints } from '../web/page/train/checkpoints.js';
import { sinusoids } from '../web/page/train/model.js';
import { DEFAULTS } from '../web/page/train/settings.js';
import { AUSTEN, drawnTasks, PROMPT, textTask } from '../web/page/train/tasks/tasks.js';
import { Trainer } from '../web/page/train/trainer.js';

/** @import { Headwise } from 'headwise' */
/** @import { Settings } from '../web/page/train/settings.js' */

/** @type {Headwise} */
let hw;
before(async () => (hw = await load({ simd: 'simd128' })));
after(() => hw.dispose());

const austen = textTask(await readFile(AUSTEN, 'utf8'), PROMPT);

test('sinusoids are those of the definition', () => {
  const [tokens, width] = [40, 16];
  const values = sinusoids(tokens, width, 0.5);
  values.forEach((value, i) => {
    const [at, column] = [Math.floor(i / width), i % width];
    const angle = at / 10000 ** ((column - (column % 2)) / width);
    const right = 0.5 * (column % 2 ? Math.cos(angle) : Math.sin(angle));
    assert.ok(Math.abs(value - right) < 1e-6, `${at} ${column}`);
  });
});

/** @param {Partial<Settings>} [part] */
const newTrainer = (part) =>
  new Trainer(hw, drawnTasks.reversal, { ...DEFAULTS.reversal, ...part });

/** @param {Trainer} trainer @param {number} steps */
const losses = (trainer, steps) => Array.from({ length: steps }, () => trainer.train());

test('reversal is learnt in 160 steps, and an anti-diagonal forms', () => {
  const trainer = newTrainer();
  const first = trainer.snapshot();
  losses(trainer, 160);
  const last = trainer.snapshot();
  assert.ok(first.accuracy < 0.15 && last.accuracy > 0.9, `${first.accuracy} ${last.accuracy}`);
  const best = (/** @type {Float32Array} */ scores) =>
    Math.max(...[0, 1, 2, 3].map((i) => scores[3 * i + 1]));
  assert.ok(best(first.scores) < 0.2 && best(last.scores) > 0.6);
  trainer.dispose();
});

test('a run is decided by its settings, however it is watched', () => {
  const [one, other] = [newTrainer({ seed: 5 }), newTrainer({ seed: 5 })];
  const first = losses(one, 6);
  const second = Array.from({ length: 6 }, () => {
    other.snapshot();
    return other.train();
  });
  assert.deepEqual(first, second);
  assert.deepEqual(one.snapshot(), other.snapshot());
  const third = newTrainer({ seed: 6 });
  assert.notDeepEqual(losses(third, 6), first);
  for (const trainer of [one, other, third]) trainer.dispose();
});

test('accuracy is measured after every ten steps, and when it is asked for', () => {
  const trainer = newTrainer();
  for (const step of [0, 1, 5, 9, 10, 11, 20]) {
    losses(trainer, step - trainer.step);
    assert.equal(!Number.isNaN(trainer.snapshot().accuracy), step % 10 === 0, `${step}`);
    assert.ok(trainer.snapshot(true).accuracy < 0.2);
  }
  trainer.dispose();
});

test('a run that is kept goes on to the bit', () => {
  const [one, other] = [newTrainer(), newTrainer()];
  losses(one, 5);
  const saved = one.save();
  other.restore(saved);
  assert.equal(other.step, 5);
  assert.deepEqual(losses(other, 5), losses(one, 5));
  assert.deepEqual(other.snapshot(), one.snapshot());
  for (const trainer of [one, other]) trainer.dispose();
});

test('a muted head adds nothing while it is muted, and then what it added before', () => {
  const trainer = newTrainer({ heads: 1 });
  losses(trainer, 3);
  const projection = () => {
    const { data } = trainer.model.stateDict()['h.0.attn.c_proj.weight'];
    return /** @type {Float32Array} */ (data);
  };
  const was = projection();
  trainer.mute({ layer: 0, head: 0 }, true);
  assert.ok(projection().every((value) => value === 0));
  losses(trainer, 3);
  assert.ok(projection().every((value) => value === 0));
  trainer.mute({ layer: 0, head: 0 }, false);
  assert.deepEqual(projection(), was);
  trainer.dispose();
});

test('a head that is not muted keeps what it writes when it is unmuted', () => {
  const trainer = newTrainer();
  losses(trainer, 2);
  const weights = trainer.model.stateDict();
  trainer.mute({ layer: 0, head: 1 }, false);
  assert.deepEqual(trainer.model.stateDict(), weights);
  assert.equal(trainer.wasMuted, false);
  trainer.dispose();
});

test('a trainer that is disposed of leaves no memory behind', async () => {
  const own = await load({ threads: 1 });
  const act = () => {
    const trainer = new Trainer(own, drawnTasks.reversal, { ...DEFAULTS.reversal, layers: 3 });
    trainer.train();
    trainer.dispose();
  };
  for (let i = 0; i < 3; i++) act();
  const first = own.memoryBytes;
  for (let i = 0; i < 40; i++) act();
  assert.equal(own.memoryBytes, first);
  own.dispose();
});

test('the learning rate rises through the first 50 steps to what is chosen', () => {
  const trainer = newTrainer({ lr: 0.01 });
  const rates = [1, 24, 25, 10].map((steps) => {
    losses(trainer, steps);
    return trainer.optimizer.lr;
  });
  assert.deepEqual(rates, [0.01 * (1 / 50), 0.01 * (25 / 50), 0.01, 0.01]);
  trainer.dispose();
});

test('with attention alone there is no feed-forward, and runs that were saved with one of zeros go on', () => {
  const [trainer, again] = [newTrainer(), newTrainer()];
  losses(trainer, 3);
  const saved = trainer.save();
  assert.deepEqual(
    Object.keys(saved.weights).filter((name) => /mlp|ln_2/.test(name)),
    [],
  );
  const zeros = { data: new Float32Array(64), shape: [64] };
  again.restore({ ...saved, weights: { ...saved.weights, 'h.0.mlp.c_proj.bias': zeros } });
  assert.deepEqual(losses(again, 2), losses(trainer, 2));
  trainer.dispose();
  again.dispose();
});

test('every step of a run is found again, to the bit, with the heads that were muted then', () => {
  const trainer = newTrainer();
  const checkpoints = new Checkpoints();
  checkpoints.add(trainer);
  const seen = new Map([[0, trainer.snapshot()]]);
  const muting = { step: 60, head: { layer: 0, head: 1 } };
  while (trainer.step < 120) {
    trainer.train();
    checkpoints.add(trainer);
    if (trainer.step === 60 || trainer.step === 90) {
      const isMuted = trainer.step === 60;
      checkpoints.note({ ...muting, step: trainer.step, isMuted });
      trainer.mute(muting.head, isMuted);
    }
    if (trainer.step % 15 === 0) seen.set(trainer.step, trainer.snapshot());
  }
  const other = newTrainer();
  for (const step of [105, 0, 75, 60, 120]) {
    checkpoints.replay(other, step);
    assert.deepEqual(other.snapshot(), seen.get(step), `${step}`);
  }
  for (const one of [trainer, other]) one.dispose();
});

test('a head that was muted at a step at which a state is kept is muted in what is found again', () => {
  const [trainer, other] = [newTrainer(), newTrainer()];
  const checkpoints = new Checkpoints();
  checkpoints.add(trainer);
  const head = { layer: 0, head: 1 };
  for (let step = 1; step <= 30; step++) {
    trainer.train();
    checkpoints.add(trainer);
    if (step !== 25) continue;
    checkpoints.note({ step, head, isMuted: true });
    trainer.mute(head, true);
  }
  checkpoints.replay(other, 30);
  assert.deepEqual(other.muted, [head]);
  assert.deepEqual(other.snapshot(), trainer.snapshot());
  for (const one of [trainer, other]) one.dispose();
});

test('a head that was muted before a state was kept does not hide from what is found again another one after it', () => {
  const [trainer, other] = [newTrainer(), newTrainer()];
  const checkpoints = new Checkpoints();
  checkpoints.add(trainer);
  for (let step = 1; step <= 30; step++) {
    trainer.train();
    checkpoints.add(trainer);
    if (step !== 10 && step !== 28) continue;
    const head = { layer: 0, head: step === 10 ? 1 : 2 };
    checkpoints.note({ step, head, isMuted: true });
    trainer.mute(head, true);
  }
  checkpoints.replay(other, 30);
  assert.deepEqual(other.snapshot(), trainer.snapshot());
  for (const one of [trainer, other]) one.dispose();
});

/** Does its steps in no time, and keeps states of so many bytes. @param {number} bytes */
function quickTrainer(bytes) {
  const state = { data: new Float32Array(bytes / 4), shape: [bytes / 4] };
  const trainer = {
    ...{ step: 0, done: 0 },
    train: () => (trainer.step++, trainer.done++),
    save: () => ({ step: trainer.step, weights: { state }, optimizer: {} }),
    restore: (/** @type {{ step: number }} */ { step }) => (trainer.step = step),
  };
  return trainer;
}

for (const { bytes, most } of [
  { bytes: 2 ** 17, most: 400 },
  { bytes: 2 ** 23, most: 12_800 },
]) {
  test(`going back in a long run takes at most ${most} steps, of which it tells (states of ${bytes} bytes)`, () => {
    const [trainer, past] = [quickTrainer(bytes), quickTrainer(bytes)];
    const checkpoints = new Checkpoints();
    const as = (/** @type {any} */ one) => /** @type {Trainer} */ (one);
    checkpoints.add(as(trainer));
    while (trainer.step < 40_000) {
      trainer.train();
      checkpoints.add(as(trainer));
    }
    for (let step = 99; step < 40_000; step += 1234) {
      past.done = 0;
      /** @type {number[]} */
      const told = [];
      checkpoints.replay(as(past), step, (left) => told.push(left));
      assert.equal(past.step, step);
      assert.ok(past.done <= most, `${past.done} steps to step ${step}`);
      const words = Array.from({ length: Math.ceil(past.done / 100) - 1 }, (_, i) => 100 * (i + 1));
      assert.deepEqual(told, words.reverse(), `${step}`);
    }
  });
}

test('a text’s model writes on from its prompt', () => {
  const trainer = new Trainer(hw, austen, DEFAULTS.austen);
  const { written } = trainer.snapshot();
  assert.equal(written.length, austen.tokens - PROMPT.length);
  assert.equal(trainer.snapshot().written, written);
  trainer.dispose();
});
