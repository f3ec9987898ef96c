// Modules: their numbers against the reference, their masks, modes and traces.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { allClose, boolData, boolTensor, data, engine, throwsCode } from './helpers.js';
import * as reference from './reference.js';

const hw = await engine();
const loose = { rtol: 1e-5, atol: 2e-6 };

test('Linear is x·Wᵀ + b over the last dimension, for every rank', () => {
  for (const [inFeatures, outFeatures] of [
    [3, 2],
    [1, 1],
    [8, 17],
    [64, 33],
    [130, 9],
  ])
    for (const bias of [true, false]) {
      const linear = new hw.Linear({ inFeatures, outFeatures, bias });
      for (const lead of [[], [1], [5], [2, 7]]) {
        const x = data(1, [...lead, inFeatures]);
        const expected = reference.linear(x, /** @type {any} */ (linear.stateDict()));
        allClose(linear.forward(x).output, expected, { ...loose, what: `[${x.shape}]` });
      }
      linear.dispose();
    }
});

const shapes = [
  { batch: 1, n: 1, dIn: 3, dOut: 4, numHeads: 2 },
  { batch: 2, n: 6, dIn: 3, dOut: 2, numHeads: 2 },
  { batch: 3, n: 9, dIn: 5, dOut: 9, numHeads: 3 },
  { batch: 1, n: 131, dIn: 16, dOut: 24, numHeads: 4 },
  { batch: 2, n: 65, dIn: 33, dOut: 64, numHeads: 1 },
];

for (const { batch, n, dIn, dOut, numHeads } of shapes) {
  const name = `[${batch}, ${n}, ${dIn}], ${numHeads} heads, width ${dOut}`;

  test(`the fused module agrees with the reference at ${name}`, () => {
    for (const isCausal of [true, false])
      for (const outProj of [true, false]) {
        const options = { dIn, dOut, numHeads, isCausal, outProj };
        const module = new hw.MultiHeadAttention({
          ...options,
          contextLength: n + 1,
          qkvBias: isCausal,
        });
        const x = data(n, [batch, n, dIn]);
        const state = module.stateDict();
        const expected = reference.multiHeadAttention(x, state, { numHeads, isCausal });
        const actual = module.forward(x, { needWeights: true });
        assert.ok(actual.weights);
        allClose(actual.output, expected.output, loose);
        allClose(actual.weights, expected.weights, loose);
        allClose(module.forward(x).output, expected.output, loose);
        module.dispose();
      }
  });

  test(`the wrapper agrees with the reference, and fused with it, at ${name}`, () => {
    for (const isCausal of [true, false])
      for (const qkvBias of [true, false]) {
        const wrapper = new hw.MultiHeadAttentionWrapper({
          dIn,
          dOut: dOut / numHeads,
          contextLength: n,
          numHeads,
          qkvBias,
          isCausal,
        });
        const x = data(n, [batch, n, dIn]);
        const expected = reference.wrapper(x, wrapper.stateDict(), { numHeads, isCausal });
        const actual = wrapper.forward(x, { needWeights: true });
        assert.ok(actual.weights);
        allClose(actual.output, expected.output, loose);
        allClose(actual.weights, expected.weights, loose);

        const fused = hw.MultiHeadAttention.fromWrapper(wrapper);
        const same = fused.forward(x, { needWeights: true });
        assert.ok(same.weights);
        allClose(same.output, actual.output, loose);
        allClose(same.weights, actual.weights, loose);
        assert.equal('out_proj.weight' in fused.stateDict(), false);
        assert.equal(fused.parameterCount(), wrapper.parameterCount());
        wrapper.dispose();
        allClose(fused.forward(x).output, actual.output, {
          ...loose,
          what: 'outlives the wrapper',
        });
        fused.dispose();
      }
  });
}

test('CausalAttention is one head of the wrapper', () => {
  const module = new hw.CausalAttention({ dIn: 5, dOut: 7, contextLength: 9, qkvBias: true });
  const x = data(1, [2, 9, 5]);
  const expected = reference.multiHeadAttention(x, module.stateDict(), {
    numHeads: 1,
    isCausal: true,
  });
  const actual = module.forward(x, { needWeights: true });
  assert.ok(actual.weights);
  allClose(actual.output, expected.output, loose);
  allClose(actual.weights, expected.weights, loose);
});

