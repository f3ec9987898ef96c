// Memory that ends early, page by page: every call works, with the same bits, or ends in ERR_MEMORY and leaves the engine
// as it was. And what a user holds when memory grows.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { HeadwiseError, load, Tensor, tensor, zeros } from 'headwise';
import { Gpt2 } from 'headwise/gpt2';
import { ablation, composition, logitLens, qkAttribution } from 'headwise/understanding';
import { Engine } from '../web/headwise/engine/engine.js';
import { Headwise } from '../web/headwise/engine/headwise.js';
import { boolData, data, tokens } from './helpers.js';
import { checkFused } from './seeds.js';
import { withMaximum } from './wasm-maximum.js';

/** @typedef {import('./helpers.js').Engine} Hw */

const folder = new URL('../web/headwise/wasm/', import.meta.url);
const single = new Uint8Array(await readFile(new URL('headwise-simd128.wasm', folder)));
const threads = await WebAssembly.compile(
  await readFile(new URL('headwise-simd128-threads.wasm', folder)),
);

/** The modules' own first pages (CMakeLists.txt: INITIAL_MEMORY). */
const firstPages = 16;

const shape = { dIn: 48, dOut: 64, contextLength: 1200, numHeads: 4, qkvBias: true };
const wide = { dIn: 400, dOut: 300, contextLength: 9, numHeads: 4 };
const layer = { dModel: 48, numHeads: 4, dFf: 192 };
const x = data(1, [2, 200, 48]);
const q = data(2, [2, 4, 150, 24]);
const mask = boolData(3, [2, 4, 150, 150]);
const options = { mask, softcap: 20, kvLengths: [150, 90], needWeights: true };

/**
 * Calls that need memory, each in a few places; they free what they made.
 * @type {Record<string, (hw: Hw) => Tensor[] | Promise<Tensor[]>>}
 */
