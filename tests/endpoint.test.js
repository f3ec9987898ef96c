// What a page and a Worker say to each other: two ends of a MessageChannel, the one with an object that the other calls.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { HeadwiseError, tensor } from 'headwise';
import { Endpoint } from '../web/headwise/worker/endpoint.js';
import { pending, withoutSteps } from '../web/headwise/worker/steps.js';
import { rejectsCode } from './helpers.js';

/** @type {MessagePort[]} */
const ports = [];
after(() => ports.forEach((port) => port.close()));

/**
 * @param {object} root what the far end serves
 */
function connect(root) {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  /** What the near end sent. @type {any[]} */
  const sent = [];
  const near = new Endpoint((message, transfers) => {
    port1.postMessage(message, transfers);
    sent.push(message);
  });
  const far = new Endpoint((message, transfers) => port2.postMessage(message, transfers), root);
  port1.onmessage = ({ data }) => near.hear(data);
  port2.onmessage = ({ data }) => far.hear(data);
  /** @type {(name: string, ...args: unknown[]) => any} */
  const call = (name, ...args) => near.send(0, [name], 'call', args);
  return { near, call, sent };
}

/** Long enough for all that is under way here. */
const settled = () => setTimeout(20);

/** @param {AsyncIterable<unknown>} values */
async function listOf(values) {
  const list = [];
  for await (const value of values) list.push(value);
  return list;
}

/** Yields numbers, and tells of its end. @param {string[]} ends */
function* counting(ends) {
  try {
    for (let i = 0; i < 3; i++) yield i;
    return 'all';
  } finally {
    ends.push('ended');
  }
}

test('functions as arguments are called where they came from, in order and before the answer', async () => {
  const { call } = connect({
    /** @param {{ onStep: (...values: unknown[]) => unknown }} on */
    work({ onStep }) {
      for (let i = 0; i < 3; i++) onStep(i, tensor([i]));
      return 'done';
    },
    /** @param {(x: number) => Promise<number>} double */
    async ask(double) {
      return (await double(2)) + (await double(5));
    },
  });
  /** @type {unknown[]} */
  const heard = [];
  const onStep = (/** @type {number} */ i, /** @type {any} */ x) => heard.push(i + x.item());
  const answer = call('work', { onStep });
  assert.equal(await answer.then((/** @type {string} */ what) => heard.push(what)), 4);
  assert.deepEqual(heard, [0, 2, 4, 'done']);
  assert.equal(await call('ask', async (/** @type {number} */ x) => 2 * x), 14);
});

test('what a callback throws rejects its call at once, and the next call of it there', async () => {
  /** @type {unknown[]} */
  const seen = [];
  const { call } = connect({
    /** @param {(i: number) => unknown} step */
    async work(step) {
      try {
        for (let i = 0; ; i++) {
          step(i);
          await setTimeout(1);
        }
      } catch (error) {
        seen.push(error);
        throw error;
      }
    },
  });
  const boom = new RangeError('boom');
  let calls = 0;
  const failing = () => {
    calls++;
    throw boom;
  };
  await assert.rejects(call('work', failing), (error) => error === boom);
  await settled();
  assert.equal(calls, 1);
  assert.deepEqual(
    seen.map((error) => [/** @type {Error} */ (error).name, /** @type {Error} */ (error).message]),
    [['RangeError', 'boom']],
  );
});

test('a callback is let go of when its call is answered', async () => {
  /** @type {any} */
  let kept;
  const { call } = connect({ keep: (/** @type {any} */ callback) => void (kept = callback) });
  let calls = 0;
  await call('keep', () => calls++);
  await rejectsCode(kept(), 'ERR_DISPOSED', 'callback');
  assert.equal(calls, 0);
});

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

test('an object that has a text under $ arrives as it is, on both ways', async () => {
  const { call } = connect({ same: async (/** @type {unknown} */ value) => value });
  for (const $ of ['https://example.org/schema', 'tensor', 'plain', 'yours', 7])
    assert.deepEqual(await call('same', [{ $, more: { $, id: 0 } }]), [{ $, more: { $, id: 0 } }]);
});

/** What is no plain object, and stays where it is. */
class Made {
  use() {}
}

