// loadGpt2: where checkpoints come from, progress, aborts, and every way to fail with what it says and leaves behind.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { Readable } from 'node:stream';
import { zeros } from 'headwise';
import { readSafetensors, writeSafetensors } from 'headwise/formats';
import { HeadwiseError, loadGpt2 } from 'headwise/gpt2';
import { load as loadWorker } from 'headwise/worker';
import { safetensorsFile, streamOf } from './formats.js';
import { checkpoints, drawIds, readCheckpoint, smallConfig, smallModel } from './gpt2.js';
import { engine, rejectsCode } from './helpers.js';

/** @typedef {import('headwise/formats').Source} Source */
/** @typedef {import('headwise').Tensor} Tensor */

const hw = await engine();
const folder = new URL('fixtures/gpt2/f16/', import.meta.url);
const { config, weights } = readCheckpoint('f16');
const text = JSON.stringify(config);
const ids = drawIds(1, 12, config.vocab_size);
const expected = (await loadGpt2(hw, { config, weights })).forward(ids).logits;

const model = smallModel(hw);
const state = model.stateDict();
const good = { config: smallConfig, weights: writeSafetensors(state) };

/** @type {import('node:http').Server} */
let server;
let origin = '';

before(async () => {
  /** @type {Record<string, string | Uint8Array>} */
  const answers = { '/config.json': text, '/model.safetensors': weights };
  server = createServer(({ url = '' }, response) => {
    // On a slow machine the server would end a kept connection just as it is taken again.
    response.setHeader('connection', 'close');
    if (url === '/stalls') response.write(weights.subarray(0, 60_000));
    else if (url === '/page') response.end('<!doctype html><title>Sign in</title>');
    else if (answers[url]) response.end(answers[url]);
    else response.writeHead(404, 'Not Found').end('<!doctype html>');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  origin = `http://127.0.0.1:${address.port}`;
});

const hwThere = await loadWorker();

after(() => {
  server.closeAllConnections();
  server.close();
  return hwThere.dispose();
});

/** Pieces of these lengths, again and again. @param {Uint8Array} bytes @param {number[]} lengths */
function oddStream(bytes, lengths) {
  let at = 0;
  let count = 0;
  return new ReadableStream({
    pull(controller) {
      const end = at + lengths[count++ % lengths.length];
      controller.enqueue(bytes.slice(at, end));
      at = end;
      if (at >= bytes.length) controller.close();
    },
  });
}

/** @type {[string, () => Promise<[config: Source | object, weights: Source]>][]} */
const places = [
  ['bytes, and a config that was parsed', async () => [config, weights]],
  [
    'an ArrayBuffer, and the config’s bytes',
    async () => [new TextEncoder().encode(text), weights.slice().buffer],
  ],
  ['Blobs', async () => [new Blob([text]), new Blob([weights])]],
  [
    'Files',
    async () => [new File([text], 'config.json'), new File([weights], 'model.safetensors')],
  ],
  [
    'Node’s own streams',
    async () => [Readable.from([Buffer.from(text)]), Readable.from([weights])],
  ],
  ['Responses', async () => [new Response(text), new Response(weights)]],
  ['file URLs', async () => [new URL('config.json', folder), new URL('model.safetensors', folder)]],
  [
    'addresses of files',
    async () => [new URL('config.json', folder).href, new URL('model.safetensors', folder).href],
  ],
  ['a server', async () => [`${origin}/config.json`, new URL(`${origin}/model.safetensors`)]],
  [
    'fetched answers',
    async () => [await fetch(`${origin}/config.json`), await fetch(`${origin}/model.safetensors`)],
  ],
  ['a stream of odd pieces', async () => [config, oddStream(weights, [1, 8, 13, 100, 4099])]],
  [
    'a stream of tiny pieces',
    async () => [oddStream(new TextEncoder().encode(text), [1]), oddStream(weights, [7, 3])],
  ],
  [
    'a stream of one piece',
    async () => [streamOf(new TextEncoder().encode(text)), streamOf(weights)],
  ],
];

for (const [title, place] of places)
  test(`a model is loaded from ${title}, here and in a Worker`, async () => {
    const [itsConfig, itsWeights] = await place();
    const loaded = await loadGpt2(hw, { config: itsConfig, weights: itsWeights });
    assert.deepEqual(loaded.forward(ids).logits, expected);
    loaded.dispose();
    const [farConfig, farWeights] = await place();
    const far = await loadGpt2(hwThere, { config: farConfig, weights: farWeights });
    assert.deepEqual((await far.forward(ids)).logits, expected);
    await far.dispose();
  });

test('a loaded model is in evaluation mode, here and in a Worker', async () => {
  const given = await loadGpt2(hw, { config, weights });
  const there = await loadGpt2(hwThere, { config, weights });
  assert.deepEqual([given.training, await there.training], [false, false]);
  given.dispose();
  await there.dispose();
});

test('the weights are the file’s numbers, whatever their type and names', async () => {
  for (const name of checkpoints) {
    const checkpoint = readCheckpoint(name);
    const { tensors } = await readSafetensors(checkpoint.weights);
    const loaded = await loadGpt2(hw, checkpoint);
    const entries = Object.entries(loaded.stateDict());
    for (const [key, value] of entries)
      assert.deepEqual(value, tensors[key] ?? tensors[`transformer.${key}`], `${name}: ${key}`);
    assert.equal(loaded.options.dModel, checkpoint.config.n_embd);
    loaded.dispose();
  }
});

test('tensors that come in several pieces are put together', async () => {
  // wte and wpe are larger than the 4 MiB of a piece, mlp.c_fc too.
  const wide = { vocabSize: 2100, contextLength: 2050, dModel: 520, numHeads: 4, numLayers: 1 };
  const big = smallModel(hw, wide);
  const tensors = big.stateDict();
  const loaded = await loadGpt2(hw, {
    config: { vocab_size: 2100, n_positions: 2050, n_embd: 520, n_head: 4, n_layer: 1 },
    weights: writeSafetensors(tensors),
  });
  for (const [key, value] of Object.entries(loaded.stateDict()))
    assert.ok(
      value.data.every((x, i) => x === tensors[key].data[i]),
      key,
    );
  big.dispose();
  loaded.dispose();
});

test('progress goes from the header to the last byte', async () => {
  for (const source of [weights, oddStream(weights, [5000])]) {
    /** @type {{ loaded: number, total: number }[]} */
    const steps = [];
    const loaded = await loadGpt2(hw, {
      config,
      weights: source,
      onProgress: (step) => steps.push(step),
    });
    loaded.dispose();
    assert.ok(steps.length > 10);
    assert.ok(steps.every(({ total }) => total === weights.length));
    assert.ok(steps.every((step, i) => i === 0 || step.loaded >= steps[i - 1].loaded));
    assert.equal(steps.at(-1)?.loaded, weights.length);
  }
});

test('loading draws no random numbers', async () => {
  hw.manualSeed(8);
  const next = hw.rand([1]).data[0];
  hw.manualSeed(8);
  (await loadGpt2(hw, good)).dispose();
  assert.equal(hw.rand([1]).data[0], next);
});

test('an abort rejects with the signal’s reason: before, while nothing comes, and between pieces', async () => {
  const reason = new Error('enough');
  const isReason = (/** @type {unknown} */ error) => error === reason;
  const signal = AbortSignal.abort(reason);
  await assert.rejects(loadGpt2(hw, { config, weights, signal }), isReason);
  await assert.rejects(
    loadGpt2(hw, { config: `${origin}/config.json`, weights, signal }),
    isReason,
  );
  const waiting = new AbortController();
  const loading = loadGpt2(hw, { config, weights: `${origin}/stalls`, signal: waiting.signal });
  setTimeout(() => waiting.abort(reason), 50);
  await assert.rejects(loading, isReason);
  const between = new AbortController();
  const onProgress = ({ loaded = 0 }) => {
    if (loaded > 50_000) between.abort(reason);
  };
  const { signal: own } = between;
  await assert.rejects(loadGpt2(hw, { config, weights, signal: own, onProgress }), isReason);
});

/** @param {Record<string, Tensor>} tensors */
const withState = (tensors) => ({ ...good, weights: writeSafetensors(tensors) });
const { 'h.1.ln_2.bias': missing, 'wpe.weight': positions, ...rest } = state;

/** Of the same shapes, but these are of another type. @param {string} dtype @param {string} name */
function withType(dtype, name) {
  let at = 0;
  const entries = Object.entries(state).map(([key, { shape, data }]) => {
    const size = data.length * (key === name ? 1 : 4);
    at += size;
    return [key, { dtype: key === name ? dtype : 'F32', shape, data_offsets: [at - size, at] }];
  });
  return { ...good, weights: safetensorsFile(Object.fromEntries(entries), at) };
}

/**
 * @type {[string, () => import('headwise/gpt2').LoadGpt2Options, HeadwiseError['code'], string[]][]}
 */
const failures = [
  [
    'missing tensors',
    () => withState(rest),
    'ERR_FORMAT',
    ['weights does not fit the config: missing: wpe.weight, h.1.ln_2.bias'],
  ],
  [
    'an unexpected tensor',
    () => withState({ ...state, 'h.2.ln_1.bias': missing }),
    'ERR_FORMAT',
    ['unexpected: h.2.ln_1.bias'],
  ],
  [
    'a misshapen tensor',
    () => withState({ ...state, 'wpe.weight': zeros([12, 20]) }),
    'ERR_FORMAT',
    ['wpe.weight has shape [12, 20]', 'expected'],
  ],
  [
    'a tensor twice',
    () => withState({ ...state, 'transformer.wpe.weight': positions }),
    'ERR_FORMAT',
    ['there with and without transformer.: wpe.weight'],
  ],
  [
    'quantized weights',
    () => withType('I8', 'h.0.mlp.c_fc.weight'),
    'ERR_FORMAT',
    ['h.0.mlp.c_fc.weight has dtype I8', 'expected'],
  ],
  [
    'a truncated file',
    () => ({ ...good, weights: good.weights.slice(0, -100) }),
    'ERR_FORMAT',
    ['weights', 'bytes'],
  ],
  [
    'a truncated stream',
    () => ({ ...good, weights: oddStream(good.weights.slice(0, -100), [999]) }),
    'ERR_FORMAT',
    ['weights'],
  ],
  [
    'a file that goes on',
    () => ({ ...good, weights: oddStream(new Uint8Array([...good.weights, 1]), [999]) }),
    'ERR_FORMAT',
    ['weights'],
  ],
  [
    'a file of another kind',
    () => ({ ...good, weights: new Uint8Array(400).fill(80) }),
    'ERR_FORMAT',
    ['expected'],
  ],
  [
    'a config of more layers',
    () => ({ ...good, config: { ...smallConfig, n_layer: 3 } }),
    'ERR_FORMAT',
    ['missing: h.2.ln_1.weight'],
  ],
  [
    'a config of fewer layers',
    () => ({ ...good, config: { ...smallConfig, n_layer: 1 } }),
    'ERR_FORMAT',
    ['unexpected: h.1.ln_1.weight, h.1.ln_1.bias, ', ' and 4 more'],
  ],
  [
    'a config of another width',
    () => ({ ...good, config: { ...smallConfig, n_embd: 24 } }),
    'ERR_FORMAT',
    ['unfit: wte.weight has shape [31, 12]', 'expected', 'expected [20, 24], and 26 more'],
  ],
  [
    'a config without a size',
    () => ({ ...good, config: { ...smallConfig, n_head: undefined } }),
    'ERR_FORMAT',
    ['n_head is missing'],
  ],
  [
    'a config of another kind',
    () => ({ ...good, config: { ...smallConfig, model_type: 'bert' } }),
    'ERR_FORMAT',
    ['model_type is "bert"', 'expected'],
  ],
  [
    'a config that is no JSON',
    () => ({ ...good, config: new Blob(['{"n_embd": ']) }),
    'ERR_FORMAT',
    ['config: cannot be parsed'],
  ],
  [
    'a config that is another file',
    () => ({ ...good, config: new Blob(['{"n_embd": 12', ' '.repeat(2 ** 20), '}']) }),
    'ERR_FORMAT',
    ['config: has more than 1048576 bytes; expected a config.json'],
  ],
  [
    'a config of no file’s name',
    () => ({ ...good, config: new File(['[]'], 'mine.json') }),
    'ERR_FORMAT',
    ['mine.json'],
  ],
  [
    'a head that is not tied',
    () => ({ ...good, config: { ...smallConfig, tie_word_embeddings: false } }),
    'ERR_FORMAT',
    ['tie_word_embeddings is false', 'expected'],
  ],
  [
    'a config that is not there',
    () => ({ ...good, config: `${origin}/none.json` }),
    'ERR_LOAD',
    ['/none.json', '404 Not Found'],
  ],
  [
    'weights that are not there',
    () => ({ ...good, weights: `${origin}/none` }),
    'ERR_LOAD',
    ['/none', '404 Not Found'],
  ],
  [
    'weights of no file',
    () => ({ ...good, weights: new URL('none', folder) }),
    'ERR_LOAD',
    ['none', 'could not be read'],
  ],
  [
    'a page in place of the weights',
    () => ({ ...good, weights: `${origin}/page` }),
    'ERR_LOAD',
    ['/page', '200 OK', '<!doc'],
  ],
  [
    'weights larger than memory',
    () => ({ ...good, config: { ...smallConfig, vocab_size: 2 ** 31 } }),
    'ERR_MEMORY',
    ['a Gpt2 of 2 layers × 12 and 2147483648 tokens'],
  ],
];

for (const [title, options, code, parts] of failures)
  test(`${title}: ${code}, again and again without more memory`, async () => {
    await rejectsCode(loadGpt2(hw, options()), code, ...parts);
    const bytes = hw.memoryBytes;
    for (let i = 0; i < 30; i++)
      await assert.rejects(loadGpt2(hw, options()), (error) => error instanceof HeadwiseError);
    assert.equal(hw.memoryBytes, bytes);
    assert.deepEqual(model.stateDict(), state);
  });

test('large models that fail late leave their memory to the next', async () => {
  const wide = { vocab_size: 2000, n_positions: 64, n_embd: 256, n_head: 4, n_layer: 2 };
  const sizes = { vocabSize: 2000, contextLength: 64, dModel: 256, numHeads: 4, numLayers: 2 };
  const big = smallModel(hw, sizes);
  const bytes = writeSafetensors(big.stateDict());
  big.dispose();
  const fail = () =>
    assert.rejects(
      loadGpt2(hw, { config: wide, weights: oddStream(bytes.slice(0, -1), [100_000]) }),
      {
        code: 'ERR_FORMAT',
      },
    );
  const stop = () => {
    const controller = new AbortController();
    const onProgress = ({ loaded = 0 }) => loaded > 3e6 && controller.abort();
    const { signal } = controller;
    return assert.rejects(loadGpt2(hw, { config: wide, weights: bytes, signal, onProgress }));
  };
  await fail();
  await stop();
  const bytesBefore = hw.memoryBytes;
  for (let i = 0; i < 10; i++) {
    await fail();
    await stop();
    (await loadGpt2(hw, { config: wide, weights: bytes })).dispose();
  }
  assert.equal(hw.memoryBytes, bytesBefore);
});

test('an error of the caller’s own onProgress comes through, and the engine works on', async () => {
  const own = new Error('own');
  const onProgress = () => {
    throw own;
  };
  await assert.rejects(loadGpt2(hw, { ...good, onProgress }), (error) => error === own);
  const again = await loadGpt2(hw, good);
  assert.deepEqual(again.stateDict(), state);
  again.dispose();
});

test('an engine that is disposed of while a model is loaded ends the loading', async () => {
  const other = await engine();
  const onProgress = () => other.dispose();
  await rejectsCode(loadGpt2(other, { ...good, onProgress }), 'ERR_DISPOSED', 'engine');
});
