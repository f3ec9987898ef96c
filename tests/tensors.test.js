// Tensors: what makes them of arrays, and their methods, against plain nested arrays.
import assert from 'node:assert/strict';
import { PerformanceObserver } from 'node:perf_hooks';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Tensor, tensor, zeros } from 'headwise';
import { logitLens } from 'headwise/understanding';
import { load as loadInWorker } from 'headwise/worker';
import { engine, rejectsCode } from './helpers.js';

/** [2, 3, 4], every element another. */
const nested = [0, 1].map((i) =>
  [0, 1, 2].map((j) => [0, 1, 2, 3].map((k) => 100 * i + 10 * j + k)),
);
const x = tensor(nested);

test('a Uint8Array is numbers, as every typed array is', () => {
  const values = [0, 1, 2, 200];
  for (const Type of [
    Uint8Array,
    Uint8ClampedArray,
    Uint16Array,
    Int16Array,
    Int32Array,
    Uint32Array,
  ]) {
    const { dtype, data } = tensor(Type.from(values));
    assert.deepEqual([dtype, [...data]], ['float32', values], Type.name);
  }
  const large = [-(2 ** 31), 2 ** 24, -(2 ** 24) - 2];
  assert.deepEqual([...tensor(Int32Array.from(large)).data], large);
  assert.deepEqual([...tensor(BigInt64Array.of(2n ** 60n, -3n)).data], [2 ** 60, -3]);
});

test('floats may come as doubles, which are rounded, or as halves', () => {
  assert.deepEqual([...tensor(Float64Array.of(0.1, 1e300)).data], [Math.fround(0.1), Infinity]);
  const Halves = /** @type {any} */ (globalThis).Float16Array;
  // Where there are none, a class that looks like one from outside.
  const halves = Halves?.of(1.5, -2) ?? Float32Array.of(1.5, -2);
  assert.deepEqual([...tensor(halves).data], [1.5, -2]);
});

test('rows may be typed arrays, of one type or several', () => {
  const rows = [Float32Array.of(1, 2), Float64Array.of(0.1, 4), [5, 6], Int16Array.of(-7, 8)];
  const values = [
    [1, 2],
    [Math.fround(0.1), 4],
    [5, 6],
    [-7, 8],
  ];
  const made = tensor(rows);
  assert.deepEqual([made.dtype, made.shape, made.toNested()], ['float32', [4, 2], values]);
  assert.deepEqual(tensor([rows, rows]).toNested(), [values, values]);
  assert.deepEqual(tensor(rows, [8]).toNested(), values.flat());
  assert.deepEqual(tensor([new Float32Array(0)]).shape, [1, 0]);
  const large = BigInt64Array.of(2n ** 60n, -3n);
  assert.deepEqual(tensor([large]).toNested(), [[2 ** 60, -3]]);
  const truths = tensor(
    [Float64Array.of(1e-300, 0), BigInt64Array.of(0n, 2n ** 62n + 1n)],
    undefined,
    {
      dtype: 'bool',
    },
  );
  assert.deepEqual(truths.toNested(), [
    [true, false],
    [false, true],
  ]);
  rows[0][0] = 9;
  assert.equal(made.data[0], 1);
});

test('ids may be rows of typed arrays, 64-bit ones too', async () => {
  const hw = await engine();
  const table = new hw.Embedding({ numEmbeddings: 9, embeddingDim: 2 });
  const { data } = table.forward([
    [1, 2],
    [3, 8],
  ]).output;
  for (const Type of [Int32Array, Uint8Array, Float64Array])
    assert.deepEqual(table.forward([Type.of(1, 2), Type.of(3, 8)]).output.data, data);
  assert.deepEqual(
    table.forward([BigInt64Array.of(1n, 2n), BigInt64Array.of(3n, 8n)]).output.data,
    data,
  );
  const model = new hw.Decoder({
    ...{ model_type: 'gpt2', vocab_size: 9, n_positions: 4, n_embd: 4, n_layer: 1, n_head: 2 },
  });
  const { logits } = model.forward([
    [1, 2, 3],
    [4, 5],
  ]);
  const given = [BigInt64Array.of(1n, 2n, 3n), Int32Array.of(4, 5)];
  assert.deepEqual(model.forward(given).logits, logits);
  hw.dispose();
});

