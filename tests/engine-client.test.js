// EngineClient, the page's side of a Worker, with a Worker that answers when the test tells it to.
import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { EngineClient } from '../web/page/engine/engine-client.js';
import { Cancelled, PageError } from '../web/page/engine/errors.js';
import { FakeWorker } from './fakes.js';

beforeEach(() => FakeWorker.reset());

const clientOf = (/** @type {{ isReplaced?: boolean }} */ options = {}) =>
  new EngineClient(FakeWorker.start, options);

/** @param {string} code @param {string} [words] */
const pageError =
  (code, words = '') =>
  (/** @type {any} */ error) => {
    assert.ok(error instanceof PageError, String(error));
    assert.equal(error.code, code);
    assert.ok(error.message.includes(words), error.message);
    return true;
  };

/** Longer than a client waits for a Worker to hear a cancellation. */
const LONG = 60_000;

/** @param {() => Promise<void>} run with a clock that stands still until `mock.timers.tick` */
async function withClock(run) {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    await run();
  } finally {
    mock.timers.reset();
  }
}

test('no Worker is started before the first call, and one serves all calls', async () => {
  const client = clientOf();
  assert.equal(FakeWorker.all.length, 0);
  const calls = [client.call('double', 2), client.call('double', 3)];
  assert.equal(FakeWorker.all.length, 1);
  const { sent } = FakeWorker.last;
  assert.deepEqual(
    sent.map(({ type, payload }) => [type, payload]),
    [
      ['double', 2],
      ['double', 3],
    ],
  );
  for (const { id, payload } of sent) FakeWorker.last.say({ id, result: 2 * payload });
  assert.deepEqual(await Promise.all(calls), [4, 6]);
});

test('replies in any order reach the calls they answer', async () => {
  const client = clientOf();
  const calls = ['a', 'b', 'c'].map((payload) => client.call('echo', payload));
  for (const { id, payload } of [...FakeWorker.last.sent].reverse())
    FakeWorker.last.say({ id, result: payload });
  assert.deepEqual(await Promise.all(calls), ['a', 'b', 'c']);
});

test('an error of the Worker rejects its call with code and words, and the next call works', async () => {
  const client = clientOf();
  const failing = client.call('open', 'a file');
  FakeWorker.last.refuse('open', 'ERR_FORMAT');
  await assert.rejects(failing, pageError('ERR_FORMAT', 'no open'));
  const working = client.call('open', 'another');
  FakeWorker.last.answer('open', 'opened');
  assert.equal(await working, 'opened');
  assert.equal(FakeWorker.all.length, 1);
});

test('progress goes to the call it is of, and to nobody once that has its result', async () => {
  const client = clientOf();
  /** @type {unknown[]} */
  const heard = [];
  const call = client.call('run', 1, { onProgress: (progress) => heard.push(progress) });
  const other = client.call('run', 2);
  const [{ id }, { id: otherId }] = FakeWorker.last.sent;
  FakeWorker.last.say({ id, progress: { fraction: 0.5 } });
  FakeWorker.last.say({ id: otherId, progress: { fraction: 0.7 } });
  FakeWorker.last.say({ id, result: 'done' });
  FakeWorker.last.say({ id, progress: { fraction: 1 } });
  FakeWorker.last.say({ id: otherId, result: 'too' });
  assert.deepEqual([await call, await other], ['done', 'too']);
  assert.deepEqual(heard, [{ fraction: 0.5 }]);
});

test('a second reply and a reply to nobody change nothing', async () => {
  const client = clientOf();
  const call = client.call('run', 1);
  const [{ id }] = FakeWorker.last.sent;
  FakeWorker.last.say({ id, result: 'first' });
  FakeWorker.last.say({ id, error: { code: 'ERR_VALUE', message: 'late' } });
  FakeWorker.last.say({ id: 99, result: 'whose?' });
  assert.equal(await call, 'first');
});

test('a call that was cancelled before it was made starts no Worker', async () => {
  await assert.rejects(
    clientOf().call('run', 1, { signal: AbortSignal.abort() }),
    (error) => error instanceof Cancelled,
  );
  assert.equal(FakeWorker.all.length, 0);
});

test('a cancellation is told to the Worker, which ends the call', () =>
  withClock(async () => {
    const controller = new AbortController();
    const client = clientOf();
    const call = client.call('run', 1, { signal: controller.signal });
    const [{ id }] = FakeWorker.last.sent;
    controller.abort();
    assert.deepEqual(FakeWorker.last.sent.at(-1), { cancel: id });
    FakeWorker.last.refuse('run', 'ERR_CANCELLED');
    await assert.rejects(call, pageError('ERR_CANCELLED'));
    mock.timers.tick(LONG);
    assert.equal(FakeWorker.last.isTerminated, false);
  }));

