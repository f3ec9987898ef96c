// Models from servers that are busy, cut connections, answer otherwise for files that are not there, or change.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { load } from 'headwise';
import { load as loadInWorker } from 'headwise/worker';
import { writeSafetensors } from 'headwise/formats';
import { loadModel } from 'headwise/models';
import { openModel } from '../web/headwise/models/open-model.js';
import { useCaches } from './fake-caches.js';
import { data, isHeadwiseError, rejectsCode } from './helpers.js';

/** @typedef {Partial<import('../web/headwise/models/open-model.js').Reading>} Given */
/** @typedef {(file: string, range: [number, number] | undefined) => Response | undefined} Answer undefined: the file's own */

const text = JSON.stringify({ model_type: 'llama', hidden_size: 8 });
/** Rows, of several stored parts. */
const ROWS = 1_200_000;
const whole = writeSafetensors({ a: data(1, [ROWS, 10]) });
const first = 'c0ffee'.padEnd(40, '0');
const second = 'decade'.padEnd(40, '1');

/** As a connection brings it. @param {Uint8Array} bytes */
function inChunks(bytes) {
  let at = 0;
  return new ReadableStream({
    pull(stream) {
      stream.enqueue(bytes.slice(at, (at += 2 ** 20)));
      if (at >= bytes.length) stream.close();
    },
  });
}

/** A server, as a fetch. */
class Server {
  /** @type {Record<string, string | Uint8Array>} by the last part of the address */
  files = { 'config.json': text, 'model.safetensors': whole };
  commit = first;
  etag = '"one"';
  /** @type {Record<string, string>} */ headers = {};
  /** @type {string[]} */ asked = [];
  /** @type {Answer} */ answer = () => undefined;

  /** @type {typeof fetch} */
  fetch = async (address, { headers, signal } = {}) => {
    signal?.throwIfAborted();
    const file = String(address).split('/').at(-1) ?? '';
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(new Headers(headers).get('range') ?? '') ?? [];
    /** @type {[number, number] | undefined} */
    const range = from === undefined ? undefined : [Number(from), Number(to)];
    this.asked.push(`${file} ${range?.join('-') ?? 'whole'}`);
    const answer = this.answer(file, range);
    if (answer !== undefined) return answer;
    const content = this.files[file];
    if (content === undefined) return new Response('', { status: 404 });
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const known = { etag: this.etag, 'x-repo-commit': this.commit, ...this.headers };
    if (range === undefined) return new Response(/** @type {any} */ (bytes), { headers: known });
    const end = Math.min(range[1] + 1, bytes.length);
    const part = { 'content-range': `bytes ${range[0]}-${end - 1}/${bytes.length}` };
    return new Response(inChunks(bytes.subarray(range[0], end)), {
      status: 206,
      headers: { ...known, ...part },
    });
  };

  /** @param {string} [source] @param {Given} [how] */
  open(source = 'org/model', how = {}) {
    const reading = { signal: undefined, fetch: this.fetch, isKept: true, ...how };
    return openModel(source, 'main', reading);
  }

  /** All rows of the weights. @param {number} [most] that are read @param {string} [source] */
  async read(most = Infinity, source) {
    const files = await (await this.open(source)).openFiles();
    let rows = 0;
    for (const file of files)
      for await (const piece of file.pieces()) if ((rows += piece.rows) >= most) return rows;
    return rows;
  }
}

afterEach(() => {
  delete (/** @type {any} */ (globalThis).caches);
});

const busy = () => new Response('busy', { status: 503 });

test('a download that was left goes on, whatever the storage of a commit calls its files', async () => {
  useCaches();
  const server = new Server();
  assert.ok((await server.read(300_000)) < ROWS);
  server.etag = '"moved"';
  server.asked.length = 0;
  assert.equal(await server.read(), ROWS);
  assert.ok(server.asked.length > 1, 'the rest is asked for');
  assert.ok(!server.asked.includes('model.safetensors 0-65535'), 'the beginning was there');
  server.asked.length = 0;
  assert.equal(await server.read(), ROWS);
  assert.deepEqual(server.asked, ['config.json 0-65535'], 'and all of it now');
});