test('SelfAttention has no mask: every token attends to all, in batches too', () => {
  for (const [dIn, dOut, n] of [
    [5, 7, 9],
    [33, 80, 133],
    [1, 1, 1],
  ]) {
    const v1 = new hw.SelfAttentionV1({ dIn, dOut });
    const v2 = new hw.SelfAttentionV2({ dIn, dOut });
    v2.loadStateDict(transposed(v1.stateDict()));
    const x = data(n, [2, n, dIn], 0.5);
    const expected = reference.multiHeadAttention(x, v2.stateDict(), { numHeads: 1 });
    for (const module of [v1, v2]) {
      const actual = module.forward(x, { needWeights: true });
      assert.ok(actual.weights);
      assert.deepEqual([...actual.weights.shape], [2, 1, n, n]);
      allClose(actual.output, expected.output, loose);
      allClose(actual.weights, expected.weights, loose);
    }
  }
});

test('packed and separate projections give the same numbers from the same weights', () => {
  const options = { dIn: 5, dOut: 8, contextLength: 9, numHeads: 2, qkvBias: true };
  const separate = new hw.MultiHeadAttention(options);
  const packed = new hw.MultiHeadAttention({ ...options, packedQkv: true });
  const state = separate.stateDict();
  const names = ['W_query', 'W_key', 'W_value'];
  const join = (/** @type {string} */ kind) =>
    names.flatMap((name) => [...state[`${name}.${kind}`].data]);
  packed.loadStateDict({
    'qkv_proj.weight': tensor(new Float32Array(join('weight')), [24, 5]),
    'qkv_proj.bias': tensor(new Float32Array(join('bias')), [24]),
    'out_proj.weight': state['out_proj.weight'],
    'out_proj.bias': state['out_proj.bias'],
  });
  const x = data(1, [2, 9, 5]);
  assert.deepEqual([...packed.forward(x).output.data], [...separate.forward(x).output.data]);
});

/** Every class with the same sizes: [batch, 6, 3] to [batch, 6, 4], two heads where there are heads. */
const classes = () => ({
  SelfAttentionV1: new hw.SelfAttentionV1({ dIn: 3, dOut: 4 }),
  SelfAttentionV2: new hw.SelfAttentionV2({ dIn: 3, dOut: 4, qkvBias: true }),
  CausalAttention: new hw.CausalAttention({ dIn: 3, dOut: 4, contextLength: 8 }),
  MultiHeadAttentionWrapper: new hw.MultiHeadAttentionWrapper({
    dIn: 3,
    dOut: 2,
    contextLength: 8,
    numHeads: 2,
  }),
  MultiHeadAttention: new hw.MultiHeadAttention({ dIn: 3, dOut: 4, contextLength: 8, numHeads: 2 }),
});

/**
 * The weights of a SelfAttentionV1 as Linear layers have them.
 * @param {Record<string, import('headwise').Tensor>} state
 */
const transposed = (state) =>
  Object.fromEntries(
    Object.entries(state).map(([key, value]) => [`${key}.weight`, hw.transpose(value)]),
  );

