// Times that Compare measures while they are looked at, with a Worker that answers when the test tells it to.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Measured } from '../web/page/compare/why/measured.js';
import { workOf } from '../web/page/compare/why/curves.js';
import { FakeWorker } from './fakes.js';

Object.assign(globalThis, { Worker: FakeWorker });
beforeEach(() => FakeWorker.reset());

/** Longer than the pause between two. */
const rest = () => new Promise((resolve) => setTimeout(resolve, 60));

const works = [8, 16].map((tokens) => workOf(64, 4, tokens));
const timing = { wrapper: { minimum: 2, median: 2 }, fused: { minimum: 1, median: 1 } };
const answers = { held: { wrapper: 10, fused: 5 }, time: timing };

/** What is asked of the Worker, in a few words. */
const asked = () => FakeWorker.last.asked.map(({ name, args: [work] }) => `${name} ${work.tokens}`);

/** Lets the Worker answer what it was asked last. */
async function answer() {
  const { name, resolve } = /** @type {NonNullable<typeof FakeWorker.last.asked[0]>} */ (
    FakeWorker.last.asked.at(-1)
  );
  resolve(answers[/** @type {keyof typeof answers} */ (name)]);
  await rest();
}

/** @param {() => typeof works} [wanted] */
async function begin(wanted = () => works) {
  const measured = new Measured();
  measured.wants(wanted);
  measured.go();
  await rest();
  return measured;
}

test('memory is asked for before times, one after another, and what is there is not asked for again', async () => {
  const measured = await begin();
  const all = ['held 8', 'held 16', 'time 8', 'time 16'];
  for (const [i] of all.entries()) {
    assert.deepEqual(asked(), all.slice(0, i + 1));
    await answer();
  }
  assert.deepEqual([measured.held.value.size, measured.times.value.size], [2, 2]);
  assert.deepEqual([...measured.times.value.values()], [timing, timing]);
  measured.go();
  await rest();
  assert.deepEqual(asked(), all);
  measured.again();
  await rest();
  assert.deepEqual([measured.times.value.size, ...asked().slice(4)], [0, 'time 8']);
  measured.stop();
});

test('what is wanted by then comes next', async () => {
  let wanted = works;
  const measured = await begin(() => wanted);
  wanted = [workOf(64, 4, 1024), ...works];
  await answer();
  assert.deepEqual(asked(), ['held 8', 'held 1024']);
  measured.stop();
});

test('nothing is measured while nobody looks, and no problem is told then', async () => {
  const measured = await begin();
  const [first] = FakeWorker.all;
  measured.go();
  await rest();
  assert.deepEqual(asked(), ['held 8'], 'it is under way');
  measured.stop();
  await rest();
  assert.deepEqual([first.isTerminated, measured.problem.value], [true, '']);
  measured.go();
  await rest();
  assert.deepEqual([FakeWorker.all.length, asked()], [2, ['held 8']]);
  FakeWorker.last.answer('held', answers.held);
  await new Promise((resolve) => setTimeout(resolve, 5));
  measured.stop();
  await rest();
  assert.deepEqual([FakeWorker.all.length, asked()], [2, ['held 8']], 'in the pause');
});

test('what could not be measured is said until it is measured anew', async () => {
  const measured = await begin();
  FakeWorker.last.refuse('held', 'ERR_MEMORY');
  await rest();
  assert.equal(measured.problem.value, 'no held');
  measured.go();
  await rest();
  assert.deepEqual([measured.problem.value, asked()], ['', ['held 8', 'held 8']]);
  measured.stop();
});