test('a result that was on its way when its call was cancelled still counts', () =>
  withClock(async () => {
    const controller = new AbortController();
    const call = clientOf().call('run', 1, { signal: controller.signal });
    controller.abort();
    FakeWorker.last.answer('run', 'done');
    assert.equal(await call, 'done');
    mock.timers.tick(LONG);
    assert.equal(FakeWorker.last.isTerminated, false);
  }));

test('a cancellation after the reply is told to nobody', async () => {
  const controller = new AbortController();
  const call = clientOf().call('run', 1, { signal: controller.signal });
  FakeWorker.last.answer('run', 'done');
  await call;
  controller.abort();
  assert.equal(FakeWorker.last.sent.length, 1);
});

test('a Worker that does not hear a cancellation is replaced, and who waited for it is told', () =>
  withClock(async () => {
    const controller = new AbortController();
    const client = clientOf();
    const deaf = client.call('run', 1, { signal: controller.signal });
    const waiting = client.call('run', 2);
    const [old] = FakeWorker.all;
    controller.abort();
    mock.timers.tick(LONG);
    await assert.rejects(deaf, pageError('ERR_CANCELLED'));
    await assert.rejects(waiting, pageError('ERR_CANCELLED'));
    assert.ok(old.isTerminated);

    const next = client.call('run', 3);
    assert.equal(FakeWorker.all.length, 2);
    old.say({ id: old.sent[0].id, result: 'late' });
    FakeWorker.last.answer('run', 'new');
    assert.equal(await next, 'new');
  }));

test('a Worker that holds what would be lost is waited for, however long', () =>
  withClock(async () => {
    const controller = new AbortController();
    const client = clientOf({ isReplaced: false });
    const call = client.call('run', 1, { signal: controller.signal });
    controller.abort();
    mock.timers.tick(LONG);
    assert.equal(FakeWorker.last.isTerminated, false);
    FakeWorker.last.refuse('run', 'ERR_CANCELLED');
    await assert.rejects(call, pageError('ERR_CANCELLED'));
  }));

for (const isReplaced of [true, false])
  test(`a dead Worker rejects all calls, and the next call starts another (isReplaced: ${isReplaced})`, async () => {
    const client = clientOf({ isReplaced });
    const answered = client.call('run', 0);
    FakeWorker.last.answer('run', 'done');
    const calls = [client.call('run', 1), client.call('run', 2)];
    const [dead] = FakeWorker.all;
    const event = dead.crash('out of memory');
    for (const call of calls) await assert.rejects(call, pageError('ERR_LOAD', '(out of memory)'));
    assert.equal(await answered, 'done');
    assert.ok(event.defaultPrevented, 'the browser would print it besides');
    assert.ok(dead.isTerminated);

    const next = client.call('run', 3);
    assert.equal(FakeWorker.all.length, 2);
    FakeWorker.last.answer('run', 'alive');
    assert.equal(await next, 'alive');
  });

test('a Worker that cannot be started rejects the call, and the next call tries again', async () => {
  let isRefused = true;
  const client = new EngineClient(() => {
    if (isRefused) throw new Error('refused by the Content-Security-Policy');
    return FakeWorker.start();
  });
  await assert.rejects(client.call('run', 1), pageError('ERR_LOAD', 'Content-Security-Policy'));
  isRefused = false;
  const call = client.call('run', 2);
  FakeWorker.last.answer('run', 'done');
  assert.equal(await call, 'done');
});

test('what cannot be sent rejects its call alone', async () => {
  const client = clientOf();
  const other = client.call('run', 1);
  await assert.rejects(
    client.call('run', () => {}),
    { name: 'DataCloneError' },
  );
  FakeWorker.last.answer('run', 'done');
  assert.equal(await other, 'done');
});

test('who holds what a dead Worker had is told once, and its calls are rejected', async () => {
  /** @type {string[]} */
  const heard = [];
  const lost = () => heard.push('lost');
  const client = new EngineClient(FakeWorker.start, { isReplaced: false, lost });
  const call = client.call('run', 1).catch((error) => heard.push(error.code));
  const dead = FakeWorker.last;
  dead.crash();
  dead.crash();
  await call;
  assert.deepEqual(heard.sort(), ['ERR_LOAD', 'lost']);

  const next = client.call('run', 2);
  dead.crash('an old Worker, once more');
  FakeWorker.last.answer('run', 'done');
  assert.equal(await next, 'done');
});

test('a Worker that stopped and one that never started are told apart', async () => {
  const client = clientOf();
  const first = client.call('run', 1);
  FakeWorker.last.crash();
  await assert.rejects(first, pageError('ERR_LOAD', 'started'));
  const second = client.call('run', 2);
  FakeWorker.last.answer('run', 'done');
  await second;
  const third = client.call('run', 3);
  FakeWorker.last.crash();
  await assert.rejects(third, pageError('ERR_LOAD', 'stopped'));
});
