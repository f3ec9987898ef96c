// Parts of the Train room that need no page: tasks, addresses, the history, and the trainer.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { load } from 'headwise';
import { MAX_SEED } from '../web/page/shared/seeds.js';
import { Checkpoints } from '../web/page/train/checkpoints.js';
import { changeOf, History, thinnedPoints } from '../web/page/train/history.js';
import { sinusoids } from '../web/page/train/model.js';
import {
  changed,
  DEFAULTS,
  formatTrain,
  parseTrain,
  TRAIN_DEFAULTS,
  TASKS,
} from '../web/page/train/settings.js';
import { randomBelow } from '../web/page/train/tasks/random.js';
import { IGNORED } from '../web/page/train/tasks/task.js';
import { AUSTEN, drawnTasks, PROMPT, textTask } from '../web/page/train/tasks/tasks.js';
import { RARE } from '../web/page/train/tasks/text.js';
import { Trainer } from '../web/page/train/trainer.js';
import { differenceOf, knownOf, lacksText, leftOut, tooShort } from '../web/page/train/words.js';

/** @import { Headwise } from 'headwise' */
/** @import { Point } from '../web/page/train/history.js' */
/** @import { Learnt, Row, Task } from '../web/page/train/tasks/task.js' */
/** @import { Settings } from '../web/page/train/settings.js' */

/** @type {Headwise} */
let hw;
before(async () => (hw = await load({ simd: 'simd128' })));
after(() => hw.dispose());

const austen = textTask(await readFile(AUSTEN, 'utf8'), PROMPT);

/** @param {Task} task @param {number[]} ids */
const write = (task, ids) => ids.map((id) => [...task.characters][id]).join('');

/** @param {Row} row what it asks for */
const asked = ({ targets }) => targets.filter((target) => target !== IGNORED);

/** @param {Task} task @param {(row: Row, words: string) => void} check */
function eachRow(task, check) {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const row = task.row(randomBelow(seed));
      assert.equal(row.ids.length, row.targets.length);
      assert.equal(row.ids.length, row.answers.length);
      assert.ok(row.ids.length <= task.tokens);
      check(row, write(task, row.ids));
    }),
    { numRuns: 50 },
  );
}

test('in induction each answer stands after an earlier time of the same letter', () => {
  eachRow(drawnTasks.induction, ({ ids, targets, answers }) => {
    let count = 0;
    answers.forEach((places, i) => {
      for (const place of places) {
        count++;
        assert.ok(place <= i);
        assert.equal(ids[place], targets[i]);
        assert.equal(ids[place - 1] ?? ids[i], ids[i]);
      }
      assert.equal(places.length > 0, targets[i] !== IGNORED);
      // Period after period, from the first on: where the row begins is one of them.
      const period = targets.findIndex((target) => target !== IGNORED);
      if (i >= period && (i + 1) % period === 0) assert.ok(places.includes(0));
    });
    assert.ok(count > 0);
  });
});

test('reversal asks for the letters backwards, sorting for their order', () => {
  const { reversal, sorting } = drawnTasks;
  eachRow(reversal, (row, words) => {
    const letters = words.slice(0, words.indexOf('>'));
    assert.equal(write(reversal, asked(row)), [...letters].reverse().join(''));
  });
  eachRow(sorting, (row, words) => {
    const letters = words.slice(0, words.indexOf('>'));
    assert.equal(new Set(letters).size, letters.length);
    assert.equal(write(sorting, asked(row)), [...letters].sort().join(''));
  });
});

test('addition asks for the sum, units first', () => {
  const { addition } = drawnTasks;
  eachRow(addition, (row, words) => {
    const [, a, b] = /^(\d{4})\+(\d{4})=/.exec(words) ?? [];
    const sum = String(Number(a) + Number(b)).padStart(5, '0');
    assert.equal(write(addition, asked(row)), [...sum].reverse().join(''));
  });
});

test('a text asks for each next character, and keeps its end for the held-out rows', () => {
  eachRow(austen, (row, words) => {
    assert.equal(write(austen, row.targets).slice(0, -1), words.slice(1));
  });
  const text = 'ab'.repeat(900) + 'cd'.repeat(100);
  const task = textTask(text, 'ab');
  eachRow(task, (_, words) => assert.match(words, /^[ab]+$/));
  assert.match(write(task, task.row(randomBelow(1), true).ids), /^[cd]+$/);
  assert.equal(task.prompt, 'ab');
  // The shortest text has one held-out row, each of whose characters is followed by one.
  const shortest = textTask('abcd'.repeat(100), 'ab');
  const { ids, targets } = shortest.row(randomBelow(1), true);
  assert.deepEqual([ids.length, targets.length], [39, 39]);
});

