// The sum of a logit and of a head's score in Explore: which rows are shown, when it is asked for, and whose answer is taken.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batch, computed, signal } from '../web/page/shared/signals.js';
import { Score } from '../web/page/explore/why/score/score.js';
import { SumRows } from '../web/page/explore/why/sum-rows.js';
import { partsOf } from '../web/page/explore/why/sum.js';
import { Summing } from '../web/page/explore/why/summing.js';

const PARTS = partsOf({ heads: [1, -2, 0.5, 0.25], mlps: [3, -1], embedding: 0.75, biases: -0.5 });
const [EMBEDDING, FIRST, MLP, SECOND] = PARTS;
const rest = () => new Promise((resolve) => setTimeout(resolve));

/** Rows of a room that keeps which heads were chosen. */
function makeRows() {
  /** @type {unknown[]} */
  const chosen = [];
  const room = {
    shown: signal({ parts: 'order' }),
    attribution: signal({}),
    choices: { choose: (/** @type {unknown} */ head) => void chosen.push(head) },
  };
  return { room, chosen, rows: new SumRows(/** @type {any} */ (room)) };
}

test('a layer is opened into its heads, which begin where it begins, beside others, and closed again', () => {
  const { rows } = makeRows();
  const shown = computed(() =>
    rows.of(PARTS).map(({ kind, layer, head, start, isWithin }) => {
      const name = kind === 'head' ? `L${layer}H${head}` : kind;
      return `${isWithin ? '- ' : ''}${name} ${start}`;
    }),
  );
  const heads = [...['layer 0.75', '- L0H0 0.75', '- L0H1 1.75'], 'mlp -0.25'];
  const [none, second] = [shown.value, ['layer 2.75', '- L1H0 2.75', '- L1H1 3.25', 'mlp 3.5']];
  rows.act(SECOND);
  rows.act(FIRST);
  assert.deepEqual(shown.value, ['embedding 0', ...heads, ...second, 'biases 2.5']);
  assert.deepEqual(
    [FIRST, MLP, SECOND, EMBEDDING].map((part) => rows.isOpen(part)),
    [true, false, true, false],
  );
  rows.act(FIRST);
  assert.deepEqual(shown.value, ['embedding 0', ...none.slice(1, 3), ...second, 'biases 2.5']);
  rows.act(SECOND);
  assert.deepEqual(shown.value, none);
});

test('a head of the sum is chosen; a feed-forward, which has none, opens nothing', () => {
  const { rows, chosen } = makeRows();
  rows.act({ kind: 'head', layer: 1, head: 0, value: 1 });
  rows.act(MLP);
  rows.act(SECOND);
  assert.deepEqual(chosen, [{ layer: 1, head: 0 }]);
  assert.deepEqual([rows.isOpen(FIRST), rows.isOpen(SECOND)], [false, true]);
});

test('with the largest first 24 parts are shown one by one, in their own order all', () => {
  const { room, rows } = makeRows();
  const parts = partsOf({
    heads: Array(40).fill(1),
    mlps: Array(8).fill(2),
    embedding: 1,
    biases: 1,
  });
  assert.equal(rows.of(parts).length, 18);
  room.shown.value = { parts: 'size' };
  assert.deepEqual(
    rows.of(parts).map(({ kind, value }) => `${kind} ${value}`),
    [...Array(8).fill('mlp 2'), 'embedding 1', ...Array(15).fill('head 1'), 'rest 26'],
  );
});

test('a part is told while it is pointed at, and its sum is the one that is shown', () => {
  const { room, rows } = makeRows();
  const [part] = rows.of(PARTS);
  assert.equal(rows.pointed, undefined);
  rows.point(part);
  assert.equal(rows.pointed, part);
  rows.leave();
  assert.equal(rows.pointed, undefined);
  rows.point(part);
  room.attribution.value = {};
  assert.equal(rows.pointed, undefined);
});

