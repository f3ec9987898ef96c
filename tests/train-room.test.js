// Parts of the Train room that need no page: its words, addresses and history.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyOf } from '../web/page/shared/linkable.js';
import { MAX_SEED } from '../web/page/shared/seeds.js';
import { changeOf, History, thinnedPoints } from '../web/page/train/history.js';
import {
  changed,
  DEFAULTS,
  formatTrain,
  parseTrain,
  TRAIN_DEFAULTS,
  TASKS,
} from '../web/page/train/settings.js';
import { differenceOf, knownOf } from '../web/page/train/words.js';

/** @import { Point } from '../web/page/train/history.js' */
/** @import { Settings } from '../web/page/train/settings.js' */

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
  assert.equal(formatTrain(changed(state, { text: '' })).toString(), 'task=own');
  const { kept } = parseTrain(new URLSearchParams(`${address}&text=one`));
  assert.equal(kept, '', 'the address has a text');
  const long = 'a'.repeat(1e5);
  const params = formatTrain(changed(state, { text: long }));
  assert.deepEqual([params.get('kept'), params.get('text')], [keyOf(long), null]);
});

test('what is known of settings is said, and nothing of the usual ones', () => {
  for (const task of TASKS) assert.deepEqual(knownOf(DEFAULTS[task]), []);
  const words = knownOf({ ...DEFAULTS.induction, lr: 1e-2, layers: 1 }).join(' ');
  assert.match(words, /Above a learning rate of 0\.003/);
  assert.match(words, /One layer cannot do induction/);
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
