// The order of Explore's heads: by a measure as soon as it is there, and as it was while another is to come.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOrdering } from '../web/page/explore/ordering.js';
import { signal } from '../web/page/shared/signals.js';

/** @import { Explorer } from '../web/page/explore/explorer.js' */

/** What the order reads of the room, of a model of one layer with three heads. @param {string} sort */
function roomOf(sort) {
  const no = () => signal(false);
  /** @type {{ value: number[] | undefined }} */
  const values = signal(undefined);
  const run = signal({ layers: 1, heads: 3 });
  const room = {
    ...{ values, run, model: signal({}), measure: signal(sort), shown: signal({ sort }) },
    ...{ isSigned: no(), skipped: signal(/** @type {object | undefined} */ (undefined)) },
    ...{ scores: { hasFailed: no() }, effectsHaveFailed: no() },
    summing: { hasFailed: no(), isSkipped: no() },
    patching: {
      question: signal({ others: /** @type {number[] | null} */ ([1]) }),
      cancelled: signal(/** @type {object | undefined} */ (undefined)),
    },
  };
  const { by, order } = createOrdering(/** @type {Explorer} */ (/** @type {unknown} */ (room)));
  const now = () => [by.value, order.value.join(' ')].join(': ');
  return { room, now };
}

test('heads are in order of a measure once it is there', () => {
  const { room, now } = roomOf('entropy');
  assert.equal(now(), 'place: 0 1 2');
  room.values.value = [0.1, NaN, 0.3];
  assert.equal(now(), 'entropy: 2 0 1');
  room.values.value = [0.5, -0.9, 0.3];
  assert.equal(now(), 'entropy: 0 2 1');
  room.isSigned.value = true;
  assert.equal(now(), 'entropy: 1 0 2');
});

test('heads stay in their order while the same measure is to come of another run', () => {
  const { room, now } = roomOf('entropy');
  room.values.value = [0.1, 0.2, 0.3];
  assert.equal(now(), 'entropy: 2 1 0');
  room.values.value = undefined;
  room.run.value = { layers: 1, heads: 3 };
  assert.equal(now(), 'entropy: 2 1 0');
  room.values.value = [0.3, 0.1, 0.2];
  assert.equal(now(), 'entropy: 0 2 1');
});

test('another measure, and another model, have no order before their own', () => {
  for (const change of /** @type {((room: ReturnType<typeof roomOf>['room']) => void)[]} */ ([
    ({ measure, shown }) => (measure.value = (shown.value = { sort: 'effect' }).sort),
    ({ model }) => (model.value = {}),
  ])) {
    const { room, now } = roomOf('entropy');
    room.values.value = [0.1, 0.2, 0.3];
    assert.equal(now(), 'entropy: 2 1 0');
    room.values.value = undefined;
    change(room);
    assert.equal(now(), 'place: 0 1 2');
  }
});

/** @type {Record<string, Record<string, (room: ReturnType<typeof roomOf>['room']) => void>>} */
const ENDS = {
  entropy: {
    'that were left out': ({ skipped, run }) => (skipped.value = run.value),
    'that failed': ({ scores }) => (scores.hasFailed.value = true),
  },
  'mean-effect': { 'that failed': ({ effectsHaveFailed }) => (effectsHaveFailed.value = true) },
  attribution: {
    'that were left out': ({ summing }) => (summing.isSkipped.value = true),
    'that failed': ({ summing }) => (summing.hasFailed.value = true),
  },
  patching: {
    'that were cancelled': ({ patching }) => (patching.cancelled.value = patching.question.value),
    'of texts that do not go together': ({ patching }) =>
      (patching.question.value = { others: null }),
  },
};

for (const [measure, ends] of Object.entries(ENDS)) {
  for (const [title, end] of Object.entries(ends)) {
    test(`values of ${measure} ${title} leave no order behind`, () => {
      const { room, now } = roomOf(measure);
      room.values.value = [0.1, 0.2, 0.3];
      assert.equal(now(), `${measure}: 2 1 0`);
      room.values.value = undefined;
      assert.equal(now(), `${measure}: 2 1 0`);
      end(room);
      assert.equal(now(), 'place: 0 1 2');
    });
  }
}
