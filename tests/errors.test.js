// After failures and after dispose: what still works, and what is refused. (Bad calls one by one: bad-calls/.)
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { HeadwiseError, tensor, zeros } from 'headwise';
import { data, engine, throwsCode } from './helpers.js';
import { checkFused } from './seeds.js';

const hw = await engine();
const x = data(1, [2, 6, 3]);
const options = { dIn: 3, dOut: 4, contextLength: 6, numHeads: 2 };
const head1 = { dIn: 3, dOut: 4, contextLength: 6 };
const head = new hw.CausalAttention(head1);
const wrapper = new hw.MultiHeadAttentionWrapper(options);
const mha = new hw.MultiHeadAttention(options);
const attend = hw.scaledDotProductAttention.bind(hw);

afterEach(() => checkFused(hw));

for (const [name, module] of Object.entries({ head, wrapper, mha })) {
  test(`the ${name} refuses inputs of wrong rank, width and length, naming what it got`, () => {
    for (const shape of [[3], [1, 2, 6, 3], [2, 6, 4], [6, 2]])
      throwsCode(() => module.forward(zeros(shape)), 'ERR_SHAPE', 'x', `[${shape.join(', ')}]`);
    for (const shape of [
      [2, 7, 3],
      [7, 3],
    ])
      throwsCode(() => module.forward(zeros(shape)), 'ERR_SHAPE', 'contextLength', '6', '7');
  });
}

test('sizes that no memory holds are refused, and what was loaded stays', () => {
  const before = [...mha.forward(x).output.data];
  const huge = { dIn: 1e5, dOut: 1e5, contextLength: 6, numHeads: 2 };
  for (const call of [
    () => zeros([1e9, 1e9]),
    () => zeros([2 ** 20, 2 ** 20, 2 ** 20]),
    () => hw.rand([1e9, 1e9]),
    () => hw.randn([65536, 65536]),
    () => hw.causalMask(1e6),
    () => new hw.Linear({ inFeatures: 1e6, outFeatures: 1e6 }),
    () => new hw.Linear({ inFeatures: 65536, outFeatures: 65536 }),
    () => new hw.Linear({ inFeatures: 2 ** 31, outFeatures: 2 }),
    () => new hw.Linear({ inFeatures: 2 ** 32, outFeatures: 1 }),
    () => new hw.MultiHeadAttention(huge),
    () => new hw.SelfAttentionV1({ dIn: 1e6, dOut: 1e6 }),
    () => new hw.SelfAttentionV1({ dIn: 25000, dOut: 25000 }),
    () => new hw.SelfAttentionV2({ dIn: 1e6, dOut: 1e6 }),
    () => new hw.CausalAttention({ dIn: 1e6, dOut: 1e6, contextLength: 6 }),
    () => new hw.MultiHeadAttentionWrapper({ ...huge, numHeads: 1e6 }),
    () => attend(zeros([65536, 1]), zeros([65536, 1]), zeros([65536, 1]), { needWeights: true }),
  ]) {
    throwsCode(call, 'ERR_MEMORY');
    assert.deepEqual([...mha.forward(x).output.data], before, String(call));
  }
});

test('a module is refused after dispose, which may be called twice', () => {
  for (const module of [
    new hw.Linear({ inFeatures: 3, outFeatures: 2 }),
    new hw.SelfAttentionV1({ dIn: 3, dOut: 4 }),
    new hw.SelfAttentionV2({ dIn: 3, dOut: 4 }),
    new hw.CausalAttention(head1),
    new hw.MultiHeadAttentionWrapper(options),
    new hw.MultiHeadAttention(options),
  ]) {
    const state = module.stateDict();
    module.dispose();
    module.dispose();
    throwsCode(() => module.forward(x), 'ERR_DISPOSED', module.constructor.name);
    throwsCode(() => module.stateDict(), 'ERR_DISPOSED');
    throwsCode(() => module.loadStateDict(state), 'ERR_DISPOSED');
  }
  const ended = new hw.MultiHeadAttentionWrapper(options);
  ended.dispose();
  throwsCode(() => hw.MultiHeadAttention.fromWrapper(ended), 'ERR_DISPOSED');
});

test('nothing works after the engine is disposed of, and other engines go on', async () => {
  const ended = await engine();
  const module = new ended.MultiHeadAttention(options);
  const { trace, output } = module.forward(x, { trace: true });
  assert.ok(trace);
  const before = [...output.data];
  ended.dispose();
  ended.dispose();
  for (const call of [
    () => ended.manualSeed(1),
    () => ended.rand([2]),
    () => ended.softmax(x),
    () => ended.matmul(x, ended.transpose(x)),
    () => ended.transpose(tensor([[true, false]])),
    () => ended.scaledDotProductAttention(x, x, x),
    () => new ended.Linear({ inFeatures: 3, outFeatures: 2 }),
    () => new ended.MultiHeadAttention(options),
    () => new ended.Module(),
    () => module.forward(x),
    () => module.stateDict(),
    () => trace.weights({ head: 0, rows: [0, 1] }),
  ])
    throwsCode(call, 'ERR_DISPOSED');
  module.dispose();
  trace.dispose();
  assert.deepEqual([...output.data], before);
});

test('a module of another engine is refused or works, but never mixes the two', async () => {
  const other = await engine();
  const foreign = new other.MultiHeadAttentionWrapper(options);
  const expected = [...foreign.forward(x).output.data];
  try {
    const fused = hw.MultiHeadAttention.fromWrapper(foreign);
    const actual = [...fused.forward(x).output.data];
    actual.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-5));
  } catch (error) {
    assert.ok(error instanceof HeadwiseError, String(error));
  }
  other.dispose();
});

test('a refused size leaves the memory for inputs and results where it is', async () => {
  const own = await engine();
  const large = data(7, [64, 512]);
  const before = own.softmax(large);
  throwsCode(() => own.rand([2 ** 31]), 'ERR_MEMORY');
  own.manualSeed(1);
  const module = new own.Linear({ inFeatures: 512, outFeatures: 8 });
  const state = module.stateDict();
  assert.deepEqual(own.softmax(large).data, before.data);
  assert.deepEqual(module.stateDict(), state);
  checkFused(own);
});
