// Files of servers that answer in other ways than most: headers that a browser hides, no parts, other versions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeSafetensors } from 'headwise/formats';
import { openWeb } from '../web/headwise/formats/web-reader.js';
import { useCaches } from './fake-caches.js';
import { data, rejectsCode } from './helpers.js';

const bytes = writeSafetensors({
  ...{ a: data(1, [30_000]), unwanted: data(2, [400_000]), b: data(3, [300_000]) },
});

/**
 * @typedef {object} How
 * @property {string[]} [hidden] of another origin a browser shows content-range and etag only if the server says so
 * @property {(range: string | undefined, n: number, signal?: AbortSignal) => Response | Promise<Response> | undefined | void} [instead]
 * @property {Uint8Array<ArrayBuffer>} [content]
 *
 * @param {How} [how]
 * @returns {any} fetch
 */
function serverOf({ hidden = [], instead = () => undefined, content = bytes } = {}) {
  let n = 0;
  return async (
    /** @type {string} */ _,
    /** @type {{ headers: { range?: string }, signal?: AbortSignal }} */ asked,
  ) => {
    const { range } = asked.headers;
    const other = await instead(range, n++, asked.signal);
    if (other) return other;
    const [, start, last] = /(\d+)-(\d+)/.exec(range ?? '')?.map(Number) ?? [
      0,
      0,
      content.length - 1,
    ];
    if (range && start >= content.length) return new Response(null, { status: 416 });
    const part = content.slice(start, last + 1);
    const headers = new Headers({ etag: '"1"', 'content-length': `${part.length}` });
    const place = `bytes ${start}-${start + part.length - 1}/${content.length}`;
    if (range) headers.set('content-range', place);
    hidden.forEach((name) => headers.delete(name));
    return new Response(part, { status: range ? 206 : 200, headers });
  };
}

/** @param {How} [how] @param {boolean} [isKept] */
const open = (how, isKept = false) =>
  openWeb(new URL('http://files.test/a.bin'), {
    ...{ fetch: serverOf(how), signal: undefined, isKept },
  });

/** @param {Awaited<ReturnType<typeof open>>} reader */
async function readAll(reader) {
  const parts = [];
  for (let part; (part = await reader.read(2 ** 18)).length > 0;) parts.push(part);
  return Buffer.concat(parts);
}

/** @param {Uint8Array} read @param {number} start */
const areAt = (read, start) => {
  assert.equal(read.length, 1000);
  assert.ok(
    Buffer.from(bytes)
      .subarray(start, start + 1000)
      .equals(read),
  );
};

for (const hidden of [['content-range'], ['content-range', 'etag', 'content-length']]) {
  test(`a file whose parts hide ${hidden.join(', ')} is read, and passed over in part`, async () => {
    assert.ok(Buffer.from(bytes).equals(await readAll(await open({ hidden }))));
    const reader = await open({ hidden });
    await reader.read(1000);
    assert.equal(await reader.skip(1_000_000), 1_000_000);
    areAt(await reader.read(1000), 1_001_000);
  });
}

test('bytes are passed over within the part that is being fetched', async () => {
  let asked = 0;
  const reader = await open({ instead: () => void asked++ });
  await reader.read(70_000);
  assert.equal(await reader.skip(500_000), 500_000);
  areAt(await reader.read(1000), 570_000);
  assert.equal(asked, 2);
});

test('a run that is planned is fetched as one part, and no more', async () => {
  /** @type {unknown[]} */
  const asked = [];
  const reader = await open({ instead: (range) => void asked.push(range) });
  reader.plan([[700_000, 2_000_000]]);
  await reader.skip(700_000);
  for (let at = 700_000; at < 2_000_000; at += 1000) areAt(await reader.read(1000), at);
  assert.deepEqual(asked, ['bytes=0-65535', 'bytes=700000-1999999']);
});

