// A model's files from wherever they are: the hub's addresses, folders, shards, Files; parts, cut connections, the cache, and
// every way to fail. The hub is a server on this machine.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { writeSafetensors } from 'headwise/formats';
import { loadGpt2 } from 'headwise/gpt2';
import { openModel } from '../web/headwise/models/open-model.js';
import { useCaches } from './fake-caches.js';
import { commit, serveFiles } from './file-server.js';
import { readCheckpoint, smallConfig, smallModel } from './gpt2.js';
import { data, engine, rejectsCode } from './helpers.js';

/** @typedef {import('../web/headwise/models/open-model.js').Reading} Reading */

const config = { model_type: 'llama', hidden_size: 8 };
const text = JSON.stringify(config);
const tensors = {
  a: data(1, [3000, 10]),
  unwanted: data(2, [90_000, 10]),
  b: data(3, [5000, 10]),
};
const whole = writeSafetensors(tensors);
const [first, second] = [writeSafetensors({ a: tensors.a }), writeSafetensors({ b: tensors.b })];
const index = JSON.stringify({ weight_map: { a: 'one.safetensors', b: 'two.safetensors' } });

const folder = `/org/model/resolve/main`;
const pinned = `/org/model/resolve/${commit}`;
/** @param {string} place @param {Record<string, Uint8Array | string>} files */
const at = (place, files) =>
  Object.fromEntries(Object.entries(files).map(([name, file]) => [`${place}/${name}`, file]));
const oneFile = { 'config.json': text, 'model.safetensors': whole };
const shards = {
  ...{ 'config.json': text, 'model.safetensors.index.json': index },
  ...{ 'one.safetensors': first, 'two.safetensors': second },
};

const server = await serveFiles({
  ...{ ...at(folder, oneFile), ...at(pinned, oneFile), ...at('/plain/folder', oneFile) },
  ...{ ...at('/sharded', shards), ...at('/sharded-hub/resolve/v1.0', shards) },
});
const disk = await mkdtemp(join(tmpdir(), 'headwise-models-'));
await mkdir(join(disk, 'sharded folder'));
for (const [name, file] of Object.entries(shards))
  await writeFile(join(disk, 'sharded folder', name), file);

after(() => {
  server.close();
  return rm(disk, { recursive: true });
});

afterEach(() => {
  for (const path of Object.keys(server.behaviours)) delete server.behaviours[path];
  server.served.length = 0;
  delete (/** @type {any} */ (globalThis).caches);
});

/** The hub's addresses lead to the server here. @type {typeof fetch} */
const hubFetch = (address, options) =>
  fetch(String(address).replace('https://huggingface.co', server.origin), options);

/** @param {unknown} source @param {Partial<Reading> & { revision?: string }} [how] */
const open = (source, { revision = 'main', ...how } = {}) =>
  openModel(source, revision, { signal: undefined, fetch: hubFetch, isKept: true, ...how });

/**
 * All values of the wanted tensors, by name, and the progress.
 * @param {import('../web/headwise/models/open-model.js').OpenModel} model
 * @param {(name: string) => boolean} [wants]
 */
async function valuesOf(model, wants = () => true) {
  /** @type {Record<string, number[]>} */
  const values = {};
  /** @type {{ loaded: number, total: number, size: number }[]} */
  const steps = [];
  for (const file of await model.openFiles())
    for await (const piece of file.pieces({
      ...{ wants, pieceBytes: 2 ** 16 },
      onProgress: (step) => steps.push({ ...step, size: file.byteLength }),
    }))
      (values[piece.name] ??= []).push(...piece.data);
  assert.ok(steps.every(({ loaded, total, size }) => loaded <= total && total === size));
  assert.equal(steps.at(-1)?.loaded, steps.at(-1)?.total);
  return values;
}

/** @param {Record<string, number[]>} values @param {string[]} names */
function areTensors(values, names) {
  assert.deepEqual(Object.keys(values), names);
  for (const name of names)
    assert.ok(
      values[name].every((value, i) => value === /** @type {any} */ (tensors)[name].data[i]) &&
        values[name].length === /** @type {any} */ (tensors)[name].data.length,
      name,
    );
}

