// Signals of calls between a page and a Worker: an abort is told there, and rejects what it was of.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { connect, counting, settled } from './endpoint.js';

/** What is no plain object, and stays where it is. */
class Made {
  use() {}
}

test('an abort here aborts the signal there, and its reason comes back as it is', async () => {
  /** @type {any} */
  let seen;
  const { call } = connect({
    /** @param {{ signal: AbortSignal }} options */
    wait: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject((seen = signal.reason)));
        if (signal.aborted) reject((seen = signal.reason));
      }),
  });
  const reasons = [undefined, new Error('stop'), { why: 'an object' }, 'a word', 7];
  for (const reason of reasons) {
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = call('wait', { signal });
    await settled();
    controller.abort(reason);
    await assert.rejects(waiting, (error) => error === signal.reason);
    await assert.rejects(call('wait', { signal }), (error) => error === signal.reason);
  }
  assert.equal(seen, 7);
  await assert.rejects(call('wait', { signal: AbortSignal.timeout(5) }), { name: 'TimeoutError' });
  const there = /** @type {any} */ (seen);
  assert.deepEqual([there.name, there instanceof DOMException], ['TimeoutError', true]);
});

test('after the answer an abort is told to nobody', async () => {
  const { call, sent } = connect({ add: (/** @type {number} */ a) => a + 1 });
  const controller = new AbortController();
  assert.equal(await call('add', 1, controller.signal), 2);
  controller.abort();
  assert.equal(sent.length, 1);
});

test('a signal is let go of there once its call is answered', async () => {
  /** @type {any} */
  let kept;
  const { near, call } = connect({
    keep: (/** @type {AbortSignal} */ signal) => void (kept = signal),
  });
  await call('keep', new AbortController().signal);
  near.abort(1, AbortSignal.abort(), 1);
  await settled();
  assert.equal(kept.aborted, false);
});

test('a call that was aborted before its answer came rejects, unless it heard of that and gave less', async () => {
  const { call, sent } = connect({
    end: async () => 'all',
    make: async () => new Made(),
    count: async () => counting([]),
    /** @param {AbortSignal} signal */
    async part(signal) {
      while (!signal.aborted) await setTimeout(1);
      return 'a part';
    },
  });
  for (const name of ['end', 'make', 'count']) {
    const controller = new AbortController();
    const answer = call(name, controller.signal);
    queueMicrotask(() => controller.abort(new Error('enough')));
    await assert.rejects(answer, { message: 'enough' }, name);
  }
  const dropped = sent.filter(({ drop }) => drop !== undefined);
  assert.equal(dropped.length, 2, 'what was made is dropped, and an iterator');
  const controller = new AbortController();
  const part = call('part', controller.signal);
  await setTimeout(5);
  controller.abort();
  assert.equal(await part, 'a part');
});

test('an abort’s reason that another call rejects with is an error there', async () => {
  /** @type {any} */
  let shared;
  const { call } = connect({
    /** @param {AbortSignal} signal */
    start: (signal) =>
      (shared = new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      })),
    join: () => shared,
  });
  const controller = new AbortController();
  const first = call('start', controller.signal);
  await settled();
  controller.abort(new Error('the first was left'));
  await assert.rejects(first, (error) => error === controller.signal.reason);
  await assert.rejects(call('join'), { message: 'the first was left' });
});

test('a signal has one listener, however many calls it is lent to, and tells each that still waits', async () => {
  const { call, sent } = connect({ wait: () => new Promise(() => {}), end: async () => 'all' });
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = Array.from({ length: 12 }, () => call('wait', signal));
  await call('end', signal);
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  controller.abort(new Error('enough'));
  assert.equal(sent.filter(({ abort }) => abort !== undefined).length, waiting.length);
});

test('a signal has no listener once its calls are answered, and is not held', async () => {
  const { near, call, sent } = connect({ end: async () => 'all' });
  const { signal } = new AbortController();
  await Promise.all([call('end', signal), call('end', signal)]);
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
  near.hear({ call: 1, id: 1, path: ['aborted'], how: 'get', args: [] });
  assert.equal(sent.at(-1).error.code, 'ERR_DISPOSED');
});