test('ids and targets may be bigints, as tokenizers give them, here and in a Worker', async () => {
  const config = {
    ...{ model_type: 'gpt2', vocab_size: 9, n_positions: 8, n_embd: 4, n_layer: 1, n_head: 2 },
  };
  const rows = [[1, 2, 3], [4]];
  const targets = [[2, -100, 3], [8]];
  const big = (/** @type {number[][]} */ ids) => ids.map((row) => row.map(BigInt));
  for (const hw of [await engine(), await loadInWorker()]) {
    await hw.manualSeed(1);
    const model = await new hw.Decoder(config);
    const table = await new hw.Embedding({ numEmbeddings: 9, embeddingDim: 2 });
    const weight = tensor(
      Float32Array.from({ length: 18 }, (_, i) => i),
      [9, 2],
    );
    const logits = tensor(
      Float32Array.from({ length: 36 }, (_, i) => i % 7),
      [4, 9],
    );
    /** @type {((big: (ids: number[][]) => any) => unknown)[]} */
    const calls = [
      (as) => table.forward(as([[1, 2]])),
      (as) => hw.embedding(as([[1, 2]]), weight),
      (as) => hw.crossEntropy(logits, as([[1, -100, 8, 0]])[0]),
      (as) => model.forward(as(rows), { positionIds: as([[0, 1, 2], [3]]) }),
      (as) => model.loss(as(rows), as(targets)),
      (as) => model.attribution(as(rows)[0], { target: as([[5]])[0][0], against: as([[1]])[0][0] }),
      (as) => logitLens(/** @type {any} */ (model), as(rows)[0], { target: as([[5]])[0][0] }),
      async (as) => {
        const [[ids], [stop]] = [as(rows), as([[7, 8]])];
        const options = { temperature: 0, maxTokens: 4, stop };
        const all = [];
        for await (const id of await model.generate(ids, options)) all.push(id);
        return all;
      },
    ];
    for (const call of calls)
      assert.deepEqual(await call(big), await call((ids) => ids), `${call}`);
    const refused = async (/** @type {bigint} */ id) => model.forward([[1n, id]]);
    for (const [id, words] of /** @type {const} */ ([
      [9n, 'ids[0][1] is 9; expected an integer from 0 to 8'],
      [-1n, 'ids[0][1] is -1'],
      [2n ** 64n, 'ids[0][1] is 18446744073709552000'],
    ]))
      await rejectsCode(refused(id), 'ERR_VALUE', words);
    await hw.dispose();
  }
});

test('a tensor of rank 0 has no iterator: test libraries compare what has one row by row', () => {
  assert.equal(tensor(3)[Symbol.iterator], undefined);
  assert.throws(() => [...tensor(3)], TypeError);
  const rows = Tensor.prototype[Symbol.iterator];
  assert.equal(tensor([1])[Symbol.iterator], rows);
  assert.equal([...rows.call(tensor([1, 2]))].length, 2);
  assert.deepEqual(
    Array.from(tensor([1, 2]), (row) => [row.item(), row[Symbol.iterator]]),
    [
      [1, undefined],
      [2, undefined],
    ],
  );
});

test('dtype says that any data is truth values, or numbers', () => {
  const expected = [false, true, true, true];
  for (const values of [
    Uint8Array.of(0, 1, 2, 255),
    Float64Array.of(-0, NaN, 1e-300, -Infinity),
    BigInt64Array.of(0n, 1n, -1n, 2n ** 62n),
    [0, 1e-300, NaN, 3],
  ]) {
    const truths = tensor(values, [2, 2], { dtype: 'bool' });
    assert.equal(truths.dtype, 'bool');
    assert.deepEqual(truths.reshape([4]).toNested(), expected);
  }
  assert.deepEqual(tensor([[true], [false]], undefined, { dtype: 'float32' }).toNested(), [
    [1],
    [0],
  ]);
  assert.equal(tensor([1], undefined, {}).dtype, 'float32');
});