/** @param {number} [start] @returns {number} bytes of weights that were asked for */
const weightBytes = (start = 0) =>
  server.served
    .slice(start)
    .filter(({ path }) => path.endsWith('.safetensors'))
    .reduce((sum, { bytes }) => sum + bytes, 0);

const file = (/** @type {string | Uint8Array} */ content, /** @type {string} */ name) =>
  new File([/** @type {any} */ (content)], name);

/** @type {[string, () => unknown, string[]][]} */
const places = [
  ['a hub’s id', () => 'org/model', ['a', 'unwanted', 'b']],
  ['a folder’s address', () => `${server.origin}/plain/folder`, ['a', 'unwanted', 'b']],
  [
    'a folder’s address with a slash',
    () => new URL(`${server.origin}/plain/folder/`),
    ['a', 'unwanted', 'b'],
  ],
  [
    'the address of a config.json',
    () => `${server.origin}/plain/folder/config.json`,
    ['a', 'unwanted', 'b'],
  ],
  ['a folder of shards', () => `${server.origin}/sharded/`, ['a', 'b']],
  ['a path in Node', () => join(disk, 'sharded folder'), ['a', 'b']],
  ['a file URL', () => pathToFileURL(join(disk, 'sharded folder')), ['a', 'b']],
  ['a config and bytes', () => ({ config, weights: whole }), ['a', 'unwanted', 'b']],
  [
    'a config and shards',
    () => ({ config: new Blob([text]), weights: [first, new Blob([second])] }),
    ['a', 'b'],
  ],
  [
    'a config and addresses of shards',
    () => ({
      config: `${server.origin}/sharded/config.json`,
      weights: ['one', 'two'].map((name) => `${server.origin}/sharded/${name}.safetensors`),
    }),
    ['a', 'b'],
  ],
  [
    'Files',
    () => [file(whole, 'model.safetensors'), file(text, 'config.json'), file('', 'vocab.txt')],
    ['a', 'unwanted', 'b'],
  ],
  [
    'Files of shards',
    () => Object.entries(shards).map(([name, content]) => file(content, name)),
    ['a', 'b'],
  ],
];

for (const [title, source, names] of places)
  test(`a model is read from ${title}`, async () => {
    const model = await open(source());
    assert.deepEqual(model.config, config);
    areTensors(await valuesOf(model), names);
  });

test('a revision is part of the hub’s address, and what follows is of the commit that it named', async () => {
  server.files['/org/model/resolve/refs%2Fpr%2F1/config.json'] = text;
  await valuesOf(await open('org/model'));
  assert.deepEqual(
    [...new Set(server.served.map(({ path }) => path))],
    [`${folder}/config.json`, `${pinned}/model.safetensors`],
  );
  const sharded = await open('sharded-hub', { revision: 'v1.0' });
  assert.ok(server.served.some(({ path }) => path === '/sharded-hub/resolve/v1.0/config.json'));
  await rejectsCode(sharded.openFiles(), 'ERR_LOAD', `/sharded-hub/resolve/${commit}/`);
});

