// The readers of files, one by one: where they stand, how much room they make, and what ends them.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, test } from 'node:test';
import { PartReader, StreamReader } from '../web/headwise/formats/reader.js';
import { notThisKind, openReader } from '../web/headwise/formats/source.js';
import { rejectsCode } from './helpers.js';

const { fetch } = globalThis;
afterEach(() => void Object.assign(globalThis, { fetch }));

const ten = Uint8Array.from({ length: 10 }, (_, i) => i);
const left = new Error('left');
const isLeft = (/** @type {unknown} */ error) => error === left;

/** What arrives in these pieces. @param {...Uint8Array} pieces */
const streamOf = (...pieces) =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });

/** @param {ReadableStream} stream @param {AbortSignal[]} [signals] */
const readerOf = (stream, signals = []) => new StreamReader('x', stream.getReader(), signals);

for (const [name, whole] of /** @type {[string, Uint8Array | Blob][]} */ ([
  ['bytes', ten],
  ['a Blob', new Blob([ten])],
])) {
  test(`a reader of ${name} stands where it has read and passed over, and ends with them`, async () => {
    const reader = new PartReader('x', whole, []);
    assert.equal(reader.size, 10);
    assert.deepEqual([...(await reader.read(2))], [0, 1]);
    assert.equal(await reader.skip(3), 3);
    assert.deepEqual([...(await reader.read(2))], [5, 6]);
    assert.equal(await reader.skip(5), 3);
    assert.equal(await reader.skip(5), 0, 'it is past the end');
    assert.equal((await reader.read(2)).length, 0);
    assert.deepEqual([...(await reader.from(8, undefined).read(5))], [8, 9]);
  });

  test(`each signal ends a reader of ${name}, and those of whom it is`, async () => {
    for (const at of [0, 1]) {
      const controllers = [new AbortController(), new AbortController()];
      const reader = new PartReader('x', whole, [controllers[0].signal]);
      const later = reader.from(2, controllers[1].signal);
      assert.equal((await later.read(1)).length, 1);
      controllers[at].abort(left);
      await assert.rejects(later.read(1), isLeft);
      await assert.rejects(later.skip(1), isLeft);
      if (at === 1) assert.equal((await reader.read(1)).length, 1, 'the first one goes on');
    }
  });
}

test('a piece may be a part of a buffer, and of any type', async () => {
  const numbers = new Uint16Array(ten.slice().buffer, 2, 2);
  const reader = readerOf(streamOf(ten.subarray(7, 9), /** @type {any} */ (numbers)));
  assert.deepEqual([...(await reader.read(9))], [7, 8, 2, 3, 4, 5]);
});

test('of a stream as many bytes are read or passed over as asked for, wherever pieces end', async () => {
  const reader = readerOf(streamOf(ten.subarray(0, 3), new Uint8Array(0), ten.subarray(3)));
  assert.deepEqual([...(await reader.read(2))], [0, 1]);
  assert.equal(await reader.skip(3), 3);
  assert.deepEqual([...(await reader.read(3))], [5, 6, 7]);
  assert.equal(await reader.skip(9), 2);
  assert.equal(await reader.skip(9), 0);
});

test('a stream has no more room made for it than is asked for, or than comes', async () => {
  const mebibyte = new Uint8Array(2 ** 20).fill(1);
  const all = await readerOf(streamOf(mebibyte, mebibyte)).read(1.5 * 2 ** 20);
  assert.deepEqual([all.length, all.buffer.byteLength], [1.5 * 2 ** 20, 1.5 * 2 ** 20]);
  assert.ok(all.every((one) => one === 1));
  const few = await readerOf(streamOf(mebibyte, mebibyte, ten)).read(2 ** 50);
  assert.equal(few.length, 2 ** 21 + 10);
  assert.ok(few.buffer.byteLength <= 2 ** 22, `${few.buffer.byteLength}`);
  const atOnce = await readerOf(streamOf(new Uint8Array(2 ** 22).fill(2))).read(2 ** 22);
  assert.ok(atOnce.length === 2 ** 22 && atOnce.every((one) => one === 2));
});

test('each signal ends a stream’s reader, also those that are added', async () => {
  for (const at of [0, 1]) {
    const controllers = [new AbortController(), new AbortController()];
    const reader = readerOf(new ReadableStream(), [controllers[0].signal]);
    const same = reader.from(0, controllers[1].signal);
    setTimeout(() => controllers[at].abort(left), 5);
    await assert.rejects(same.read(1), isLeft);
    await assert.rejects(same.read(1), isLeft, 'it stays so');
  }
});