const calls = {
  randn: (hw) => [hw.randn([800, 600])],
  softmax: (hw) => [hw.softmax(data(4, [800, 600]))],
  transpose: (hw) => [hw.transpose(data(4, [800, 400]))],
  matmul: (hw) => [hw.matmul(data(5, [3, 400, 300]), data(6, [300, 200]))],
  attention: (hw) => {
    const { output, weights } = hw.scaledDotProductAttention(q, q, q, options);
    return weights ? [output, weights] : [];
  },
  linear: (hw) => {
    const linear = new hw.Linear({ inFeatures: 600, outFeatures: 500 });
    return ending([linear], () => [linear.forward(data(7, [90, 600])).output]);
  },
  fused: (hw) => {
    const mha = new hw.MultiHeadAttention(shape);
    return ending([mha], () => traced(mha));
  },
  wrapper: (hw) => {
    const wrapper = new hw.MultiHeadAttentionWrapper({ ...shape, dOut: 16 });
    return ending([wrapper], () => traced(wrapper));
  },
  state: (hw) => {
    const mha = new hw.MultiHeadAttention(wide);
    return ending([mha], () => Object.values(mha.loadStateDict(mha.stateDict()).stateDict()));
  },
  cache: (hw) => {
    const mha = new hw.MultiHeadAttention(shape);
    return ending([mha], () => {
      const cache = mha.createCache({ batch: 2 });
      return ending([cache], () => [
        mha.forward(tokens(x, 0, 150), { cache }).output,
        // More than the cache has memory for at first.
        mha.forward(data(9, [2, 300, 48]), { cache }).output,
      ]);
    });
  },
  'cache of 16 bits': (hw) => {
    const mha = new hw.MultiHeadAttention(shape);
    return ending([mha], () => {
      const cache = mha.createCache({ batch: 2, dtype: 'float16' });
      return ending([cache], () => [
        mha.forward(tokens(x, 0, 150), { cache }).output,
        mha.forward(data(9, [2, 300, 48]), { cache }).output,
      ]);
    });
  },
  gelu: (hw) => [hw.gelu(data(8, [800, 600]))],
  layerNorm: (hw) => [hw.layerNorm(data(8, [800, 600]), { weight: zeros([600]) })],
  LayerNorm: (hw) => {
    const norm = new hw.LayerNorm({ dim: 70_000 });
    return ending([norm], () => [norm.forward(data(9, [3, 70_000])).output]);
  },
  embedding: (hw) => {
    const embedding = new hw.Embedding({ numEmbeddings: 900, embeddingDim: 400 });
    return ending([embedding], () => [embedding.forward(new Uint8Array(300).fill(7)).output]);
  },
  'feed-forward': (hw) => {
    const ffn = new hw.FeedForward({ dModel: 48, dFf: 3000, dropout: 0.1 });
    return ending([ffn], () => [ffn.forward(data(9, [20, 48])).output]);
  },
  block: (hw) => {
    const block = new hw.TransformerBlock({ ...layer, dropout: 0.1 });
    return ending([block], () => traced(block));
  },
  stack: (hw) => {
    const stack = new hw.TransformerStack({ ...layer, numLayers: 3, norm: 'post' });
    return ending([stack], () => {
      const { output, weights, trace } = stack.forward(x, { needWeights: true, trace: true });
      assert.ok(weights && trace);
      return ending(trace, () => [
        output,
        ...weights,
        ...trace.map((each) => each.weights({ head: 1, rows: [3, 90] })),
      ]);
    });
  },
  gpt2: (hw) => {
    const sizes = { vocabSize: 900, contextLength: 300, dModel: 48, numHeads: 4, numLayers: 2 };
    const gpt2 = new Gpt2(hw, sizes);
    return ending([gpt2], () => predicted(gpt2));
  },
  async sweeps(hw) {
    const sizes = { vocabSize: 900, contextLength: 300, dModel: 48, numHeads: 2, numLayers: 2 };
    const gpt2 = new Gpt2(hw, sizes);
    try {
      const clean = Array.from({ length: 150 }, (_, i) => i);
      const asked = /** @type {const} */ ({ target: 3, against: 8, method: 'mean' });
      const { effects } = await ablation(gpt2, clean, asked);
      const lens = await logitLens(gpt2, clean, { top: 2 });
      return [effects, lens.ids, lens.logProbabilities];
    } finally {
      gpt2.dispose();
    }
  },
  async understanding(hw) {
    const sizes = { vocabSize: 900, contextLength: 300, dModel: 48, numHeads: 4, numLayers: 2 };
    const gpt2 = new Gpt2(hw, sizes);
    try {
      const ids = Array.from({ length: 250 }, (_, i) => i);
      const looks = await qkAttribution(gpt2, ids, { layer: 1, head: 0, key: 3 });
      const { query } = await composition(gpt2);
      return [...understood(gpt2), looks.query.heads, query];
    } finally {
      gpt2.dispose();
    }
  },
};

/** @param {{ dispose(): void }[]} made @param {() => Tensor[]} body */
function ending(made, body) {
  try {
    return body();
  } finally {
    for (const each of made) each.dispose();
  }
}

/** Of pieces and of one token at a time, which leave behind what fails on the way. @param {Gpt2} gpt2 */
function predicted(gpt2) {
  const cache = gpt2.createCache();
  return ending([cache], () => {
    const ids = new Uint16Array(200).map((_, i) => i);
    try {
      gpt2.forward(ids, { cache, needWeights: true });
    } catch (error) {
      assert.equal(cache.length, 0);
      throw error;
    }
    const drawn = [...gpt2.generate([7], { cache, temperature: 1, maxTokens: 4 })];
    const { logits, trace } = gpt2.forward(ids, { logits: 'all', trace: true });
    assert.ok(logits && trace);
    return ending(trace, () => [
      new Tensor(Float32Array.from(drawn), [4]),
      logits,
      trace[1].map({ head: 3, size: 100 }),
    ]);
  });
}