test('an address copied from the hub is of its folder at its revision', async () => {
  /** What is asked for first. @param {string} address @param {string} [revision] @param {string} [site] */
  const askedFor = async (address, revision, site = 'https://huggingface.co/') => {
    /** @type {string[]} */
    const asked = [];
    const failing = async (/** @type {unknown} */ url) => {
      asked.push(String(url));
      return new Response('', { status: 404 });
    };
    const source = site + address;
    await rejectsCode(open(source, { revision, fetch: failing }), 'ERR_LOAD');
    return asked.join().replace('https://huggingface.co/', '');
  };
  for (const [address, folderOfIt] of [
    ...[
      ['org/model', 'org/model/resolve/main'],
      ['org/model/', 'org/model/resolve/main'],
      ['org/model/tree/v1.0', 'org/model/resolve/v1.0'],
      ['org/model/tree/v1.0/', 'org/model/resolve/v1.0'],
      ['org/model/tree/v1.0/sub/deep%20er?x=1#y', 'org/model/resolve/v1.0/sub/deep%20er'],
      ['org/model/tree/refs%2Fpr%2F1/sub/', 'org/model/resolve/refs%2Fpr%2F1/sub'],
    ],
    ...[
      ['org/model/blob/main/config.json', 'org/model/resolve/main'],
      ['org/model/blob/main/model.safetensors', 'org/model/resolve/main'],
      ['org/model/blob/refs%2Fpr%2F1/sub/README.md#use', 'org/model/resolve/refs%2Fpr%2F1/sub'],
    ],
    ...[
      ['org/model/resolve/main', 'org/model/resolve/main'],
      ['org/model/resolve/v1.0/config.json?download=true', 'org/model/resolve/v1.0'],
      ['org/model/resolve/v1.0/sub/config.json', 'org/model/resolve/v1.0/sub'],
      ['org/model/resolve/v1.0/sub', 'org/model/resolve/v1.0/sub'],
      ['org/model/resolve/v1.0/sub/model.safetensors?download=true', 'org/model/resolve/v1.0/sub'],
    ],
    // Names that look like something else.
    ...[
      ['org/tree', 'org/tree/resolve/main'],
      ['blob/tree.1/tree/blob/tree', 'blob/tree.1/resolve/blob/tree'],
      ['gpt2/resolve/main/', 'gpt2/resolve/main'],
    ],
    // Names without an organization.
    ...[
      ['gpt2', 'gpt2/resolve/main'],
      ['gpt2/', 'gpt2/resolve/main'],
      ['gpt2/tree/v1', 'gpt2/resolve/v1'],
      ['gpt2/blob/main/config.json', 'gpt2/resolve/main'],
    ],
  ])
    assert.equal(await askedFor(address), `${folderOfIt}/config.json`, address);
  for (const site of ['https://hf.co/', 'https://www.huggingface.co/'])
    assert.equal(await askedFor('org/model', 'v2', site), 'org/model/resolve/v2/config.json');
  assert.equal(await askedFor('org/model', 'v2'), 'org/model/resolve/v2/config.json');
  assert.equal(await askedFor('org/model/tree/v1', 'v2'), 'org/model/resolve/v1/config.json');
});

test('a folder within a model on the hub is read of the commit that its config named', async () => {
  const folders = [`/org/model/resolve/v1/sub`, `${pinned}/sub`];
  for (const place of folders) Object.assign(server.files, at(place, oneFile));
  const model = await open('https://huggingface.co/org/model/tree/v1/sub');
  areTensors(await valuesOf(model), ['a', 'unwanted', 'b']);
  assert.deepEqual(
    [...new Set(server.served.map(({ path }) => path))],
    [`${folders[0]}/config.json`, `${folders[1]}/model.safetensors`],
  );
});

test('a server that sends a page instead of a config or an index is named with what came', async () => {
  const page = '\n<!DOCTYPE html><title>Models</title>';
  server.files['/page/config.json'] = page;
  server.files['/page-index/config.json'] = text;
  server.files['/page-index/model.safetensors.index.json'] = page;
  server.behaviours['/page/config.json'] = { isWhole: true };
  server.behaviours['/page-index/model.safetensors.index.json'] = { isWhole: true };
  const words = ['the server answered 200 OK with', 'that begins with ".<!DOCTYPE html>'];
  const address = `${server.origin}/page/config.json`;
  for (const source of [address, { config: await fetch(address), weights: whole }])
    await rejectsCode(open(source), 'ERR_LOAD', address, ...words, 'expected a config.json');
  const model = await open(`${server.origin}/page-index`);
  await rejectsCode(model.openFiles(), 'ERR_LOAD', ...words, 'expected a model.safetensors.index');
});

test('in Node a folder that is there is meant by a name like an id', async () => {
  const before = process.cwd();
  process.chdir(disk);
  await mkdir('org');
  await mkdir('org/model');
  await writeFile('org/model/config.json', JSON.stringify({ model_type: 'bert' }));
  try {
    assert.deepEqual((await open('org/model')).config, { model_type: 'bert' });
    assert.equal(server.served.length, 0);
  } finally {
    process.chdir(before);
  }
});

