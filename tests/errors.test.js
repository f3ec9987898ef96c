// Bad input: each call fails in words, and the engine still computes the course's table afterwards.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { HeadwiseError, Tensor, tensor, zeros } from 'headwise';
import { data, engine, throwsCode } from './helpers.js';
import { checkFused } from './seeds.js';

const hw = await engine();
const x = data(1, [2, 6, 3]);
const options = { dIn: 3, dOut: 4, contextLength: 6, numHeads: 2 };
const linear = new hw.Linear({ inFeatures: 3, outFeatures: 2 });
const v1 = new hw.SelfAttentionV1({ dIn: 3, dOut: 4 });
const head = new hw.CausalAttention({ dIn: 3, dOut: 4, contextLength: 6 });
const wrapper = new hw.MultiHeadAttentionWrapper(options);
const mha = new hw.MultiHeadAttention(options);
const attend = hw.scaledDotProductAttention.bind(hw);
/** Past the types: what plain JavaScript can pass. */
const any = (/** @type {unknown} */ value) => /** @type {any} */ (value);
const bool = tensor([
  [true, false],
  [true, true],
]);

afterEach(() => checkFused(hw));

test('HeadwiseError is an Error with a code and a name', () => {
  assert.throws(() => zeros([-1]), Error);
  try {
    zeros([-1]);
  } catch (error) {
    assert.ok(error instanceof HeadwiseError);
    assert.equal(error.name, 'HeadwiseError');
    assert.equal(error.code, 'ERR_VALUE');
  }
});

