// A file whose server is busy, does not answer, cuts the connection or forbids parts: how often it is asked, and what ends the wait.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWeb } from '../web/headwise/formats/web-reader.js';
import { rejectsCode } from './helpers.js';
import { bytes, open, readAll, serverOf } from './one-file.js';

/** @typedef {import('./one-file.js').How} How */

/** Runs with timers that come at once. @param {(waits: number[], left: Set<unknown>) => Promise<void>} body is told how long each would be, and which are left */
async function withoutWaiting(body) {
  const { setTimeout, clearTimeout } = globalThis;
  /** @type {number[]} */
  const waits = [];
  const left = new Set();
  Object.assign(globalThis, {
    setTimeout(/** @type {() => void} */ act, /** @type {number} */ wait) {
      waits.push(wait);
      // One of seconds, which a server asks for, comes when the test is over.
      const id = setTimeout(act, wait < 5000 ? 0 : 60_000);
      left.add(id);
      return id;
    },
    clearTimeout(/** @type {any} */ id) {
      left.delete(id);
      clearTimeout(id);
    },
  });
  try {
    await body(waits, left);
  } finally {
    for (const id of left) clearTimeout(/** @type {any} */ (id));
    Object.assign(globalThis, { setTimeout, clearTimeout });
  }
}

const busy = (headers = {}) => new Response('', { status: 503, headers });

test('a server that stays busy is asked four times more, each time after twice as long', () =>
  withoutWaiting(async (waits) => {
    for (const from of [0, 1]) {
      let asked = 0;
      waits.length = 0;
      const instead = (/** @type {unknown} */ _, /** @type {number} */ n) =>
        n >= from ? (asked++, busy()) : undefined;
      await rejectsCode(open({ instead }).then(readAll), 'ERR_LOAD', 'answered 503');
      assert.deepEqual([asked, waits], [5, [200, 400, 800, 1600]], `from answer ${from} on`);
    }
  }));

test('where nobody answers, one more try is made for the beginning, and four for a part', () =>
  withoutWaiting(async (waits) => {
    for (const [from, tries] of [
      [0, 1],
      [1, 4],
    ]) {
      waits.length = 0;
      const instead = (/** @type {unknown} */ _, /** @type {number} */ n) => {
        if (n >= from) throw new TypeError('fetch failed');
      };
      await rejectsCode(open({ instead }).then(readAll), 'ERR_LOAD', 'no response');
      assert.equal(waits.length, tries, `from answer ${from} on`);
    }
  }));

test('a server that asks to wait 15 seconds is waited for, and an abort ends the wait and its timer', () =>
  withoutWaiting(async (waits, left) => {
    const reason = new Error('left');
    for (const from of [0, 1]) {
      waits.length = 0;
      const controller = new AbortController();
      const { signal } = controller;
      const fetch = serverOf({
        instead: (_, n) => (n >= from ? busy({ 'retry-after': '15' }) : undefined),
      });
      const reading = openWeb(new URL('http://files.test/a.bin'), {
        ...{ fetch, signal, isKept: false },
      }).then(readAll);
      while (waits.length === 0) await new Promise((resolve) => setImmediate(resolve));
      controller.abort(reason);
      await assert.rejects(reading, (error) => error === reason);
      assert.deepEqual([waits, left.size], [[15_000], 0], `from answer ${from} on`);
    }
  }));

test('parts that end before they bring anything are named as a connection that was cut', () =>
  withoutWaiting(async () => {
    const empty = () => new Response('', { status: 206, headers: { etag: '"1"' } });
    const reader = await open({ instead: (_, n) => (n > 0 ? empty() : undefined) });
    await assert.rejects(readAll(reader), {
      ...{ code: 'ERR_LOAD' },
      message: 'http://files.test/a.bin: the connection was cut; expected the rest',
    });
  }));

for (const [name, from] of /** @type {const} */ ([
  ['the beginning', 0],
  ['a part', 1],
])) {
  test(`an abort ends the wait for ${name} whose answer never comes`, async () => {
    const reason = new Error('left');
    const controller = new AbortController();
    const { signal } = controller;
    const instead = /** @type {any} */ (
      (/** @type {unknown} */ _, /** @type {number} */ n) => {
        if (n < from) return undefined;
        setImmediate(() => controller.abort(reason));
        return new Promise(() => undefined);
      }
    );
    const late = new Promise((resolve) => setTimeout(resolve, 5000, 'still waiting').unref());
    const reading = openWeb(new URL('http://files.test/a.bin'), {
      ...{ fetch: serverOf({ instead }), signal, isKept: false },
    }).then(readAll);
    await assert.rejects(Promise.race([reading, late]), (error) => error === reason);
  });
}

test('a whole file is read as it comes where parts are forbidden, and ended where they are not', async () => {
  Object.assign(globalThis, { origin: 'https://page.test' });
  try {
    for (const [says, refused, expected] of /** @type {const} */ ([
      ['none', Infinity, ['part', 'part', 'whole']],
      ['bytes', Infinity, ['part', 'part', 'whole', 'part']],
      ['bytes', 2, ['part', 'part', 'whole', 'part']],
    ])) {
      /** @type {string[]} */
      const asked = [];
      let isEnded = false;
      const body = () =>
        new ReadableStream(
          {
            pull: (stream) => (stream.enqueue(bytes), stream.close()),
            cancel: () => void (isEnded = true),
          },
          { highWaterMark: 0 },
        );
      /** @type {How['instead']} */
      const instead = (range, n) => {
        asked.push(range ? 'part' : 'whole');
        if (range && n <= refused) throw new TypeError('Failed to fetch');
        return range ? undefined : new Response(body(), { headers: { 'accept-ranges': says } });
      };
      const reader = await open({ instead });
      assert.deepEqual(asked, expected);
      assert.equal(isEnded, refused === 2, says);
      assert.ok((await readAll(reader)).equals(bytes));
    }
  } finally {
    Reflect.deleteProperty(globalThis, 'origin');
  }
});
