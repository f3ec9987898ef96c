// The course's documents 000 to 003, each table and exercise under its own name; tables come from the seed alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { allClose, data, engine, throwsCode } from './helpers.js';
import * as reference from './reference.js';
import * as seeds from './seeds.js';

const hw = await engine();

/** @param {{ shape: readonly number[], data: ArrayLike<number> }} x @param {number[]} shape */
function hasShape(x, shape) {
  assert.deepEqual([...x.shape], shape);
  assert.ok(Array.from(x.data).every(Number.isFinite));
}

test('000 and 002, listing 3.4: the wrapper prints its 48 values from seed 123', () =>
  seeds.checkWrapper(hw));

test('000 and 002, listing 3.5: the fused module prints its 24 values from seed 123', () =>
  seeds.checkFused(hw));

test('000, step 1: one sequence without a batch gives the same rows', () => {
  hw.manualSeed(123);
  const module = new hw.MultiHeadAttention({ dIn: 3, dOut: 2, contextLength: 6, numHeads: 2 });
  seeds.printsAs(module.forward(tensor(seeds.inputs)).output, seeds.fusedTable);
});

test('000, exercise 3.3: GPT-2 small has the printed parameter counts and keeps the shape [2, 128, 768]', () => {
  hw.manualSeed(123);
  const projection = new hw.Linear({ inFeatures: 768, outFeatures: 768 });
  assert.equal(projection.parameterCount(), 590_592);
  projection.dispose();
  const module = new hw.MultiHeadAttention({
    dIn: 768,
    dOut: 768,
    contextLength: 1024,
    dropout: 0.1,
    numHeads: 12,
    qkvBias: true,
  });
  assert.equal(module.parameterCount(), 2_362_368);
  const state = module.stateDict();
  for (const name of ['W_query', 'W_key', 'W_value', 'out_proj']) {
    assert.deepEqual([...state[`${name}.weight`].shape], [768, 768]);
    assert.deepEqual([...state[`${name}.bias`].shape], [768]);
  }
  module.eval();
  hasShape(module.forward(hw.randn([2, 128, 768])).output, [2, 128, 768]);
  module.dispose();
});

test('001, exercise 3.1: SelfAttention_v1 prints its 12 values from seed 123', () => {
  hw.manualSeed(123);
  const module = new hw.SelfAttentionV1({ dIn: 3, dOut: 2 });
  seeds.printsAs(module.forward(tensor(seeds.inputs)).output, seeds.selfAttentionV1Table);
});

test('001, exercise 3.1: SelfAttention_v2 prints its 12 values from seed 123', () => {
  hw.manualSeed(123);
  const module = new hw.SelfAttentionV2({ dIn: 3, dOut: 2 });
  seeds.printsAs(module.forward(tensor(seeds.inputs)).output, seeds.selfAttentionV2Table);
});

test('001, exercise 3.1: with the weights of v2, transposed, v1 gives the output of v2 within 1e-6', () => {
  hw.manualSeed(123);
  const v1 = new hw.SelfAttentionV1({ dIn: 3, dOut: 2 });
  hw.manualSeed(123);
  const v2 = new hw.SelfAttentionV2({ dIn: 3, dOut: 2 });
  const from = v2.stateDict();
  v1.loadStateDict({
    W_query: hw.transpose(from['W_query.weight']),
    W_key: hw.transpose(from['W_key.weight']),
    W_value: hw.transpose(from['W_value.weight']),
  });
  const x = tensor(seeds.inputs);
  allClose(v1.forward(x).output, v2.forward(x).output, { rtol: 0, atol: 1e-6 });
  seeds.printsAs(v1.forward(x).output, seeds.selfAttentionV2Table);
});

test('001, exercise 3.2: the fused module without mask and biases prints its 10 values from seed 42', () => {
  hw.manualSeed(42);
  const x = hw.randn([1, 5, 4]);
  const module = new hw.MultiHeadAttention({
    dIn: 4,
    dOut: 2,
    contextLength: 5,
    numHeads: 2,
    outBias: false,
    isCausal: false,
  });
  seeds.printsAs(module.forward(x).output, [seeds.exerciseTable]);
});

