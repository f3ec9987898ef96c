// The Train room's runs, with Workers that answer when the test tells them to: what an ended run says is not heard, and what
// is lost begins anew.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULTS, Store } from '../web/page/state.js';
import { PageError } from '../web/page/shared/errors.js';
import { effect } from '../web/page/shared/signals.js';
import { Requests } from '../web/page/train/requests.js';
import { Training } from '../web/page/train/training.js';
import { FakeWorker } from './fakes.js';
import { doStep, newRoom, pausedRoom, rest, snapshot, start, words } from './training-room.js';

/** Ends the Worker while it trains, as a crash does. @param {Training} room */
async function loseWorker(room) {
  const advancing = room.advance(1);
  await rest();
  FakeWorker.last.crash('out of memory');
  await advancing;
}

/** Something that fails once. @param {import('node:test').TestContext} t @param {any} object @param {string} method */
const failOnce = (t, object, method) =>
  t.mock.method(object, method, () => assert.fail(`no ${method}`), { times: 1 });

test('where the clock is coarse a call asks for a bounded number of steps', async (t) => {
  const room = await pausedRoom();
  const [run] = room.runs.value;
  t.mock.method(performance, 'now', () => 100);
  const advancing = run.advance(2);
  await rest();
  FakeWorker.last.answer('advance', [{ losses: [1, 1], snapshot: snapshot(2) }]);
  await advancing;
  assert.ok(run.most > 1 && run.most <= 100, `${run.most}`);
});

test('a call asks for as many steps as 40 ms hold', async (t) => {
  const room = await pausedRoom();
  const [run] = room.runs.value;
  let now = 100;
  t.mock.method(performance, 'now', () => now);
  const advancing = run.advance(10);
  now += 80;
  await rest();
  FakeWorker.last.answer('advance', [{ losses: [1], snapshot: snapshot(10) }]);
  await advancing;
  assert.equal(run.most, 5);
});

test('a run that has ended mutes nothing, and starts no Worker again', async () => {
  const room = await pausedRoom();
  const [run] = room.runs.value;
  run.end();
  await run.mute({ layer: 0, head: 0 });
  assert.deepEqual([run.muted.value, FakeWorker.all.length], [[], 1]);
});

test('a run that was kept goes on from its step, also with the settings that are chosen, and Restart begins at 0', async () => {
  const room = await pausedRoom();
  const { steps } = room.words.value;
  const saved = { step: 120, weights: {}, optimizer: {} };
  room.resume(room.settings.value, saved);
  assert.deepEqual(FakeWorker.last.newest('start').args, [room.settings.value, saved]);
  FakeWorker.last.answer('start', { first: snapshot(120), muted: [] });
  await rest();
  assert.deepEqual([FakeWorker.all.length, room.end.value], [2, 120 + steps]);
  room.restart();
  assert.equal(FakeWorker.last.newest('start').args[1], undefined);
  assert.equal(room.end.value, steps);
  await start();
  room.play();
});

test('the speed that was chosen stays while the task does', async () => {
  const room = await pausedRoom();
  const { pace } = room.words.value;
  assert.equal(room.speed.value, pace);
  room.speed.value = pace + 7;
  room.change({ seed: 9 });
  assert.equal(room.speed.value, pace + 7);
  room.choose('sorting');
  assert.equal(room.speed.value, room.words.value.pace);
  await start();
  room.play();
});

test('who looks back at the latest step looks at what comes', async () => {
  const room = await pausedRoom();
  const stepping = room.stepOnce();
  await doStep(1);
  await stepping;
  room.scrub(0);
  assert.deepEqual([room.back.value, room.shown.value], [0, 0]);
  room.scrub(1);
  assert.deepEqual([room.back.value, room.shown.value], [null, 1]);
});

test('a text that no run could start with is tried again', async () => {
  const room = newRoom();
  room.choose('own');
  FakeWorker.last.refuse('start', 'ERR_TEXT');
  await rest();
  const { length } = FakeWorker.all;
  room.trainOn(room.settings.value.text);
  assert.equal(FakeWorker.all.length, length + 1);
  await start();
  room.trainOn(room.settings.value.text);
  assert.equal(FakeWorker.all.length, length + 1, 'it runs');
  room.play();
});