/** @type {[string, () => unknown, string, (string | RegExp)[]][]} */
const calls = [
  // Tensors
  ['ragged arrays', () => tensor([[1, 2], [3]]), 'ERR_SHAPE', ['[3]', '2']],
  ['uneven depth', () => tensor(any([[1], 2])), 'ERR_SHAPE', ['2']],
  ['too few values', () => tensor(new Float32Array(5), [2, 3]), 'ERR_SHAPE', ['[2, 3]', '5']],
  ['text as values', () => tensor(any([['a']])), 'ERR_VALUE', ['"a"']],
  ['nothing as values', () => tensor(any(undefined)), 'ERR_VALUE', ['undefined']],
  ['mixed values', () => tensor(any([true, 1])), 'ERR_VALUE', ['boolean']],
  ['a negative size', () => zeros([2, -1]), 'ERR_VALUE', ['shape', '-1']],
  ['half a size', () => zeros([1.5]), 'ERR_VALUE', ['shape', '1.5']],
  ['no shape', () => zeros(any(3)), 'ERR_VALUE', ['shape', '3']],
  ['data of another type', () => new Tensor(any([1]), [1]), 'ERR_VALUE', ['data']],
  // Functions
  ['an array for a tensor', () => hw.softmax(any([1, 2])), 'ERR_VALUE', ['[1, 2]', 'Tensor']],
  ['null for a tensor', () => hw.transpose(any(null)), 'ERR_VALUE', ['null', 'Tensor']],
  ['bools to softmax', () => hw.softmax(bool), 'ERR_VALUE', ['bool', 'float32']],
  ['softmax of nothing', () => hw.softmax(zeros([2, 0])), 'ERR_SHAPE', ['[2, 0]']],
  ['transpose of a vector', () => hw.transpose(zeros([3])), 'ERR_SHAPE', ['[3]']],
  [
    'matmul of unequal inner sizes',
    () => hw.matmul(zeros([2, 3]), zeros([4, 2])),
    'ERR_SHAPE',
    ['[2, 3]', '[4, 2]'],
  ],
  [
    'matmul of batches that do not fit',
    () => hw.matmul(zeros([2, 3, 3]), zeros([4, 3, 3])),
    'ERR_SHAPE',
    ['[2, 3, 3]', '[4, 3, 3]'],
  ],
  ['matmul of no elements', () => hw.matmul(zeros([0, 3]), zeros([3, 3])), 'ERR_SHAPE', ['[0, 3]']],
  ['a causal mask of half a size', () => hw.causalMask(2.5), 'ERR_VALUE', ['2.5']],
  // scaledDotProductAttention
  ['q of rank 1', () => attend(zeros([3]), zeros([3]), zeros([3])), 'ERR_SHAPE', ['q', '[3]']],
  [
    'q of rank 5',
    () => attend(zeros([1, 1, 1, 2, 3]), x, x),
    'ERR_SHAPE',
    ['q', '[1, 1, 1, 2, 3]'],
  ],
  ['ranks that differ', () => attend(zeros([6, 3]), x, x), 'ERR_SHAPE', ['[6, 3]', '[2, 6, 3]']],
  [
    'k of another width',
    () => attend(x, zeros([2, 6, 4]), x),
    'ERR_SHAPE',
    ['k', '[2, 6, 4]', '3'],
  ],
  [
    'v of another length',
    () => attend(x, x, zeros([2, 5, 3])),
    'ERR_SHAPE',
    ['v', '[2, 5, 3]', '6'],
  ],
  [
    'k of another batch',
    () => attend(x, zeros([3, 6, 3]), zeros([3, 6, 3])),
    'ERR_SHAPE',
    ['k', '[3, 6, 3]', '2'],
  ],
  ['no keys', () => attend(x, zeros([2, 0, 3]), zeros([2, 0, 3])), 'ERR_SHAPE', ['k', '[2, 0, 3]']],
  [
    'no queries',
    () => attend(zeros([0, 3]), zeros([6, 3]), zeros([6, 3])),
    'ERR_SHAPE',
    ['q', '[0, 3]'],
  ],
  [
    'a mask that does not fit',
    () => attend(x, x, x, { mask: zeros([5, 6]) }),
    'ERR_SHAPE',
    ['mask', '[5, 6]', '[2, 6, 6]'],
  ],
  [
    'a mask with too many keys',
    () => attend(x, x, x, { mask: zeros([7]) }),
    'ERR_SHAPE',
    ['mask', '[7]'],
  ],
  [
    'a mask of higher rank',
    () => attend(x, x, x, { mask: zeros([1, 1, 6, 6]) }),
    'ERR_SHAPE',
    ['mask', '[1, 1, 6, 6]'],
  ],
  [
    'an array as mask',
    () => attend(x, x, x, any({ mask: [[1]] })),
    'ERR_VALUE',
    ['mask', 'Tensor'],
  ],
  [
    'a scale that is no number',
    () => attend(x, x, x, any({ scale: '1' })),
    'ERR_VALUE',
    ['scale', '"1"'],
  ],
  [
    'half an offset',
    () => attend(x, x, x, { isCausal: true, causalOffset: 0.5 }),
    'ERR_VALUE',
    ['causalOffset', '0.5'],
  ],
  [
    'a window of one side',
    () => attend(x, x, x, any({ window: [1] })),
    'ERR_VALUE',
    ['window', '[1]', '[left, right]'],
  ],
  [
    'a window of less than nothing',
    () => attend(x, x, x, { window: [-2, 0] }),
    'ERR_VALUE',
    ['window', '-2'],
  ],
  [
    'isCausal that is no boolean',
    () => attend(x, x, x, any({ isCausal: 1 })),
    'ERR_VALUE',
    ['isCausal', '1'],
  ],
  [
    'an unknown option',
    () => attend(x, x, x, any({ causal: true })),
    'ERR_VALUE',
    ['causal', 'isCausal'],
  ],
  [
    'a misspelt needWeights',
    () => attend(x, x, x, any({ needWeights: 'all' })),
    'ERR_VALUE',
    ['needWeights', '"all"'],
  ],
  // Constructors
  [
    'dOut not divisible by numHeads',
    () => new hw.MultiHeadAttention({ ...options, dOut: 5 }),
    'ERR_SHAPE',
    ['dOut', '5', 'numHeads', '2'],
  ],
  [
    'no heads',
    () => new hw.MultiHeadAttention({ ...options, numHeads: 0 }),
    'ERR_VALUE',
    ['numHeads', '0'],
  ],
  ['no width', () => new hw.CausalAttention({ ...head1(), dIn: 0 }), 'ERR_VALUE', ['dIn', '0']],
  [
    'a context to SelfAttentionV1',
    () => new hw.SelfAttentionV1(any({ dIn: 3, dOut: 4, contextLength: 6 })),
    'ERR_VALUE',
    ['SelfAttentionV1', 'contextLength'],
  ],
  ['no SelfAttentionV2', () => new hw.SelfAttentionV2(any({})), 'ERR_VALUE', ['dIn', 'undefined']],
  [
    'weights of v2 to SelfAttentionV1, not transposed',
    () =>
      v1.loadStateDict({ W_query: zeros([4, 3]), W_key: zeros([3, 4]), W_value: zeros([3, 4]) }),
    'ERR_SHAPE',
    ['W_query', '[4, 3]', '[3, 4]'],
  ],
  [
    'half a context',
    () => new hw.MultiHeadAttentionWrapper({ ...options, contextLength: 1.5 }),
    'ERR_VALUE',
    ['contextLength', '1.5'],
  ],
  [
    'dropout above one',
    () => new hw.MultiHeadAttention({ ...options, dropout: 1.1 }),
    'ERR_VALUE',
    ['dropout', '1.1'],
  ],
  [
    'dropout of NaN',
    () => new hw.MultiHeadAttention({ ...options, dropout: NaN }),
    'ERR_VALUE',
    ['dropout', 'NaN'],
  ],
  [
    'a missing size',
    () => new hw.MultiHeadAttention(any({ dIn: 3 })),
    'ERR_VALUE',
    ['dOut', 'undefined'],
  ],
  ['no options at all', () => new hw.Linear(any(undefined)), 'ERR_VALUE', ['inFeatures']],
  [
    'torch spelling',
    () => new hw.Linear(any({ in_features: 3, outFeatures: 2 })),
    'ERR_VALUE',
    ['in_features', 'inFeatures'],
  ],
  ['positional arguments', () => new hw.Linear(any(3)), 'ERR_VALUE', ['3', 'object']],
  [
    'a bias that is no boolean',
    () => new hw.Linear(any({ inFeatures: 3, outFeatures: 2, bias: 1 })),
    'ERR_VALUE',
    ['bias', '1'],
  ],
  [
    'fromWrapper of something else',
    () => hw.MultiHeadAttention.fromWrapper(any(mha)),
    'ERR_VALUE',
    ['MultiHeadAttentionWrapper'],
  ],
  // forward
  ['an array as input', () => mha.forward(any([[1, 2, 3]])), 'ERR_VALUE', ['x', 'Tensor']],
  ['bools as input', () => mha.forward(bool), 'ERR_VALUE', ['x', 'bool', 'float32']],
  ['a mask as options', () => mha.forward(x, any(bool)), 'ERR_VALUE', ['option']],
  [
    'an unknown forward option',
    () => mha.forward(x, any({ weights: true })),
    'ERR_VALUE',
    ['weights', 'needWeights'],
  ],
  [
    'an input of another width to Linear',
    () => linear.forward(zeros([2, 4])),
    'ERR_SHAPE',
    ['x', '[2, 4]', '3'],
  ],
  ['no rows to Linear', () => linear.forward(zeros([0, 3])), 'ERR_SHAPE', ['x', '[0, 3]']],
  ['a seed out of range', () => hw.manualSeed(2 ** 70), 'ERR_VALUE', ['seed']],
  ['a shape that is none', () => hw.randn(any(5)), 'ERR_VALUE', ['shape', '5']],
];