/**
 * A room that asks for sums, and what was asked.
 *
 * @param {{ isWhy?: boolean, measure?: string, predicts?: string, hasNext?: boolean }} [how]
 */
function makeSums({ isWhy = true, measure = 'none', predicts = 'next', hasNext = true } = {}) {
  const [run, other] = [{ run: 1 }, { run: 2 }];
  /** @type {{ args: unknown[], answer: (parts: object) => void, refuse: (error: unknown) => void }[]} */
  const asked = [];
  /** @type {unknown[]} */
  const failures = [];
  const session = {
    run,
    attribution: (/** @type {unknown[]} */ ...args) =>
      new Promise((answer, refuse) => asked.push({ args, answer, refuse })),
  };
  const room = {
    ...{ session, run: signal(run), isShown: signal(true), about: signal({ at: 3 }) },
    fail: (/** @type {unknown} */ error) => failures.push(error),
    ...{ isWhy: signal(isWhy), measure: signal(measure), predicts: signal(predicts) },
    next: { ended: signal(hasNext ? run : undefined) },
  };
  const summing = new Summing(/** @type {any} */ (room));
  const read = (/** @type {typeof run} */ next) => {
    session.run = next;
    room.run.value = next;
  };
  const total = () => summing.parts.value?.total;
  return { room, run, other, read, asked, failures, summing, total };
}

test('a sum is asked for in its view, and where heads are measured by it, if next tokens are predicted and known', () => {
  const askedOf = (/** @type {Parameters<typeof makeSums>[0]} */ how) =>
    makeSums(how).asked.map(({ args }) => args);
  assert.deepEqual(askedOf({}), [[{ at: 3 }, true]]);
  // The directions are for the view alone.
  assert.deepEqual(askedOf({ isWhy: false, measure: 'attribution' }), [[{ at: 3 }, false]]);
  const without = [{ isWhy: false }, { predicts: 'masked' }, { hasNext: false }];
  assert.deepEqual(without.map(askedOf), [[], [], []]);
});

test('a sum is of the token that is asked about, in the text that is shown', async () => {
  const { room, other, read, asked, total } = makeSums();
  asked[0].answer({ total: 1 });
  await rest();
  assert.equal(total(), 1);
  room.about.value = { at: 4 };
  assert.equal(total(), undefined);
  asked[1].answer({ total: 2 });
  await rest();
  assert.equal(total(), 2);
  read(other);
  assert.equal(total(), undefined);
});

test('a sum that was cancelled is not taken; it is asked for again on wish, of another token and in another text', async () => {
  const { room, other, read, asked, summing, total } = makeSums();
  assert.ok(!summing.isSkipped.value);
  summing.skip();
  asked[0].answer({ total: 1 });
  await rest();
  assert.deepEqual([summing.isSkipped.value, total(), asked.length], [true, undefined, 1]);
  summing.goOn();
  assert.deepEqual([summing.isSkipped.value, asked.length], [false, 2]);
  asked[1].answer({ total: 2 });
  await rest();
  assert.equal(total(), 2);
  summing.skip();
  assert.equal(total(), undefined, 'though it is known');
  room.about.value = { at: 4 };
  assert.deepEqual([summing.isSkipped.value, asked.length], [false, 3]);
  asked[2].answer({ total: 3 });
  await rest();
  summing.skip();
  read(other);
  assert.ok(!summing.isSkipped.value);
});

test('a sum that is known is not asked for again when one comes back to its view', async () => {
  const { room, asked, total } = makeSums();
  const leaveAndComeBack = () => [false, true].forEach((isWhy) => (room.isWhy.value = isWhy));
  asked[0].answer({ total: 1, directions: [] });
  await rest();
  leaveAndComeBack();
  assert.deepEqual([asked.length, total()], [1, 1]);
  room.about.value = { at: 4 };
  asked[1].answer({ total: 2, directions: [] });
  await rest();
  leaveAndComeBack();
  room.about.value = { at: 3 };
  assert.equal(asked.length, 3, 'the last one alone is known');
});