test('what was asked of a run that has ended since did not fail', async () => {
  let failures = 0;
  const requests = new Requests(await pausedRoom(), () => failures++);
  await requests.attempt(() => Promise.reject(new PageError('ERR_STALE', 'This run has ended.')));
  assert.deepEqual([requests.said.value.words, failures], ['', 0]);
  await requests.attempt(() => Promise.reject(new PageError('ERR_LOAD', 'No room.')));
  assert.deepEqual([requests.said.value.words, failures], ['No room.', 1]);
});

test('what a run that was ended still owes does not stop the run that took its place', async () => {
  const room = await pausedRoom();
  const [run] = room.runs.value;
  const saving = run.save(0).catch((error) => room.fail(error));
  room.restart();
  await start();
  await saving;
  assert.deepEqual([words(room), room.isPlaying.value], ['', true]);
  room.play();
});

test('Play begins anew when the Worker is lost, and says no more that it was', async () => {
  const room = await pausedRoom();
  await loseWorker(room);
  assert.match(words(room), /The engine stopped \(out of memory\)/);
  room.play();
  assert.equal(FakeWorker.all.length, 2);
  await start();
  assert.deepEqual([words(room), room.isPlaying.value], ['', true]);
  room.play();
});

test('One step begins anew when the Worker is lost, and does one', async () => {
  const room = await pausedRoom();
  await loseWorker(room);
  const stepping = room.stepOnce();
  assert.equal(FakeWorker.all.length, 2);
  await start();
  FakeWorker.last.answer('advance', [{ losses: [1], snapshot: snapshot(1) }]);
  await stepping;
  assert.deepEqual([words(room), room.step.value, room.isPlaying.value], ['', 1, false]);
  assert.equal(FakeWorker.last.calls('advance').length, 1);
});

test('One step says why no run could start', async () => {
  const room = newRoom();
  FakeWorker.last.refuse('start', 'ERR_LOAD');
  await rest();
  const stepping = room.stepOnce();
  FakeWorker.last.refuse('start', 'ERR_LOAD');
  await stepping;
  assert.deepEqual(room.message.value, { words: 'no start', isError: true });
});

test('One step whose run gave way to another leaves that one playing', async () => {
  const room = await pausedRoom();
  await loseWorker(room);
  const stepping = room.stepOnce();
  const [, first] = FakeWorker.all;
  room.restart();
  first.answer('start', { first: snapshot(0), muted: [] });
  await start();
  await stepping;
  assert.equal(room.isPlaying.value, true);
  room.play();
});

test('steps that were asked of a run do not start its Worker again when it has ended', async () => {
  const room = await pausedRoom();
  const steps = [room.advance(1), room.advance(1)];
  room.restart();
  await Promise.all(steps);
  assert.equal(FakeWorker.all.length, 2);
  await start();
  room.play();
});

test('the own text is there again when another task was chosen in between', async () => {
  const room = newRoom();
  const settings = () => room.settings.value;
  room.choose('own');
  room.change({ text: 'a text' });
  room.choose('sorting');
  assert.deepEqual([settings().task, settings().text], ['sorting', '']);
  room.choose('own');
  assert.equal(settings().text, 'a text');
  room.isPlaying.value = false;
});

test('Play takes away what was said of something else that failed', async () => {
  const room = await pausedRoom();
  room.fail(new Error('This folder has no model.'));
  room.play();
  assert.deepEqual([words(room), room.isPlaying.value], ['', true]);
  room.play();
});

test('a run that cannot start ends its Worker, and Play tries again', async () => {
  const room = newRoom();
  FakeWorker.last.refuse('start', 'ERR_LOAD');
  await rest();
  assert.deepEqual([words(room), FakeWorker.last.isTerminated], ['no start', true]);
  room.play();
  await start();
  assert.deepEqual([FakeWorker.all.length, room.runs.value.length], [2, 1]);
  room.play();
});

test('a run that is still starting is not begun anew by Pause and Play', async () => {
  const room = newRoom();
  room.play();
  room.play();
  assert.equal(FakeWorker.all.length, 1);
  await start();
  assert.equal(room.isPlaying.value, true);
  room.play();
});