function head1() {
  return { dIn: 3, dOut: 4, contextLength: 6 };
}

for (const [name, call, code, parts] of calls)
  test(`${name}: ${code}`, () => throwsCode(call, code, ...parts));

for (const [name, module] of Object.entries({ head, wrapper, mha })) {
  test(`the ${name} refuses inputs of wrong rank, width and length, naming what it got`, () => {
    for (const shape of [[3], [1, 2, 6, 3], [2, 6, 4], [6, 2], [2, 0, 3], [0, 6, 3], [0, 3]])
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
    new hw.CausalAttention(head1()),
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

test('a trace is refused after dispose and outside its rows, heads and batch', () => {
  const { trace } = mha.forward(x, { trace: true });
  assert.ok(trace);
  throwsCode(() => trace.weights({ head: 2, rows: [0, 1] }), 'ERR_VALUE', 'head', '2');
  throwsCode(() => trace.weights({ batch: 2, head: 0, rows: [0, 1] }), 'ERR_VALUE', 'batch', '2');
  for (const rows of [[0, 7], [3, 2], [-1, 2], [0.5, 2], [2]])
    throwsCode(() => trace.weights(any({ head: 0, rows })), 'ERR_VALUE', 'rows');
  for (const size of [0, -1, 1.5, undefined])
    throwsCode(() => trace.map(any({ head: 0, size })), 'ERR_VALUE', 'size', String(size));
  throwsCode(() => trace.map(any({ head: -1, size: 2 })), 'ERR_VALUE', 'head', '-1');
  throwsCode(() => trace.map({ head: 0, size: 1e6 }), 'ERR_MEMORY');
  trace.dispose();
  trace.dispose();
  throwsCode(() => trace.weights({ head: 0, rows: [0, 1] }), 'ERR_DISPOSED');
  throwsCode(() => trace.map({ head: 0, size: 2 }), 'ERR_DISPOSED');
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
    () => ended.scaledDotProductAttention(x, x, x),
    () => new ended.Linear({ inFeatures: 3, outFeatures: 2 }),
    () => new ended.MultiHeadAttention(options),
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
