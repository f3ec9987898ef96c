// State dicts: torch's keys and shapes, strict loading.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor, zeros } from 'headwise';
import { allClose, data, engine, throwsCode } from './helpers.js';

const hw = await engine();

/** @param {Record<string, { shape: readonly number[] }>} state */
const shapes = (state) =>
  Object.fromEntries(Object.entries(state).map(([key, value]) => [key, [...value.shape]]));

/** @param {Record<string, number[]>} expected */
const count = (expected) =>
  Object.values(expected).reduce((sum, shape) => sum + shape.reduce((a, b) => a * b, 1), 0);

const single = { dIn: 3, dOut: 4 };
const attention = { ...single, contextLength: 6 };
const multi = { ...attention, numHeads: 2 };

const qkv = { 'W_query.weight': [4, 3], 'W_key.weight': [4, 3], 'W_value.weight': [4, 3] };
/** In torch's order: each weight with its bias. */
const qkvWithBias = Object.fromEntries(
  ['W_query', 'W_key', 'W_value'].flatMap((name) => [
    [`${name}.weight`, [4, 3]],
    [`${name}.bias`, [4]],
  ]),
);

/** @type {[string, any, Record<string, number[]>][]} */
const table = [
  ['Linear', { inFeatures: 3, outFeatures: 2 }, { weight: [2, 3], bias: [2] }],
  ['Linear', { inFeatures: 3, outFeatures: 2, bias: false }, { weight: [2, 3] }],
  ['SelfAttentionV1', single, { W_query: [3, 4], W_key: [3, 4], W_value: [3, 4] }],
  ['SelfAttentionV2', single, qkv],
  ['SelfAttentionV2', { ...single, qkvBias: true }, qkvWithBias],
  ['CausalAttention', attention, qkv],
  ['CausalAttention', { ...attention, qkvBias: true }, qkvWithBias],
  [
    'MultiHeadAttentionWrapper',
    multi,
    Object.fromEntries(
      [0, 1].flatMap((i) =>
        Object.entries(qkv).map(([name, shape]) => [`heads.${i}.${name}`, shape]),
      ),
    ),
  ],
  ['MultiHeadAttention', multi, { ...qkv, 'out_proj.weight': [4, 4], 'out_proj.bias': [4] }],
  ['MultiHeadAttention', { ...multi, outProj: false }, qkv],
  [
    'MultiHeadAttention',
    { ...multi, qkvBias: true, outBias: false },
    { ...qkvWithBias, 'out_proj.weight': [4, 4] },
  ],
  [
    'MultiHeadAttention',
    { ...multi, packedQkv: true },
    { 'qkv_proj.weight': [12, 3], 'out_proj.weight': [4, 4], 'out_proj.bias': [4] },
  ],
  [
    'MultiHeadAttention',
    { ...multi, packedQkv: true, qkvBias: true, outProj: false },
    { 'qkv_proj.weight': [12, 3], 'qkv_proj.bias': [12] },
  ],
];

/** @param {string} prefix */
const blockShapes = (prefix) => ({
  [`${prefix}ln1.weight`]: [4],
  [`${prefix}ln1.bias`]: [4],
  [`${prefix}ln2.weight`]: [4],
  [`${prefix}ln2.bias`]: [4],
  [`${prefix}attn.qkv_proj.weight`]: [12, 4],
  [`${prefix}attn.out_proj.weight`]: [4, 4],
  [`${prefix}ffn.fc1.weight`]: [6, 4],
  [`${prefix}ffn.fc1.bias`]: [6],
  [`${prefix}ffn.fc2.weight`]: [4, 6],
  [`${prefix}ffn.fc2.bias`]: [4],
});
const block = { dModel: 4, numHeads: 2, dFf: 6 };