test('of a file that is read without a plan the last part is kept too', async () => {
  useCaches();
  const content = bytes.slice(0, 100_000);
  /** @type {unknown[]} */
  const asked = [];
  const instead = (/** @type {unknown} */ range) => void asked.push(range);
  for (const _ of [1, 2]) {
    const reader = await open({ content, instead }, true);
    assert.ok((await readAll(reader)).equals(content));
  }
  assert.deepEqual(asked, ['bytes=0-65535', 'bytes=65536-99999', 'bytes=0-65535']);
});

test('parts whose beginning the cache has lost are not fetched again', async () => {
  const { stored } = useCaches();
  await readAll(await open({}, true));
  stored.delete([...stored.keys()].find((key) => key.endsWith('=head')) ?? '');
  /** @type {unknown[]} */
  const asked = [];
  const instead = (/** @type {unknown} */ range) => void asked.push(range);
  assert.ok((await readAll(await open({ instead }, true))).equals(bytes));
  assert.deepEqual(asked, ['bytes=0-65535']);
});

test('of a file whose version is hidden nothing is kept', async () => {
  const { stored } = useCaches();
  assert.ok((await readAll(await open({ hidden: ['etag'] }, true))).equals(bytes));
  assert.equal(stored.size, 0);
});

test('a file that the server has no more is not read from the cache', async () => {
  useCaches();
  await readAll(await open({}, true));
  const instead = () => new Response('', { status: 404 });
  await rejectsCode(open({ instead }, true), 'ERR_LOAD', 'the server answered 404');
});

test('to close a reader ends the request that has no answer yet', async () => {
  /** @type {(signal: AbortSignal | undefined) => void} */
  let tell;
  /** @type {Promise<AbortSignal | undefined>} */
  const asked = new Promise((resolve) => (tell = resolve));
  /** @type {How['instead']} */
  const instead = (_, n, signal) => {
    if (n > 0) tell(signal);
    return n > 0 ? new Promise(() => undefined) : undefined;
  };
  const reader = await open({ instead });
  void reader.read(70_000);
  const signal = await asked;
  reader.close();
  assert.ok(signal?.aborted);
});

test('to close a reader cancels the answer that is coming, whatever fetch makes of the signal', async () => {
  let isCancelled = false;
  const start = (/** @type {ReadableStreamDefaultController} */ c) => c.enqueue(new Uint8Array(10));
  const cancel = () => void (isCancelled = true);
  const reader = await open({
    instead: (_, n) =>
      n === 0
        ? undefined
        : new Response(new ReadableStream({ start, cancel }), {
            ...{ status: 206, headers: { etag: '"1"' } },
          }),
  });
  await reader.read(2 ** 16 + 10);
  reader.close();
  assert.ok(isCancelled);
});

test('an empty file has no parts: it is asked for whole', async () => {
  const content = new Uint8Array(0);
  const reader = await open({ content });
  assert.equal((await reader.read(10)).length, 0);
  const refused = (/** @type {string | undefined} */ range) =>
    range ? undefined : new Response('', { status: 403 });
  await rejectsCode(open({ content, instead: refused }), 'ERR_LOAD', 'the server answered 403');
});

test('a whole file of another version is no part of this one', async () => {
  const changed = (/** @type {unknown} */ _, /** @type {number} */ n) =>
    n > 0 ? new Response(bytes, { headers: { etag: '"2"' } }) : undefined;
  const reader = await open({ instead: changed });
  await rejectsCode(readAll(reader), 'ERR_LOAD', 'changed while it was read');
});

test('a page that has a version of its own is no other version of the file', async () => {
  const headers = { etag: '"page"', 'content-type': 'text/html' };
  const page = () => new Response('<!doctype html>Log in', { headers });
  const reader = await open({ instead: (_, n) => (n > 0 ? page() : undefined) });
  await rejectsCode(readAll(reader), 'ERR_LOAD', 'answered 200 with text/html', 'expected bytes');
});

test('bytes from another place than was asked for are no part of the file', async () => {
  const headers = { etag: '"1"', 'content-range': `bytes 65537-70000/${bytes.length}` };
  const shifted = () => new Response(bytes.slice(65_537, 70_001), { status: 206, headers });
  const reader = await open({ instead: (_, n) => (n === 1 ? shifted() : undefined) });
  await rejectsCode(readAll(reader), 'ERR_LOAD', 'changed while it was read');
});