for (const [name, module] of Object.entries(classes())) {
  const heads = name.startsWith('MultiHead') ? 2 : 1;
  /** @param {import('./helpers.js').Matrix} x @param {any} [options] */
  const expected = (x, options) => {
    const state = module.stateDict();
    const all = { numHeads: heads, ...options };
    if (name === 'MultiHeadAttentionWrapper') return reference.wrapper(x, state, all);
    return reference.multiHeadAttention(
      x,
      name === 'SelfAttentionV1' ? transposed(state) : state,
      all,
    );
  };

  test(`${name} takes one sequence without a batch`, () => {
    const x = data(1, [6, 3]);
    const whole = module.forward(tensor(x.data, [1, 6, 3]), { needWeights: true });
    const single = module.forward(x, { needWeights: true });
    assert.deepEqual([...single.output.shape], [6, 4]);
    assert.deepEqual([...single.output.data], [...whole.output.data]);
    assert.deepEqual([...(single.weights?.data ?? [])], [...(whole.weights?.data ?? [1])]);
  });

  test(`${name}: a mask decides alone what is visible`, () => {
    const x = data(2, [2, 6, 3]);
    const all = boolTensor(new Array(36).fill(true), [6, 6]);
    const masks = [all, boolData(1, [6, 6]), data(2, [6, 6], 2), boolData(3, [2, 1, 6, 6])];
    masks.push(data(4, [1, heads, 6, 6]), boolData(5, [2, heads, 6, 6]), data(6, [1, 1, 1, 6]));
    for (const mask of masks) {
      const actual = module.forward(x, { mask, needWeights: true });
      assert.ok(actual.weights);
      const right = expected(x, { mask });
      allClose(actual.output, right.output, { ...loose, what: `mask [${mask.shape}]` });
      allClose(actual.weights, right.weights, { ...loose, what: `mask [${mask.shape}] weights` });
    }
  });

  test(`${name}: a mask of three dimensions is ambiguous and refused`, () => {
    const x = data(2, [2, 6, 3]);
    for (const mask of [boolData(1, [2, 6, 6]), data(1, [1, 6, 6])])
      throwsCode(
        () => module.forward(x, { mask }),
        'ERR_SHAPE',
        'mask',
        '[batch, 1, Lq, Lkv]',
        '[1, heads, Lq, Lkv]',
      );
  });

  test(`${name}: a mask that does not fit is refused, naming its shape`, () => {
    const x = data(2, [2, 6, 3]);
    for (const shape of [
      [5, 6],
      [3, 1, 6, 6],
      [1, 3, 6, 6],
      [1, 1, 6, 7],
    ])
      throwsCode(
        () => module.forward(x, { mask: boolData(1, shape) }),
        'ERR_SHAPE',
        'mask',
        `[${shape.join(', ')}]`,
      );
  });

  test(`${name}: a trace gives the weights of needWeights, whole and in part`, () => {
    const x = data(3, [2, 6, 3]);
    for (const mask of [undefined, boolData(1, [6, 6], 0.5), data(2, [2, 1, 6, 6])]) {
      const options = mask ? { mask } : {};
      const { weights, trace } = module.forward(x, { ...options, needWeights: true, trace: true });
      assert.ok(weights && trace);
      for (let b = 0; b < 2; b++)
        for (let head = 0; head < heads; head++) {
          const start = (b * heads + head) * 36;
          const right = weights.data.slice(start, start + 36);
          const whole = trace.weights({ batch: b, head, rows: [0, 6] });
          allClose(whole, { shape: [6, 6], data: right }, { atol: 1e-7 });
          const part = trace.weights({ batch: b, head, rows: [2, 5] });
          allClose(part, { shape: [3, 6], data: right.slice(12, 30) }, { atol: 1e-7 });
        }
      trace.dispose();
    }
  });
}

for (const name of ['CausalAttention', 'MultiHeadAttentionWrapper', 'MultiHeadAttention'])
  test(`${name} is in training mode at first, where dropout acts; eval ends it, train resumes`, () => {
    const options = { dIn: 3, dOut: 4, contextLength: 6, numHeads: 2, dropout: 0.5 };
    const Class = /** @type {any} */ (hw)[name];
    const { numHeads, ...single } = options;
    const dropping = new Class(name === 'CausalAttention' ? single : { ...options, numHeads });
    const x = data(4, [2, 6, 3]);
    const draw = () => [...dropping.forward(x).output.data];
    hw.manualSeed(1);
    const first = draw();
    assert.notDeepEqual(draw(), first);
    hw.manualSeed(1);
    assert.deepEqual(draw(), first);
    dropping.eval();
    assert.deepEqual(draw(), draw());
    dropping.train();
    hw.manualSeed(1);
    assert.deepEqual(draw(), first);
    dropping.training = false;
    assert.equal(dropping.training, false);
    assert.deepEqual(draw(), draw());
  });

test('the output under dropout is what the returned weights make of the values', () => {
  const options = { dIn: 3, dOut: 3, contextLength: 40, dropout: 0.5 };
  const module = new hw.CausalAttention(options);
  const x = data(5, [1, 40, 3]);
  const { output, weights } = module.forward(x, { needWeights: true });
  assert.ok(weights);
  const v = reference.linear(x, reference.layer(module.stateDict(), 'W_value'));
  const right = reference.matmul({ shape: [1, 40, 40], data: weights.data }, v);
  allClose(output, right, loose);
});

