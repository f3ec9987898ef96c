// connect, the page's side of a Worker, with a Worker that answers when the test tells it to.
import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { connect, orEnd } from '../web/page/shared/connect.js';
import { PageError } from '../web/page/shared/errors.js';
import { FakeWorker } from './fakes.js';

beforeEach(() => FakeWorker.reset());

/**
 * @param {object} [options]
 * @param {() => Worker} [options.start]
 * @param {(why: string, hasAnswered: boolean) => Error} [options.explain]
 * @param {(error: Error) => void} [options.lost]
 * @returns {{ remote: any, end: (reason: unknown) => void }}
 */
const connected = ({ start = FakeWorker.start, ...options } = {}) => connect(start, options);

/** @param {string} code @param {string} [words] */
const pageError =
  (code, words = '') =>
  (/** @type {any} */ error) => {
    assert.deepEqual([error.name, error.code], ['PageError', code]);
    assert.ok(error.message.includes(words), error.message);
    return true;
  };

test('no Worker is started before the first call, and one serves all calls, answered in any order', async () => {
  const { remote } = connected();
  assert.equal(FakeWorker.all.length, 0);
  const calls = [remote.double(2), remote.double(3)];
  assert.equal(FakeWorker.all.length, 1);
  for (const { args, resolve } of FakeWorker.last.calls('double').reverse()) resolve(2 * args[0]);
  assert.deepEqual(await Promise.all(calls), [4, 6]);
});

test('an error of the Worker rejects its call with code and words, and the next call works', async () => {
  const { remote } = connected();
  const failing = remote.open('a file');
  FakeWorker.last.refuse('open', 'ERR_FORMAT');
  await assert.rejects(failing, pageError('ERR_FORMAT', 'no open'));
  const working = remote.open('another');
  FakeWorker.last.answer('open', 'opened');
  assert.equal(await working, 'opened');
  assert.equal(FakeWorker.all.length, 1);
});

test('progress goes to the call it is of, and to nobody once that has its result', async () => {
  const { remote } = connected();
  /** @type {number[]} */
  const heard = [];
  const call = remote.run((/** @type {number} */ fraction) => heard.push(fraction));
  const other = remote.run(() => heard.push(NaN));
  const [first, second] = FakeWorker.last.calls('run');
  const [tell] = first.args;
  await tell(0.5);
  first.resolve('done');
  second.resolve('too');
  assert.deepEqual([await call, await other], ['done', 'too']);
  await assert.rejects(tell(1), { code: 'ERR_DISPOSED' });
  assert.deepEqual(heard, [0.5]);
});

test('a result that was on its way when its call was cancelled still counts', async () => {
  const controller = new AbortController();
  const { remote } = connected();
  const call = remote.run(controller.signal);
  controller.abort();
  assert.equal(FakeWorker.last.newest('run').args[0].aborted, true);
  FakeWorker.last.answer('run', 'done');
  assert.equal(await call, 'done');
});

test('a Worker that is ended tells its reason to all who wait, and the next call starts another', async () => {
  const { remote, end } = connected();
  const calls = [remote.run(1), remote.run(2)];
  const [old] = FakeWorker.all;
  const reason = new PageError('ERR_CANCELLED', 'Cancelled.');
  end(reason);
  for (const call of calls) await assert.rejects(call, (error) => error === reason);
  assert.ok(old.isTerminated);
  const next = remote.run(3);
  assert.equal(FakeWorker.all.length, 2);
  old.newest('run').resolve('late');
  FakeWorker.last.answer('run', 'new');
  assert.equal(await next, 'new');
  end(reason);
  end(reason);
});

test('a dead Worker rejects all calls, and the next call starts another', async () => {
  const { remote } = connected();
  const answered = remote.run(0);
  FakeWorker.last.answer('run', 'done');
  assert.equal(await answered, 'done');
  const calls = [remote.run(1), remote.run(2)];
  const [dead] = FakeWorker.all;
  const event = dead.crash('out of memory');
  for (const call of calls)
    await assert.rejects(call, pageError('ERR_LOAD', 'stopped (out of memory)'));
  assert.ok(event.defaultPrevented, 'the browser would print it besides');
  assert.ok(dead.isTerminated);

  const next = remote.run(3);
  assert.equal(FakeWorker.all.length, 2);
  FakeWorker.last.answer('run', 'alive');
  assert.equal(await next, 'alive');
});

