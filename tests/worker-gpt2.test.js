// A GPT-2 in an engine of headwise/worker: tests/gpt2-load.test.js loads it from every kind of source.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { loadGpt2 } from 'headwise/gpt2';
import { load } from 'headwise/worker';
import { drawIds, loadCheckpoint, readCheckpoint } from './gpt2.js';
import { engine, rejectsCode } from './helpers.js';
import { readConfig } from './model-fixtures.js';

const [here, hw] = [await engine(), await load()];
const checkpoint = readCheckpoint('f16');
const [near, far] = [await loadCheckpoint(here, 'f16'), await loadGpt2(hw, checkpoint)];
const ids = drawIds(1, 12, near.options.vocabSize);

after(() => hw.dispose());

/** @template T @param {AsyncIterable<T>} values */
async function listOf(values) {
  const list = [];
  for await (const value of values) list.push(value);
  return list;
}

test('a GPT-2 in a Worker gives the bits of one here, and its traces and caches stay there', async () => {
  assert.deepEqual(far.options, near.options);
  const options = /** @type {const} */ ({ logits: 'all', needWeights: true });
  const [a, b] = [await far.forward(ids, options), near.forward(ids, options)];
  assert.deepEqual(a, b);
  const { trace } = await far.forward(ids, { trace: true });
  const traceHere = near.forward(ids, { trace: true }).trace;
  const where = { head: 1, size: 5 };
  assert.deepEqual(await trace[1].map(where), traceHere[1].map(where));
  const cache = await far.createCache();
  await far.forward(ids.slice(0, 5), { cache });
  const rest = await far.forward(ids.slice(5), { cache });
  assert.equal(await cache.length, ids.length);
  assert.deepEqual(rest.logits.shape, [1, near.options.vocabSize]);
});

test('what it generates is iterated asynchronously, awaited before or not', async () => {
  const options = { maxTokens: 8, temperature: 1, seed: 5 };
  const expected = [...near.generate(ids, options)];
  assert.deepEqual(await listOf(far.generate(ids, options)), expected);
  assert.deepEqual(await listOf(await far.generate(ids, options)), expected);
  const one = far.generate(ids, options);
  assert.deepEqual(await one.next(), { value: expected[0], done: false });
  await one.return();
  assert.deepEqual(await one.next(), { value: undefined, done: true });
});

test('log-probabilities, stops and signals reach it', async () => {
  const options = { maxTokens: 6, temperature: 1, topP: 0.9, seed: 2 };
  const expected = [...near.generate(ids, { ...options, logProbabilities: true })];
  assert.deepEqual(
    await listOf(far.generate(ids, { ...options, logProbabilities: true })),
    expected,
  );
  const stop = [expected[3].id];
  const before = [...near.generate(ids, { ...options, stop })];
  assert.deepEqual(await listOf(far.generate(ids, { ...options, stop })), before);
  const controller = new AbortController();
  const reason = new Error('another text');
  const loop = far.generate(ids, { ...options, signal: controller.signal });
  await loop.next();
  controller.abort(reason);
  await assert.rejects(loop.next(), (error) => error === reason);
});

test('a loop that is left ends the generation there, and one that fails says why', async () => {
  const cache = await far.createCache();
  for await (const id of far.generate(ids, { cache })) {
    assert.equal(typeof id, 'number');
    break;
  }
  await setTimeout(20);
  assert.equal(await cache.length, ids.length, 'no token more was read');
  await rejectsCode(listOf(far.generate(ids, { maxTokens: 0 })), 'ERR_VALUE', 'maxTokens');
  await rejectsCode(listOf(far.generate([-1])), 'ERR_VALUE', 'ids');
  await cache.dispose();
  await rejectsCode(listOf(far.generate(ids, { cache })), 'ERR_DISPOSED');
});

test('loading tells how far it is', async () => {
  /** @type {[number, number][]} */
  const heard = [];
  await loadGpt2(hw, {
    ...checkpoint,
    onProgress: ({ loaded, total }) => heard.push([loaded, total]),
  });
  const size = checkpoint.weights.length;
  assert.deepEqual(heard.at(-1), [size, size]);
  assert.ok(heard.length > 1);
});