test('a file of a commit that has another length is an error, and the next visit starts over', async () => {
  useCaches();
  const server = new Server();
  await server.read(300_000);
  server.files['model.safetensors'] = writeSafetensors({ a: data(1, [ROWS + 5, 10]) });
  await rejectsCode(server.read(), 'ERR_LOAD', 'changed while it was read');
  assert.equal(await server.read(), ROWS + 5);
});

test('where a part comes of the compressed file, the whole is asked for', async () => {
  for (const isFrom of [0, 1]) {
    const server = new Server();
    const inGzip = { 'content-encoding': 'gzip', 'content-range': 'bytes 0-9/10' };
    server.answer = (_, range) =>
      range && range[0] >= isFrom
        ? new Response('part of it', { status: 206, headers: inGzip })
        : undefined;
    assert.equal(await server.read(Infinity, 'https://models.test/small/'), ROWS);
  }
});

test('a whole answer to a part is read on and leaves the cache, and a page in its place is an error', async () => {
  const caches = useCaches();
  const server = new Server();
  await server.read(900_000);
  const kept = new Set(caches.stored.keys());
  const answerWhole = (/** @type {any} */ body) => {
    let answers = 0;
    server.answer = (file, range) =>
      range && range[0] > 0 && answers++ === 0
        ? new Response(body, { headers: { 'content-length': `${body.size ?? whole.length}` } })
        : undefined;
  };
  answerWhole(inChunks(whole));
  assert.equal(await server.read(), ROWS);
  assert.ok([...kept].every((key) => caches.stored.has(key)));
  caches.stored.clear();
  await server.read(300_000);
  answerWhole(new Blob(['<!doctype html>'.padEnd(whole.length - 1)]));
  await rejectsCode(server.read(), 'ERR_LOAD', 'answered 200', 'expected bytes', 'of the file');
});

test('a server that is busy at first is asked again', async () => {
  const server = new Server();
  let refused = 0;
  server.answer = (file) => (file === 'model.safetensors' && refused++ < 2 ? busy() : undefined);
  assert.equal(await server.read(), ROWS);
  assert.equal(refused > 2, true);
});

test('a server that is busy and then gone is named in time', async () => {
  const server = new Server();
  let asked = 0;
  server.answer = () => {
    if (++asked <= 2) return busy();
    throw new TypeError('fetch failed');
  };
  await rejectsCode(server.open(), 'ERR_LOAD', 'could not be read');
  assert.equal(asked, 3);
});

test('a server that stays busy is named in time, or what is in the cache is read', async () => {
  const caches = useCaches();
  const server = new Server();
  assert.equal(await server.read(), ROWS);
  server.answer = busy;
  server.asked.length = 0;
  assert.equal(await server.read(), ROWS);
  assert.deepEqual(server.asked, ['config.json 0-65535'], 'asked once');
  caches.stored.clear();
  await rejectsCode(server.open(), 'ERR_LOAD', 'the server answered 503');
  assert.equal(server.asked.length, 6);
});

/** As a page of another origin. @param {() => Promise<void>} run */
async function inPage(run) {
  const origin = 'https://page.example';
  Object.assign(globalThis, { origin, location: { origin, href: `${origin}/` } });
  try {
    await run();
  } finally {
    delete (/** @type {any} */ (globalThis).location);
    delete (/** @type {any} */ (globalThis).origin);
  }
}

/** Cuts the connection of so many first answers. @param {Server} server @param {number} cuts */
function cut(server, cuts) {
  server.asked.length = 0;
  server.answer = (file) => {
    if (file !== 'model.safetensors' || cuts-- <= 0) return undefined;
    throw new TypeError('Failed to fetch');
  };
}

test('a connection that is cut before the first answer costs neither parts nor cache', () =>
  inPage(async () => {
    const caches = useCaches();
    const server = new Server();
    const source = 'https://models.example/m/';
    for (const visit of ['first', 'second']) {
      cut(server, 1);
      assert.equal(await server.read(Infinity, source), ROWS);
      assert.ok(!server.asked.some((one) => one.endsWith('whole')), `${visit}: ${server.asked}`);
    }
    assert.ok(caches.stored.size > 3, `${caches.stored.size} parts`);
  }));