table.push(
  ['Embedding', { numEmbeddings: 5, embeddingDim: 3 }, { weight: [5, 3] }],
  ['LayerNorm', { dim: 3 }, { weight: [3], bias: [3] }],
  [
    'FeedForward',
    { dModel: 3, dFf: 5 },
    { 'fc1.weight': [5, 3], 'fc1.bias': [5], 'fc2.weight': [3, 5], 'fc2.bias': [3] },
  ],
  ['TransformerBlock', block, blockShapes('')],
  ['TransformerBlock', { ...block, norm: 'post' }, blockShapes('')],
  [
    'TransformerStack',
    { ...block, numLayers: 2 },
    { ...blockShapes('blocks.0.'), ...blockShapes('blocks.1.') },
  ],
);

/** What a module of the table takes. @param {string} name */
function inputOf(name) {
  if (name === 'Embedding') return [0, 4, 2];
  return data(1, name.startsWith('Transformer') ? [2, 6, 4] : [2, 6, 3]);
}

/** @param {Record<string, number[]>} expected @returns {Record<string, any>} */
const otherState = (expected) =>
  Object.fromEntries(Object.entries(expected).map(([key, shape], i) => [key, data(i, shape)]));

for (const [name, options, expected] of table) {
  const title = `${name} ${JSON.stringify(options)}`;
  const make = () => new /** @type {any} */ (hw)[name](options);

  test(`${title} has torch's keys, shapes and order`, () => {
    const state = make().stateDict();
    assert.deepEqual(shapes(state), expected);
    assert.deepEqual(Object.keys(state), Object.keys(expected));
    assert.equal(make().parameterCount(), count(expected));
  });

  test(`${title} loads what another one of its kind gives`, () => {
    const [a, b] = [make(), make()];
    a.loadStateDict(otherState(expected));
    const x = inputOf(name);
    assert.notDeepEqual([...b.forward(x).output.data], [...a.forward(x).output.data]);
    b.loadStateDict(a.stateDict());
    assert.deepEqual([...b.forward(x).output.data], [...a.forward(x).output.data]);
    assert.deepEqual(b.stateDict(), a.stateDict());
  });

  test(`${title} names missing, unexpected and misshapen keys and stays as it was`, () => {
    const module = make();
    const before = module.stateDict();
    const keys = Object.keys(expected);
    const other = make().stateDict();
    const [first, ...rest] = keys;
    const last = keys[keys.length - 1];

    const missing = Object.fromEntries(rest.map((key) => [key, other[key]]));
    throwsCode(() => module.loadStateDict(missing), 'ERR_VALUE', 'missing', first);
    const extra = { ...other, surplus: zeros([1]) };
    throwsCode(() => module.loadStateDict(extra), 'ERR_VALUE', 'unexpected', 'surplus');
    const misshapen = { ...other, [last]: zeros([7, 9]) };
    const named = `[${expected[last].join(', ')}]`;
    throwsCode(() => module.loadStateDict(misshapen), 'ERR_SHAPE', last, '[7, 9]', named);
    const bare = /** @type {any} */ ({ ...other, [last]: [1, 2, 3] });
    throwsCode(() => module.loadStateDict(bare), 'ERR_VALUE', last);
    assert.deepEqual(module.stateDict(), before);
  });
}

test('one message names every bad key', () => {
  const module = new hw.MultiHeadAttention(multi);
  const state = { ...module.stateDict() };
  delete state['W_key.weight'];
  state.surplus = zeros([1]);
  state['out_proj.bias'] = zeros([5]);
  assert.throws(
    () => module.loadStateDict(state),
    (/** @type {Error} */ error) =>
      ['W_key.weight', 'surplus', 'out_proj.bias'].every((key) => error.message.includes(key)),
  );
});

test('fc_out is taken for out_proj', () => {
  const module = new hw.MultiHeadAttention(multi);
  const rest = { ...module.stateDict() };
  delete rest['out_proj.weight'];
  delete rest['out_proj.bias'];
  const [weight, bias] = [data(1, [4, 4]), data(2, [4])];
  module.loadStateDict({ ...rest, 'fc_out.weight': weight, 'fc_out.bias': bias });
  const state = module.stateDict();
  assert.deepEqual([...state['out_proj.weight'].data], [...weight.data]);
  assert.deepEqual([...state['out_proj.bias'].data], [...bias.data]);
  assert.equal('fc_out.weight' in state, false);
  throwsCode(
    () => module.loadStateDict({ ...state, 'fc_out.bias': bias }),
    ...['ERR_VALUE', 'unexpected: fc_out.bias'],
  );
});

