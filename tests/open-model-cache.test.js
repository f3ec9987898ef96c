// What openModel keeps in the browser's cache, and reads from it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeSafetensors } from 'headwise/formats';
import { useCaches } from './fake-caches.js';
import { commit } from './file-server.js';
import { data, rejectsCode } from './helpers.js';
import {
  tensors,
  text,
  whole,
  folder,
  at,
  shards,
  server,
  open,
  valuesOf,
  areTensors,
  weightBytes,
} from './served-models.js';

test('what was read once comes from the cache, without the network if the commit is known', async () => {
  useCaches();
  areTensors(await valuesOf(await open('org/model')), ['a', 'unwanted', 'b']);
  server.served.length = 0;
  areTensors(await valuesOf(await open('org/model')), ['a', 'unwanted', 'b']);
  assert.deepEqual(
    server.served.map(({ path }) => path),
    [`${folder}/config.json`],
  );
  // Other servers are asked for the beginning, which tells the version.
  areTensors(await valuesOf(await open(`${server.origin}/plain/folder`)), ['a', 'unwanted', 'b']);
  const before = server.served.length;
  areTensors(await valuesOf(await open(`${server.origin}/plain/folder`)), ['a', 'unwanted', 'b']);
  assert.equal(weightBytes(before), 2 ** 16);
});

test('offline, what is in the cache is read', async () => {
  useCaches();
  await valuesOf(await open('org/model'));
  await valuesOf(await open(`${server.origin}/sharded`));
  const fetchNothing = async () => {
    throw new TypeError('fetch failed');
  };
  areTensors(await valuesOf(await open('org/model', { fetch: fetchNothing })), [
    'a',
    'unwanted',
    'b',
  ]);
  await rejectsCode(open('org/other', { fetch: fetchNothing }), 'ERR_LOAD', '/org/other/');
});

test('shards that are in the cache are opened while the server is away or busy', async () => {
  useCaches();
  const place = '/org/shards/resolve';
  Object.assign(server.files, at(`${place}/main`, shards), at(`${place}/${commit}`, shards));
  const sources = ['org/shards', `${server.origin}/sharded`];
  for (const source of sources) await valuesOf(await open(source));
  /** @type {(() => Promise<Response>)[]} */
  const away = [
    () => Promise.reject(new TypeError('fetch failed')),
    async () => new Response('', { status: 503 }),
  ];
  for (const fetch of away) {
    for (const source of sources)
      areTensors(await valuesOf(await open(source, { fetch })), ['a', 'b']);
  }
  server.served.length = 0;
  await valuesOf(await open('org/shards'));
  assert.deepEqual(
    server.served.map(({ path }) => path),
    [`${place}/main/config.json`],
    'a commit is known to have shards',
  );
});

test('of a model that is not in the cache its weights are asked for as often as ever', async () => {
  useCaches();
  const asked = [];
  const model = await open(`${server.origin}/sharded`, {
    fetch: async (address, options) => {
      if (String(address).endsWith('config.json')) return fetch(address, options);
      asked.push(address);
      return new Response('', { status: 503 });
    },
  });
  await rejectsCode(model.openFiles(), 'ERR_LOAD', '/sharded/model.safetensors: ', '503');
  assert.equal(asked.length, 5);
});

test('a new version replaces the old one in the cache', async () => {
  const caches = useCaches();
  await valuesOf(await open(`${server.origin}/plain/folder`));
  const before = caches.stored.size;
  const changed = { ...tensors, b: data(9, [5000, 10]) };
  server.files['/plain/folder/model.safetensors'] = writeSafetensors(changed);
  const values = await valuesOf(await open(`${server.origin}/plain/folder`));
  assert.ok(values.b.every((value, i) => value === changed.b.data[i]));
  assert.equal(caches.stored.size, before);
  server.files['/plain/folder/model.safetensors'] = whole;
});

test('a download that was left goes on with what is in the cache', async () => {
  useCaches();
  const big = writeSafetensors({ a: data(1, [700_000, 10]) });
  server.files['/big/config.json'] = text;
  server.files['/big/model.safetensors'] = big;
  const [left] = await (await open(`${server.origin}/big/`)).openFiles();
  let rows = 0;
  for await (const piece of left.pieces()) if ((rows += piece.rows) > 400_000) break;
  server.served.length = 0;
  const { a } = await valuesOf(await open(`${server.origin}/big/`));
  assert.equal(a.length, 7_000_000);
  assert.ok(weightBytes() < big.length - 2 ** 23 + 2 ** 17, `${weightBytes()} of ${big.length}`);
  delete server.files['/big/model.safetensors'];
});