test('a sum by which heads were measured is asked for again with its directions', async () => {
  const { room, asked } = makeSums({ isWhy: false, measure: 'attribution' });
  asked[0].answer({ total: 1 });
  await rest();
  room.isWhy.value = true;
  assert.deepEqual(
    asked.map(({ args }) => args[1]),
    [false, true],
  );
});

test('a wait for a sum is told after a moment, until it is there or has failed', async ({
  mock,
}) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { room, asked, failures, summing } = makeSums();
  const { now } = summing.waiting;
  mock.timers.tick(299);
  assert.equal(now.value, undefined);
  mock.timers.tick(1);
  assert.deepEqual(now.value, { label: 'Adding up the parts' });
  asked[0].refuse('no');
  await new Promise(setImmediate);
  assert.deepEqual([now.value, summing.hasFailed.value, failures], [undefined, true, ['no']]);
  room.about.value = { at: 4 };
  assert.ok(!summing.hasFailed.value);
});

/** A room that asks for a head's score from token 2, and what was asked. */
function makeScore() {
  const [run, about] = [{ run: 1 }, { about: { at: 2 } }];
  /** @type {{ looked: unknown, answer: (score: object) => void }[]} */
  const asked = [];
  const session = {
    run,
    qkScore: (/** @type {unknown} */ looked) =>
      new Promise((answer) => asked.push({ looked, answer })),
  };
  const weights = [0.1, 0.7, 0.2];
  const room = {
    ...{ session, run: signal(run), isShown: signal(true), fail: assert.fail },
    shown: signal({ layer: 1, head: 3, key: /** @type {number | null} */ (null) }),
    attribution: signal(about),
    headKeys: { answer: signal({ run, about, weights, layer: 1, head: 3 }) },
  };
  return { room, asked, score: new Score(/** @type {any} */ (room)) };
}

test('a head is asked why it looks at the chosen key, else at the one that gets most', () => {
  const { room, asked, score } = makeScore();
  const keyOf = (/** @type {number} */ key) => {
    room.shown.value = { layer: 1, head: 3, key };
    return score.looked.value?.key;
  };
  assert.deepEqual(score.looked.value, { layer: 1, head: 3, query: 2, key: 1 });
  assert.deepEqual([0, 2, 3].map(keyOf), [0, 2, 1], 'the last is behind the query');
  assert.deepEqual(
    asked.map(({ looked }) => looked),
    [{ layer: 1, head: 3, query: 2, key: 1 }],
  );
});

test('where a head looks is known of the text, the sum and the head that are shown', () => {
  /** @typedef {ReturnType<typeof makeScore>['room']} Room */
  for (const change of [
    (/** @type {Room} */ room) => (room.run.value = { run: 1 }),
    (/** @type {Room} */ room) => (room.attribution.value = { about: { at: 2 } }),
    (/** @type {Room} */ room) => (room.shown.value = { layer: 1, head: 2, key: null }),
  ]) {
    const made = makeScore();
    change(made.room);
    assert.equal(made.score.looked.value, undefined);
  }
});

test('a score is that of the head and the key that are shown, in this text', async () => {
  const { room, asked, score } = makeScore();
  const value = () => /** @type {any} */ (score.answer.value)?.score;
  asked[0].answer({ score: 2 });
  await rest();
  assert.equal(value(), 2);
  room.shown.value = { layer: 1, head: 3, key: 0 };
  assert.equal(value(), undefined);
  asked[1].answer({ score: 3 });
  await rest();
  assert.equal(value(), 3);
  const run = { run: 2 };
  batch(() => {
    room.run.value = run;
    room.headKeys.answer.value = { ...room.headKeys.answer.peek(), run };
  });
  assert.equal(value(), undefined, 'though the same head looks from the same token at the same');
});
