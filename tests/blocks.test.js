// GELU, layer norm, embeddings, feed-forward, Transformer blocks and stacks against the float64 reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { allClose, boolData, data, engine, throwsCode } from './helpers.js';
import * as reference from './reference-blocks.js';

const hw = await engine();
const loose = { rtol: 1e-5, atol: 4e-6 };

/**
 * Gives a module other parameters than its first, norms included.
 * @template {{ stateDict: () => any, loadStateDict: (state: any) => unknown }} Module
 * @param {Module} module
 */
function shaken(module) {
  const entries = Object.entries(module.stateDict()).map(([key, value], i) => {
    const width = value.shape.at(-1);
    const isNorm = /(^|ln\d\.)weight$/.test(key) && value.shape.length === 1;
    const noise = data(i + 1, value.shape, isNorm ? 0.5 : 1 / Math.sqrt(width));
    return [
      key,
      tensor(
        noise.data.map((entry) => entry + (isNorm ? 1 : 0)),
        value.shape,
      ),
    ];
  });
  module.loadStateDict(Object.fromEntries(entries));
  return module;
}

test('gelu is x·Φ(x) or its tanh form to a few units in the last place, for every length', () => {
  for (const approximate of /** @type {const} */ (['none', 'tanh']))
    for (const n of [1, 2, 3, 4, 5, 7, 8, 9, 40, 63, 64, 65, 127, 1000]) {
      const x = data(n, [n], 6);
      // The tanh form loses two units for every bit of its tail.
      const rtol = approximate === 'none' ? 1e-6 : 2e-5;
      const expected = reference.gelu(x, approximate);
      allClose(hw.gelu(x, { approximate }), expected, { rtol, atol: 0, what: `${n}` });
    }
  allClose(hw.gelu(data(1, [2, 3, 5])), reference.gelu(data(1, [2, 3, 5])));
});

test('gelu far below zero keeps its digits, and beyond the smallest float it is 0', () => {
  const x = tensor([-5, -8, -10, -12, -13, -15, -100, -3e38, -Infinity]);
  const expected = reference.gelu(tensor([-5, -8, -10, -12, -13, 0, 0, 0, 0]));
  allClose(hw.gelu(x), expected, { rtol: 1e-6, atol: 2e-37 });
  assert.deepEqual(
    [...hw.gelu(tensor([0, 20, 3e38, Infinity])).data],
    [...new Float32Array([0, 20, 3e38, Infinity])],
  );
});

test('layerNorm is over the last dimension, with and without weight and bias', () => {
  for (const n of [1, 2, 3, 4, 5, 7, 8, 9, 33, 768])
    for (const lead of [[], [1], [5], [2, 3]]) {
      const x = data(n, [...lead, n], 3);
      const [weight, bias] = [data(1, [n]), data(2, [n])];
      for (const options of [
        {},
        { weight },
        { bias },
        { weight, bias },
        { weight, bias, eps: 0.1 },
      ])
        allClose(hw.layerNorm(x, options), reference.layerNorm(x, options), {
          what: `[${x.shape}] ${Object.keys(options)}`,
        });
    }
});

test('layerNorm of large numbers, of small ones and around an offset loses no digits', () => {
  for (const [scale, offset] of [
    [1e30, 0],
    [1e-20, 0],
    [1, 1000],
    [1e-3, -100],
  ]) {
    const values = data(1, [4, 37], scale).data.map((value) => value + offset);
    const x = tensor(values, [4, 37]);
    const what = `${scale} around ${offset}`;
    allClose(hw.layerNorm(x), reference.layerNorm(x), { what });
  }
});

test('LayerNorm starts as the plain normalisation, and applies its weight and bias', () => {
  const module = new hw.LayerNorm({ dim: 7, eps: 1e-3 });
  const x = data(1, [2, 3, 7], 2);
  allClose(module.forward(x).output, reference.layerNorm(x, { eps: 1e-3 }));
  const state = shaken(module).stateDict();
  allClose(module.forward(x).output, reference.layerNorm(x, { ...state, eps: 1e-3 }));
});