test('001, exercises 3.2 and 3.3: unmasked modules load their own fc_out, with and without biases', () => {
  for (const biased of [false, true]) {
    const options = { dIn: 4, dOut: 6, contextLength: 5, numHeads: 2, isCausal: false };
    const module = new hw.MultiHeadAttention({ ...options, qkvBias: biased, outBias: biased });
    const layers = /** @type {[string, number][]} */ ([
      ['W_query', 4],
      ['W_key', 4],
      ['W_value', 4],
      ['fc_out', 6],
    ]);
    /** @type {Record<string, import('headwise').Tensor>} */
    const state = {};
    layers.forEach(([name, inFeatures], i) => {
      state[`${name}.weight`] = data(i, [6, inFeatures]);
      if (biased) state[`${name}.bias`] = data(10 + i, [6]);
    });
    module.loadStateDict(state);
    const renamed = Object.entries(state).map(([key, value]) => [
      key.replace('fc_out', 'out_proj'),
      value,
    ]);
    const own = Object.fromEntries(renamed);
    const x = data(20, [2, 5, 4]);
    const right = reference.multiHeadAttention(x, own, { numHeads: 2 });
    const actual = module.forward(x, { needWeights: true });
    assert.ok(actual.weights);
    allClose(actual.output, right.output);
    allClose(actual.weights, right.weights);
  }
});

test('001, exercise 3.3: the unmasked module of GPT-2 small keeps the shape [1, 1024, 768]', () => {
  const module = new hw.MultiHeadAttention({
    dIn: 768,
    dOut: 768,
    contextLength: 1024,
    numHeads: 12,
    qkvBias: true,
    isCausal: false,
  });
  assert.equal(module.parameterCount(), 2_362_368);
  hasShape(module.forward(hw.randn([1, 1024, 768])).output, [1, 1024, 768]);
  module.dispose();
});

test('002, exercise 3.2: the wrapper with d_out=1 gives two dimensions for two heads, [2, 6, 2]', () => {
  const module = new hw.MultiHeadAttentionWrapper({
    dIn: 3,
    dOut: 1,
    contextLength: 6,
    numHeads: 2,
  });
  const x = seeds.batch();
  const right = reference.wrapper(x, module.stateDict(), { numHeads: 2, isCausal: true });
  const { output } = module.forward(x);
  hasShape(output, [2, 6, 2]);
  allClose(output, right.output);
});

test('002, section 3.6.2: a tensor times its transpose prints 18 values, and each head alone its 9', () => {
  const a = tensor(seeds.matmulInput);
  seeds.printsAs(hw.matmul(a, hw.transpose(a)), seeds.matmulTable);
  seeds.matmulInput[0].forEach((head, index) => {
    const one = tensor(head);
    seeds.printsAs(hw.matmul(one, hw.transpose(one)), seeds.matmulTable[0][index]);
  });
});

test('002, section 3.6.2: the width of the largest GPT-2, 1600 in 25 heads, is computed', () => {
  const module = new hw.MultiHeadAttention({
    dIn: 1600,
    dOut: 1600,
    contextLength: 1024,
    numHeads: 25,
    qkvBias: true,
  });
  assert.equal(module.parameterCount(), 4 * (1600 * 1600 + 1600));
  const { output, weights } = module.forward(hw.randn([1, 6, 1600]), { needWeights: true });
  assert.ok(weights);
  hasShape(output, [1, 6, 1600]);
  hasShape(weights, [1, 25, 6, 6]);
  module.dispose();
});

test('003, section 2: five steps by hand and scaledDotProductAttention give the same', () => {
  hw.manualSeed(123);
  const embeddings = hw.randn([2, 6, 768]);
  const [q, k, v] = Array.from({ length: 3 }, () => {
    const projection = new hw.Linear({ inFeatures: 768, outFeatures: 64, bias: false });
    const { output } = projection.forward(embeddings);
    projection.dispose();
    return output;
  });
  const scores = hw.matmul(q, hw.transpose(k));
  hasShape(scores, [2, 6, 6]);
  const scaled = tensor(
    scores.data.map((score) => score / 8),
    scores.shape,
  );
  const byHand = hw.softmax(scaled);
  const { output, weights } = hw.scaledDotProductAttention(q, k, v, { needWeights: true });
  assert.ok(weights);
  allClose(weights, byHand);
  allClose(output, hw.matmul(byHand, v));
});