test('a Worker that cannot be started rejects the call, and the next call tries again', async () => {
  let isRefused = true;
  const start = () => {
    if (isRefused) throw new Error('refused by the Content-Security-Policy');
    return FakeWorker.start();
  };
  const { remote } = connected({ start });
  await assert.rejects(remote.run(1), pageError('ERR_LOAD', 'Content-Security-Policy'));
  await assert.rejects(remote.run(1).next(), pageError('ERR_LOAD', 'started'));
  isRefused = false;
  const call = remote.run(2);
  FakeWorker.last.answer('run', 'done');
  assert.equal(await call, 'done');
  const never = connected();
  const first = never.remote.run(1);
  FakeWorker.last.crash();
  await assert.rejects(first, pageError('ERR_LOAD', 'could not be started.'));
});

test('a browser without Workers is said in plain words', async () => {
  assert.equal(typeof globalThis.Worker, 'undefined', 'as in a browser that has none');
  const { remote } = connected({ start: () => new globalThis.Worker('a-script.js') });
  const words = 'not be started (this browser has no Web Workers, or blocks them).';
  await assert.rejects(remote.run(1), pageError('ERR_LOAD', words));
});

test('a Worker whose script does not come is offline where its machine is', async () => {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  const set = (/** @type {PropertyDescriptor} */ one) =>
    Object.defineProperty(globalThis, 'navigator', { ...one, configurable: true });
  set({ value: { onLine: false } });
  try {
    const { remote } = connected();
    const call = remote.run(1);
    FakeWorker.last.crash();
    await assert.rejects(call, pageError('ERR_LOAD', 'not be started (this machine is offline).'));
  } finally {
    set(before ?? { value: undefined });
  }
});

test('a room may have its own words for a Worker that failed', async () => {
  const explain = (/** @type {string} */ why, /** @type {boolean} */ hasAnswered) =>
    new Error(`${why} ${hasAnswered}`);
  const { remote } = connected({ explain });
  const call = remote.run();
  FakeWorker.last.crash('why');
  await assert.rejects(call, { message: 'why false' });
});

test('who holds what a dead Worker had is told once, and may call at once', async () => {
  /** @type {unknown[]} */
  const heard = [];
  /** @type {any} */
  let next;
  const { remote } = connected({
    lost(error) {
      heard.push(error.message);
      next = remote.run(2);
    },
  });
  const call = remote.run(1).catch((/** @type {PageError} */ { code }) => heard.push(code));
  const dead = FakeWorker.last;
  dead.crash('gone');
  dead.crash('gone');
  await call;
  assert.deepEqual(heard, ['The engine could not be started (gone).', 'ERR_LOAD']);
  dead.crash('an old Worker, once more');
  FakeWorker.last.answer('run', 'done');
  assert.equal(await next, 'done');
});

test('what cannot be sent rejects its call alone', async () => {
  const { remote } = connected();
  const other = remote.run(1);
  await assert.rejects(remote.run(Symbol('no')), { code: 'ERR_VALUE' });
  FakeWorker.last.answer('run', 'done');
  assert.equal(await other, 'done');
});

test('a Worker that does not hear a cancellation is ended, and who waited for it is told', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const engine = connected();
    const controller = new AbortController();
    const { signal } = controller;
    const deaf = orEnd(engine, engine.remote.run(1, signal), signal);
    const waiting = engine.remote.run(2);
    const [old] = FakeWorker.all;
    controller.abort(new PageError('ERR_CANCELLED', 'Cancelled.'));
    mock.timers.tick(60_000);
    await assert.rejects(deaf, (error) => error === signal.reason);
    await assert.rejects(waiting, (error) => error === signal.reason);
    assert.ok(old.isTerminated);

    const next = engine.remote.run(3);
    assert.equal(FakeWorker.all.length, 2);
    FakeWorker.last.answer('run', 'new');
    assert.equal(await next, 'new');
  } finally {
    mock.timers.reset();
  }
});

test('a Worker that hears a cancellation, or has answered before, goes on', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const engine = connected();
    for (const isHeard of [true, false]) {
      const controller = new AbortController();
      const { signal } = controller;
      const work = orEnd(engine, engine.remote.run(1, signal), signal);
      const { args, resolve, reject } = FakeWorker.last.newest('run');
      if (isHeard) {
        controller.abort();
        reject(args[1].reason);
        await assert.rejects(work, (error) => error === signal.reason);
      } else {
        resolve('done');
        assert.equal(await work, 'done');
        controller.abort();
      }
      mock.timers.tick(60_000);
      assert.equal(FakeWorker.last.isTerminated, false);
    }
  } finally {
    mock.timers.reset();
  }
});