test('Embedding gives a row of its weight for every id, whatever holds the ids', () => {
  hw.manualSeed(3);
  const module = new hw.Embedding({ numEmbeddings: 7, embeddingDim: 5 });
  hw.manualSeed(3);
  assert.deepEqual(module.stateDict().weight, hw.randn([7, 5]), 'drawn by randn, as torch does');
  const rows = module.stateDict().weight.toNested();
  const pick = (/** @type {number[]} */ ids) => ids.map((id) => rows[id]);
  const flat = [6, 0, 3, 3];
  for (const ids of [
    flat,
    Uint8Array.from(flat),
    Int32Array.from(flat),
    Float64Array.from(flat),
    BigInt64Array.from(flat.map(BigInt)),
    tensor(flat),
  ])
    assert.deepEqual(module.forward(ids).output.toNested(), pick(flat));
  assert.deepEqual(module.forward(4).output.toNested(), rows[4]);
  const nested = [
    [1, 2, 6],
    [0, 0, 5],
  ];
  assert.deepEqual(module.forward(nested).output.toNested(), nested.map(pick));
  assert.deepEqual(module.forward(tensor(nested)).output.toNested(), nested.map(pick));
});

test('FeedForward is fc2(gelu(fc1(x))) for every rank', () => {
  for (const [dModel, dFf] of [
    [1, 1],
    [3, 5],
    [8, 32],
    [33, 131],
  ]) {
    const module = new hw.FeedForward({ dModel, dFf });
    for (const lead of [[], [1], [5], [2, 7], [2, 1, 3]]) {
      const x = data(1, [...lead, dModel], 2);
      const right = reference.feedForward(x, module.stateDict());
      allClose(module.forward(x).output, right, { ...loose, what: `[${x.shape}] ${dFf}` });
    }
    module.dispose();
  }
});

const variants = /** @type {const} */ ([
  { norm: 'pre' },
  { norm: 'post' },
  { norm: 'pre', isCausal: false },
  { norm: 'post', isCausal: false },
]);

for (const variant of variants)
  test(`TransformerBlock agrees with the reference, ${JSON.stringify(variant)}`, () => {
    for (const { batch, n, dModel, numHeads, dFf } of [
      { batch: 1, n: 1, dModel: 2, numHeads: 1, dFf: 1 },
      { batch: 2, n: 6, dModel: 12, numHeads: 3, dFf: 30 },
      { batch: 1, n: 131, dModel: 16, numHeads: 4, dFf: 64 },
    ]) {
      const options = { dModel, numHeads, dFf, ...variant };
      const module = shaken(new hw.TransformerBlock(options));
      const x = data(n, [batch, n, dModel], 2);
      const right = reference.transformerBlock(x, module.stateDict(), options);
      const actual = module.forward(x, { needWeights: true });
      assert.ok(actual.weights);
      allClose(actual.output, right.output, loose);
      allClose(actual.weights, right.weights, loose);
      allClose(module.forward(x).output, right.output, loose);
      module.dispose();
    }
  });

const small = { dModel: 12, numHeads: 3, dFf: 30 };

test('pre-norm is the default of a block, and a causal mask', () => {
  const module = new hw.TransformerBlock(small);
  assert.deepEqual({ ...module.options }, { ...small, dropout: 0, norm: 'pre', isCausal: true });
});

test('a block takes one sequence without a batch', () => {
  const module = shaken(new hw.TransformerBlock(small));
  const x = data(1, [6, 12]);
  const single = module.forward(x, { needWeights: true });
  const whole = module.forward(tensor(x.data, [1, 6, 12]), { needWeights: true });
  assert.deepEqual([...single.output.shape], [6, 12]);
  assert.deepEqual(single.output.data, whole.output.data);
  assert.deepEqual(single.weights, whole.weights);
});

test('a mask replaces a block’s causal mask, and one of three dimensions is refused', () => {
  for (const norm of /** @type {const} */ (['pre', 'post'])) {
    const module = shaken(new hw.TransformerBlock({ ...small, norm }));
    const x = data(2, [2, 6, 12]);
    for (const mask of [boolData(1, [6, 6]), data(2, [2, 1, 6, 6], 2), boolData(3, [1, 3, 6, 6])]) {
      const options = { numHeads: 3, norm, mask };
      const right = reference.transformerBlock(x, module.stateDict(), options);
      allClose(module.forward(x, { mask }).output, right.output, {
        ...loose,
        what: `[${mask.shape}]`,
      });
    }
    const perBatch = { mask: boolData(4, [2, 6, 6]) };
    throwsCode(() => module.forward(x, perBatch), 'ERR_SHAPE', '[batch, 1, Lq, Lkv]');
  }
});

