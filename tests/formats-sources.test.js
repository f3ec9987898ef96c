// Where tensor files come from: addresses, streams, files; what goes wrong on the way; and how much of them is in memory.
import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, mkdtemp, realpath, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import {
  HeadwiseError,
  openSafetensors,
  readNpy,
  readSafetensors,
  writeNpy,
  writeSafetensors,
} from 'headwise/formats';
import { evaluate } from './child.js';
import { safetensorsFile, streamOf } from './formats.js';
import { data, rejectsCode } from './helpers.js';

const x = data(1, [300, 20]);
const file = writeSafetensors({ x });
const npy = writeNpy(x);
const html = '<!doctype html><title>Not found</title>';

/** @type {import('node:http').Server} */
let server;
let origin = '';
let folder = '';

/** @type {Record<string, (response: import('node:http').ServerResponse) => void>} */
const answers = {
  '/x.safetensors': (response) => response.end(file),
  '/x.npy': (response) => response.end(npy),
  '/zipped': (response) => {
    response.setHeader('content-encoding', 'gzip');
    response.end(gzipSync(file));
  },
  '/page': (response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(`\n${html}`);
  },
  '/empty': (response) => response.writeHead(204).end(),
  '/wrong-type': (response) => {
    response.setHeader('content-type', 'text/html');
    response.end(file);
  },
  '/cut': (response) => {
    response.setHeader('content-length', file.length);
    response.write(file.subarray(0, 12_000), () => response.destroy());
  },
  '/stalls': (response) => void response.write(file.subarray(0, 12_000)),
  '/never': () => {},
};

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headwise-formats-'));
  await writeFile(join(folder, 'x.safetensors'), file);
  await writeFile(join(folder, 'x.npy'), npy);
  server = createServer((request, response) => {
    const answer = answers[request.url ?? ''];
    if (answer) answer(response);
    else response.writeHead(404, 'Not Found').end(html);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  origin = `http://127.0.0.1:${address.port}`;
});