test('the causal mask that the notebooks save with their weights is accepted, and no other', () => {
  const rows = (/** @type {number} */ n) => {
    const columns = [...Array(n).keys()];
    return columns.map((i) => columns.map((j) => Number(j > i)));
  };
  const causal = tensor(rows(6));
  for (const [name, options, keys] of /** @type {[string, any, string[]][]} */ ([
    ['CausalAttention', attention, ['mask']],
    ['MultiHeadAttention', multi, ['mask']],
    ['MultiHeadAttentionWrapper', multi, ['heads.0.mask', 'heads.1.mask']],
  ])) {
    const Class = /** @type {any} */ (hw)[name];
    const module = new Class(options);
    const other = new Class(options).stateDict();
    const masks = Object.fromEntries(keys.map((key) => [key, causal]));
    module.loadStateDict({ ...masks, ...other });
    assert.deepEqual(module.stateDict(), other);

    const before = module.stateDict();
    const last = keys[keys.length - 1];
    const load = (/** @type {any} */ mask) => () =>
      module.loadStateDict({ ...new Class(options).stateDict(), ...masks, [last]: mask });
    throwsCode(load(tensor(rows(7))), 'ERR_SHAPE', last, '[7, 7]', '[6, 6]');
    throwsCode(load(zeros([6, 6])), 'ERR_VALUE', last, '0 at [0, 1]', 'causal');
    throwsCode(load([1]), 'ERR_VALUE', last, 'Tensor');
    assert.deepEqual(module.stateDict(), before);
    const booleans = rows(6).map((row) => row.map(Boolean));
    module.loadStateDict({ ...other, [last]: tensor(booleans) });
    if (name === 'CausalAttention') continue;
    const unmasked = new Class({ ...options, isCausal: false });
    throwsCode(
      () => unmasked.loadStateDict({ ...other, ...masks }),
      'ERR_VALUE',
      'unexpected',
      last,
    );
  }
});

test('a bool tensor is no weight', () => {
  const module = new hw.Linear({ inFeatures: 1, outFeatures: 2, bias: false });
  throwsCode(
    () => module.loadStateDict({ weight: tensor([[true], [false]]) }),
    'ERR_VALUE',
    'weight',
  );
});

test('what stateDict gives is a copy, and loadStateDict takes one', () => {
  const module = new hw.Linear({ inFeatures: 3, outFeatures: 2 });
  const x = data(1, [4, 3]);
  const before = [...module.forward(x).output.data];
  const state = module.stateDict();
  module.loadStateDict(state);
  for (const value of Object.values(state)) value.data.fill(9);
  assert.deepEqual([...module.forward(x).output.data], before);
});

test('loading and fromWrapper leave the random numbers alone', () => {
  const linear = new hw.Linear({ inFeatures: 3, outFeatures: 2 });
  const wrapper = new hw.MultiHeadAttentionWrapper(multi);
  hw.manualSeed(1);
  const expected = [...hw.rand([3]).data];
  hw.manualSeed(1);
  linear.loadStateDict(linear.stateDict());
  hw.MultiHeadAttention.fromWrapper(wrapper);
  assert.deepEqual([...hw.rand([3]).data], expected);
});

test('fromWrapper carries the biases over, head by head', () => {
  const wrapper = new hw.MultiHeadAttentionWrapper({ ...multi, qkvBias: true });
  const fused = hw.MultiHeadAttention.fromWrapper(wrapper);
  const from = wrapper.stateDict();
  const to = fused.stateDict();
  for (const name of ['W_query', 'W_key', 'W_value'])
    for (const kind of ['weight', 'bias']) {
      const stacked = [0, 1].flatMap((head) => [...from[`heads.${head}.${name}.${kind}`].data]);
      assert.deepEqual([...to[`${name}.${kind}`].data], stacked);
    }
  const x = data(1, [2, 6, 3]);
  allClose(fused.forward(x).output, wrapper.forward(x).output);
});
