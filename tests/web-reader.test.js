// Files of servers that answer in other ways than most: headers that a browser hides, no parts, other versions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useCaches } from './fake-caches.js';
import { rejectsCode } from './helpers.js';
import { bytes, inPieces, open, readAll } from './one-file.js';

/** @typedef {import('./one-file.js').How} How */

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
  const instead = (/** @type {string | undefined} */ range) => (asked++, inPieces(range));
  const reader = await open({ instead });
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

for (const [name, leave] of /** @type {[string, (reader: any) => void][]} */ ([
  ['to close a reader', (reader) => reader.close()],
  ['to read on from another place', (reader) => reader.from(0, undefined)],
])) {
  test(`${name} cancels the answer that is coming, whatever fetch makes of the signal`, async () => {
    let isCancelled = false;
    const start = (/** @type {ReadableStreamDefaultController} */ c) =>
      c.enqueue(new Uint8Array(10));
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
    leave(reader);
    assert.ok(isCancelled);
  });
}

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
  const reader = await open({ instead: inPieces }, true);
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

test('a file of which only its end says how long it is ends where bytes are passed over, too', async () => {
  const content = bytes.slice(0, 100_000);
  const reader = await open({ content, hidden: ['content-range'] });
  await reader.read(70_000);
  assert.equal(await reader.skip(200_000), 30_000);
  assert.equal((await reader.read(10)).length, 0);
});

test('without a network a file whose length the server hides is read from the cache', async () => {
  useCaches();
  const hidden = ['content-range'];
  await readAll(await open({ hidden }, true));
  const instead = () => Promise.reject(new TypeError('fetch failed'));
  const reader = await open({ instead }, true);
  assert.equal(reader.size, undefined);
  assert.ok((await reader.read(500_000)).every((one, i) => one === bytes[i]));
  await reader.skip(100_000);
  areAt(await reader.read(1000), 600_000);
});

test('what is in the cache already is not stored again', async () => {
  const caches = useCaches();
  await readAll(await open({}, true));
  let puts = 0;
  caches.put = async () => void puts++;
  assert.ok((await readAll(await open({}, true))).equals(bytes));
  assert.equal(puts, 0);
});