test('unwanted tensors are not fetched, and small gaps are', async () => {
  const model = await open('org/model');
  areTensors(await valuesOf(model, (name) => name !== 'unwanted'), ['a', 'b']);
  const needed = (tensors.a.data.length + tensors.b.data.length) * 4;
  assert.ok(weightBytes() < needed + 2 ** 17, `${weightBytes()} bytes for ${needed}`);
  assert.ok(server.served.every(({ range }) => range?.startsWith('bytes=')));
  // Of a file without unwanted tensors there is one part after the beginning.
  server.served.length = 0;
  await valuesOf(await open('org/model'));
  assert.equal(server.served.filter(({ path }) => path.endsWith('.safetensors')).length, 2);
});

test('redirects are followed, for parts too', async () => {
  server.behaviours[`${pinned}/model.safetensors`] = { to: '/plain/folder/model.safetensors' };
  areTensors(await valuesOf(await open('org/model')), ['a', 'unwanted', 'b']);
});

test('a server that gives no parts is read as a stream', async () => {
  for (const path of ['config.json', 'model.safetensors'])
    server.behaviours[`/plain/folder/${path}`] = { isWhole: true };
  const model = await open(`${server.origin}/plain/folder`);
  areTensors(await valuesOf(model, (name) => name !== 'unwanted'), ['a', 'b']);
  assert.equal(weightBytes(), whole.length);
});

test('a download that is cut goes on where it was cut', async () => {
  server.behaviours['/plain/folder/model.safetensors'] = { cutAfter: 1_000_000, cuts: 3 };
  const model = await open(`${server.origin}/plain/folder`);
  areTensors(await valuesOf(model), ['a', 'unwanted', 'b']);
  const starts = server.served
    .filter(({ path }) => path.endsWith('.safetensors'))
    .map(({ range }) => Number(/\d+/.exec(range ?? '')));
  assert.ok(starts.length >= 4);
  assert.ok(
    starts.slice(2).every((start, i) => start > starts[i + 1] + 900_000),
    `${starts}`,
  );
});

test('a download that is cut within the first bytes goes on too', async () => {
  for (const cutAfter of [0, 4, 5000]) {
    server.behaviours['/plain/folder/config.json'] = { cutAfter: Math.min(cutAfter, 9), cuts: 1 };
    server.behaviours['/plain/folder/model.safetensors'] = { cutAfter, cuts: 2 };
    const model = await open(`${server.origin}/plain/folder`);
    areTensors(await valuesOf(model), ['a', 'unwanted', 'b']);
  }
  server.behaviours['/plain/folder/config.json'] = { cutAfter: 0 };
  await rejectsCode(open(`${server.origin}/plain/folder`), 'ERR_LOAD', 'config.json');
});

test('a connection that is cut again and again is an error, in time', async () => {
  server.behaviours['/plain/folder/model.safetensors'] = { cutAfter: 65_536 };
  const model = await open(`${server.origin}/plain/folder`);
  // Each attempt brings something new: it takes many.
  areTensors(await valuesOf(model, (name) => name === 'b'), ['b']);
  const opened = await open(`${server.origin}/plain/folder`);
  server.behaviours['/plain/folder/model.safetensors'] = { status: 503 };
  const [weights] = await opened.openFiles().catch(() => []);
  assert.equal(weights, undefined);
  delete server.behaviours['/plain/folder/model.safetensors'];
  const [again] = await opened.openFiles();
  server.behaviours['/plain/folder/model.safetensors'] = { status: 503 };
  const read = async () => {
    for await (const _ of again.pieces()) continue;
  };
  await rejectsCode(read(), 'ERR_LOAD', 'model.safetensors', '503 Service Unavailable');
});