test('003, section 3 and exercise 2: with the causal mask the upper triangle is zero, without it nothing is', () => {
  const mask = hw.causalMask(6);
  assert.deepEqual(
    mask.toNested(),
    [0, 1, 2, 3, 4, 5].map((i) => [0, 1, 2, 3, 4, 5].map((j) => j <= i)),
  );
  const [q, k, v] = [1, 2, 3].map((seed) => data(seed, [2, 6, 64]));
  const masked = hw.scaledDotProductAttention(q, k, v, { mask, needWeights: true });
  const open = hw.scaledDotProductAttention(q, k, v, { needWeights: true });
  assert.ok(masked.weights && open.weights);
  hasShape(masked.output, [2, 6, 64]);
  for (let at = 0; at < 72; at++) {
    const [row, column] = [Math.floor(at / 6) % 6, at % 6];
    assert.equal(masked.weights.data[at] === 0, column > row);
    assert.ok(open.weights.data[at] > 0);
  }
});

/** MultiHeadAttention(d_model, num_heads, dropout) of document 003. */
const packed = (/** @type {number} */ dModel, /** @type {number} */ numHeads, dropout = 0) =>
  new hw.MultiHeadAttention({
    dIn: dModel,
    dOut: dModel,
    contextLength: 16,
    dropout,
    numHeads,
    packedQkv: true,
    outBias: false,
    isCausal: false,
  });

test('003, section 4: the packed module gives its output and, in training, its weights after dropout', () => {
  hw.manualSeed(123);
  const module = packed(768, 12, 0.1);
  const [x, mask] = [hw.randn([2, 6, 768]), hw.causalMask(6)];
  const { output, weights } = module.forward(x, { mask, needWeights: true });
  assert.ok(weights);
  hasShape(output, [2, 6, 768]);
  hasShape(weights, [2, 12, 6, 6]);
  const kept = module.eval().forward(x, { mask, needWeights: true }).weights;
  assert.ok(kept);
  const visible = [...kept.data.keys()].filter((i) => kept.data[i] > 0);
  const dropped = visible.filter((i) => weights.data[i] === 0);
  assert.equal(visible.length, 2 * 12 * 21);
  assert.ok(dropped.length > 0 && dropped.length < visible.length / 4);
  for (const i of visible)
    if (weights.data[i] !== 0)
      assert.ok(Math.abs(weights.data[i] * 0.9 - kept.data[i]) < 1e-6, `weight ${i}`);
  module.dispose();
});

test('003, section 4: a mask [batch, Lq, Lkv], which the document takes for one per head, is refused in words', () => {
  const module = packed(8, 2);
  throwsCode(
    () => module.forward(data(1, [2, 6, 8]), { mask: data(2, [2, 6, 6]) }),
    'ERR_SHAPE',
    '[batch, 1, Lq, Lkv]',
    '[1, heads, Lq, Lkv]',
  );
});

test('003, exercise 1: the small example gives what a pencil gives', () => {
  const [q, k, v] = [
    [
      [1, 0, 1],
      [0, 1, 1],
    ],
    [
      [1, 1, 0],
      [0, 1, 1],
    ],
    [
      [2, 0, 1],
      [1, 2, 0],
    ],
  ].map((matrix) => tensor([matrix]));
  const share = 1 / (1 + Math.exp(1 / Math.sqrt(3)));
  const { output, weights } = hw.scaledDotProductAttention(q, k, v, { needWeights: true });
  assert.ok(weights);
  allClose(weights, { shape: [1, 2, 2], data: [0.5, 0.5, share, 1 - share] });
  const second = [1 + share, 2 - 2 * share, share];
  allClose(output, { shape: [1, 2, 3], data: [1.5, 1, 0.5, ...second] });
});

test('003, exercise 3: the shapes of 512 in 8 heads over 10 tokens', () => {
  const module = packed(512, 8);
  assert.deepEqual([...module.stateDict()['qkv_proj.weight'].shape], [1536, 512]);
  const { output, weights } = module.forward(data(1, [1, 10, 512]), { needWeights: true });
  assert.ok(weights);
  hasShape(weights, [1, 8, 10, 10]);
  hasShape(output, [1, 10, 512]);
  module.dispose();
});

test('003, exercise 4: one head and 12 have 2,359,296 parameters each, and different outputs', () => {
  const [one, twelve] = [packed(768, 1), packed(768, 12)];
  assert.equal(one.parameterCount(), 2_359_296);
  assert.equal(twelve.parameterCount(), 2_359_296);
  one.loadStateDict(twelve.stateDict());
  const x = data(1, [1, 6, 768]);
  const [a, b] = [one, twelve].map((module) => module.forward(x).output.data);
  assert.ok(a.some((value, i) => Math.abs(value - b[i]) > 1e-3));
  one.dispose();
  twelve.dispose();
});