test('a block’s trace gives its weights', () => {
  const module = shaken(new hw.TransformerBlock(small));
  const { weights, trace } = module.forward(data(1, [2, 6, 12]), {
    needWeights: true,
    trace: true,
  });
  assert.ok(weights && trace);
  const right = { shape: [6, 6], data: weights.data.slice(5 * 36, 6 * 36) };
  allClose(trace.weights({ batch: 1, head: 2, rows: [0, 6] }), right, { atol: 2e-7 });
  trace.dispose();
});

for (const norm of /** @type {const} */ (['pre', 'post']))
  test(`a ${norm}-norm stack is its blocks one after another, with the weights and traces of each`, () => {
    const options = { ...small, norm, numLayers: 3 };
    const stack = shaken(new hw.TransformerStack(options));
    const state = stack.stateDict();
    const x = data(1, [2, 6, 12]);
    const right = reference.transformerStack(x, state, options);
    const { output, weights, trace } = stack.forward(x, { needWeights: true, trace: true });
    assert.ok(weights && trace);
    assert.equal(weights.length, 3);
    assert.equal(trace.length, 3);
    allClose(output, right.output, { rtol: 1e-5, atol: 1e-5 });
    weights.forEach((layer, i) => {
      allClose(layer, right.weights[i], loose);
      const head = { shape: [6, 6], data: layer.data.slice(36, 72) };
      allClose(trace[i].weights({ head: 1, rows: [0, 6] }), head, { atol: 2e-7 });
      trace[i].dispose();
    });

    let hidden = x;
    for (let i = 0; i < 3; i++) {
      const block = new hw.TransformerBlock({ ...small, norm });
      const entries = Object.entries(state).filter(([key]) => key.startsWith(`blocks.${i}.`));
      block.loadStateDict(
        Object.fromEntries(entries.map(([key, value]) => [key.slice('blocks.0.'.length), value])),
      );
      hidden = block.forward(hidden, { needWeights: true }).output;
    }
    assert.deepEqual(hidden.data, output.data);
    assert.deepEqual(Object.keys(stack.forward(x)), ['output']);
  });

test('dropout acts in training mode, the first, and the same seed gives the same again', () => {
  for (const module of [
    new hw.FeedForward({ dModel: 12, dFf: 30, dropout: 0.5 }),
    new hw.TransformerBlock({ ...small, dropout: 0.5 }),
    new hw.TransformerStack({ ...small, dropout: 0.5, numLayers: 2 }),
  ]) {
    const x = data(4, [2, 6, 12]);
    const draw = () => [...module.forward(x).output.data];
    hw.manualSeed(1);
    const first = draw();
    assert.notDeepEqual(draw(), first);
    hw.manualSeed(1);
    assert.deepEqual(draw(), first);
    module.eval();
    assert.deepEqual(draw(), draw());
    module.train();
    hw.manualSeed(1);
    assert.deepEqual(draw(), first);
  }
});

test('dropout of 1 leaves a block its residual path', () => {
  const module = new hw.TransformerBlock({ ...small, dropout: 1 });
  const x = data(4, [2, 6, 12]);
  assert.deepEqual(module.forward(x).output.data, x.data);
});

test('hidden activations are computed some rows at a time, with the same numbers', () => {
  const module = new hw.FeedForward({ dModel: 4, dFf: 3000 });
  const x = data(1, [2000, 4]);
  const { output } = module.forward(x);
  for (const row of [0, 351, 352, 1999]) {
    const alone = module.forward(tensor(x.data.slice(row * 4, row * 4 + 4), [1, 4])).output;
    const there = { shape: [1, 4], data: output.data.slice(row * 4, row * 4 + 4) };
    allClose(alone, there, { what: `row ${row}` });
  }
});