test('what differs between two runs is said, one layer and one head in words', () => {
  const { induction } = DEFAULTS;
  assert.equal(differenceOf(induction, induction), 'the same settings');
  const single = { ...induction, layers: 1, heads: 1, seed: 2, only: false };
  assert.equal(differenceOf(induction, single), 'seed 2, one layer, one head, with feed-forward');
  assert.equal(
    differenceOf(single, { ...single, layers: 2, heads: 4, lr: 0.01, positions: 'none' }),
    '2 layers, 4 heads, learning rate 0.01, positions: none',
  );
  assert.equal(knownOf({ ...induction, width: 16, heads: 2 }).length, 0, 'eight numbers a head');
});

/** Different characters. @param {number} count @param {number} [first] */
const different = (count, first = 0x4e00) =>
  Array.from({ length: count }, (_, i) => String.fromCodePoint(first + i)).join('');

test('a text’s rare characters keep their places as one sign, and it is said how much is learnt', () => {
  const common = different(96);
  const rare = different(4, 0x3041);
  const task = textTask(`${common.slice(0, 5)}${rare}${common.repeat(20)}`, `${common[0]}${rare}`);
  assert.equal(task.prompt, common[0] + RARE.repeat(4));
  assert.equal(task.characters, common + RARE);
  const begin = `${common.slice(0, 5)}${RARE.repeat(4)}${common.slice(0, 55)}`;
  assert.equal(write(task, task.row(() => 0).ids), begin, 'what is rare keeps its place');
  const learnt = /** @type {Learnt} */ (task.learnt);
  assert.deepEqual(learnt, { kinds: 96, ofKinds: 100, count: 1925, of: 1929 });
  assert.match(leftOut(learnt), /1,925 of its 1,929 characters remain\. \ufffd stands for/);

  assert.equal(leftOut(/** @type {Learnt} */ (austen.learnt)), '');
  assert.ok(!austen.characters.includes(RARE));
  const own = textTask(`${RARE.repeat(9)}${common.repeat(2)}`, RARE);
  assert.equal(own.characters.length, 96, 'a sign of the text’s own is not there twice');
});

test('a text of which too little is learnt is refused with what remains of it', () => {
  const words = (/** @type {string} */ text) =>
    tooShort(/** @type {Learnt} */ (textTask(text, '').learnt));
  assert.match(words(''), /^Paste a text of at least 400 characters/);
  assert.equal(words('a'), 'This text has 1 character; at least 400 are needed.');
  assert.equal(words('👍'.repeat(390)), 'This text has 390 characters; at least 400 are needed.');
  assert.equal(
    words(different(2000)),
    'Only the 96 commonest of your text’s 2,000 different characters are learnt: 96 of its 2,000 characters remain, and training takes 400. Paste a longer text.',
  );
});

test('a text is long enough by its characters, those outside the basic plane too', () => {
  const lacks = (/** @type {string} */ text) => lacksText({ ...DEFAULTS.own, text });
  for (const character of ['a', '😀']) {
    assert.equal(lacks(character.repeat(399)), true);
    assert.equal(lacks(character.repeat(400)), false);
  }
});

test('an address holds the task, its settings and the run beside it', () => {
  for (const task of TASKS) {
    const settings = DEFAULTS[task];
    const alone = { ...TRAIN_DEFAULTS, settings };
    assert.deepEqual(parseTrain(formatTrain(alone)), alone);
  }
  assert.equal(formatTrain(TRAIN_DEFAULTS).toString(), '');
  /** @type {Settings} */
  const settings = {
    ...DEFAULTS.reversal,
    seed: 7,
    heads: 8,
    lr: 1e-2,
    only: false,
    positions: 'none',
  };
  const state = { settings, other: { ...settings, layers: 2, seed: 8 }, kept: '' };
  assert.deepEqual(parseTrain(formatTrain(state)), state);
  const { seed } = parseTrain(new URLSearchParams('seed=4294967296')).settings;
  assert.equal(seed, DEFAULTS.induction.seed, 'beyond 32 bits');
  const [first, other] = [7, DEFAULTS.induction.seed].map((one) => ({
    ...DEFAULTS.induction,
    seed: one,
  }));
  const usual = { settings: first, other, kept: '' };
  assert.deepEqual(parseTrain(formatTrain(usual)), usual, 'the usual one beside another');
  const foreign = parseTrain(new URLSearchParams('task=sorting&text=abc&seed=4294967295')).settings;
  assert.deepEqual(foreign, { ...DEFAULTS.sorting, seed: MAX_SEED }, 'a text of another task');
  const odd = 'task=none&seed=-1&heads=3&width=7&lr=2&layers=99&positions=x';
  assert.deepEqual(parseTrain(new URLSearchParams(odd)).settings, DEFAULTS.induction);
});

