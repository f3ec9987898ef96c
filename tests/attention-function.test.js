// hw.scaledDotProductAttention against the reference: sizes, windows, masks, and what a call leaves alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { allClose, boolData, data, engine } from './helpers.js';
import * as reference from './reference.js';

const hw = await engine();

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
