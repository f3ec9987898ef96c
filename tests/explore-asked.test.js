// What the Explore room asks its Worker: when, and which answers it takes; and computed values that stay the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Asked } from '../web/page/explore/asked.js';
import { derived, effect, signal } from '../web/page/shared/signals.js';

/** @typedef {(answer: unknown) => void} Answer */

/** A room whose question is a signal, and what was asked in it. */
function makeRoom() {
  const [first, second] = [{ run: 1 }, { run: 2 }];
  const session = { run: /** @type {object} */ (first) };
  /** @type {unknown[]} */
  const failures = [];
  const room = {
    session,
    run: signal(first),
    isShown: signal(true),
    fail: (/** @type {unknown} */ error) => failures.push(error),
  };
  /** @type {{ question: string, answer: Answer, refuse: Answer, tell: (part: string) => Promise<void> }[]} */
  const waiting = [];
  const question = signal('a');
  const asked = new Asked(/** @type {any} */ (room), () => {
    const now = question.value;
    return (/** @type {(part: any) => Promise<void>} */ tell) =>
      new Promise((resolve, refuse) =>
        waiting.push({
          question: now,
          answer: (text) => resolve({ text }),
          refuse,
          tell: (text) => tell({ text }),
        }),
      );
  });
  const said = () => /** @type {any} */ (asked.answer.value)?.text;
  const rest = () => new Promise((resolve) => setTimeout(resolve));
  return { room, first, second, failures, waiting, question, asked, said, rest };
}

test('of what is asked while something is under way only the newest is asked next', async () => {
  const { waiting, question, said, rest } = makeRoom();
  for (const next of ['b', 'c', 'd']) question.value = next;
  assert.deepEqual([waiting.length, said()], [1, undefined]);
  waiting[0].answer('A');
  await rest();
  assert.equal(said(), 'A');
  assert.deepEqual(
    waiting.map((one) => one.question),
    ['a', 'd'],
  );
  waiting[1].tell('part of D');
  assert.equal(said(), 'part of D');
  waiting[1].answer('D');
  await rest();
  assert.equal(said(), 'D');
});

test('an answer about a run that is over is dropped, and the next run is asked about', async () => {
  const { room, first, second, waiting, asked, said, rest } = makeRoom();
  room.session.run = second;
  waiting[0].answer('old');
  await rest();
  assert.deepEqual([said(), asked.ended.value], [undefined, first]);
  room.run.value = second;
  waiting[1].answer('new');
  await rest();
  assert.equal(said(), 'new');
  assert.deepEqual([asked.answer.value?.run, asked.ended.value], [second, second]);
});

test('what fails is told, and does not keep the next question from being asked', async () => {
  const { waiting, question, failures, asked, first, said, rest } = makeRoom();
  waiting[0].refuse('no');
  await rest();
  assert.deepEqual([failures, asked.ended.value], [['no'], first]);
  question.value = 'b';
  waiting[1].answer('B');
  await rest();
  assert.equal(said(), 'B');
});

test('a room that is not seen asks for nothing until it is', async () => {
  const { room, waiting, question, rest } = makeRoom();
  waiting[0].answer('A');
  await rest();
  room.isShown.value = false;
  question.value = 'b';
  await rest();
  assert.equal(waiting.length, 1);
  room.isShown.value = true;
  assert.equal(waiting[1].question, 'b');
});

test('what was answered is not asked again when the room is left and seen again', async () => {
  const { room, waiting, question, said, rest } = makeRoom();
  waiting[0].answer('A');
  await rest();
  const come = (/** @type {boolean} */ isShown) => (room.isShown.value = isShown);
  come(false);
  come(true);
  await rest();
  assert.deepEqual([waiting.length, said()], [1, 'A']);
  question.value = 'b';
  come(false);
  come(true);
  waiting[1].answer('B');
  await rest();
  assert.deepEqual([waiting.length, said()], [2, 'B'], 'nor what was under way meanwhile');
  question.value = 'a';
  await rest();
  assert.equal(waiting.length, 3, 'an earlier answer is not kept');
});

test('what had to wait until the room was left is asked when it is seen again', async () => {
  const { room, waiting, question, rest } = makeRoom();
  question.value = 'b';
  room.isShown.value = false;
  waiting[0].answer('A');
  await rest();
  assert.equal(waiting.length, 1);
  room.isShown.value = true;
  await rest();
  assert.equal(waiting[1].question, 'b');
});

test('what failed is asked again when the room is left and seen again', async () => {
  const { room, waiting, rest } = makeRoom();
  waiting[0].refuse('no');
  await rest();
  room.isShown.value = false;
  room.isShown.value = true;
  await rest();
  assert.equal(waiting.length, 2);
});

test('who tells of a part can wait with the next until the room is seen', async () => {
  const { room, waiting, said, rest } = makeRoom();
  room.isShown.value = false;
  let goesOn = false;
  waiting[0].tell('a part').then(() => (goesOn = true));
  await rest();
  assert.deepEqual([said(), goesOn], ['a part', false]);
  room.isShown.value = true;
  await rest();
  assert.equal(goesOn, true);
});

test('what is derived tells only who reads what has changed', () => {
  const state = signal({ layer: 1, head: 2, pins: [1] });
  const name = derived(() => ({ layer: state.value.layer, head: state.value.head }));
  const seen = /** @type {object[]} */ ([]);
  effect(() => void seen.push(name.value));
  state.value = { ...state.value, pins: [] };
  assert.equal(seen.length, 1);
  state.value = { ...state.value, head: 3 };
  assert.deepEqual(seen, [
    { layer: 1, head: 2 },
    { layer: 1, head: 3 },
  ]);
});

test('a question that failed and is then answered has not failed', async () => {
  const { room, waiting, asked, said, rest } = makeRoom();
  waiting[0].refuse('no');
  await rest();
  assert.equal(asked.hasFailed.value, true);
  room.isShown.value = false;
  room.isShown.value = true;
  await rest();
  waiting[1].answer('A');
  await rest();
  assert.deepEqual([said(), asked.hasFailed.value], ['A', false]);
});
