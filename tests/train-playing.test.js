// How the Train room's runs play: how many steps they are asked for, where they rest, and what is seen of them meanwhile.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Requests } from '../web/page/train/requests.js';
import { DEFAULTS } from '../web/page/train/settings.js';
import { FakeWorker } from './fakes.js';
import { doStep, newRoom, pausedRoom, rest, snapshot, start, words } from './training-room.js';

/** @import { TestContext } from 'node:test' */
/** @import { Training } from '../web/page/train/training.js' */

/** How many steps each call asked for. @param {FakeWorker} [worker] */
const asked = (worker = FakeWorker.last) => worker.calls('advance').map(({ args }) => args[0]);

/** Time and frames that come when the test says so. @param {TestContext} t */
function clockOf(t) {
  let now = 0;
  /** @type {(() => void)[]} */
  const frames = [];
  t.mock.method(performance, 'now', () => now);
  t.mock.method(globalThis, 'requestAnimationFrame', (/** @type {() => void} */ draw) =>
    frames.push(draw),
  );
  return {
    /** @param {number} ms */
    pass: (ms) => void (now += ms),
    /** @param {number} [ms] that pass before it */
    async frame(ms = 0) {
      now += ms;
      for (const draw of frames.splice(0)) draw();
      await rest();
    },
  };
}

/** Lets a run do steps in some time, after which a call holds as many as 40 ms do. @param {Training} room @param {ReturnType<typeof clockOf>} clock @param {number} steps @param {number} ms @param {number} [i] which run */
async function pace(room, clock, steps, ms, i = 0) {
  const advancing = room.runs.value[i].advance(steps);
  await rest();
  clock.pass(ms);
  FakeWorker.all[i].answer('advance', []);
  await advancing;
}

test('runs rest at their last step, and Play and One step go on from there', async () => {
  const room = await pausedRoom();
  const { steps } = room.words.value;
  const { speed, end, step, isPlaying } = room;
  [speed.value, end.value] = [Infinity, 2];
  room.play();
  await doStep(1);
  await doStep(2);
  assert.deepEqual([step.value, isPlaying.value, asked()], [2, false, [1, 1]]);
  room.play();
  assert.equal(end.value, 2 + steps);
  room.play();
  end.value = 2;
  const stepping = room.stepOnce();
  await doStep(3);
  await stepping;
  assert.deepEqual([step.value, end.value], [3, 2 + steps]);
});

test('One step that is pressed twice before the last step is done does two', async () => {
  const room = await pausedRoom();
  room.end.value = 1;
  const steps = [room.stepOnce(), room.stepOnce()];
  await doStep(1);
  await doStep(2);
  await Promise.all(steps);
  assert.deepEqual(asked(), [1, 1]);
});

test('steps come at the speed that is chosen, and what a late frame owes is not made up for', async (t) => {
  const room = await pausedRoom();
  const clock = clockOf(t);
  await pace(room, clock, 1, 10);
  room.speed.value = 10;
  room.play();
  let done = 0;
  /** @param {number} ms @param {number} steps that are asked for then */
  const after = async (ms, steps) => {
    const { length } = asked();
    await clock.frame(ms);
    assert.deepEqual(asked().slice(length), steps > 0 ? [steps] : []);
    if (steps === 0) return;
    clock.pass(10 * steps);
    await doStep((done += steps));
  };
  await after(60, 0);
  await after(60, 1);
  await after(70, 1);
  await after(200, 2);
  await after(10_000, 4);
  await after(0, 1);
  await after(0, 0);
  room.play();
  await clock.frame();
});

test('of two runs the slower one sets how many steps both are asked for', async (t) => {
  const { induction } = DEFAULTS;
  const room = await pausedRoom({ other: { ...induction, seed: 2 } });
  const clock = clockOf(t);
  await pace(room, clock, 10, 10, 0);
  await pace(room, clock, 10, 100, 1);
  room.speed.value = Infinity;
  room.play();
  await clock.frame();
  const [first, second] = FakeWorker.all;
  assert.deepEqual(
    [asked(first), asked(second)],
    [
      [10, 4],
      [10, 4],
    ],
  );
  first.answer('advance', [{ losses: [1], snapshot: snapshot(4) }]);
  room.play();
  await doStep(4, second);
  assert.equal(room.step.value, 4);
});

test('where nothing is to move, the steps of two seconds are shown at once, in calls of one step at least', async (t) => {
  const room = await pausedRoom();
  const clock = clockOf(t);
  room.isCalm.value = true;
  [room.speed.value, room.end.value] = [1, 3];
  await pace(room, clock, 1, 80);
  room.play();
  for (const done of [1, 2]) {
    await clock.frame();
    clock.pass(80);
    await doStep(done);
    assert.equal(room.step.value, 0, 'not yet shown');
  }
  await clock.frame();
  assert.deepEqual(asked(), [1, 1, 1]);
  await clock.frame(2000);
  await clock.frame();
  assert.equal(room.step.value, 2);
  await clock.frame();
  clock.pass(80);
  await doStep(3);
  assert.deepEqual([room.step.value, room.isPlaying.value, asked()], [3, false, [1, 1, 1, 1]]);
});

test('where nothing is to move, no step follows Pause', async (t) => {
  const room = await pausedRoom();
  const clock = clockOf(t);
  room.isCalm.value = true;
  room.play();
  room.play();
  await clock.frame();
  assert.deepEqual(asked(), []);
});

test('Pause and Play at once leave one call under way', async () => {
  const room = await pausedRoom();
  room.speed.value = Infinity;
  room.play();
  await rest();
  room.play();
  room.play();
  await rest();
  assert.equal(room.calls.value, 1);
  room.play();
  await doStep(1);
});