test('a server that gives a file whole and says that it gives parts is asked for them again', () =>
  inPage(async () => {
    const caches = useCaches();
    const server = new Server();
    server.headers = { 'accept-ranges': 'bytes' };
    cut(server, 2);
    assert.equal(await server.read(), ROWS);
    assert.ok(caches.stored.size > 3, `${caches.stored.size} parts`);
    // An older browser may ask for none.
    const { fetch } = server;
    server.fetch = async (address, options) => {
      if (new Headers(options?.headers).has('range')) throw new TypeError('Failed to fetch');
      return fetch(address, options);
    };
    caches.stored.clear();
    assert.equal(await server.read(), ROWS);
  }));

test('of a beginning that does not end no more is read than was asked for', async () => {
  const server = new Server();
  let sent = 0;
  let isLeft = false;
  const spaces = new Uint8Array(2 ** 16).fill(' '.charCodeAt(0));
  const endless = () =>
    new ReadableStream({
      pull(stream) {
        // In the end it would be all there is room for.
        if (sent === 0) stream.enqueue(new TextEncoder().encode(text));
        else stream.enqueue(spaces.slice());
        if ((sent += spaces.length) > 2 ** 26) stream.close();
      },
      cancel: () => void (isLeft = true),
    });
  server.answer = (file, range) =>
    file === 'config.json' && range
      ? new Response(endless(), {
          status: 206,
          headers: { 'content-range': `bytes 0-65535/${2 ** 16}` },
        })
      : undefined;
  assert.equal(await server.read(), ROWS);
  assert.ok(sent < 2 ** 20, `${sent} bytes were taken`);
  assert.ok(isLeft, 'its connection is closed');
});

const html = '<!doctype html><title>App</title>';
const page = () => new Response(html, { headers: { 'content-type': 'text/html' } });
/** What servers answer for a file that is not there. @type {[string, () => Response, string][]} */
const absences = [
  ['a page', page, 'the server answered 200'],
  [
    'a part of a page',
    () => {
      const headers = {
        etag: '"page"',
        'content-range': `bytes 0-${html.length - 1}/${html.length}`,
      };
      return new Response(html, { status: 206, headers });
    },
    'the server answered with a page that begins with "<!doctyp"',
  ],
  ['403', () => new Response('', { status: 403 }), 'the server answered 403'],
];
for (const [name, absence, words] of absences)
  test(`shards are found where the server answers ${name} for a file that is not there`, async () => {
    const server = new Server();
    const index = { weight_map: { a: 'one.safetensors' } };
    server.files = { 'config.json': text, 'one.safetensors': whole };
    server.answer = (file) => (server.files[file] === undefined ? absence() : undefined);
    const source = 'https://models.example/folder/';
    await rejectsCode(server.read(1, source), 'ERR_LOAD', 'model.safetensors', words);
    server.files['model.safetensors.index.json'] = '{';
    await rejectsCode(server.read(1, source), 'ERR_FORMAT', 'index.json: cannot be parsed');
    server.files['model.safetensors.index.json'] = JSON.stringify(index);
    assert.equal(await server.read(Infinity, source), ROWS);
  });

test('what 403 means on the hub is said of the hub alone', async () => {
  const server = new Server();
  server.answer = () => new Response('', { status: 403 });
  await rejectsCode(server.open(), 'ERR_LOAD', '403', 'request access');
  const elsewhere = await server.open('https://models.example/m/').catch((error) => error);
  isHeadwiseError(elsewhere, 'ERR_LOAD', ['403', 'expected the file']);
  assert.doesNotMatch(elsewhere.message, /asked for/);
});

test('what the caller’s fetch throws or gives is said, in a Worker too', async () => {
  const expired = async () => {
    throw new Error('the token expired');
  };
  const server = new Server();
  await rejectsCode(server.open('org/model', { fetch: expired }), 'ERR_LOAD', 'the token expired');
  const mistaken = /** @type {any} */ (async (/** @type {any} */ none) => none.token.value);
  await rejectsCode(server.open('org/model', { fetch: mistaken }), 'ERR_LOAD', "reading 'value'");
  for (const given of [undefined, 'text', {}])
    await rejectsCode(
      server.open('org/model', { fetch: async () => /** @type {any} */ (given) }),
      'ERR_LOAD',
      'options.fetch gave',
      'expected a Response',
    );
  const far = await loadInWorker();
  const error = await loadModel(/** @type {any} */ (far), 'org/model', { fetch: expired }).catch(
    (/** @type {unknown} */ reason) => reason,
  );
  isHeadwiseError(error, 'ERR_LOAD', ['the token expired']);
  assert.equal(/** @type {any} */ (error).cause?.message, 'the token expired');
  const nothing = /** @type {any} */ (async () => undefined);
  await rejectsCode(
    loadModel(/** @type {any} */ (far), 'org/model', { fetch: nothing }),
    'ERR_LOAD',
    'options.fetch gave undefined',
  );
  await far.dispose();
});

