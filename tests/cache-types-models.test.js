// Caches of 16 bits of decoders: sharing heads, sliding windows, rows of unequal length, generation, here and in a Worker.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { load } from 'headwise/worker';
import { readModelConfig } from '../web/headwise/models/config.js';
import { halves, rounding } from './cache-types.js';
import { drawIds } from './gpt2.js';
import { engine, rejectsCode, throwsCode } from './helpers.js';
import { readConfig, readTensors } from './model-fixtures.js';
import { runModel } from './reference-models.js';

const hw = await engine();
after(() => hw.dispose());

/** @param {string} checkpoint */
async function open(checkpoint) {
  const model = new hw.Decoder(readConfig(checkpoint));
  return model.loadStateDict(await readTensors(checkpoint)).eval();
}

/**
 * The first layer as a model. Of some thousand elements float32 and float64 round a few to different sides, and a second layer
 * would then round most of its own differently.
 * @param {string} checkpoint
 */
async function openLayer(checkpoint) {
  const all = readConfig(checkpoint);
  const config = { ...all, num_hidden_layers: 1, layer_types: all.layer_types?.slice(0, 1) };
  const tensors = Object.entries(await readTensors(checkpoint));
  const first = tensors.filter(([name]) => !/layers\.[1-9]/.test(name));
  const model = new hw.Decoder(config).loadStateDict(Object.fromEntries(first)).eval();
  return { model, config: readModelConfig(config) };
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
const distance = (a, b) => Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i])));

/**
 * Logits and weights of a text in float64.
 * @param {Awaited<ReturnType<typeof openLayer>>} layer
 * @param {number[]} ids
 * @param {(x: number) => number} [stored]
 */
function expected({ model, config }, ids, stored) {
  const state = new Map(Object.entries(model.stateDict()));
  const at = (/** @type {string} */ name) => /** @type {any} */ (state.get(name));
  return runModel(config, at, ids, undefined, stored);
}

/**
 * Near what rounded keys and values give, and much nearer than float32 would be.
 * @param {ArrayLike<number>} actual
 * @param {ArrayLike<number>} rounded
 * @param {ArrayLike<number>} exact
 * @param {string} what
 */
function isOfStored(actual, rounded, exact, what) {
  const [error, moved] = [distance(actual, rounded), distance(exact, rounded)];
  assert.ok(error < 1e-4 && error < moved / 5, `${what}: ${error} off, rounding moves ${moved}`);
}

// Keys and values shared by heads; RMS norms of keys; sliding windows and capped logits.
for (const checkpoint of ['llama', 'qwen3', 'gemma3_text-caps', 'mistral'])
  for (const dtype of halves)
    test(`${checkpoint}, ${dtype}: logits, weights and traces of appends, one text and two of unequal length`, async () => {
      const layer = await openLayer(checkpoint);
      const { model } = layer;
      const vocab = model.config.vocabSize;
      const texts = [drawIds(1, 13, vocab), drawIds(2, 13, vocab)].map((ids) => [...ids]);
      const cache = model.createCache({ dtype });
      assert.equal(cache.dtype, dtype);
      const [text] = texts;
      const rounded = texts.map((ids) => expected(layer, ids, rounding(dtype)));
      const exact = texts.map((ids) => expected(layer, ids));
      const flat = (/** @type {any} */ rows) => rows.flatMap((/** @type {any} */ row) => [...row]);
      let start = 0;
      for (const end of [6, 7, 8, 13]) {
        const asked = /** @type {const} */ ({ cache, logits: 'all', trace: true });
        const { logits, trace } = model.forward(text.slice(start, end), asked);
        const part = (/** @type {typeof exact[0]} */ run) => flat(run.logits?.slice(start, end));
        isOfStored(logits.data, part(rounded[0]), part(exact[0]), `logits to ${end}`);
        const weights = (/** @type {typeof exact[0]} */ run) =>
          flat(run.weights[0][1].slice(start, end).map((row) => row.slice(0, end)));
        const found = [...trace[0].weights({ head: 1 }).data];
        isOfStored(found, weights(rounded[0]), weights(exact[0]), `weights to ${end}`);
        trace[0].dispose();
        start = end;
      }
      const both = model.createCache({ batch: 2, dtype });
      model.forward([texts[0].slice(0, 5), texts[1].slice(0, 9)], { cache: both });
      const next = [texts[0].slice(5, 8), texts[1].slice(9, 13)];
      const { logits } = model.forward(next, { cache: both });
      for (const [row, end] of [8, 13].entries()) {
        const last = (/** @type {typeof exact[0]} */ run) => run.logits?.[end - 1] ?? [];
        const found = logits.slice([row, row + 1]).data;
        isOfStored(found, last(rounded[row]), last(exact[row]), `row ${row}`);
      }
      model.dispose();
    });