test('a trace under dropout gives the weights after dropout', () => {
  const module = new hw.MultiHeadAttention({
    dIn: 3,
    dOut: 4,
    contextLength: 40,
    numHeads: 2,
    dropout: 0.5,
  });
  const x = data(6, [1, 40, 3]);
  const { weights, trace } = module.forward(x, { needWeights: true, trace: true });
  assert.ok(weights && trace);
  for (const head of [0, 1]) {
    const right = weights.data.slice(head * 1600, (head + 1) * 1600);
    allClose(trace.weights({ head, rows: [0, 40] }), { shape: [40, 40], data: right });
  }
});

test('where dropout of 1 drops every weight, trace.map is 0 as trace.weights is', () => {
  const options = { dIn: 3, dOut: 4, contextLength: 40, numHeads: 2, dropout: 1 };
  const module = new hw.MultiHeadAttention(options);
  const { trace } = module.forward(data(6, [1, 40, 3]), { trace: true });
  assert.ok(trace);
  const zeros = new Float32Array(1600);
  assert.deepEqual(trace.weights({ head: 1, rows: [0, 40] }).data, zeros);
  for (const size of [40, 7])
    assert.deepEqual(trace.map({ head: 1, size }).data, zeros.subarray(0, size * size));
});

test('needWeights and trace change nothing in the output', () => {
  const { MultiHeadAttention: module } = classes();
  const x = data(7, [2, 6, 3]);
  const plain = [...module.forward(x).output.data];
  const result = module.forward(x);
  assert.equal(result.weights, undefined);
  assert.equal(result.trace, undefined);
  const full = module.forward(x, { needWeights: true, trace: true });
  allClose(full.output, { shape: [2, 6, 4], data: plain }, { atol: 2e-7 });
});

test('trace.map gives each cell the maximum of the weights that it covers', () => {
  for (const n of [1, 6, 37, 130]) {
    const options = { dIn: 3, dOut: 4, contextLength: n, numHeads: 2 };
    const module = new hw.MultiHeadAttention(options);
    const { weights, trace } = module.forward(data(8, [2, n, 3]), {
      needWeights: true,
      trace: true,
    });
    assert.ok(weights && trace);
    for (const size of [1, 2, 5, n, n + 3, 2 * n + 1]) {
      const span = (/** @type {number} */ cell) => {
        const start = Math.floor((cell * n) / size);
        return [start, Math.max(start + 1, Math.floor(((cell + 1) * n) / size))];
      };
      const head = weights.data.slice(3 * n * n, 4 * n * n);
      const right = { shape: [size, size], data: new Float64Array(size * size) };
      for (let r = 0; r < size; r++)
        for (let c = 0; c < size; c++)
          for (let i = span(r)[0]; i < span(r)[1]; i++)
            for (let j = span(c)[0]; j < span(c)[1]; j++)
              right.data[r * size + c] = Math.max(right.data[r * size + c], head[i * n + j]);
      const map = trace.map({ batch: 1, head: 1, size });
      allClose(map, right, { atol: 1e-7, what: `${n} tokens, size ${size}` });
    }
    trace.dispose();
  }
});

test('a trace lives on when its module computes again and ends', () => {
  const { MultiHeadAttention: module } = classes();
  const { trace } = module.forward(data(9, [2, 6, 3]), { trace: true });
  assert.ok(trace);
  const before = [...trace.weights({ head: 1, rows: [0, 6] }).data];
  module.forward(data(10, [2, 8, 3]), { trace: true }).trace?.dispose();
  module.dispose();
  assert.deepEqual([...trace.weights({ head: 1, rows: [0, 6] }).data], before);
  trace.dispose();
});

test('an output is untouched by later calls', () => {
  const { MultiHeadAttention: module } = classes();
  const { output, weights } = module.forward(data(11, [2, 6, 3]), { needWeights: true });
  const before = [[...output.data], [...(weights?.data ?? [])]];
  for (let i = 0; i < 5; i++) module.forward(data(12 + i, [3, 8, 3]), { needWeights: true });
  assert.deepEqual([[...output.data], [...(weights?.data ?? [])]], before);
});
