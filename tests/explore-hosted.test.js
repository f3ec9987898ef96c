// The tokenizer of a model on a server: found by any address of the model, kept as the model is, and never the model's end.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { afterEach, test } from 'node:test';
import { load } from 'headwise';
import { hostedTokenizer } from '../web/page/explore/worker/hosted-tokenizer.js';
import { networkOf, openModel } from '../web/page/explore/worker/model.js';
import { readTokenizer } from '../web/page/explore/worker/tokens.js';
import { useCaches } from './fake-caches.js';
import { serveFiles } from './file-server.js';

const INDUCTION = new URL('../web/page/models/induction/', import.meta.url);
const NAMES = ['config.json', 'model.safetensors', 'tokenizer.json'];

const real = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = real;
  Reflect.deleteProperty(globalThis, 'caches');
});

test('the tokenizer lies beside the config, whatever address of the model is given', async () => {
  /** @type {string[]} */
  const asked = [];
  globalThis.fetch = async (address) => {
    asked.push(String(address));
    return new Response('{"model": {}}');
  };
  const hub = 'https://huggingface.co/org/name';
  const sources = ['org/name', hub, `${hub}/tree/main`, `${hub}/blob/main/config.json`];
  for (const source of sources) assert.deepEqual(await hostedTokenizer(source), { model: {} });
  assert.deepEqual(
    asked,
    sources.map(() => `${hub}/resolve/main/tokenizer.json`),
  );
  await hostedTokenizer('https://example.org/model/config.json?v=1');
  assert.equal(asked.at(-1), 'https://example.org/model/tokenizer.json?v=1');
});

test('a tokenizer that is not there, or does not come, leaves a model that reads token ids', async () => {
  const files = Object.fromEntries(
    await Promise.all(
      NAMES.map(async (name) => [`/m/${name}`, await readFile(new URL(name, INDUCTION))]),
    ),
  );
  const server = await serveFiles(files);
  const hw = await load();
  /** @param {RegExp} why */
  const opensWithIds = async (why) => {
    const model = await openModel(hw, { source: `${server.origin}/m` });
    assert.match(model.note ?? '', why);
    assert.match(model.note ?? '', /The text is therefore token ids\.$/);
    networkOf(model).dispose();
  };
  try {
    const model = await openModel(hw, { source: `${server.origin}/m` });
    assert.equal(model.note, undefined);
    networkOf(model).dispose();
    server.behaviours['/m/tokenizer.json'] = { status: 401 };
    await opensWithIds(/tokenizer\.json: .*401/);
    server.behaviours['/m/tokenizer.json'] = { status: 404 };
    await opensWithIds(/^There is no tokenizer\.json beside config\.json\./);
    delete server.behaviours['/m/tokenizer.json'];
    files['/m/tokenizer.json'] = Buffer.from('version https://git-lfs.github.com/spec/v1\noid 1');
    await opensWithIds(
      /^tokenizer\.json: this is a Git LFS pointer; the file itself was not downloaded/,
    );
  } finally {
    server.close();
  }
});

test('of a model that not everybody may read a visitor learns what to do', async () => {
  const hw = await load();
  for (const status of [401, 403]) {
    globalThis.fetch = async () => new Response('', { status });
    await assert.rejects(openModel(hw, { source: 'https://huggingface.co/org/gated' }), {
      code: 'ERR_LOAD',
      message:
        /^The model https:.*\/org\/gated does not exist, .* download its files .* drop their folder here\.$/,
    });
  }
});

test('vocab.json and merges.txt are a tokenizer, as they are in a folder', async () => {
  const vocab = { '<s>': 0, '</s>': 1, a: 2, b: 3, ab: 4 };
  const files = {
    '/m/config.json': '{"model_type": "roberta"}',
    '/m/vocab.json': JSON.stringify(vocab),
    '/m/merges.txt': '#version: 0.2\na b\n',
  };
  const server = await serveFiles({ ...files });
  try {
    const { encode, before, after } = readTokenizer(await hostedTokenizer(`${server.origin}/m`));
    assert.deepEqual([encode('aba'), before, after], [[4, 2], [0], [1]]);
    delete server.files['/m/merges.txt'];
    const none = hostedTokenizer(`${server.origin}/m`);
    await assert.rejects(none, /There is no tokenizer\.json beside config\.json/);
  } finally {
    server.close();
  }
});

test('a file that goes on for longer than any such file is given up', async () => {
  let hasEnded = false;
  const endless = () =>
    new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(2 ** 20)),
      cancel: () => void (hasEnded = true),
    });
  globalThis.fetch = async (address) => {
    if (/vocab\.json$/.test(String(address))) return new Response('{"a": 0}');
    return /merges\.txt$/.test(String(address))
      ? new Response(endless())
      : new Response('', { status: 404 });
  };
  await assert.rejects(hostedTokenizer('https://example.org/m'), {
    code: 'ERR_FORMAT',
    message: /^merges\.txt has more than 16\.0 MiB; expected a shorter file$/,
  });
  assert.ok(hasEnded);
});

test('an abort while the tokenizer comes is the reason that is told', async () => {
  const stop = new AbortController();
  const reason = new Error('enough');
  globalThis.fetch = async () => {
    stop.abort(reason);
    throw new TypeError('Failed to fetch');
  };
  const asked = hostedTokenizer('https://example.org/m', stop.signal);
  await assert.rejects(asked, (error) => error === reason);
});

test('without a network the tokenizer is the one that was kept', async () => {
  useCaches();
  const server = await serveFiles({ '/m/tokenizer.json': '{"model": {"type": "BPE"}}' });
  const source = `${server.origin}/m`;
  const first = await hostedTokenizer(source).finally(server.close);
  globalThis.fetch = async () => {
    throw new TypeError('Failed to fetch');
  };
  assert.deepEqual(await hostedTokenizer(source), first);
});
