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

test('an engine’s functions work alone, taken out of it', async () => {
  const { matmul, softmax, enableGrad, isGradEnabled, dispose } = await load({ threads: 1 });
  assert.deepEqual(matmul(tensor([[1, 2]]), tensor([[3], [4]])).toNested(), [[11]]);
  assert.deepEqual(
    [tensor([0, 0]), tensor([5])].map((x) => softmax(x).toNested()),
    [[0.5, 0.5], [1]],
  );
  assert.equal(enableGrad(isGradEnabled), true);
  dispose();
  throwsCode(() => softmax(tensor([1])), 'ERR_DISPOSED');
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