test('a part that the cache has is not fetched again where a piece ends within it', async () => {
  const caches = useCaches();
  const content = new Uint8Array(2 ** 16 + 2 ** 24 + 1000).map((_, i) => i % 251);
  const readKept = async () => {
    const reader = await open({ content }, true);
    reader.plan([[0, content.length]]);
    assert.ok((await readAll(reader)).equals(content));
  };
  await readKept();
  const parts = [...caches.stored.keys()].filter((key) => /%20\d+-\d+$/.test(key));
  assert.equal(parts.length, 3);
  const second = caches.stored.get(parts[1]);
  for (const lost of [parts[0], parts[2]]) caches.stored.delete(lost);
  await readKept();
  assert.ok(parts.every((key) => caches.stored.has(key)));
  assert.equal(caches.stored.get(parts[1]), second, 'it was not stored again');
});

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

test('an abort ends the wait for a part whose answer never comes', async () => {
  const reason = new Error('left');
  const controller = new AbortController();
  const never = () => new Promise(() => undefined);
  const instead = /** @type {any} */ (
    (/** @type {unknown} */ _, /** @type {number} */ n) => {
      if (n === 0) return undefined;
      setImmediate(() => controller.abort(reason));
      return never();
    }
  );
  const reader = (await open({ instead })).from(0, controller.signal);
  const late = new Promise((resolve) => setTimeout(resolve, 5000, 'still waiting').unref());
  const reading = Promise.race([readAll(/** @type {any} */ (reader)), late]);
  await assert.rejects(reading, (error) => error === reason);
});

test('without a plan, and after what was planned, a mebibyte is fetched at a time', async () => {
  /** @type {unknown[]} */
  const asked = [];
  const instead = (/** @type {unknown} */ range) => void asked.push(range);
  const { length } = bytes;
  assert.ok((await readAll(await open({ instead }))).equals(bytes));
  const [mebibyte, head] = [2 ** 20, 2 ** 16];
  assert.deepEqual(asked, [
    ...['bytes=0-65535', `bytes=${head}-${head + mebibyte - 1}`],
    ...[`bytes=${head + mebibyte}-${head + 2 * mebibyte - 1}`],
    `bytes=${head + 2 * mebibyte}-${length - 1}`,
  ]);
  asked.length = 0;
  const reader = await open({ instead });
  reader.plan([[0, 100_000]]);
  assert.ok((await readAll(reader)).equals(bytes));
  assert.deepEqual(asked.slice(0, 3), [
    ...['bytes=0-65535', 'bytes=65536-99999', `bytes=100000-${100_000 + mebibyte - 1}`],
  ]);
});

test('a part that is left for a later place is not stored, and those after it are', async () => {
  useCaches();
  const serve = serverOf();
  /** As a connection brings it: some has come of the part that is left. @type {How['instead']} */
  const instead = async (range) => {
    const answer = await serve('', { headers: { range } });
    const whole = new Uint8Array(await answer.arrayBuffer());
    let at = 0;
    const pull = (/** @type {ReadableStreamDefaultController} */ stream) => {
      stream.enqueue(whole.slice(at, (at += 2 ** 16)));
      if (at >= whole.length) stream.close();
    };
    return new Response(new ReadableStream({ pull }), answer);
  };
  const reader = await open({ instead }, true);
  await reader.read(70_000);
  await reader.skip(1_930_000);
  await readAll(reader);
  /** @type {unknown[]} */
  const asked = [];
  const again = await open({ instead: (range) => void asked.push(range) }, true);
  await again.skip(2_000_000);
  areAt(await again.read(1000), 2_000_000);
  assert.deepEqual(asked, ['bytes=0-65535'], 'what was stored is not asked for again');
  assert.ok((await readAll(await open({}, true))).equals(bytes));
});

test('to ask for more than there is, or from past the end, gives what there is', async () => {
  const reader = await open();
  assert.equal((await reader.read(2 ** 50)).length, bytes.length);
  const past = (await open()).from(bytes.length + 10, undefined);
  assert.equal((await past.read(10)).length, 0);
});