test('a change of the first run leaves the run beside it what it differs in, and never makes both the same', () => {
  const settings = DEFAULTS.induction;
  const beside = { ...settings, seed: 2, layers: 1 };
  /** @param {Partial<Settings>} other @param {Partial<Settings>} part */
  const changedTo = (other, part) =>
    changed({ ...TRAIN_DEFAULTS, settings, other: { ...settings, ...other } }, part);
  assert.deepEqual(changed({ ...TRAIN_DEFAULTS, settings }, { seed: 5 }).other, null);
  assert.deepEqual(changedTo(beside, { seed: 5, width: 64 }), {
    settings: { ...settings, seed: 5, width: 64 },
    other: { ...beside, width: 64 },
    kept: '',
  });
  assert.deepEqual(changedTo({ seed: 2 }, { seed: 2 }).other, { ...settings, seed: 3 });
  assert.deepEqual(changedTo({ seed: MAX_SEED }, { seed: MAX_SEED }).other?.seed, 0);
  assert.deepEqual(changedTo({ layers: 1 }, { layers: 1 }).other, {
    ...settings,
    layers: 1,
    seed: 2,
  });
});

test('an address never makes the run beside another one the same', () => {
  for (const beside of ['', 'seed=1', 'heads=7', 'seed=2']) {
    const { settings, other } = parseTrain(new URLSearchParams({ beside }));
    assert.deepEqual(other, { ...settings, seed: 2 }, beside);
  }
});

test('the address keeps the name of a long text that this browser has not, until there is another text', () => {
  const address = 'task=own&kept=3ij-1abc';
  const state = parseTrain(new URLSearchParams(address));
  assert.deepEqual([state.settings.text, state.kept], ['', '3ij-1abc']);
  assert.equal(formatTrain(state).toString(), address);
  assert.equal(formatTrain(changed(state, { seed: 2 })).toString(), `${address}&seed=2`);
  assert.equal(formatTrain(changed(state, { text: 'one' })).toString(), 'task=own&text=one');
});

test('what is known of settings is said, and nothing of the usual ones', () => {
  for (const task of TASKS) assert.deepEqual(knownOf(DEFAULTS[task]), []);
  const words = knownOf({ ...DEFAULTS.induction, lr: 1e-2, layers: 1 }).join(' ');
  assert.match(words, /Above a learning rate of 0\.003/);
  assert.match(words, /One layer cannot do induction/);
});

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

/** @param {number} step @param {number} accuracy @param {number} [bytes] */
const snapshot = (step, accuracy, bytes = 16) => ({
  ...{ step, accuracy, maps: new Uint8Array(bytes), says: new Uint8Array(4), written: '' },
  scores: Float32Array.of(0.1, 0, 1),
  muted: [],
  wasMuted: false,
});

test('the history stays within its bound, and finds what was seen at a step', () => {
  const history = new History();
  for (let step = 0; step < 5000; step++) history.add(snapshot(step, step / 5000), [1, 2]);
  assert.ok(history.seen.length <= 600 && history.seen.length > 250);
  assert.ok(history.loss.length <= 4000 && history.accuracy.length <= 4000);
  assert.equal(history.last?.step, 4999);
  assert.equal(history.seen[0].step, 0);
  const { y: loss = NaN } = history.loss.at(-1) ?? {};
  assert.equal(loss, 2);
  assert.deepEqual([history.loss.at(-1)?.x, history.accuracy.at(-1)?.x], [4999, 4999]);
  const found = history.at(1000).step;
  assert.ok(found <= 1000 && found > 980);
  // Whatever the steps are that a call ends at.
  for (const gap of [2, 4, 7]) {
    const odd = new History();
    for (let step = 1; step < 5000; step += gap) odd.add(snapshot(step, 0), []);
    const gaps = odd.seen.slice(1).map((one, i) => one.step - odd.seen[i].step);
    assert.ok(Math.max(...gaps) <= 64, `every ${gap} steps: a gap of ${Math.max(...gaps)}`);
    assert.ok(odd.seen.length > 150 && odd.seen.length <= 600, `${odd.seen.length}`);
  }
  const large = new History();
  for (let step = 0; step < 200; step++) large.add(snapshot(step, 0, 2 ** 17), []);
  assert.ok(large.bytes <= 6 * 2 ** 20);
});