test('Pause of a run whose Worker is lost begins nothing', async () => {
  const room = await pausedRoom();
  room.speed.value = 0;
  room.play();
  FakeWorker.last.crash('out of memory');
  room.play();
  assert.deepEqual([room.isPlaying.value, FakeWorker.all.length], [false, 1]);
});

test('the axis of the curves is doubled when it is full', async () => {
  const room = await pausedRoom();
  const axes = [room.axis.value];
  for (const step of [150, 151]) {
    const stepping = room.stepOnce();
    await doStep(step);
    await stepping;
    axes.push(room.axis.value);
  }
  assert.deepEqual(axes, [150, 150, 300]);
});

test('what is looked back at stays until runs have begun anew, or go on', async () => {
  const room = await pausedRoom();
  const [run] = room.runs.value;
  const stepping = room.stepOnce();
  await doStep(1);
  await stepping;
  const seen = () => [room.back.value, room.shown.value, room.seenOf(run)?.step];
  room.play();
  room.scrub(0);
  assert.deepEqual([...seen(), room.isPlaying.value], [0, 0, 0, false]);
  room.play();
  assert.deepEqual(seen(), [null, 1, 1]);
  room.scrub(0);
  const next = room.stepOnce();
  assert.deepEqual(seen(), [null, 1, 1]);
  await doStep(2);
  await next;
  room.scrub(0);
  room.restart();
  assert.equal(room.back.value, 0);
  await start();
  assert.equal(room.back.value, null);
  room.play();
});

test('of a run that goes on from a step nothing earlier is shown', async () => {
  const room = await pausedRoom();
  room.resume(room.settings.value, { step: 120, weights: {}, optimizer: {} });
  await start(FakeWorker.last, 120);
  room.scrub(50);
  assert.equal(room.shown.value, 120);
});

test('a run that cannot start is not seen, nor is the one before it', async () => {
  const room = await pausedRoom();
  const { seenRuns } = room;
  assert.equal(seenRuns.value.length, 1);
  room.choose('own');
  assert.equal(seenRuns.value.length, 1, 'until others have begun');
  FakeWorker.last.refuse('start', 'ERR_TEXT');
  await rest();
  assert.deepEqual(seenRuns.value, []);
  assert.deepEqual(room.message.value, { words: 'no start', isError: false });
});

test('a run that cannot start when another one has been chosen says nothing, and stops nothing', async () => {
  const room = newRoom();
  const [first] = FakeWorker.all;
  room.restart();
  first.refuse('start', 'ERR_LOAD');
  await rest();
  assert.deepEqual([words(room), room.isPlaying.value], ['', true]);
  room.play();
  room.play();
  assert.equal(FakeWorker.all.length, 2);
  await start();
  room.play();
});

test('the head that is chosen first is one that learns the task', async () => {
  const room = await pausedRoom();
  assert.deepEqual(room.chosen.value, { layer: 1, head: 0 });
  room.choose('austen');
  assert.deepEqual(room.chosen.value, { layer: 0, head: 0 });
  await start();
  room.play();
});

test('several heads are muted, and one of them is heard again', async () => {
  const room = await pausedRoom();
  const [run] = room.runs.value;
  const [first, other] = [0, 1].map((head) => ({ layer: 0, head }));
  for (const [head, muted] of /** @type {const} */ ([
    [first, [first]],
    [other, [first, other]],
    [first, [other]],
  ])) {
    const muting = run.mute(head);
    assert.ok(run.wasMuted, 'before the Worker has answered');
    await rest();
    const isMuted = muted.some((one) => one === head);
    assert.deepEqual(FakeWorker.last.newest('mute').args, [head, isMuted]);
    FakeWorker.last.answer('mute', snapshot(0, { muted: [...muted] }));
    await muting;
    assert.deepEqual(run.muted.value, muted);
  }
  room.restart();
  FakeWorker.last.answer('start', { first: snapshot(0, { muted: [other] }), muted: [other] });
  await rest();
  assert.deepEqual(room.runs.value[0].muted.value, [other]);
  room.play();
});

test('the step of the change stays, though its snapshot goes', async () => {
  const room = await pausedRoom();
  const [run] = room.runs.value;
  const steps = Array.from({ length: 700 }, (_, i) => 10 * (i + 1));
  const advancing = room.advance(7000);
  await rest();
  FakeWorker.last.answer(
    'advance',
    steps.map((step) => ({ losses: [], snapshot: snapshot(step, { accuracy: 0.6 }) })),
  );
  await advancing;
  assert.ok(run.history.seen.every(({ step }) => step !== 10));
  assert.equal(run.change, 10);
});

test('a text that was typed gives way to one that is trained on', async () => {
  const room = newRoom();
  room.choose('own');
  room.typed = 'not yet';
  room.choose('sorting');
  room.choose('own');
  assert.equal(room.typed, 'not yet');
  room.trainOn('a text');
  assert.equal(room.typed, 'a text');
  // As Back does.
  room.set({ settings: { ...room.settings.value, text: '' } });
  assert.equal(room.typed, '');
  room.isPlaying.value = false;
});

test('what was said of a run goes with it, and what an answer says stays', async () => {
  const room = await pausedRoom();
  const requests = new Requests(room, () => {});
  await requests.takeInTurn('keep', async () => requests.say('Kept.'));
  assert.equal(requests.said.value.words, 'Kept.');
  room.restart();
  assert.equal(requests.said.value.words, '');
  await start();
  room.play();
});