test('a room that was left before it was there does not run', async () => {
  const room = new Training(new Store({ ...DEFAULTS, room: 'compare' }));
  await start();
  assert.deepEqual([room.isShown.value, FakeWorker.last.calls('advance').length], [false, 0]);
});

test('when its Worker refuses, a head looks as the model has it', async () => {
  const room = await pausedRoom();
  const [run] = room.runs.value;
  const [first, other] = [0, 1].map((head) => ({ layer: 0, head }));
  const refused = run.mute(first);
  assert.deepEqual(run.muted.value, [first]);
  await rest();
  FakeWorker.last.refuse('mute', 'ERR_MEMORY');
  await assert.rejects(refused, { code: 'ERR_MEMORY' });
  assert.deepEqual(run.muted.value, []);
  const muting = run.mute(other);
  await rest();
  FakeWorker.last.answer('mute', { ...snapshot(0), muted: [other] });
  await muting;
  const lost = [run.mute(other), run.mute(first), run.mute(first)];
  await rest();
  FakeWorker.last.crash('out of memory');
  await Promise.allSettled(lost);
  assert.deepEqual(run.muted.value, [other]);
});

test('what fails while it plays is said, and Play goes on', async (t) => {
  const room = await pausedRoom();
  room.speed.value = Infinity;
  failOnce(t, room.runs.value[0].history, 'add');
  room.play();
  await doStep(1);
  assert.deepEqual([words(room), room.isPlaying.value], ['no add', false]);
  failOnce(t, room, 'advance');
  room.play();
  await rest();
  assert.deepEqual([words(room), room.isPlaying.value], ['no advance', false]);
  room.play();
  await doStep(2);
  assert.deepEqual([words(room), room.step.value], ['', 2]);
  room.play();
});

test('One step says what it could not show', async (t) => {
  const room = await pausedRoom();
  failOnce(t, room.runs.value[0].history, 'add');
  const stepping = room.stepOnce();
  await doStep(1);
  await stepping;
  assert.equal(words(room), 'no add');
});

test('a view that cannot show what went wrong leaves no call under way', async () => {
  const room = await pausedRoom();
  const end = effect(() => {
    if (room.message.value.isError) assert.fail('no view');
  });
  const stepping = room.stepOnce();
  await rest();
  FakeWorker.last.refuse('advance', 'ERR_MEMORY');
  await assert.rejects(stepping, /no view/);
  end();
  assert.equal(room.calls.value, 0);
  const next = room.stepOnce();
  await doStep(1);
  await next;
  assert.deepEqual([words(room), room.step.value], ['', 1]);
});

test('while a run goes back it is said how many steps are left, until it is there', async () => {
  const room = await pausedRoom();
  const stepping = room.stepOnce();
  await doStep(1);
  await stepping;
  room.scrub(0);
  const requests = new Requests(room, () => {});
  const [run] = room.runs.value;
  const keeping = requests.takeInTurn('keep', (told) => run.save(0, told));
  await rest();
  const heard = [requests.said.value.words];
  for (const left of [1200, 100]) {
    FakeWorker.last.newest('save').args[1](left);
    await rest();
    heard.push(requests.said.value.words);
  }
  FakeWorker.last.answer('save', {});
  await keeping;
  assert.deepEqual(
    [...heard, requests.said.value.words],
    [
      ...['Going back to step 0 …', 'Going back to step 0: 1,200 to go.'],
      ...['Going back to step 0: 100 to go.', ''],
    ],
  );
});

test('a button asks once until it is answered, and what others ask waits for that', async () => {
  const requests = new Requests(await pausedRoom(), () => {});
  /** @type {string[]} */
  const done = [];
  const does = (/** @type {string} */ what) => async () => done.push(what);
  let answer = () => {};
  const keeping = requests.takeInTurn('keep', () => {
    done.push('keep');
    return new Promise((resolve) => {
      answer = () => resolve(undefined);
    });
  });
  const others = [
    requests.takeInTurn('keep', does('keep again')),
    requests.takeInTurn('open', does('open')),
  ];
  await rest();
  assert.deepEqual(done, ['keep']);
  answer();
  await Promise.all([keeping, ...others]);
  assert.deepEqual(done, ['keep', 'open']);
  await requests.takeInTurn('keep', does('keep once more'));
  assert.deepEqual(done, ['keep', 'open', 'keep once more']);
});