test('a signal ends loading with its own reason, also one that was aborted before', async () => {
  const reason = { why: 'another model was chosen' };
  const controller = new AbortController();
  const weights = new ReadableStream({
    pull() {
      controller.abort(reason);
      return new Promise(() => {});
    },
  });
  const { config } = checkpoint;
  const is = (/** @type {unknown} */ error) => error === reason;
  await assert.rejects(loadGpt2(hw, { config, weights, signal: controller.signal }), is);
  await assert.rejects(loadGpt2(hw, { ...checkpoint, signal: controller.signal }), is);
  await assert.rejects(loadGpt2(hw, { ...checkpoint, signal: AbortSignal.abort() }), {
    name: 'AbortError',
  });
});

test('what onProgress throws or rejects with ends loading, and nothing of the model is left', async () => {
  const boom = new Error('boom');
  const throws = () => {
    throw boom;
  };
  const before = await hw.memoryBytes;
  for (const onProgress of Array(10)
    .fill([throws, () => Promise.reject(boom)])
    .flat())
    await assert.rejects(loadGpt2(hw, { ...checkpoint, onProgress }), (error) => error === boom);
  assert.ok((await hw.memoryBytes) <= before + 2 * checkpoint.weights.length);
});

test('bad options are refused with the words that they are refused with here', async () => {
  const getter = {
    ...checkpoint,
    get signal() {
      throw new Error('no');
    },
  };
  const cases = [
    { ...checkpoint, onProgress: 5 },
    { ...checkpoint, signal: 'now' },
    { ...checkpoint, revision: 'main' },
    { config: checkpoint.config },
    { config: 7, weights: checkpoint.weights },
    { ...checkpoint, weights: new Uint8Array(3) },
    { ...checkpoint, weights: 'no-such-file.safetensors' },
    { ...checkpoint, weights: new Response('', { status: 404, statusText: 'Not Found' }) },
  ];
  for (const options of cases) {
    const [a, b] = await Promise.all(
      [here, hw].map((on) =>
        loadGpt2(/** @type {any} */ (on), /** @type {any} */ (options)).catch((error) => error),
      ),
    );
    assert.deepEqual([a.code, a.message], [b.code, b.message]);
  }
  for (const options of [undefined, null, 3, getter])
    await rejectsCode(loadGpt2(hw, /** @type {any} */ (options)), 'ERR_VALUE');
  const used = new Response(checkpoint.weights);
  await used.arrayBuffer();
  const locked = new ReadableStream();
  locked.getReader();
  for (const weights of [used, locked])
    await rejectsCode(loadGpt2(hw, { ...checkpoint, weights }), 'ERR_VALUE');
});

test('a model is of its own engine alone, and ends with it', async () => {
  const other = await load();
  const model = await loadGpt2(other, checkpoint);
  const cache = await model.createCache();
  await rejectsCode(far.forward(ids, { cache }), 'ERR_VALUE', 'another engine');
  const writing = model.generate(ids);
  await writing.next();
  await other.dispose();
  await rejectsCode(model.forward(ids), 'ERR_DISPOSED', 'load()');
  await rejectsCode(writing.next(), 'ERR_DISPOSED');
  for await (const id of far.generate(ids, { maxTokens: 1 })) assert.equal(typeof id, 'number');
});

test('a stream that fails while it is read is an error that names the weights', async () => {
  let pulls = 0;
  const weights = new ReadableStream({
    pull(controller) {
      if (pulls++ > 0) throw new Error('the line is cut');
      controller.enqueue(checkpoint.weights.slice(0, 5000));
    },
  });
  const { config } = checkpoint;
  await rejectsCode(loadGpt2(hw, { config, weights }), 'ERR_LOAD', 'weights', 'the line is cut');
});

test('an abort is heard while a prompt of one row is read, and its parts are forgotten', async () => {
  const model = await new hw.Decoder({ ...readConfig('llama'), max_position_embeddings: 800 });
  const cache = await model.createCache();
  const controller = new AbortController();
  const { signal } = controller;
  const first = model.generate([drawIds(1, 700, 30)], { cache, signal }).next();
  const reason = new Error('another text');
  controller.abort(reason);
  await assert.rejects(first, (error) => error === reason);
  assert.equal(await cache.length, 0);
  await model.dispose();
});