after(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

/** @param {Parameters<typeof readSafetensors>[0]} source */
async function reads(source) {
  assert.deepEqual((await readSafetensors(source)).tensors.x.data, x.data);
}

/** @param {string} name */
const onDisk = (name) => pathToFileURL(join(folder, name));

test('a file is read from an address, as text or a URL, and from a Response', async () => {
  const address = `${origin}/x.safetensors`;
  await reads(address);
  await reads(new URL(address));
  await reads(await fetch(address));
  await reads(`${origin}/zipped`);
  await reads(`${origin}/wrong-type`);
  assert.equal((await openSafetensors(address)).name, address);
  assert.equal((await openSafetensors(await fetch(address))).name, address);
  assert.deepEqual((await readNpy(`${origin}/x.npy`)).data, x.data);
});

test('a file is read from a file URL, again and again, and from a File by its name', async () => {
  const url = onDisk('x.safetensors');
  await reads(url);
  await reads(url.href);
  const opened = await openSafetensors(url);
  for (let i = 0; i < 2; i++)
    for await (const piece of opened.pieces()) assert.deepEqual(piece.data, x.data);
  assert.deepEqual((await readNpy(onDisk('x.npy'))).data, x.data);
  assert.equal((await openSafetensors(new File([file], 'mine.st'))).name, 'mine.st');
});

test('a File of a test environment whose classes have no tag is read by its name', async () => {
  class Untagged extends File {
    get [Symbol.toStringTag]() {
      return /** @type {any} */ (undefined);
    }
  }
  const bytes = new Untagged([npy], 'x.npy');
  assert.deepEqual((await readNpy(bytes)).data, x.data);
  await rejectsCode(readSafetensors(bytes), 'ERR_FORMAT', 'x.npy');
  await rejectsCode(readNpy(Object.create(Untagged.prototype)), 'ERR_VALUE', 'source');
});

test('of a folder it is said that a file was expected', async () => {
  for (const read of [openSafetensors, readNpy])
    await rejectsCode(read(pathToFileURL(folder)), 'ERR_LOAD', 'expected a file, not a folder');
});

test('in Node a path is one from the working directory, and an error names the file tried', async () => {
  const script = `
    import { load } from ${JSON.stringify(import.meta.resolve('headwise'))};
    import { load as loadWorker } from ${JSON.stringify(import.meta.resolve('headwise/worker'))};
    import { openSafetensors, readNpy } from ${JSON.stringify(import.meta.resolve('headwise/formats'))};
    const told = [];
    told.push((await openSafetensors('x.safetensors')).name);
    told.push((await openSafetensors('./odd #1 %41/x.safetensors')).tensors.size);
    told.push((await readNpy('x.npy')).shape);
    for (const start of [load, loadWorker]) {
      const hw = await start({ wasm: 'headwise.wasm' });
      told.push(hw.info.simd);
      await hw.dispose();
    }
    const missing = [readNpy('no.npy'), readNpy('../no.npy', { name: 'mine' }), load({ wasm: 'no.wasm' })];
    for (const { reason } of await Promise.allSettled(missing)) told.push(reason.code + ' ' + reason.message);
    report(told);`;
  const odd = join(folder, 'odd #1 %41');
  await mkdir(odd);
  await writeFile(join(odd, 'x.safetensors'), file);
  const wasm = new URL('../web/headwise/wasm/headwise-simd128.wasm', import.meta.url);
  await copyFile(wasm, join(folder, 'headwise.wasm'));
  const told = await evaluate('a process in the folder of the files', script, { cwd: folder });
  const here = pathToFileURL(await realpath(folder)).href;
  const [name, size, shape, simd, simdInWorker, missing, named, noWasm] = told;
  assert.equal(name, `${here}/x.safetensors`);
  assert.deepEqual([size, shape, simd, simdInWorker], [1, [300, 20], 'simd128', 'simd128']);
  assert.ok(missing.startsWith(`ERR_LOAD ${here}/no.npy: could not be read (`), missing);
  const parent = new URL('..', `${here}/`).href;
  assert.ok(named.startsWith(`ERR_LOAD mine: could not be read from ${parent}no.npy (`), named);
  assert.ok(noWasm.includes(join(await realpath(folder), 'no.wasm')), noWasm);
});

test('a Readable of Node is read as a stream is: whole, in pieces, once', async () => {
  await reads(createReadStream(join(folder, 'x.safetensors')));
  await reads(Readable.from([file.subarray(0, 3), file.subarray(3, 3000), file.subarray(3000)]));
  const npyStream = createReadStream(join(folder, 'x.npy'), { highWaterMark: 100 });
  assert.deepEqual((await readNpy(npyStream)).data, x.data);
  const stream = createReadStream(join(folder, 'x.safetensors'));
  for await (const _ of (await openSafetensors(stream)).pieces({ pieceBytes: 80 })) break;
  assert.ok(stream.destroyed, 'its reader left');
  await rejectsCode(openSafetensors(stream), 'ERR_VALUE', 'ReadStream that has ended');
  const cut = Readable.from([file.subarray(0, 5000)]);
  await rejectsCode(readSafetensors(cut), 'ERR_FORMAT', 'truncated');
  const failing = createReadStream(join(folder, 'missing'));
  await rejectsCode(readNpy(failing, { name: 'f' }), 'ERR_LOAD', 'f: could not be read (ENOENT');
  await rejectsCode(readNpy(Readable.from(['text'])), 'ERR_VALUE', 'the stream gave "text"');
  const silent = new Readable({ read: () => undefined });
  const reason = new Error('enough');
  const controller = new AbortController();
  const opening = openSafetensors(silent, { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(opening, (error) => error === reason);
  assert.ok(silent.destroyed);
});

test('a part of a buffer, a DataView, a Node Buffer and shared memory are bytes', async () => {
  const padded = new Uint8Array(file.length + 8);
  padded.set(file, 5);
  await reads(padded.subarray(5, 5 + file.length));
  await reads(new DataView(padded.buffer, 5, file.length));
  await reads(padded.slice(5, 5 + file.length).buffer);
  await reads(Buffer.from(file));
  const shared = new Uint8Array(new SharedArrayBuffer(file.length));
  shared.set(file);
  await reads(shared);
});

test('a server that answers 404 is named with its status', async () => {
  const address = `${origin}/missing`;
  for (const source of [address, new URL(address), await fetch(address)]) {
    await rejectsCode(openSafetensors(source), 'ERR_LOAD', address, '404 Not Found');
  }
  await rejectsCode(readNpy(address), 'ERR_LOAD', address, '404 Not Found');
});

test('a server that sends a page instead is named with its status and what came', async () => {
  const address = `${origin}/page`;
  for (const read of [openSafetensors, readNpy])
    for (const source of [address, await fetch(address)])
      await rejectsCode(
        read(source),
        'ERR_LOAD',
        address,
        '200 OK',
        'text/html',
        '<!doc',
        'expected a .',
      );
});

test('an answer without a body is an empty file', async () => {
  await rejectsCode(openSafetensors(`${origin}/empty`), 'ERR_FORMAT', '/empty', 'has 0 bytes');
});

test('an address that nobody answers, or that is none, is named', async () => {
  await rejectsCode(
    openSafetensors('http://127.0.0.1:1/x'),
    'ERR_LOAD',
    'http://127.0.0.1:1/x',
    'could not be read',
  );
  await rejectsCode(openSafetensors('http://'), 'ERR_LOAD', 'http://: could not be read');
  for (const read of [openSafetensors, readNpy])
    await rejectsCode(
      read(onDisk('missing')),
      'ERR_LOAD',
      onDisk('missing').href,
      'could not be read',
    );
});

test('a connection that breaks is an error of loading, in the header and after it', async () => {
  await rejectsCode(
    readSafetensors(`${origin}/cut`),
    'ERR_LOAD',
    `${origin}/cut`,
    'could not be read',
  );
  const failing = new ReadableStream({
    pull: () => {
      throw new Error('the cable');
    },
  });
  await rejectsCode(
    openSafetensors(failing, { name: 'f' }),
    'ERR_LOAD',
    'f: could not be read (the cable)',
  );
});

test('a file that changes on the disk while it is read is an error', async () => {
  await writeFile(join(folder, 'changes'), file);
  const opened = await openSafetensors(onDisk('changes'));
  await truncate(join(folder, 'changes'), 1000);
  await assert.rejects(
    async () => {
      for await (const _ of opened.pieces()) continue;
    },
    (error) => error instanceof HeadwiseError && /^ERR_(LOAD|FORMAT)$/.test(error.code),
  );
});

test('a Response or stream that was read before, and a stream of other things, are refused', async () => {
  const response = new Response(file);
  await response.arrayBuffer();
  await rejectsCode(openSafetensors(response), 'ERR_VALUE', 'the Response was read before');
  const stream = streamOf(file);
  stream.getReader();
  await rejectsCode(
    openSafetensors(stream),
    'ERR_VALUE',
    'source is a value of type ReadableStream that is locked',
  );
  const texts = new ReadableStream({ start: (controller) => controller.enqueue('text') });
  await rejectsCode(openSafetensors(texts), 'ERR_VALUE', 'source: ', '"text"', 'Uint8Array');
});

test('an abort rejects with the signal’s reason: before, while nothing comes, and while pieces come', async () => {
  const reason = new Error('enough');
  const isReason = (/** @type {unknown} */ error) => error === reason;
  for (const read of [openSafetensors, readSafetensors, readNpy])
    for (const source of [file, new Blob([file]), streamOf(file), `${origin}/x.safetensors`])
      await assert.rejects(read(source, { signal: AbortSignal.abort(reason) }), isReason);

  const never = new ReadableStream();
  for (const source of [`${origin}/never`, never]) {
    const controller = new AbortController();
    const opening = openSafetensors(source, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 20);
    await assert.rejects(opening, isReason);
  }

  for (const source of [file, new Blob([file]), `${origin}/stalls`])
    for (const whose of ['open', 'pieces']) {
      const controller = new AbortController();
      const { signal } = controller;
      const opened = await openSafetensors(source, whose === 'open' ? { signal } : {});
      const pieces = opened.pieces({ pieceBytes: 8000, ...(whose === 'pieces' ? { signal } : {}) });
      await pieces.next();
      const next = typeof source === 'string' ? pieces.next() : undefined;
      controller.abort(reason);
      await assert.rejects(next ?? pieces.next(), isReason);
    }
});

test('a stream is cancelled when its reader leaves, fails or closes the file', async () => {
  const cancelled = (/** @type {Uint8Array} */ bytes) => {
    let is = false;
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(bytes.slice()),
      cancel: () => {
        is = true;
      },
    });
    return { stream, check: () => assert.ok(is) };
  };
  const left = cancelled(file);
  for await (const _ of (await openSafetensors(left.stream)).pieces({ pieceBytes: 80 })) break;
  left.check();
  const closed = cancelled(file);
  const opened = await openSafetensors(closed.stream);
  opened.close();
  closed.check();
  await assert.rejects(async () => opened.pieces(), /once/);
  const broken = cancelled(new Uint8Array(64).fill(255));
  await rejectsCode(openSafetensors(broken.stream), 'ERR_FORMAT');
  broken.check();
  const trailing = cancelled(npy);
  await rejectsCode(readNpy(trailing.stream), 'ERR_FORMAT', 'bytes follow');
  trailing.check();
});

test('a bad option leaves a stream as it was: it is read by the next call', async () => {
  for (const bad of [
    { pieceBytes: 0 },
    { wants: 5 },
    { onProgress: 5 },
    { signal: 5 },
    { no: 5 },
  ]) {
    const stream = streamOf(file, [5000]);
    await rejectsCode(readSafetensors(stream, /** @type {any} */ (bad)), 'ERR_VALUE');
    assert.ok(!stream.locked, Object.keys(bad).join());
    await reads(stream);
  }
  const opened = await openSafetensors(streamOf(file));
  assert.throws(() => opened.pieces({ pieceBytes: 0 }), { code: 'ERR_VALUE' });
  for await (const piece of opened.pieces()) assert.deepEqual(piece.data, x.data);
});

test('no stream is locked when its reader is done with it, whatever the end', async () => {
  const reason = new Error('own');
  const broken = [
    [file, () => {}],
    [new Uint8Array(64), () => {}],
    [file.subarray(0, 5000), () => {}],
    [file, () => assert.fail(reason)],
  ];
  for (const [bytes, onProgress] of /** @type {[Uint8Array, () => void][]} */ (broken)) {
    const stream = streamOf(bytes, [999]);
    await Promise.allSettled([readSafetensors(stream, { onProgress })]);
    assert.ok(!stream.locked);
    const other = streamOf(bytes, [999]);
    await Promise.allSettled([readNpy(other)]);
    assert.ok(!other.locked);
  }
  const silent = new ReadableStream();
  const controller = new AbortController();
  const opening = openSafetensors(silent, { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(opening, (error) => error === reason);
  assert.ok(!silent.locked);
});

test('an error of the caller’s own, in wants or onProgress, comes through', async () => {
  const own = new Error('own');
  const fail = () => {
    throw own;
  };
  const rejects = () => Promise.reject(own);
  for (const options of [{ wants: fail }, { onProgress: fail }, { onProgress: rejects }])
    await assert.rejects(readSafetensors(streamOf(file), options), (error) => error === own);
});

test('of a long stream no more than about two pieces are there at a time', async () => {
  const rows = 4096;
  const width = 8192;
  const total = rows * width * 2;
  const header = safetensorsFile({
    w: { dtype: 'F16', shape: [rows, width], data_offsets: [0, total] },
  });
  const sizes = [1, 65_536, 13, 100_003, 4096];
  let sent = 0;
  let count = 0;
  const stream = new ReadableStream(
    {
      pull(controller) {
        const size = Math.min(sizes[count++ % sizes.length], total - sent);
        controller.enqueue(
          sent === 0 ? new Uint8Array([...header, ...new Uint8Array(size)]) : new Uint8Array(size),
        );
        sent += size;
        if (sent === total) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const pieceBytes = 2 ** 20;
  let read = 0;
  let next = 0;
  for await (const piece of (await openSafetensors(stream)).pieces({ pieceBytes })) {
    assert.equal(piece.firstRow, next);
    assert.ok(piece.data.byteLength <= pieceBytes);
    next += piece.rows;
    read += piece.data.length * 2;
    assert.ok(sent - read <= Math.max(...sizes), `${sent} bytes sent, ${read} read`);
  }
  assert.equal(next, rows);
  assert.equal(read, total);
});

test('of a Blob the header is read first, then the wanted tensors a piece at a time', async () => {
  /** @type {[number, number][]} */
  const slices = [];
  class Watched extends Blob {
    /** @override @param {number} [start] @param {number} [end] */
    slice(start = 0, end = 0) {
      slices.push([start, end]);
      return super.slice(start, end);
    }
  }
  const bytes = writeSafetensors({ a: data(1, [100, 10]), b: data(2, [100, 10]) });
  const start = bytes.length - 8000;
  const opened = await openSafetensors(new Watched([bytes]));
  assert.ok(
    slices.every(([, end]) => end <= start),
    String(slices),
  );
  slices.length = 0;
  for await (const { data: values } of opened.pieces({
    wants: (name) => name === 'b',
    pieceBytes: 1000,
  }))
    assert.equal(values.length, 250);
  assert.deepEqual(
    slices.slice(0, -1),
    [0, 1, 2, 3].map((i) => [start + 4000 + i * 1000, start + 5000 + i * 1000]),
  );
});