test('a stream is read on once, and after it is closed no more: it is cancelled and not locked', async () => {
  const once = readerOf(streamOf(ten));
  assert.equal(once.from(0, undefined), once);
  assert.throws(() => once.from(0, undefined), /x: what arrives as a stream can be read once/);
  let isCancelled = false;
  const stream = new ReadableStream({ cancel: () => void (isCancelled = true) });
  const closed = readerOf(stream);
  closed.close();
  assert.deepEqual([isCancelled, stream.locked], [true, false]);
  assert.throws(() => closed.from(0, undefined), { code: 'ERR_VALUE' });
});

test('of an answer that is refused the body is cancelled, and its status is all that is said', async () => {
  for (const isAddress of [true, false]) {
    let isCancelled = false;
    const body = new ReadableStream({ cancel: () => void (isCancelled = true) });
    const refused = new Response(body, { status: 404, statusText: 'Not Found' });
    Object.assign(globalThis, { fetch: async () => refused });
    await assert.rejects(openReader(isAddress ? 'https://files.test/x' : refused, {}), {
      ...{ code: 'ERR_LOAD' },
      message: `${isAddress ? 'https://files.test/x' : 'source'}: the server answered 404 Not Found; expected the file`,
    });
    assert.ok(isCancelled);
  }
});

test('what cannot be read is a file or an address, and so is what was expected', async () => {
  await rejectsCode(openReader('file:///no/such/file', {}), 'ERR_LOAD', '; expected a file');
  Object.assign(globalThis, { fetch: () => Promise.reject(new TypeError('fetch failed')) });
  const far = openReader('https://files.test/x', { name: 'mine' });
  const words = 'mine: could not be read from https://files.test/x (fetch failed); expected';
  await rejectsCode(far, 'ERR_LOAD', words, 'expected an address that answers');
  const long = openReader(`http://[${'a'.repeat(1e5)}`, {});
  await assert.rejects(long, ({ message }) => message.length < 2000);
});

test('a File without a name, and a Response without an address, are called source', async () => {
  for (const sourceOf of [
    ...[() => new File([ten], ''), () => new Blob([ten])],
    ...[() => new Response(ten), () => streamOf(ten), () => ten],
  ]) {
    assert.equal((await openReader(sourceOf(), {})).name, 'source');
    assert.equal((await openReader(sourceOf(), { name: 'mine' })).name, 'mine');
  }
  const named = Object.defineProperty(new Response(ten), 'url', { value: 'https://files.test/x' });
  assert.equal((await openReader(named, {})).name, 'https://files.test/x');
});

test('an abort ends the reading of each kind of source after it was opened', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'headwise-readers-'));
  const path = join(folder, 'x');
  await writeFile(path, ten);
  try {
    for (const source of [
      ...[ten, new Blob([ten]), new Response(ten), streamOf(ten)],
      ...[Readable.from([ten]), path],
    ]) {
      const controller = new AbortController();
      const reader = await openReader(source, { signal: controller.signal });
      controller.abort(left);
      await assert.rejects(reader.read(1), isLeft, `${source}`);
    }
    const aborted = AbortSignal.abort(left);
    await assert.rejects(openReader(ten, { signal: aborted }), isLeft);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a Readable that has ended, or was left, is refused', async () => {
  const ended = new Readable({ autoDestroy: false, read: () => void ended.push(null) });
  await new Promise((resolve) => ended.once('end', resolve).resume());
  for (const source of [ended, Readable.from([ten]).destroy()])
    await rejectsCode(openReader(source, {}), 'ERR_VALUE', 'that has ended; expected a Blob');
});

test('of files that are often mistaken for another the kind is named', () => {
  const expected = 'a file of mine';
  const told = (/** @type {string} */ text, /** @type {string} */ answer) => {
    const reader = Object.assign(new PartReader('x', ten, []), { answer });
    return notThisKind(reader, Buffer.from(text, 'latin1'), expected);
  };
  for (const [text, hint] of [
    ['version https://git-lfs.github.com/spec/v1', 'a Git LFS pointer?'],
    ['PK\x03\x04', 'a zip, as'],
    ['\x93NUMPY', 'a .npy file'],
    ['GGUF\x03', 'a GGUF file'],
  ]) {
    const { code, message } = told(text, 'the server answered 200');
    assert.equal(code, 'ERR_FORMAT');
    assert.ok(message.startsWith('x: begins with ') && message.includes(` (${hint}`), message);
  }
  for (const page of [
    '<!doctype html>',
    '<HTML>',
    '<?xml version="1.0"?>',
    '\n \xef\xbb\xbf<html>',
  ]) {
    const { code, message } = told(page, 'the server answered 200');
    assert.equal(code, 'ERR_LOAD', page);
    assert.ok(message.startsWith('x: the server answered 200 that begins with "'), message);
    assert.equal(told(page, /** @type {any} */ (undefined)).code, 'ERR_FORMAT', page);
  }
  assert.equal(
    told('text', 'the server answered 200').message,
    'x: begins with "text"; expected a file of mine',
  );
});