test('a file that changes while it is read is an error', async () => {
  const model = await open(`${server.origin}/plain/folder`);
  const [weights] = await model.openFiles();
  server.files['/plain/folder/model.safetensors'] = writeSafetensors({
    ...tensors,
    b: data(9, [5000, 10]),
  });
  const read = async () => {
    for await (const _ of weights.pieces()) continue;
  };
  await rejectsCode(read(), 'ERR_LOAD', 'changed while it was read');
  server.files['/plain/folder/model.safetensors'] = whole;
});

test('an abort rejects with the signal’s reason: while nothing comes, between parts, and while it waits to try again', async () => {
  const reason = new Error('enough');
  const isReason = (/** @type {unknown} */ error) => error === reason;
  const { signal: aborted } = { signal: AbortSignal.abort(reason) };
  await assert.rejects(open('org/model', { signal: aborted }), isReason);
  for (const behaviour of [{ cutAfter: 100_000, stalls: true }, { cutAfter: 0 }]) {
    const controller = new AbortController();
    const model = await open(`${server.origin}/plain/folder`, { signal: controller.signal });
    const files = await model.openFiles();
    server.behaviours['/plain/folder/model.safetensors'] = behaviour;
    const read = async () => {
      for await (const _ of files[0].pieces()) continue;
    };
    const reading = read();
    setTimeout(() => controller.abort(reason), 100);
    await assert.rejects(reading, isReason);
    delete server.behaviours['/plain/folder/model.safetensors'];
  }
});

/** @type {[string, () => unknown, Partial<import('./file-server.js').Behaviour>, string, string[]][]} */
const failures = [
  [
    'a model that is not there',
    () => 'org/none',
    {},
    'ERR_LOAD',
    ['/org/none/resolve/main/config.json', '404 Not Found'],
  ],
  [
    'a private or gated one',
    () => 'org/model',
    { status: 401 },
    'ERR_LOAD',
    ['401 Unauthorized', 'gated', 'options.fetch'],
  ],
  [
    'a gated one',
    () => 'org/model',
    { status: 403 },
    'ERR_LOAD',
    ['403 Forbidden', 'has to be asked for'],
  ],
  [
    'a server that nobody runs',
    () => 'http://127.0.0.1:1/x/',
    {},
    'ERR_LOAD',
    ['http://127.0.0.1:1/x/config.json', 'nobody answers'],
  ],
  [
    'a folder that is not there',
    () => join(disk, 'none'),
    {},
    'ERR_LOAD',
    ['none/', 'config.json is not there'],
  ],
  [
    'a folder beside this program that is not there',
    () => './none',
    {},
    'ERR_LOAD',
    ['none/', 'config.json is not there'],
  ],
  [
    'a folder above it that is not there',
    () => '../none',
    {},
    'ERR_LOAD',
    ['none/', 'config.json is not there'],
  ],
  ['no source', () => undefined, {}, 'ERR_VALUE', ['source is undefined', "'org/name'"]],
  ['an empty text', () => '', {}, 'ERR_VALUE', ['source is ""', "'org/name'"]],
  ['a number', () => 5, {}, 'ERR_VALUE', ['source is 5']],
  ['an address that is none', () => 'http://', {}, 'ERR_VALUE', ['source is http://']],
  ['files that are none', () => [text], {}, 'ERR_VALUE', ['source[0] is']],
  [
    'files without a config',
    () => [file(whole, 'model.safetensors')],
    {},
    'ERR_LOAD',
    ['the files: config.json is not there'],
  ],
  [
    'a page for a config',
    () => ({ config: file('<!doctype html>', 'c.json'), weights: whole }),
    {},
    'ERR_FORMAT',
    ['c.json: begins with "<!doctype html>"', 'expected a config.json'],
  ],
  ['no weights', () => ({ config, weights: [] }), {}, 'ERR_VALUE', ['weights is []']],
  ['weights of another kind', () => ({ config, weights: 5 }), {}, 'ERR_VALUE', ['weights is 5']],
  [
    'a shard of another kind',
    () => ({ config, weights: [first, 5] }),
    {},
    'ERR_VALUE',
    ['weights[1] is 5'],
  ],
  ['an option that is not there', () => ({ config }), {}, 'ERR_VALUE', ['weights is undefined']],
  [
    'Files without a shard',
    () =>
      Object.entries(shards)
        .slice(0, 3)
        .map(([name, content]) => file(content, name)),
    {},
    'ERR_LOAD',
    ['the files: two.safetensors is not there'],
  ],
  [
    'a folder without weights',
    () => [file(text, 'config.json'), file('', 'pytorch_model.bin')],
    {},
    'ERR_LOAD',
    ['the files: model.safetensors is not there', 'expected a folder with'],
  ],
  ...[
    '{}',
    '{"weight_map":{}}',
    '{"weight_map":{"a":5}}',
    '{"weight_map":{"a":"../x.safetensors"}}',
  ].map(
    (content) =>
      /** @type {[string, () => unknown, object, string, string[]]} */ ([
        `an index of ${content}`,
        () => [file(text, 'config.json'), file(content, 'model.safetensors.index.json')],
        {},
        'ERR_FORMAT',
        ['model.safetensors.index.json: weight_map is'],
      ]),
  ),
];

