// Messages between a page and a Worker that can be posted and not be read: so deep that the receiver has no stack for them.
// Their calls fail; the others are answered, and what the Worker holds stays.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { Connection } from '../web/headwise/worker/connection.js';
import { rejectsCode } from './helpers.js';
import { DEEP, deepMap, withDeepValue } from './unread.js';

const options = { timeout: 20_000 };

class DeepWorker extends Worker {
  /** @override @param {any} message @param {any} transfers */
  postMessage(message, transfers) {
    super.postMessage(withDeepValue(message, 2000), transfers);
  }
}

/**
 * A Worker with a stack of its own size: this thread has about 1 MB.
 * @param {import('node:test').TestContext} t
 * @param {number} stackSizeMb
 */
function connect(t, stackSizeMb) {
  const script = new URL('unread-worker.js', import.meta.url);
  const worker = new DeepWorker(script, { execArgv: [], resourceLimits: { stackSizeMb } });
  const connection = new Connection(worker, (failure) => new Error(failure.message));
  /** @type {(name: string, ...args: unknown[]) => any} */
  const call = (name, ...args) => connection.send(0, [name], 'call', args);
  t.after(() => connection.end(new Error('the test has ended')));
  return call;
}

/** @param {Promise<unknown>} call */
const isUnread = (call) => rejectsCode(call, 'ERR_VALUE', 'could not be read');

test('a call that its Worker cannot read fails, and others are answered', options, async (t) => {
  const call = connect(t, 0.5);
  const counter = await call('counter');
  const before = call('count');
  const unread = call('count', deepMap(2000));
  const later = [call('count'), counter.count()];
  await isUnread(unread);
  assert.deepEqual([await before, ...(await Promise.all(later))], [1, 2, 3]);
  assert.equal(await counter.count(), 4);
});

test('an answer that the page cannot read fails its call, and no other', options, async (t) => {
  const call = connect(t, 4);
  const counter = await call('counter');
  const unread = call('deep');
  const later = [call('count'), counter.count()];
  await isUnread(unread);
  assert.deepEqual(await Promise.all(later), [1, 2]);
  assert.equal(await counter.count(), 3);
});

test('what a callback gives and its Worker cannot read fails its call', options, async (t) => {
  const call = connect(t, 0.5);
  await isUnread(call('ask', () => DEEP));
  assert.equal(await call('ask', () => 3), 3);
});
