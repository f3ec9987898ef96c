// openModel: where models are read from, and which revision of them.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { commit } from './file-server.js';
import { rejectsCode } from './helpers.js';
import {
  config,
  text,
  whole,
  first,
  second,
  folder,
  pinned,
  shards,
  server,
  disk,
  open,
  valuesOf,
  areTensors,
  file,
  oneFile,
  at,
} from './served-models.js';

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