test('bits do not depend on pieces, growth or truncation, in any layer', () => {
  const config = {
    ...{
      model_type: 'qwen3',
      vocab_size: 40,
      hidden_size: 32,
      head_dim: 16,
      intermediate_size: 48,
    },
    ...{ num_hidden_layers: 3, num_attention_heads: 4, num_key_value_heads: 2 },
    ...{ max_position_embeddings: 900, use_sliding_window: true, sliding_window: 100 },
    ...{ max_window_layers: 1 },
  };
  const model = new hw.Decoder(config);
  const ids = [...drawIds(6, 600, 40)];
  for (const dtype of halves) {
    const [whole, cache] = [model.createCache({ dtype }), model.createCache({ dtype })];
    const { logits } = model.forward(ids, { cache: whole, logits: [590, 600] });
    model.forward(ids.slice(0, 250), { cache, logits: 'none' });
    model.forward(ids.slice(0, 300), { cache, logits: 'none' });
    cache.truncate(250);
    model.forward(ids.slice(250, 590), { cache, logits: 'none' });
    for (let i = 590; i < 600; i++) {
      const last = model.forward(ids.slice(i, i + 1), { cache }).logits;
      assert.ok(distance(last.data, logits.slice([i - 590, i - 589]).data) < 1e-6, `token ${i}`);
    }
  }
  model.dispose();
});

test('generate makes a cache of the type for itself, and refuses what is none', async () => {
  const model = await open('qwen3');
  const ids = [...drawIds(3, 9, model.config.vocabSize)];
  const options = { maxTokens: 8, temperature: 1, seed: 4, logProbabilities: true };
  const before = hw.memoryBytes;
  for (const dtype of halves) {
    const cache = model.createCache({ dtype });
    const right = [...model.generate(ids, { ...options, cache })];
    assert.deepEqual([...model.generate(ids, { ...options, cache: { dtype } })], right);
    cache.dispose();
  }
  const floats = [...model.generate(ids, options)];
  for (const cache of [{}, { dtype: undefined }, { dtype: /** @type {const} */ ('float32') }])
    assert.deepEqual([...model.generate(ids, { ...options, cache })], floats);
  assert.equal(hw.memoryBytes, before);
  for (const [cache, ...parts] of /** @type {[any, ...string[]][]} */ ([
    [{ dtype: 'int8' }, 'cache.dtype', '"int8"'],
    [{ type: 'float16' }, 'cache', 'type'],
    [{ batch: 2 }, 'cache', 'batch'],
    ['float16', 'cache', '"float16"'],
  ]))
    throwsCode(() => model.generate(ids, { cache }), 'ERR_VALUE', ...parts);
  model.dispose();
});

test('in a Worker caches have types too', async () => {
  const far = await load();
  const model = await open('llama');
  const config = readConfig('llama');
  const remote = await new far.Decoder(config);
  await remote.loadStateDict(model.stateDict());
  await remote.eval();
  const ids = [...drawIds(5, 9, model.config.vocabSize)];
  for (const dtype of halves) {
    const [cache, here] = [await remote.createCache({ dtype }), model.createCache({ dtype })];
    assert.equal(await cache.dtype, dtype);
    for (const part of [ids.slice(0, 7), ids.slice(7)]) {
      const { logits } = await remote.forward(part, { cache });
      assert.deepEqual(logits.data, model.forward(part, { cache: here }).logits.data);
    }
    const options = { cache: { dtype }, maxTokens: 5, temperature: 0 };
    const found = [];
    for await (const id of remote.generate(ids, options)) found.push(id);
    assert.deepEqual(found, [...model.generate(ids, options)]);
  }
  const bad = { dtype: /** @type {any} */ ('int8') };
  await rejectsCode(remote.createCache(bad), 'ERR_VALUE', 'dtype');
  await rejectsCode(remote.generate(ids, { cache: bad }).next(), 'ERR_VALUE', 'cache.dtype');
  await far.dispose();
  model.dispose();
});
