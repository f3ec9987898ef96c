// Iterators between a page and a Worker: they are asked step by step, and end where they are left.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { HeadwiseError, tensor } from 'headwise';
import { noValueYet, withoutSteps } from '../web/headwise/worker/steps.js';
import { connect, counting, listOf, settled } from './endpoint.js';
import { rejectsCode } from './helpers.js';

test('iterators become asynchronous ones, to their end', async () => {
  /** @type {string[]} */
  const ends = [];
  const { call } = connect({
    count: () => counting(ends),
    async *slowly() {
      yield tensor([1, 2]);
      yield { within: [tensor([3])] };
    },
  });
  assert.deepEqual(await listOf(call('count')), [0, 1, 2]);
  assert.deepEqual(await listOf(await call('count')), [0, 1, 2]);
  const [first, second] = await listOf(call('slowly'));
  assert.deepEqual([first, second], [tensor([1, 2]), { within: [tensor([3])] }]);
  const iterator = await call('count');
  const steps = [1, 2, 3, 4, 5].map(() => iterator.next());
  assert.deepEqual((await Promise.all(steps)).at(3), { value: 'all', done: true });
  assert.deepEqual(await iterator.next(), { value: undefined, done: true });
  assert.equal(ends.length, 3);
});

test('a loop that is left, by break or by an error, ends the iterator there', async () => {
  /** @type {string[]} */
  const ends = [];
  const { call, sent } = connect({ count: () => counting(ends) });
  for await (const i of call('count')) if (i === 1) break;
  assert.deepEqual(ends, ['ended']);
  const inLoop = async () => {
    for await (const i of call('count')) throw new Error(`at ${i}`);
  };
  await assert.rejects(inLoop(), /at 0/);
  assert.deepEqual(ends, ['ended', 'ended']);
  const before = sent.length;
  await listOf(call('count'));
  assert.equal(sent.length - before, 5, 'nothing is said after its end');
});

test('an iterator that has ended, or thrown, is let go of there', async () => {
  const { near, call, sent } = connect({
    count: () => counting([]),
    *fail() {
      yield 1;
      throw new RangeError('boom');
    },
  });
  await listOf(call('count'));
  await assert.rejects(listOf(call('fail')), { name: 'RangeError', message: 'boom' });
  for await (const _ of call('count')) break;
  const ids = new Set(sent.map(({ id }) => id).filter((id) => id > 0));
  assert.equal(ids.size, 3);
  for (const id of ids) await rejectsCode(near.send(id, ['next'], 'call', []), 'ERR_DISPOSED');
});

test('between the steps of a value that takes long the other side is heard', async () => {
  /** @type {string[]} */
  const ends = [];
  const { call } = connect({
    /** @param {AbortSignal} signal */
    read: (signal) =>
      withoutSteps(
        (function* () {
          try {
            yield 'first';
            for (let i = 0; i < 1e5; i++) {
              signal.throwIfAborted();
              yield noValueYet;
            }
            yield 'never heard';
          } finally {
            ends.push('ended');
          }
        })(),
      ),
  });
  const controller = new AbortController();
  const loop = call('read', controller.signal);
  assert.deepEqual(await loop.next(), { value: 'first', done: false });
  const next = loop.next();
  await settled(); // it is under way there
  const reason = new Error('enough');
  controller.abort(reason);
  await assert.rejects(next, (error) => error === reason);
  assert.deepEqual(ends, ['ended']);
});

test('without a Worker the steps are passed over, and a loop that is left ends them', () => {
  /** @type {string[]} */
  const ends = [];
  const generator = function* () {
    yield noValueYet;
    yield* counting(ends);
    yield noValueYet;
  };
  assert.deepEqual([...withoutSteps(generator())], [0, 1, 2]);
  for (const value of withoutSteps(generator())) {
    assert.equal(value, 0);
    break;
  }
  assert.deepEqual(ends, ['ended', 'ended']);
});

test('a loop over what is no iterator is told to await the call', async () => {
  const { call } = connect({ give: () => tensor([[1, 2]]), none: () => undefined });
  const words = ["a call's result is", 'Tensor of shape [1, 2]', 'await the call'];
  await rejectsCode(listOf(call('give')), 'ERR_VALUE', ...words);
  await rejectsCode(listOf(call('none')), 'ERR_VALUE', 'undefined', 'await the call');
});

test('await using ends an iterator, before the call has its answer too', async () => {
  const asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
  /** @type {string[]} */
  const ends = [];
  const { call } = connect({ count: () => counting(ends) });
  const values = call('count');
  await values.next();
  await values[asyncDispose]();
  assert.deepEqual(ends, ['ended']);
  assert.deepEqual(await values.next(), { value: undefined, done: true });
});

test('an iterator that throws rejects its step, and has ended', async () => {
  const { call } = connect({
    *fail() {
      yield 1;
      throw new HeadwiseError('ERR_MEMORY', 'no room');
    },
  });
  const iterator = await call('fail');
  await iterator.next();
  await rejectsCode(iterator.next(), 'ERR_MEMORY', 'no room');
  assert.deepEqual(await iterator.next(), { value: undefined, done: true });
});

test('what was lent to a call that returned an iterator is there until that has ended', async () => {
  /** @type {any} */
  let kept;
  const { call } = connect({
    /** @param {(i: number) => unknown} tell @param {AbortSignal} signal */
    async *work(tell, signal) {
      kept = tell;
      for (let i = 0; i < 5; i++) {
        await tell(i);
        signal.throwIfAborted();
        yield i;
      }
    },
  });
  /** @type {number[]} */
  const told = [];
  const controller = new AbortController();
  const work = await call('work', (/** @type {number} */ i) => told.push(i), controller.signal);
  await work.next();
  await work.next();
  const reason = new Error('enough');
  controller.abort(reason);
  await assert.rejects(work.next(), (error) => error === reason);
  assert.deepEqual(told, [0, 1, 2]);
  await rejectsCode(kept(9), 'ERR_DISPOSED');
  assert.deepEqual(told, [0, 1, 2]);
});

test('an iterator that is ended before its first step is ended there, and lets go of what was lent', async () => {
  /** @type {string[]} */
  const ends = [];
  class Endless {
    [Symbol.iterator]() {
      return this;
    }
    next() {
      return { value: 1, done: false };
    }
    return() {
      ends.push('ended');
    }
  }
  const { call } = connect({ count: () => new Endless() });
  const { signal } = new AbortController();
  const left = await call('count', signal);
  assert.deepEqual(await left.return('left'), { value: 'left', done: true });
  const thrown = await call('count', signal);
  await assert.rejects(thrown.throw(new Error('enough')), { message: 'enough' });
  assert.deepEqual(ends, ['ended', 'ended']);
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
  assert.deepEqual(await left.next(), { value: undefined, done: true });
});

test('what was lent to an iterator is let go of there too, once that has ended', async () => {
  /** @type {any} */
  let kept;
  const { near, call } = connect({
    count: (/** @type {AbortSignal} */ signal) => ((kept = signal), counting([])),
  });
  assert.equal((await listOf(call('count', new AbortController().signal))).length, 3);
  near.abort(1, AbortSignal.abort(), 1);
  await settled();
  assert.equal(kept.aborted, false);
});

test('an iterator that is forgotten ends there, and lets go of what was lent', async () => {
  /** @type {string[]} */
  const ends = [];
  const { near, call, sent } = connect({ count: () => counting(ends) });
  const { signal } = new AbortController();
  const values = await call('count', signal);
  await values.next();
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  near.drop(sent.at(-1).id);
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
  await call('count');
  assert.deepEqual(ends, ['ended']);
});