test('what is seen of a step again takes the place of what was seen, and before the first step is the first', () => {
  const history = new History();
  history.add(snapshot(20, 0.25), []);
  history.add({ ...snapshot(20, 0.75), wasMuted: true }, []);
  assert.deepEqual(
    history.seen.map(({ wasMuted }) => wasMuted),
    [true],
  );
  assert.deepEqual(history.accuracy, [{ x: 20, y: 0.75 }]);
  assert.equal(history.at(7), history.seen[0]);
  history.add(snapshot(30, 0), []);
  assert.deepEqual(
    [20, 29, 30].map((step) => history.at(step).step),
    [20, 20, 30],
  );
});

test('the curves of a long run keep their beginning, and what was measured there', () => {
  const [history, steps] = [new History(), 40_000];
  /** The loss as it was smoothed, by its step. @type {number[]} */
  const smoothed = [];
  for (let step = 1; step <= steps; step++) {
    const loss = Math.max(0.02, 3.8 - step / 75);
    const last = smoothed[step - 1] ?? loss;
    smoothed[step] = last + 0.05 * (loss - last);
    history.add(snapshot(step, step % 10 ? NaN : Number(step >= 280)), [smoothed[step]]);
  }
  const valueAt = (/** @type {Point[]} */ points, /** @type {number} */ step) =>
    points.findLast(({ x }) => x <= step)?.y ?? NaN;
  for (const points of [history.loss, history.accuracy]) {
    assert.ok(points.length > 1000 && points.length <= 4000, `${points.length}`);
    assert.ok(points[0].x <= 10 && points.at(-1)?.x === steps);
    const gaps = points.slice(1).map(({ x }, i) => x - points[i].x);
    assert.ok(Math.max(...gaps) <= 64, `a gap of ${Math.max(...gaps)}`);
  }
  for (const step of [100, 200, 500, 20_000]) {
    const range = [smoothed[step - 32], smoothed[step]];
    const y = valueAt(history.loss, step);
    assert.ok(y <= range[0] && y >= range[1], `${step}: ${y}, expected ${range}`);
  }
  assert.deepEqual(
    [200, 500, steps].map((step) => valueAt(history.accuracy, step)),
    [0, 1, 1],
  );
  assert.equal(history.highestLoss, smoothed[1]);
  // What is drawn has the beginning too.
  const drawn = thinnedPoints(history.loss, 240);
  assert.ok(drawn.length > 100 && drawn.length <= 242, `${drawn.length}`);
  assert.ok(drawn.filter(({ x }) => x <= 1000).length >= 3);
  assert.equal(drawn.at(-1)?.x, steps);
  const few = [0, 1, steps].map((at) => ({ x: at, y: 0 }));
  assert.deepEqual(thinnedPoints(few, 3), few, 'no more than are drawn');
});

test('the change is the first snapshot with half of the answers, or in a text a head that looks back', () => {
  const seen = [0.1, 0.2, 0.6, 0.4, 0.9].map((accuracy, i) => snapshot(10 * i, accuracy));
  assert.equal(changeOf(seen, { isText: false, scores: 3 }), 20);
  assert.equal(changeOf(seen, { isText: true, scores: 3 }), undefined);
  const half = [0.1, 0.5].map((accuracy, i) => snapshot(10 * i, accuracy));
  assert.equal(changeOf(half, { isText: false, scores: 3 }), 10);
  const late = seen.slice(2);
  assert.equal(changeOf(late, { isText: false, scores: 3 }), undefined, 'it was before these');
  // Between the steps at which accuracy is measured, only the pace decides what is seen.
  seen.splice(1, 0, { ...snapshot(7, NaN), scores: Float32Array.of(0.9, 0, 0) });
  assert.equal(changeOf(seen, { isText: true, scores: 3 }), undefined);
  seen[4].scores = Float32Array.of(0, 0.9, 0, 0.4, 0, 0);
  assert.equal(changeOf(seen, { isText: true, scores: 3 }), 30);
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