test('a new commit takes the place of the old one in the cache', async () => {
  const caches = useCaches();
  const server = new Server();
  await server.read();
  const before = caches.stored.size;
  server.commit = second;
  await server.read();
  const keys = [...caches.stored.keys()];
  assert.ok(!keys.some((key) => key.includes(first)), keys.join('\n'));
  assert.ok(keys.some((key) => key.includes(second)));
  assert.equal(keys.length, before);
});

test('the bodies of answers that are not read are cancelled, in a Worker’s loading too', async () => {
  const server = new Server();
  let open = 0;
  let absentFile = 'model.safetensors';
  server.answer = (file) => {
    if (file !== absentFile) return undefined;
    open++;
    const body = new ReadableStream({ cancel: () => void open-- }, { highWaterMark: 0 });
    return new Response(body, { status: 404 });
  };
  await rejectsCode(server.read(), 'ERR_LOAD', 'model.safetensors is not there');
  assert.equal(open, 0);
  const far = /** @type {any} */ (await loadInWorker());
  absentFile = 'config.json';
  const loading = loadModel(far, 'org/model', { fetch: server.fetch });
  await rejectsCode(loading, 'ERR_LOAD', 'the server answered 404');
  assert.equal(open, 0);
  await far.dispose();
});

test('an abort does not wait for a cache that never answers', async () => {
  const reason = new Error('left');
  const never = () => new Promise(() => undefined);
  for (const stuck of /** @type {const} */ (['open', 'match', 'put', 'keys'])) {
    useCaches()[stuck] = /** @type {any} */ (never);
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 20);
    const opening = new Server().open('org/model', { signal: controller.signal });
    await assert.rejects(opening, (error) => error === reason);
  }
  const caches = useCaches();
  const controller = new AbortController();
  const model = await new Server().open('org/model', { signal: controller.signal });
  const [file] = await model.openFiles();
  caches.match = /** @type {any} */ (never);
  setTimeout(() => controller.abort(reason), 20);
  await assert.rejects(file.pieces().next(), (error) => error === reason);
});

test('in Node a name of the hub that may be a mistyped path is told as both', async () => {
  const server = new Server();
  server.answer = () => new Response('', { status: 404 });
  await rejectsCode(
    server.open('models/nope'),
    'ERR_LOAD',
    '404',
    'there is no folder models/nope',
  );
});

test('a Blob with a name, as Bun’s Files are, is a File', async () => {
  const named = (/** @type {BlobPart} */ content, /** @type {string} */ name) =>
    Object.assign(new Blob([content]), { name });
  const files = [
    named(text, 'config.json'),
    named(/** @type {any} */ (whole), 'model.safetensors'),
  ];
  const model = await openModel(files, 'main', {
    signal: undefined,
    fetch: undefined,
    isKept: false,
  });
  const [file] = await model.openFiles();
  assert.deepEqual([...file.tensors.keys()], ['a']);
});

test('a Response as wasm: an abort ends the wait, and one that breaks or was read is named', async () => {
  const reason = new Error('left');
  const stalled = new Response(new ReadableStream());
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 20);
  const loading = load({ wasm: stalled, signal: controller.signal });
  await assert.rejects(loading, (error) => error === reason);
  const broken = new ReadableStream({ pull: (stream) => stream.error(new Error('net')) });
  await rejectsCode(load({ wasm: new Response(broken) }), 'ERR_LOAD', 'could not be read (net)');
  const used = new Response('x');
  await used.text();
  const locked = new Response('x');
  locked.body?.getReader();
  for (const wasm of [used, locked])
    await rejectsCode(
      load({ wasm }),
      'ERR_VALUE',
      'wasm (a Response): the Response was read before',
    );
});