test('parts that the cache has lost are fetched, before and after one that it has', async () => {
  const caches = useCaches();
  const big = writeSafetensors({ a: data(1, [500_000, 10]) });
  server.files['/big/config.json'] = text;
  server.files['/big/model.safetensors'] = big;
  const { a } = await valuesOf(await open(`${server.origin}/big/`));
  const parts = [...caches.stored.keys()].filter((key) => /%20\d+-\d+$/.test(key));
  assert.equal(parts.length, 3);
  caches.stored.delete(parts[0]);
  caches.stored.delete(parts[2]);
  // In pieces that end where parts do: from there on the cache goes on, and the connection is elsewhere.
  /** @type {typeof fetch} */
  const evenly = async (address, options) => {
    const response = await fetch(address, options);
    if (response.status !== 206) return response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    let from = 0;
    const pieces = new ReadableStream({
      pull(controller) {
        controller.enqueue(bytes.slice(from, (from += 2 ** 16)));
        if (from >= bytes.length) controller.close();
      },
    });
    const { status, headers } = response;
    return new Response(pieces, { status, headers });
  };
  const again = await valuesOf(await open(`${server.origin}/big/`, { fetch: evenly }));
  assert.equal(again.a.length, a.length);
  assert.ok(again.a.every((value, i) => value === a[i]));
  assert.ok(parts.every((key) => caches.stored.has(key)));
  delete server.files['/big/model.safetensors'];
});

test('a stored part of another length is fetched again, and stored', async () => {
  const caches = useCaches();
  // As browsers answer: a loop that waits for the cache alone lets the test's limit end it.
  const match = caches.match.bind(caches);
  caches.match = (key) => new Promise((resolve) => setTimeout(() => resolve(match(key))));
  await valuesOf(await open('org/model'));
  const key = [...caches.stored.keys()].find((name) => name.includes('commit'));
  assert.ok(key);
  const bytesOf = async () =>
    new Uint8Array((await (await match(key))?.arrayBuffer()) ?? new ArrayBuffer(0));
  const stored = await bytesOf();
  for (const damaged of [
    new Uint8Array(0),
    stored.subarray(0, stored.length / 2),
    new Uint8Array([...stored, 1, 2]),
  ]) {
    caches.stored.set(key, new Response(damaged));
    const signal = AbortSignal.timeout(20_000);
    areTensors(await valuesOf(await open('org/model', { signal })), ['a', 'unwanted', 'b']);
    assert.deepEqual(await bytesOf(), stored);
  }
});

test('a page that answers for a part, as networks do that want a login, leaves what is stored', async () => {
  const caches = useCaches();
  const big = writeSafetensors({ a: data(1, [250_000, 10]) });
  for (const [source, place] of /** @type {const} */ ([
    [`${server.origin}/big/`, '/big'],
    ['org/big', `/org/big/resolve/${commit}`],
  ])) {
    Object.assign(server.files, at(place, { 'config.json': text, 'model.safetensors': big }));
    server.files['/org/big/resolve/main/config.json'] = text;
    await valuesOf(await open(source));
    const keys = [...caches.stored.keys()].filter((key) => key.includes(`${place}/model.s`));
    assert.equal(keys.length, 3, `${keys}`);
    caches.stored.delete(/** @type {string} */ (keys.at(-1)));
    const page = new Response('<!doctype html>Log in', {
      headers: { 'content-type': 'text/html' },
    });
    /** @type {typeof fetch} */
    const fetchPage = async (address, options) =>
      /** @type {any} */ (options)?.headers?.range?.startsWith('bytes=0-')
        ? fetch(String(address).replace('https://huggingface.co', server.origin), options)
        : page;
    const read = open(source, { fetch: fetchPage }).then((model) => valuesOf(model));
    await rejectsCode(
      read,
      'ERR_LOAD',
      'answered 200 with text/html; expected bytes',
      'of the file',
    );
    server.served.length = 0;
    await valuesOf(await open(source));
    assert.ok(weightBytes() < big.length / 2, `${weightBytes()} of ${big.length}`);
    delete server.files[`${place}/model.safetensors`];
  }
});

test('a cache that is full, or may not be used, is as good as none', async () => {
  const caches = useCaches(100_000);
  areTensors(await valuesOf(await open('org/model')), ['a', 'unwanted', 'b']);
  assert.ok(caches.stored.size > 0);
  /** @type {any} */ (globalThis).caches = {
    open: async () => {
      throw new DOMException('not here', 'SecurityError');
    },
  };
  areTensors(await valuesOf(await open('org/model')), ['a', 'unwanted', 'b']);
});
