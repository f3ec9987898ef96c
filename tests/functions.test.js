// Tensors and the functions on them against the float64 reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, Tensor, tensor, zeros } from 'headwise';
import { allClose, boolData, data, engine, rejectsCode, throwsCode } from './helpers.js';
import * as reference from './reference.js';

const hw = await engine();

test('tensor takes nested arrays, and toNested gives them back', () => {
  const nested = [
    [
      [1, 2, 3],
      [4, 5, 6],
    ],
  ];
  const x = tensor(nested);
  assert.ok(x instanceof Tensor);
  assert.deepEqual([...x.shape], [1, 2, 3]);
  assert.equal(x.dtype, 'float32');
  assert.ok(x.data instanceof Float32Array);
  assert.deepEqual([...x.data], [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(x.toNested(), nested);
});

test('tensor takes typed arrays with a shape, and owns what it holds', () => {
  const source = new Float64Array([1, 2, 3, 4]);
  const x = tensor(source, [2, 2]);
  source[0] = 100;
  assert.deepEqual(x.toNested(), [
    [1, 2],
    [3, 4],
  ]);
  assert.deepEqual([...tensor(new Float32Array(3)).shape], [3]);
});

test('booleans in the array make a bool tensor', () => {
  const mask = tensor([
    [true, false],
    [true, true],
  ]);
  assert.equal(mask.dtype, 'bool');
  assert.ok(mask.data instanceof Uint8Array);
  assert.deepEqual([...mask.data], [1, 0, 1, 1]);
  assert.deepEqual(mask.toNested(), [
    [true, false],
    [true, true],
  ]);
});

test('zeros gives zeros', () => {
  const x = zeros([2, 3]);
  assert.deepEqual(x.toNested(), [
    [0, 0, 0],
    [0, 0, 0],
  ]);
  assert.equal(x.dtype, 'float32');
});

test('matmul is right for every size around the tiles', () => {
  const sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33];
  for (const m of sizes)
    for (const n of sizes)
      for (const k of [1, 3, 8, 17, 64]) {
        const a = data(m, [m, k]);
        const b = data(n + 50, [k, n]);
        allClose(hw.matmul(a, b), reference.matmul(a, b), { what: `${m}×${k}×${n}`, atol: 5e-6 });
      }
});

test('matmul of many matrices without elements does not go through them', () => {
  const many = hw.matmul(zeros([2 ** 31, 0, 1]), zeros([1, 2]));
  assert.deepEqual([...many.shape], [2 ** 31, 0, 2]);
  assert.deepEqual(hw.matmul(zeros([2, 1, 0]), zeros([0, 1])).toNested(), [[[0]], [[0]]]);
});

test('matmul is right for long sums and sizes past the cache blocks', () => {
  for (const [m, k, n] of [
    [65, 511, 130],
    [6, 1025, 9],
    [130, 257, 300],
    [1, 3072, 65],
  ]) {
    const a = data(1, [m, k]);
    const b = data(2, [k, n]);
    const what = `${m}×${k}×${n}`;
    allClose(hw.matmul(a, b), reference.matmul(a, b), { atol: 3e-8 * k, what });
  }
});

test('matmul repeats leading dimensions of 1, aligned at the right', () => {
  for (const [a, b] of [
    [
      [2, 3, 4],
      [4, 5],
    ],
    [
      [3, 4],
      [2, 4, 5],
    ],
    [
      [2, 1, 3, 4],
      [5, 4, 2],
    ],
    [
      [1, 3, 4],
      [6, 4, 2],
    ],
    [
      [2, 3, 2, 3, 4],
      [3, 1, 4, 5],
    ],
  ]) {
    const x = data(1, a);
    const y = data(2, b);
    allClose(hw.matmul(x, y), reference.matmul(x, y), { what: `[${a}] times [${b}]` });
  }
});

test('matmul takes vectors as torch does: a row at the left, a column at the right', () => {
  const vector = data(1, [4]);
  const matrices = data(2, [2, 3, 4, 5]);
  const row = hw.matmul(vector, matrices);
  const whole = reference.matmul({ ...vector, shape: [1, 4] }, matrices);
  allClose(row, { ...whole, shape: [2, 3, 5] }, { what: 'a vector times matrices' });
  const turned = hw.transpose(matrices);
  const column = hw.matmul(turned, vector);
  allClose(column, { ...whole, shape: [2, 3, 5] }, { what: 'matrices times a vector' });
  const dot = hw.matmul(vector, vector);
  assert.deepEqual([...dot.shape], []);
  const sum = vector.data.reduce((total, x) => total + x * x, 0);
  assert.ok(Math.abs(dot.item() - sum) <= 1e-6 * sum);
});

test('transpose swaps the last two dimensions', () => {
  const x = data(1, [2, 3, 5]);
  const y = hw.transpose(x);
  assert.deepEqual([...y.shape], [2, 5, 3]);
  for (let b = 0; b < 2; b++)
    for (let i = 0; i < 3; i++)
      for (let j = 0; j < 5; j++)
        assert.equal(y.data[(b * 5 + j) * 3 + i], x.data[(b * 3 + i) * 5 + j]);
  assert.deepEqual(hw.transpose(tensor([[1, 2]])).toNested(), [[1], [2]]);
});

test('softmax is over the last dimension, for every length around the vectors', () => {
  for (const columns of [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1000]) {
    const x = data(columns, [3, columns], 8);
    allClose(hw.softmax(x), reference.softmax(x), { rtol: 2e-6, atol: 1e-9 });
  }
  assert.deepEqual([...hw.softmax(data(1, [2, 3, 4])).shape], [2, 3, 4]);
  allClose(hw.softmax(tensor([1, 2, 3])), reference.softmax(tensor([1, 2, 3])));
});

test('softmax of huge numbers does not overflow, and -Infinity weighs nothing', () => {
  const x = tensor([
    [1e30, 1e30, -1e30],
    [3e38, -3e38, 0],
    [-Infinity, 0, 0],
    [-1e4, -1e4 + 1, -1e4 + 2],
    [-200, 0, -90],
  ]);
  allClose(hw.softmax(x), reference.softmax(x), { atol: 1e-9 });
});

test('sums, means and products of no elements are torch’s: 0, NaN and empty tensors', () => {
  const empty = zeros([2, 0]);
  // Memory that other results were in.
  hw.add(tensor([5, 6, 7, 8, 9, 10]), 1);
  assert.equal(hw.sum(zeros([0])).item(), 0);
  assert.ok(Number.isNaN(hw.mean(zeros([0])).item()));
  assert.deepEqual(hw.sum(empty, { axis: 1 }), zeros([2]));
  assert.deepEqual(hw.sum(empty, { axis: 1, keepDim: true }), zeros([2, 1]));
  assert.deepEqual(hw.mean(empty, { axis: 1 }).toNested(), [NaN, NaN]);
  for (const name of /** @type {const} */ (['sum', 'mean'])) {
    assert.deepEqual(hw[name](empty, { axis: 0 }), zeros([0]));
    assert.deepEqual(hw[name](zeros([0, 3, 0]), { axis: [1, -1] }), zeros([0]));
  }
  assert.deepEqual(hw.add(zeros([0]), 1), zeros([0]));
  assert.deepEqual(hw.subtract(tensor([[1], [2]]), zeros([0])), empty);
  assert.deepEqual(hw.multiply(zeros([3, 1, 0]), zeros([2, 1])), zeros([3, 2, 0]));
  assert.ok(Number.isNaN(hw.mseLoss(empty, empty).item()));
  assert.deepEqual(hw.mseLoss(empty, empty, { reduction: 'none' }), empty);
});

test('sums, differences and products take booleans as 0 and 1, without a gradient', () => {
  const mask = tensor([true, false, true]);
  const x = Object.assign(tensor([2, 3, 4]), { requiresGrad: true });
  const product = hw.enableGrad(() => hw.multiply(x, mask));
  assert.deepEqual(product.toNested(), [2, 0, 4]);
  product.backward(tensor([1, 1, 1]));
  assert.deepEqual(x.grad?.toNested(), [1, 0, 1]);
  assert.deepEqual(hw.add(mask, 1).toNested(), [2, 1, 2]);
  assert.deepEqual(hw.subtract(1, mask).toNested(), [0, 1, 0]);
  assert.deepEqual(hw.sum(mask), tensor(2));
  assert.deepEqual(hw.sum(boolData(1, [0, 2]), { axis: 0 }), zeros([2]));
  assert.equal(hw.enableGrad(() => hw.sum(mask)).requiresGrad, false);
});

test('softmax, activations and dropout of no elements are empty, and a softmax of one number is 1', () => {
  const empty = zeros([2, 0]);
  for (const x of [empty, zeros([0, 3]), zeros([0])])
    for (const name of /** @type {const} */ ([
      'softmax',
      'gelu',
      'relu',
      'silu',
      'tanh',
      'dropout',
    ])) {
      x.requiresGrad = true;
      const y = hw.enableGrad(() => hw[name](x));
      assert.deepEqual([y.shape, y.data.length], [x.shape, 0], name);
      hw.enableGrad(() => hw.sum(y)).backward();
      assert.deepEqual(x.grad?.shape, x.shape, name);
    }
  const one = tensor(3);
  assert.deepEqual([hw.softmax(one).item(), hw.relu(one).item()], [1, 3]);
  assert.deepEqual(hw.softmax(one).shape, []);
});

test('booleans are transposed too', () => {
  const mask = hw.causalMask(3);
  assert.deepEqual(hw.transpose(mask), mask.permute([1, 0]));
  const batch = tensor([[[true, false]], [[false, false]]]);
  assert.deepEqual(hw.transpose(batch).toNested(), [
    [[true], [false]],
    [[false], [false]],
  ]);
});

test('a mask of one number without dimensions is for all scores', () => {
  const [q, k] = [data(1, [2, 3]), data(2, [4, 3])];
  const { output } = hw.scaledDotProductAttention(q, k, k);
  const allowed = hw.scaledDotProductAttention(q, k, k, { mask: tensor(true) });
  assert.deepEqual(allowed.output, output);
  const none = hw.scaledDotProductAttention(q, k, k, { mask: tensor(-Infinity) });
  assert.deepEqual(none.output, zeros([2, 3]));
  const mask = tensor(0.5);
  mask.requiresGrad = true;
  hw.enableGrad(() => hw.sum(hw.scaledDotProductAttention(q, k, k, { mask }).output)).backward();
  assert.ok(Math.abs(mask.grad?.item() ?? NaN) < 1e-6, 'a shift of all scores changes nothing');
});

test('an empty list of axes means all of them', () => {
  const x = data(1, [2, 3]);
  for (const name of /** @type {const} */ (['sum', 'mean'])) {
    assert.deepEqual(hw[name](x, { axis: [] }), hw[name](x));
    assert.deepEqual(hw[name](x, { axis: [], keepDim: true }).shape, [1, 1]);
  }
});

test('more axes than there are is refused before they are read', () => {
  const axis = new Proxy(Array(2 ** 32 - 1), {
    get(target, key) {
      assert.ok(!/^\d{3,}$/.test(String(key)), 'an axis that no tensor has was read');
      return Reflect.get(target, key);
    },
  });
  for (const name of /** @type {const} */ (['sum', 'mean']))
    throwsCode(() => hw[name](data(1, [2, 3]), { axis }), 'ERR_VALUE', 'axis is ');
});

test('an object that is no object of options is refused, though it has no unknown ones', async () => {
  const x = data(1, [2]);
  const others = [new Map([['approximate', 'tanh']]), AbortSignal.abort(), new ArrayBuffer(2)];
  for (const options of [...others, new URL('https://example.org'), Promise.resolve()])
    throwsCode(
      () => hw.gelu(x, /** @type {any} */ (options)),
      ...['ERR_VALUE', 'options is ', 'expected an object of approximate'],
    );
  await rejectsCode(load(/** @type {any} */ (new URL('file:///none.wasm'))), 'ERR_VALUE', 'load');
  class Options {
    approximate = /** @type {const} */ ('tanh');
  }
  assert.deepEqual(hw.gelu(x, new Options()), hw.gelu(x, { approximate: 'tanh' }));
});

test('a scalar has the axes 0 and -1, as in PyTorch', () => {
  const x = tensor(4);
  for (const name of /** @type {const} */ (['sum', 'mean']))
    for (const axis of [0, -1, [0]])
      for (const keepDim of [false, true]) assert.deepEqual(hw[name](x, { axis, keepDim }), x);
  throwsCode(() => hw.sum(x, { axis: 1 }), 'ERR_VALUE', 'axis is 1', 'from -1 to 0');
  throwsCode(() => hw.sum(x, { axis: [0, -1] }), 'ERR_VALUE', 'axis');
});

test('causalMask is true on and below the diagonal', () => {
  const mask = hw.causalMask(3);
  assert.equal(mask.dtype, 'bool');
  assert.deepEqual(mask.toNested(), [
    [true, false, false],
    [true, true, false],
    [true, true, true],
  ]);
});

/**
 * @param {{ lead?: number[], tokens: number, keys?: number, width: number, valueWidth?: number }} sizes
 * @param {any} [options]
 * @param {{ scaleBy?: number, rtol?: number, atol?: number }} [extra]
 */
function compare(sizes, options = {}, { scaleBy = 1, ...tolerance } = {}) {
  const { lead = [], tokens, keys = tokens, width, valueWidth = width } = sizes;
  const q = data(1, [...lead, tokens, width], scaleBy);
  const k = data(2, [...lead, keys, width], scaleBy);
  const v = data(3, [...lead, keys, valueWidth]);
  const expected = reference.scaledDotProductAttention(q, k, v, options);
  const plain = hw.scaledDotProductAttention(q, k, v, options);
  const what = `${JSON.stringify({ ...sizes, ...options, mask: options.mask?.shape })}`;
  assert.equal(plain.weights, undefined, `${what}: no weights without needWeights`);
  allClose(plain.output, expected.output, { what: `${what} output`, ...tolerance });
  const full = hw.scaledDotProductAttention(q, k, v, { ...options, needWeights: true });
  assert.ok(full.weights);
  allClose(full.output, expected.output, { what: `${what} output beside weights`, ...tolerance });
  allClose(full.weights, expected.weights, { what: `${what} weights`, ...tolerance });
}

test('attention is right for every number of tokens around the tiles, causal and not', () => {
  for (const tokens of [1, 5, 6, 7, 8, 9, 64, 130, 131, 132, 133, 134, 511, 512, 513])
    for (const isCausal of [false, true]) compare({ tokens, width: 8 }, { isCausal });
});

test('attention is right for every width around the vectors', () => {
  for (const width of [1, 2, 3, 5, 7, 8, 33, 64])
    for (const tokens of [1, 6, 9, 65])
      for (const isCausal of [false, true]) compare({ tokens, width }, { isCausal });
});

test('attention takes values of another width and keys of another number', () => {
  for (const valueWidth of [1, 3, 8, 17])
    for (const [tokens, keys] of [
      [1, 9],
      [9, 1],
      [7, 130],
      [130, 7],
      [64, 65],
    ])
      for (const isCausal of [false, true])
        compare({ lead: [2], tokens, keys, width: 5, valueWidth }, { isCausal });
});

test('attention takes rank 2, 3 and 4', () => {
  for (const lead of [[], [3], [2, 3]])
    for (const isCausal of [false, true])
      compare({ lead, tokens: 9, keys: 11, width: 6 }, { isCausal });
});

test('attention takes more keys than are packed at a time', () => {
  for (const isCausal of [false, true])
    compare({ lead: [2, 3], tokens: 7, keys: 5000, width: 33 }, { isCausal, causalOffset: 4993 });
});

test('causalOffset moves the diagonal, either way', () => {
  for (const causalOffset of [0, 1, 4, 100, -1, -3])
    compare({ lead: [2], tokens: 6, keys: 10, width: 4 }, { isCausal: true, causalOffset });
});

test('window lets a query see so many keys to the left and to the right, causal or not', () => {
  for (const window of [
    [0, 0],
    [3, -1],
    [-1, 2],
    [7, 8],
    [40, 0],
    [600, 5],
  ])
    for (const isCausal of [false, true])
      for (const [tokens, keys] of [
        [1, 9],
        [20, 20],
        [150, 140],
        [140, 700],
      ])
        for (const causalOffset of [0, 13, -30])
          compare({ tokens, keys, width: 4 }, { isCausal, causalOffset, window });
});

test('scale replaces one over the square root of the width', () => {
  for (const scale of [0, 0.1, 1, -2]) compare({ tokens: 9, width: 4 }, { scale });
});

/** @type {[string, (i: number, j: number) => boolean][]} */
const patterns = [
  ['a triangle', (i, j) => j <= i],
  ['blocks on the diagonal', (i, j) => Math.floor(i / 50) === Math.floor(j / 50)],
  ['every other tile', (i, j) => Math.floor(j / 8) % 2 === 0],
  ['tiles far apart', (_, j) => Math.floor(j / 8) % 9 === 3],
  ['one key in a thousand', (i, j) => (i * 31 + j) % 1000 === 0],
  ['rows that see nothing', (i) => i % 4 !== 0],
];

for (const [name, allows] of patterns)
  test(`a mask of ${name} hides and shows the same as a bool and as a float mask`, () => {
    for (const [tokens, keys] of [
      [9, 9],
      [140, 140],
      [30, 1100],
    ]) {
      const bools = Uint8Array.from({ length: tokens * keys }, (_, n) =>
        Number(allows(Math.floor(n / keys), n % keys)),
      );
      const floats = Float32Array.from(bools, (allowed) => (allowed ? 0 : -Infinity));
      for (const mask of [tensor(bools, [tokens, keys]), tensor(floats, [tokens, keys])])
        for (const options of [{ mask }, { mask, isCausal: true }, { mask, window: [60, -1] }])
          compare({ tokens, keys, width: 5 }, options);
    }
  });

test('masks are broadcast from the right to [batch, heads, Lq, Lkv]', () => {
  const sizes = { lead: [2, 3], tokens: 6, keys: 9, width: 4 };
  for (const shape of [
    [9],
    [6, 9],
    [1, 9],
    [6, 1],
    [1],
    [3, 6, 9],
    [2, 1, 6, 9],
    [1, 3, 1, 9],
    [2, 3, 6, 9],
  ])
    for (const isCausal of [false, true]) {
      compare(sizes, { isCausal, mask: boolData(5, shape) });
      compare(sizes, { isCausal, mask: data(6, shape, 3) });
    }
});

test('masks work across the blocks of keys', () => {
  for (const keys of [130, 257, 513])
    for (const isCausal of [false, true]) {
      const sizes = { lead: [2], tokens: 70, keys, width: 8 };
      compare(sizes, { isCausal, mask: boolData(7, [70, keys], 0.1) });
      compare(sizes, { isCausal, mask: data(8, [2, 1, keys], 2) });
    }
});

test('keys beyond a shorter last axis of the mask are masked', () => {
  const sizes = { lead: [2, 2], tokens: 5, keys: 9, width: 4 };
  for (const shape of [[6], [5, 6], [2, 1, 5, 6], [1, 2, 1, 6], [0], [5, 0], [2, 1, 5, 0]]) {
    compare(sizes, { mask: boolData(9, shape) });
    compare(sizes, { mask: data(10, shape) });
  }
});

test('float masks may hold -Infinity', () => {
  const mask = data(11, [6, 6]);
  const values = Float32Array.from(mask.data, (value) => (value < 0 ? -Infinity : value));
  compare({ lead: [2], tokens: 6, width: 4 }, { mask: tensor(values, [6, 6]) });
});

test('a query whose keys are all masked gives zeros', () => {
  const mask = tensor([
    [false, false, false],
    [true, false, true],
    [false, false, false],
  ]);
  const q = data(1, [3, 4]);
  const result = hw.scaledDotProductAttention(q, q, q, { mask, needWeights: true });
  assert.deepEqual([...result.output.data.slice(0, 4)], [0, 0, 0, 0]);
  assert.deepEqual([...result.output.data.slice(8)], [0, 0, 0, 0]);
  assert.deepEqual([...(result.weights?.data.slice(0, 3) ?? [])], [0, 0, 0]);
  compare({ tokens: 3, width: 4 }, { mask });
  const never = tensor(new Float32Array(300 * 300).fill(-Infinity), [300, 300]);
  compare({ tokens: 300, width: 4 }, { mask: never });
  compare({ tokens: 6, width: 4 }, { isCausal: true, causalOffset: -6 });
});

test('large scores neither overflow nor lose the largest', () => {
  const tolerance = { scaleBy: 100, atol: 5e-3, rtol: 1e-3 };
  compare({ tokens: 9, width: 8 }, {}, tolerance);
  compare({ tokens: 300, width: 8 }, { isCausal: true }, tolerance);
  const q = tensor([[1e15], [-1e15]]);
  const k = tensor([[1e15], [-1e15], [0]]);
  const v = tensor([[1], [2], [3]]);
  assert.deepEqual(hw.scaledDotProductAttention(q, k, v).output.toNested(), [[1], [2]]);
});

test('a mask that pushes every score far down still gives weights that sum to one', () => {
  const mask = tensor(new Float32Array(36).fill(-1e4), [6, 6]);
  compare({ tokens: 6, width: 4 }, { mask }, { atol: 1e-3 });
});

test('a masked key has no influence whatever it holds', () => {
  const q = data(1, [6, 4]);
  const k = data(2, [6, 4]);
  const v = data(3, [6, 4]);
  const { output } = hw.scaledDotProductAttention(q, k, v, { isCausal: true });
  for (const poison of [NaN, Infinity, -Infinity]) {
    const [badK, badV] = [tensor(k.data, [6, 4]), tensor(v.data, [6, 4])];
    badK.data.fill(poison, 16);
    badV.data.fill(poison, 16);
    const result = hw.scaledDotProductAttention(q, badK, badV, { isCausal: true }).output;
    assert.deepEqual([...result.data.slice(0, 16)], [...output.data.slice(0, 16)]);
  }
});

test('results own their memory: later calls change nothing in them', () => {
  const q = data(1, [9, 8]);
  const first = hw.scaledDotProductAttention(q, q, q, { needWeights: true });
  const before = [[...first.output.data], [...(first.weights?.data ?? [])]];
  const large = data(2, [513, 64]);
  hw.scaledDotProductAttention(large, large, large, { needWeights: true });
  hw.matmul(large, hw.transpose(large));
  assert.deepEqual([[...first.output.data], [...(first.weights?.data ?? [])]], before);
  assert.equal(first.output.data.buffer.byteLength, 9 * 8 * 4);
});

test('arguments are left as they were', () => {
  const q = data(1, [9, 8]);
  const copy = [...q.data];
  hw.softmax(q);
  hw.scaledDotProductAttention(q, q, q, { isCausal: true });
  assert.deepEqual([...q.data], copy);
});