test('a call that was aborted before its answer came rejects, unless it heard of that and gave less', async () => {
  const { call, sent } = connect({
    end: async () => 'all',
    make: async () => new Made(),
    /** @param {AbortSignal} signal */
    async part(signal) {
      while (!signal.aborted) await setTimeout(1);
      return 'a part';
    },
  });
  for (const name of ['end', 'make']) {
    const controller = new AbortController();
    const answer = call(name, controller.signal);
    queueMicrotask(() => controller.abort(new Error('enough')));
    await assert.rejects(answer, { message: 'enough' }, name);
  }
  assert.equal(sent.filter(({ drop }) => drop !== undefined).length, 1, 'what was made is dropped');
  const controller = new AbortController();
  const part = call('part', controller.signal);
  await setTimeout(5);
  controller.abort();
  assert.equal(await part, 'a part');
});

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
              yield pending;
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
  const reason = new Error('enough');
  controller.abort(reason);
  await assert.rejects(next, (error) => error === reason);
  assert.deepEqual(ends, ['ended']);
});

test('without a Worker the steps are passed over, and a loop that is left ends them', () => {
  /** @type {string[]} */
  const ends = [];
  const generator = function* () {
    yield pending;
    yield* counting(ends);
    yield pending;
  };
  assert.deepEqual([...withoutSteps(generator())], [0, 1, 2]);
  for (const value of withoutSteps(generator())) {
    assert.equal(value, 0);
    break;
  }
  assert.deepEqual(ends, ['ended', 'ended']);
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

test('objects stay where they are, and are used from here until they are dropped', async () => {
  let disposed = 0;
  class Counter {
    #count = 0;
    step = Object.freeze({ by: 2 });
    get count() {
      return this.#count;
    }
    add() {
      this.#count += this.step.by;
      return this;
    }
    dispose() {
      disposed++;
    }
  }
  const { near, call, sent } = connect({
    make: () => ({ counter: new Counter() }),
    read: (/** @type {Counter} */ counter) => counter.count,
    /** @param {() => unknown} fail */
    async makeAnyway(fail) {
      await Promise.resolve(fail()).catch(() => {});
      return new Counter();
    },
  });
  const { counter } = await call('make');
  assert.deepEqual(counter.step, { by: 2 });
  assert.equal(await counter.add(), counter);
  assert.deepEqual([await counter.count, await call('read', counter)], [2, 2]);
  const other = connect({});
  await rejectsCode(other.call('read', counter), 'ERR_VALUE', 'Counter of another engine');
  near.drop(sent.find(({ id }) => id > 0).id);
  const boom = new Error('boom');
  const fail = () => Promise.reject(boom);
  await assert.rejects(call('makeAnyway', fail), (error) => error === boom);
  await settled();
  assert.equal(disposed, 2, 'what nobody hears of is freed too');
});

test('URLs, arrays, Blobs, Responses and streams arrive as what they are', async () => {
  const { call } = connect({
    kindOf: (/** @type {any} */ value) => Object.prototype.toString.call(value),
    text: async (/** @type {any} */ source) => new Response(source).text(),
    /** @param {Response} response */
    async answer(response) {
      const { url, status, statusText, headers } = response;
      return [url, status, statusText, headers.get('x-of'), await response.text()];
    },
    part: () => new Float32Array(9).subarray(2, 4),
    blob: () => new Blob(['ab']),
  });
  assert.equal(await call('kindOf', new URL('https://example.org/')), '[object URL]');
  assert.equal(await call('kindOf', { at: [new URL('https://a.b/')] }), '[object Object]');
  assert.equal(await call('kindOf', Buffer.from('abc').subarray(1)), '[object Uint8Array]');
  assert.equal((await call('part')).buffer.byteLength, 8);
  assert.equal(await (await call('blob')).text(), 'ab');
  assert.equal(await call('text', new Blob(['a stream']).stream()), 'a stream');
  const headers = { 'x-of': 'here' };
  const response = Object.defineProperty(new Response('body', { headers }), 'url', { value: 'u' });
  assert.deepEqual(await call('answer', response), ['u', 200, '', 'here', 'body']);
  const missing = new Response('page', { status: 404, statusText: 'Not Found' });
  assert.deepEqual(await call('answer', missing), ['', 404, 'Not Found', null, '']);
});

test('a Response as a result arrives as one, read piece by piece, and is cancelled there', async () => {
  let given = 0;
  let isCancelled = false;
  const body = () =>
    new ReadableStream(
      {
        pull: (controller) => void (given++, controller.enqueue(Uint8Array.of(given))),
        cancel: () => void (isCancelled = true),
      },
      { highWaterMark: 0 },
    );
  const headers = { etag: '"1"', 'content-type': 'text/plain' };
  const { call } = connect({
    whole: () => new Response('ab', { status: 206, headers }),
    absent: () => new Response('none', { status: 404 }),
    endless: () => new Response(body()),
  });
  const whole = await call('whole');
  assert.ok(whole instanceof Response);
  assert.deepEqual([whole.status, whole.headers.get('etag')], [206, '"1"']);
  assert.equal(await whole.text(), 'ab');
  assert.equal((await call('absent')).status, 404);
  const reader = (await call('endless')).body.getReader();
  assert.deepEqual((await reader.read()).value, Uint8Array.of(1));
  await reader.cancel();
  await settled();
  assert.deepEqual([given, isCancelled], [1, true]);
});

test('a stream that was not read is as it was, and one that is not wanted any more is cancelled', async () => {
  const { call } = connect({
    leave: () => 'unread',
    /** @param {ReadableStream} stream */
    async some(stream) {
      const reader = stream.getReader();
      const { value } = await reader.read();
      await reader.cancel();
      return value;
    },
  });
  const unread = new Blob(['all of it']).stream();
  assert.equal(await call('leave', unread), 'unread');
  assert.equal(await new Response(unread).text(), 'all of it');
  /** @type {string[]} */
  const ends = [];
  let pieces = 0;
  const endless = new ReadableStream(
    {
      pull: (controller) => controller.enqueue(pieces++),
      cancel: () => void ends.push('cancelled'),
    },
    { highWaterMark: 0 },
  );
  assert.equal(await call('some', endless), 0);
  assert.deepEqual([ends, pieces], [['cancelled'], 1]);
});

test('errors keep code, name and words', async () => {
  /** @type {any[]} */
  const thrown = [
    new HeadwiseError('ERR_SHAPE', 'a shape'),
    Object.assign(new Error('a page’s'), { name: 'PageError', code: 'ERR_STALE' }),
    new TypeError('a type'),
    new DOMException('a quota', 'QuotaExceededError'),
    'a text',
    undefined,
    Object.assign(new Error('odd'), { code: () => 1 }),
    Object.defineProperty(new Error(), 'message', {
      get() {
        throw new Error('no');
      },
    }),
  ];
  const { call } = connect({
    fail(/** @type {number} */ i) {
      throw thrown[i];
    },
  });
  /** @type {any[]} */
  const caught = [];
  for (let i = 0; i < thrown.length; i++)
    await call('fail', i).then(assert.fail, (/** @type {any} */ error) => caught.push(error));
  assert.ok(caught[0] instanceof HeadwiseError);
  assert.ok(caught[3] instanceof DOMException);
  assert.deepEqual(
    caught.slice(0, 4).map(({ name, code, message }) => [name, code, message]),
    thrown.slice(0, 4).map(({ name, code, message }) => [name, code, message]),
  );
  assert.equal(caught[4], 'a text');
  assert.equal(caught[5], undefined);
  assert.equal(caught[6].message, 'odd');
  assert.match(caught[7].message, /cannot be read/);
});

test('what cannot be posted rejects its call, and lets go of what was lent', async () => {
  const { call } = connect({ take: () => 1, give: () => Symbol('s'), giveFunction: () => () => 1 });
  const stream = new Blob(['x']).stream();
  await rejectsCode(call('take', stream, Symbol('s')), 'ERR_VALUE', 'take');
  assert.equal(stream.locked, false);
  await assert.rejects(call('give'), { name: 'DataCloneError' });
  await assert.rejects(call('giveFunction'), { name: 'DataCloneError' });
  assert.equal(await call('take'), 1);
});

test('the end of a conversation is told to all who wait, and is no error of a loop that is left', async () => {
  /** @type {string[]} */
  const ends = [];
  const { near, call } = connect({
    count: () => counting(ends),
    never: () => new Promise(() => {}),
  });
  const waiting = call('never');
  const [left, going] = [await call('count'), await call('count')];
  await Promise.all([left.next(), going.next()]);
  const why = new Error('it is over');
  near.end(why);
  await assert.rejects(waiting, (error) => error === why);
  await assert.rejects(call('never'), (error) => error === why);
  await assert.rejects(going.next(), (error) => error === why);
  assert.deepEqual(await left.return(), { value: undefined, done: true });
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

test('objects with a key of the wire’s own are plain objects', async () => {
  const { call } = connect({ same: (/** @type {unknown} */ value) => value });
  const value = { $: tensor([1]), of: { $: 3 } };
  assert.deepEqual(await call('same', value), value);
});