test('a mask of bytes says with dtype that it is one', async () => {
  const hw = await engine();
  const q = tensor([[1], [2]]);
  const mask = tensor(Uint8Array.of(1, 0, 1, 1), [2, 2], { dtype: 'bool' });
  const { weights } = hw.scaledDotProductAttention(q, q, q, { mask, needWeights: true });
  assert.deepEqual(weights?.slice([0, 1]).toNested(), [[1, 0]]);
  hw.dispose();
});

test('nested arrays of a million numbers are read without a text for each', async () => {
  const row = Array.from({ length: 1000 }, (_, j) => j);
  const wide = row.map((i) => row.map((j) => i - j));
  const { shape, data } = tensor(wide);
  assert.deepEqual([...shape], [1000, 1000]);
  assert.equal(data[123_456], 123 - 456);
  // Ten million texts would be swept away some sixty times.
  let sweeps = 0;
  const observer = new PerformanceObserver((list) => (sweeps += list.getEntries().length));
  observer.observe({ entryTypes: ['gc'] });
  for (let i = 0; i < 10; i++) tensor(wide);
  await setTimeout(50);
  observer.disconnect();
  assert.ok(sweeps < 20, `${sweeps} collections`);
});

test('reshape keeps the elements, and fills one size in', () => {
  for (const shape of [[24], [4, 6], [2, 3, 4], [1, 24, 1], [-1], [3, -1], [2, -1, 2, 1]]) {
    const reshaped = x.reshape(shape);
    assert.deepEqual([...reshaped.data], nested.flat(2));
    assert.deepEqual(
      reshaped.shape.map((n, axis) => n === shape[axis] || shape[axis] === -1).includes(false),
      false,
    );
  }
  assert.deepEqual(tensor(7).reshape([1, 1]).toNested(), [[7]]);
  assert.equal(
    tensor([[7]])
      .reshape([])
      .toNested(),
    7,
  );
  assert.deepEqual(zeros([0, 3]).reshape([3, 0]).shape, [3, 0]);
});

test('permute swaps axes as nested loops do', () => {
  const flip = x.permute([2, 0, 1]);
  assert.deepEqual(
    flip.toNested(),
    [0, 1, 2, 3].map((k) => [0, 1].map((i) => [0, 1, 2].map((j) => nested[i][j][k]))),
  );
  assert.deepEqual(x.permute([-1, 0, -2]), flip);
  assert.deepEqual(flip.permute([1, 2, 0]), x);
  assert.deepEqual(tensor(3).permute([]).toNested(), 3);
  assert.deepEqual(zeros([0, 2]).permute([1, 0]).shape, [2, 0]);
});

test('slice takes a range for each axis, counted from either end', () => {
  const same = (/** @type {import('headwise').Tensor} */ part, /** @type {unknown} */ expected) =>
    assert.deepEqual(part.toNested(), expected);
  same(x.slice([1, 2]), nested.slice(1, 2));
  same(
    x.slice([0, 2], [-2, -1]),
    nested.map((rows) => rows.slice(-2, -1)),
  );
  same(
    x.slice(undefined, [1], [1, 3]),
    nested.map((rows) => rows.slice(1).map((row) => row.slice(1, 3))),
  );
  same(x.slice(), nested);
  // As torch: what lies outside is left out.
  same(x.slice([-9, 9], [2, 9], [3]), [[[23]], [[123]]]);
  assert.deepEqual(x.slice([2, 1]).shape, [0, 3, 4]);
  same(/** @type {any} */ (tensor([[true, false]]).slice([], [1, 2])), [[false]]);
});

test('item is the value, and a loop goes along the first axis', () => {
  assert.equal(tensor([[[2.5]]]).item(), 2.5);
  assert.equal(tensor([true]).item(), true);
  assert.deepEqual(
    Array.from(x, (part) => part.toNested()),
    nested,
  );
  const [first, second] = tensor([true, false]);
  assert.deepEqual([first.item(), second.item(), first.shape], [true, false, []]);
  assert.deepEqual([...zeros([0, 2])], []);
});

test('what methods return owns its memory', () => {
  const parts = [x.reshape([24]), x.permute([0, 1, 2]), x.slice(), ...x];
  for (const part of parts) {
    assert.notEqual(part.data.buffer, x.data.buffer);
    assert.equal(part.data.byteLength, part.data.buffer.byteLength);
    part.data.fill(-1);
  }
  assert.deepEqual(x.toNested(), nested);
});