/** What its heads do. @param {Gpt2} gpt2 */
function understood(gpt2) {
  const ids = new Uint16Array(250).map((_, i) => i);
  const { heads: parts } = gpt2.attribution(ids, { target: 3, directions: true });
  const { ovEigenvalues } = gpt2.headCircuits({ layer: 1, head: 2 });
  const { trace } = gpt2.forward(ids, { trace: true });
  assert.ok(trace);
  return ending(trace, () => {
    const output = trace[0].output({ head: 1 });
    const replace = [{ layer: 1, head: 1, output }];
    return [
      ...[parts, tensor(ovEigenvalues), output],
      ...[trace[1].values({ head: 3 }), trace[1].norms({ head: 3 })],
      /** @type {Tensor} */ (gpt2.forward(ids, { replace }).logits),
    ];
  });
}

/** @param {any} module */
function traced(module) {
  const { output, weights, trace } = module.forward(x, { needWeights: true, trace: true });
  return ending([trace], () => [
    output,
    weights,
    trace.weights({ head: 1, rows: [3, 90] }),
    trace.map({ head: 0, size: 200 }),
  ]);
}

/** @param {Hw} hw @param {(hw: Hw) => Tensor[] | Promise<Tensor[]>} call */
async function outcome(hw, call) {
  hw.manualSeed(5);
  try {
    return (await call(hw)).map((result) => result.data);
  } catch (error) {
    assert.ok(error instanceof HeadwiseError, /** @type {Error} */ (error).stack);
    assert.equal(error.code, 'ERR_MEMORY', error.message);
    return undefined;
  }
}

/** By pages: compiled once for all calls. @type {Map<number, Promise<WebAssembly.Module>>} */
const compiled = new Map();

/** @param {number} pages */
function moduleOf(pages) {
  const module =
    compiled.get(pages) ??
    WebAssembly.compile(/** @type {Uint8Array<ArrayBuffer>} */ (withMaximum(single, pages)));
  compiled.set(pages, module);
  return module;
}

/** @type {[string, (pages: number) => Promise<Hw>][]} */
const engines = [
  ['one thread', async (pages) => load({ wasm: await moduleOf(pages) })],
  [
    'threads',
    async (pages) => {
      const limits = { initial: firstPages, maximum: pages, shared: true };
      return new Headwise(await Engine.start(threads, new WebAssembly.Memory(limits)), 1, '');
    },
  ],
];

for (const [kind, start] of engines)
  for (const [name, call] of Object.entries(calls))
    test(`${name} with any little memory works or ends in ERR_MEMORY (module for ${kind})`, async () => {
      const free = await load({ simd: 'simd128' });
      const expected = await outcome(free, call);
      free.dispose();
      assert.ok(expected);
      let failures = 0;
      for (let pages = firstPages; ; pages++) {
        assert.ok(pages < firstPages + 200, 'never enough');
        const hw = await start(pages);
        const actual = await outcome(hw, call);
        // What has just fitted may leave no room; the failure that this is makes room.
        if (actual !== undefined) await outcome(hw, () => (checkFused(hw), []));
        checkFused(hw);
        assert.ok(hw.memoryBytes <= pages * 65536);
        hw.dispose();
        if (actual !== undefined) {
          assert.deepEqual(actual, expected);
          break;
        }
        failures++;
      }
      assert.ok(failures > 0, 'memory never ended');
    });

test('what a user holds stays as it is when memory grows', async () => {
  const hw = await load();
  const mha = new hw.MultiHeadAttention(shape);
  const { output, trace } = mha.forward(x, { trace: true });
  assert.ok(trace);
  const cache = mha.createCache({ batch: 2 });
  mha.forward(tokens(x, 0, 100), { cache });
  const before = [output.data.slice(), trace.weights({ head: 2 }).data, mha.stateDict()];
  const bytes = hw.memoryBytes;
  new hw.Linear({ inFeatures: 3000, outFeatures: 3000 });
  hw.randn([2000, 2000]);
  assert.ok(hw.memoryBytes > bytes + 2 ** 24);
  assert.deepEqual([output.data, trace.weights({ head: 2 }).data, mha.stateDict()], before);
  const rest = mha.forward(tokens(x, 100, 200), { cache });
  assert.deepEqual(rest.output, tokens(output, 100, 200));
  hw.dispose();
});
