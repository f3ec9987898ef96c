// Explore's tensors of several files, and what their numbers say: layers, whether a map is causal, whether they are scores.
import assert from 'node:assert/strict';
import test from 'node:test';
import { load, tensor } from 'headwise';
import { writeNpy } from 'headwise/formats';
import { openTensors } from '../web/page/explore/open/tensors.js';

/** @param {Parameters<typeof writeNpy>[0]} one @param {string} name */
const npy = (one, name) => new File([writeNpy(one)], name);

/** @param {File[]} tensors @param {(fraction: number) => void} [onProgress] */
const open = async (tensors, onProgress = () => {}) =>
  openTensors(await load(), { name: '', tensors }, { onProgress });

/** Weights whose numbers are all different. @param {number[]} shape @param {number} [first] */
function numbered(shape, first = 1) {
  const count = shape.reduce((product, size) => product * size, 1);
  return tensor(
    Float32Array.from({ length: count }, (_, i) => (first + i) / 1000),
    shape,
  );
}

test('weights in files of their own are layers, whether a file has one of them or several', async () => {
  const [first, second] = [numbered([2, 3, 4, 4]), numbered([3, 4, 4], 500)];
  const { run } = await open([npy(second, 'attn.2.npy'), npy(first, 'attn.0-1.npy')]);
  const { source } = run({ causal: true, softmax: false });
  assert.deepEqual([source.layers, source.heads, source.n], [3, 3, 4]);
  assert.deepEqual(source.rows(1, 2, 1, 3), first.data.slice(5 * 16 + 4, 5 * 16 + 12));
  assert.deepEqual(source.rows(2, 1, 1, 3), second.data.slice(16 + 4, 16 + 12));
});

test('weights are causal if no head of any layer looks ahead', async () => {
  const lower = numbered([2, 3, 4, 4]);
  lower.data.forEach((_, i) => (lower.data[i] *= Number(i % 4 <= Math.floor(i / 4) % 4)));
  for (const [layer, head] of [
    [0, 2],
    [1, 0],
  ]) {
    const { data } = tensor(lower.data.slice(), lower.shape);
    data[(layer * 3 + head) * 16 + 1] = 0.5;
    const { run } = await open([npy(tensor(data, lower.shape), 'attn.npy')]);
    assert.equal(run({ causal: true, softmax: false }).source.causal, false, `L${layer}H${head}`);
  }
});

test('numbers are weights from 0 to 1, and to what rounding adds', async () => {
  for (const [values, hasScores] of /** @type {[number[], boolean][]} */ ([
    [[1.0009, 0, 0.5, 0.5], false],
    [[1.002, 0, 0.5, 0.5], true],
    [[0.9, -0.1, 0.5, 0.5], true],
  ])) {
    const opened = await open([npy(tensor(values, [2, 2]), 'attn.npy')]);
    assert.equal(opened.hasScores, hasScores, String(values));
    assert.equal(opened.note !== '', hasScores, String(values));
  }
});

test('of scores with zeros beyond the diagonal the softmax is over the keys before', async () => {
  const { run } = await open([npy(tensor([3, 0, 1, 1 + Math.log(3)], [2, 2]), 'scores.npy')]);
  const { source } = run({ causal: true, softmax: true });
  assert.equal(source.causal, true);
  source.rows(0, 0, 0, 2).forEach((weight, i) => {
    assert.ok(Math.abs(weight - [1, 0, 0.25, 0.75][i]) < 1e-6, `${i}: ${weight}`);
  });
});

test('a mask of 0 and 1 is weights', async () => {
  const mask = tensor([true, false, true, true], [2, 2]);
  const { run } = await open([npy(mask, 'mask.npy')]);
  const { source } = run({ causal: true, softmax: false });
  assert.deepEqual(source.rows(0, 0, 0, 2), Float32Array.of(1, 0, 1, 1));
});

test('progress goes on from file to file, to the end', async () => {
  /** @type {number[]} */
  const seen = [];
  const files = ['a.npy', 'b.npy', 'c.npy'].map((name) => npy(numbered([2, 2]), name));
  await open(files, (fraction) => seen.push(fraction));
  assert.deepEqual(
    seen.map((fraction) => Math.round(3 * fraction)),
    [1, 2, 3],
  );
});
