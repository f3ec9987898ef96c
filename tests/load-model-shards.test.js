// loadModel: a model in many shards, from servers that give parts of files and from those that give whole ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zeros } from 'headwise';
import { writeSafetensors } from 'headwise/formats';
import { loadModel } from 'headwise/models';
import { useCaches } from './fake-caches.js';
import { engine, rejectsCode } from './helpers.js';

const hw = await engine();

/**
 * A server of a model in shards, in memory.
 * @param {{ givesParts: boolean }} how givesParts: else each answer is a whole file
 */
function serveShards({ givesParts }) {
  const config = { model_type: 'gpt2', n_layer: 8, n_head: 2, n_embd: 32, vocab_size: 300 };
  const small = { ...config, n_positions: 16 };
  const weights = Object.entries(new hw.Decoder(small).stateDict());
  const nameOf = (/** @type {number} */ i) => `model-${(i % 9) + 1}-of-9.safetensors`;
  /** @type {Record<string, Uint8Array<ArrayBuffer>>} */
  const files = {};
  const json = (/** @type {object} */ value) => new TextEncoder().encode(JSON.stringify(value));
  files['config.json'] = json(small);
  files['model.safetensors.index.json'] = json({
    weight_map: Object.fromEntries(weights.map(([key], i) => [key, nameOf(i)])),
  });
  for (let i = 0; i < 9; i++)
    files[nameOf(i)] = writeSafetensors(
      Object.fromEntries(weights.filter((_, at) => at % 9 === i)),
    );
  const seen = { open: 0, most: 0 };
  /** @type {typeof fetch} */
  const fetchFile = async (address, { headers } = {}) => {
    const bytes = files[new URL(String(address)).pathname.split('/').at(-1) ?? ''];
    if (bytes === undefined) return new Response('', { status: 404 });
    const asked = /bytes=(\d+)-(\d+)/.exec(new Headers(headers).get('range') ?? '');
    const [start, end] =
      asked && givesParts
        ? [Number(asked[1]), Math.min(bytes.length, Number(asked[2]) + 1)]
        : [0, bytes.length];
    const range = { etag: '"x"', 'content-range': `bytes ${start}-${end - 1}/${bytes.length}` };
    seen.most = Math.max(seen.most, ++seen.open);
    let at = start;
    const body = new ReadableStream({
      pull(controller) {
        if (at >= end) {
          seen.open--;
          controller.close();
          return;
        }
        controller.enqueue(bytes.slice(at, Math.min(end, at + 4096)));
        at += 4096;
      },
      cancel: () => void seen.open--,
    });
    return givesParts
      ? new Response(body, { status: 206, headers: range })
      : new Response(body, { status: 200 });
  };
  return { weights: Object.fromEntries(weights), fetch: fetchFile, seen };
}

test('of many shards few wait, where a server sends each as a whole: browsers open six connections', async () => {
  const { weights, fetch: fetchShards, seen } = serveShards({ givesParts: false });
  const model = await loadModel(hw, 'http://shards.test/m/', { fetch: fetchShards });
  assert.deepEqual(model.stateDict(), weights);
  assert.ok(seen.most <= 5, `${seen.most} at once`);
  assert.equal(seen.open, 0);
  model.dispose();
});

test('shards that are open are left when another one cannot be', async () => {
  /** @type {string[]} */
  const left = [];
  const open = new ReadableStream(
    {
      pull: (controller) => controller.enqueue(writeSafetensors({ a: zeros([4]) })),
      cancel: () => void left.push('a'),
    },
    { highWaterMark: 0 },
  );
  const source = { config: { model_type: 'gpt2' }, weights: [open, new Blob(['no shard'])] };
  await rejectsCode(loadModel(hw, source), 'ERR_FORMAT', 'begins with');
  assert.deepEqual([left, open.locked], [['a'], false]);
});

test('a shard that is another file when it is read is refused', async () => {
  const { fetch: fetchShards } = serveShards({ givesParts: false });
  const other = serveShards({ givesParts: false });
  /** @type {Record<string, number>} */
  const asked = {};
  /** @type {typeof fetch} */
  const changing = (address, options) => {
    const url = String(address);
    asked[url] = (asked[url] ?? 0) + 1;
    // The seventh is asked for again, and has another's tensors by then.
    return asked[url] > 1
      ? other.fetch(url.replace('model-7', 'model-6'), options)
      : fetchShards(url, options);
  };
  await rejectsCode(
    loadModel(hw, 'http://shards.test/m/', { fetch: changing }),
    'ERR_LOAD',
    'changed while it was read',
  );
});

test('config and weights are where the page was at the call, however long the config takes', async () => {
  const { weights, fetch: fetchShards } = serveShards({ givesParts: true });
  const page = /** @type {any} */ (globalThis);
  page.document = { baseURI: 'http://shards.test/m/' };
  try {
    /** @type {typeof fetch} */
    const moving = async (address, options) => {
      page.document = { baseURI: 'http://elsewhere.test/room/' };
      assert.match(String(address), /^http:\/\/shards\.test\/m\//);
      return fetchShards(address, options);
    };
    const shards = Array.from({ length: 9 }, (_, i) => `model-${i + 1}-of-9.safetensors`);
    const source = { config: 'config.json', weights: shards };
    const begun = loadModel(hw, source, { fetch: moving });
    page.document = { baseURI: 'http://elsewhere.test/before/' };
    const model = await begun;
    assert.deepEqual(model.stateDict(), weights);
    model.dispose();
  } finally {
    delete page.document;
  }
});

test('a fragment of an address is no part of it, for the cache neither', async () => {
  const caches = useCaches();
  // As a browser's: addresses are compared without their fragments.
  const bare = (/** @type {string} */ address) => address.replace(/#.*/, '');
  const [match, put] = [caches.match.bind(caches), caches.put.bind(caches)];
  Object.assign(caches, {
    match: (/** @type {string} */ key) => match(bare(key)),
    put: (/** @type {string} */ key, /** @type {Response} */ response) => put(bare(key), response),
  });
  try {
    const { weights, fetch: fetchShards } = serveShards({ givesParts: true });
    for (let visit = 0; visit < 2; visit++) {
      const model = await loadModel(hw, 'http://shards.test/m/#files', { fetch: fetchShards });
      assert.deepEqual(model.stateDict(), weights);
      model.dispose();
    }
  } finally {
    Reflect.deleteProperty(globalThis, 'caches');
  }
});
