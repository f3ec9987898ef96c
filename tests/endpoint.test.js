// What a page and a Worker say to each other: two ends of a MessageChannel, the one with an object that the other calls.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { HeadwiseError, tensor } from 'headwise';
import { connect, counting, settled } from './endpoint.js';
import { rejectsCode } from './helpers.js';

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

test('a callback that has thrown is not called again, though it was asked for at the same time', async () => {
  const { call } = connect({
    /** @param {(i: number) => Promise<unknown>} step */
    work: (step) => Promise.all([0, 1, 2].map(step)),
  });
  let calls = 0;
  const failing = () => Promise.reject(new RangeError(`boom ${++calls}`));
  await assert.rejects(call('work', failing), { message: 'boom 1' });
  await settled();
  assert.equal(calls, 1);
});

test('what a callback throws is told there before who hears of it here asks for more', async () => {
  const { call, sent } = connect({
    work: (/** @type {() => unknown} */ step) => step(),
    more: () => 'more',
  });
  const failing = () => Promise.reject(new Error('boom'));
  assert.equal(await call('work', failing).catch(() => call('more')), 'more');
  const kinds = sent.map(({ path, answer }) => path?.[0] ?? typeof answer);
  assert.deepEqual(kinds, ['work', 'number', 'more']);
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

test('an object with a key of the wire’s own arrives as it is, on both ways', async () => {
  const { call } = connect({ same: async (/** @type {unknown} */ value) => value });
  const value = { $: tensor([1]), of: { $: 3 } };
  assert.deepEqual(await call('same', value), value);
  for (const $ of ['https://example.org/schema', 'tensor', 'plain', 'yours', 7])
    assert.deepEqual(await call('same', [{ $, more: { $, id: 0 } }]), [{ $, more: { $, id: 0 } }]);
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
  let isCancelled = false;
  const page = new ReadableStream({ cancel: () => void (isCancelled = true) });
  const missing = new Response(page, { status: 404, statusText: 'Not Found' });
  assert.deepEqual(await call('answer', missing), ['', 404, 'Not Found', null, '']);
  assert.equal(isCancelled, true, 'nobody reads it');
});

test('a File arrives with its name, its times and its place in a folder that was chosen', async () => {
  const { call } = connect({
    /** @param {File} file */
    async read(file) {
      const { name, type, lastModified, webkitRelativePath } = file;
      return [await file.text(), name, type, lastModified, webkitRelativePath];
    },
  });
  const file = new File(['{}'], 'config.json', { type: 'application/json', lastModified: 7 });
  const path = 'm/1_Pooling/config.json';
  Object.defineProperty(file, 'webkitRelativePath', { value: path });
  const expected = ['{}', 'config.json', 'application/json', 7, path];
  assert.deepEqual(await call('read', file), expected);
});

test('a Response that was read is refused, and one of which nothing is known arrives as such', async () => {
  const { call } = connect({ what: (/** @type {Response} */ { type, status }) => [type, status] });
  const read = new Response('words');
  await read.text();
  await rejectsCode(call('what', read), 'ERR_VALUE', /an argument/);
  assert.deepEqual(await call('what', Response.error()), ['error', 0]);
});

test('a tensor without elements arrives with its shape', async () => {
  const { call } = connect({ same: (/** @type {unknown} */ x) => x });
  const same = await call('same', tensor(new Float32Array(0), [0, 3]));
  assert.deepEqual([same.shape, same.data.length], [[0, 3], 0]);
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
  const { near, call, sent } = connect({
    whole: () => new Response('ab', { status: 206, headers }),
    absent: () => new Response('none', { status: 404 }),
    endless: () => new Response(body()),
  });
  const whole = await call('whole');
  assert.ok(whole instanceof Response);
  assert.deepEqual([whole.status, whole.headers.get('etag')], [206, '"1"']);
  assert.equal(await whole.text(), 'ab');
  const { id } = sent.at(-1);
  await rejectsCode(near.send(id, ['next'], 'call', []), 'ERR_DISPOSED');
  assert.equal((await call('absent')).status, 404);
  const reader = (await call('endless')).body.getReader();
  assert.deepEqual((await reader.read()).value, Uint8Array.of(1));
  await reader.cancel();
  await settled();
  assert.deepEqual([given, isCancelled], [1, true]);
});

test('a stream that was not read is as it was, and one that is not wanted any more is cancelled', async () => {
  /** @type {any} */
  let kept;
  const { call } = connect({
    leave: (/** @type {ReadableStream} */ stream) => ((kept = stream), 'unread'),
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
  await rejectsCode(kept.getReader().read(), 'ERR_DISPOSED');
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
  const served = { take: () => 1, give: () => Symbol('s'), giveFunction: () => () => 1 };
  const { near, call, sent } = connect(served);
  const stream = new Blob(['x']).stream();
  const words = ['take: an argument cannot be posted', 'Symbol(s)', 'expected tensors'];
  await rejectsCode(call('take', stream, Symbol('s')), 'ERR_VALUE', ...words);
  assert.equal(stream.locked, false);
  near.hearUnread();
  assert.deepEqual(sent, [{ waits: [], asks: true }], 'nobody waits for its answer');
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

test('the end of a conversation lets go of what was lent, to iterators too', async () => {
  const { near, call } = connect({
    count: () => counting([]),
    never: () => new Promise(() => {}),
  });
  const { signal } = new AbortController();
  const stream = new Blob(['all of it']).stream();
  const waiting = call('never', signal, stream);
  const values = await call('count', signal);
  await values.next();
  assert.equal(stream.locked, true);
  near.end(new Error('it is over'));
  await assert.rejects(waiting, { message: 'it is over' });
  assert.deepEqual([getEventListeners(signal, 'abort'), stream.locked], [[], false]);
});

test('a call is told of an end that comes while its arguments are read, and nothing is sent or lent', async () => {
  const { near, call, sent } = connect({ take: () => 1 });
  const { signal } = new AbortController();
  const ending = {
    get value() {
      near.end(new Error('it is over'));
      return 1;
    },
  };
  await assert.rejects(call('take', ending, signal), { message: 'it is over' });
  assert.deepEqual([sent, getEventListeners(signal, 'abort')], [[], []]);
});

test(
  'a question of a callback that could not be read fails there, and not the call that is worked on',
  { timeout: 20_000 },
  async () => {
    const { near, call } = connect({
      /** @param {() => Promise<unknown>} callback */
      ask: (callback) => callback().catch(({ code }) => code),
    });
    const hear = near.hear.bind(near);
    near.hear = (message) => (message.call === undefined ? hear(message) : near.hearUnread());
    assert.equal(await call('ask', () => 'heard'), 'ERR_VALUE');
  },
);