for (const [title, source, behaviour, code, parts] of failures)
  test(`${title}: ${code}`, async () => {
    if (Object.keys(behaviour).length > 0) server.behaviours[`${folder}/config.json`] = behaviour;
    const opened = open(source()).then((model) => model.openFiles());
    await rejectsCode(opened, code, ...parts);
  });

test('a machine that is offline, and a server that allows no other origins, are told apart', async () => {
  const failing = async () => {
    throw new TypeError('Failed to fetch');
  };
  const navigator = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  try {
    for (const [onLine, words] of /** @type {const} */ ([
      [false, 'this machine is offline'],
      [true, 'CORS'],
    ])) {
      Object.defineProperty(globalThis, 'navigator', { value: { onLine }, configurable: true });
      /** @type {any} */ (globalThis).location = {
        origin: 'https://page.example',
        href: 'https://page.example/',
      };
      await rejectsCode(open('https://other.example/m/', { fetch: failing }), 'ERR_LOAD', words);
    }
  } finally {
    delete (/** @type {any} */ (globalThis).location);
    if (navigator) Object.defineProperty(globalThis, 'navigator', navigator);
    else delete (/** @type {any} */ (globalThis).navigator);
  }
});

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

const hw = await engine();

test('loadGpt2 reads shards, parts and cut connections as the others do, and says what shards lack', async () => {
  const state = smallModel(hw).stateDict();
  const names = Object.keys(state);
  const pick = (/** @type {string[]} */ keys) =>
    writeSafetensors(Object.fromEntries(keys.map((key) => [key, state[key]])));
  const halves = [pick(names.slice(0, 9)), pick(names.slice(9))];
  /** @type {{ loaded: number, total: number }[]} */
  /** @type {{ loaded: number, total: number }[]} */
  const steps = [];
  const model = await loadGpt2(hw, {
    ...{ config: smallConfig, weights: halves, onProgress: (step) => steps.push(step) },
  });
  assert.deepEqual(model.stateDict(), state);
  const total = halves.reduce((sum, { length }) => sum + length, 0);
  assert.ok(
    steps.every((step, i) => step.total === total && step.loaded >= (steps[i - 1]?.loaded ?? 0)),
  );
  assert.equal(steps.at(-1)?.loaded, total);
  const only = { config: smallConfig, weights: halves.slice(0, 1) };
  await rejectsCode(loadGpt2(hw, only), 'ERR_FORMAT', 'missing: ');
  const twice = { config: smallConfig, weights: [...halves, halves[0]] };
  await rejectsCode(loadGpt2(hw, twice), 'ERR_FORMAT', 'weights[0] and 2 more do not fit', 'twice');
  const checkpoint = readCheckpoint('f16');
  server.files['/gpt2.safetensors'] = checkpoint.weights;
  server.behaviours['/gpt2.safetensors'] = { cutAfter: 70_000, cuts: 1 };
  const weights = `${server.origin}/gpt2.safetensors`;
  const far = await loadGpt2(hw, { config: checkpoint.config, weights });
  const near = await loadGpt2(hw, checkpoint);
  assert.deepEqual(far.stateDict(), near.stateDict());
});
