// NaN and infinities go where PyTorch lets them go, and nowhere else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { allClose, data, engine } from './helpers.js';
import * as reference from './reference.js';

const hw = await engine();
const poisons = [NaN, Infinity, -Infinity];

/**
 * A copy with one element replaced.
 * @param {import('headwise').Tensor} x
 * @param {number} index
 * @param {number} value
 */
function poisoned(x, index, value) {
  const copy = Float32Array.from(x.data);
  copy[index] = value;
  return tensor(copy, [...x.shape]);
}

for (const n of [6, 9, 140]) {
  const [q, k, v] = [1, 2, 3].map((seed) => data(seed, [n, 4]));

  test(`NaN in one of ${n} queries makes its own row NaN and no other`, () => {
    const clean = hw.scaledDotProductAttention(q, k, v).output.data;
    const { output } = hw.scaledDotProductAttention(poisoned(q, 2 * 4 + 1, NaN), k, v);
    output.data.forEach((value, i) =>
      i >> 2 === 2 ? assert.ok(Number.isNaN(value)) : assert.equal(value, clean[i]),
    );
  });

  for (const poison of poisons)
    for (const isCausal of [true, false])
      test(`${poison} in q, k or v among ${n} tokens spreads as in the reference${isCausal ? ', causal' : ''}`, () => {
        for (const at of [0, 4 * (n - 1) + 3, 4 * (n >> 1)])
          for (const which of [0, 1, 2]) {
            const args = [q, k, v].map((x, i) => (i === which ? poisoned(x, at, poison) : x));
            const [a, b, c] = args;
            const right = reference.scaledDotProductAttention(a, b, c, { isCausal });
            const options = { isCausal, needWeights: true };
            const actual = hw.scaledDotProductAttention(a, b, c, options);
            const what = `${'qkv'[which]}[${at}]`;
            allClose(actual.output, right.output, { what });
            allClose(/** @type {any} */ (actual.weights), right.weights, { what });
            const plain = hw.scaledDotProductAttention(a, b, c, { isCausal });
            allClose(plain.output, right.output, { what });
          }
      });
}

test('NaN in a float mask makes the rows that it reaches NaN', () => {
  const q = data(1, [6, 4]);
  const mask = poisoned(data(2, [6, 6]), 8, NaN);
  const { output } = hw.scaledDotProductAttention(q, q, q, { mask });
  allClose(output, reference.scaledDotProductAttention(q, q, q, { mask }).output);
  assert.ok(Number.isNaN(output.data[4]));
});

test('NaN in softmax makes its row NaN, +Infinity too', () => {
  const x = tensor([
    [1, NaN, 2],
    [1, Infinity, 2],
    [1, 2, 3],
  ]);
  const y = hw.softmax(x);
  assert.ok([...y.data.slice(0, 6)].every(Number.isNaN));
  allClose(y, reference.softmax(x));
});

test('NaN and infinities pass matmul and Linear as IEEE arithmetic has it', () => {
  for (const poison of poisons) {
    const a = poisoned(data(1, [9, 17]), 20, poison);
    const b = data(2, [17, 11]);
    allClose(hw.matmul(a, b), reference.matmul(a, b));
    const linear = new hw.Linear({ inFeatures: 17, outFeatures: 5 });
    const right = reference.linear(a, /** @type {any} */ (linear.stateDict()));
    allClose(linear.forward(a).output, right, { rtol: 1e-5 });
    const zeroB = tensor(new Float32Array(17 * 11), [17, 11]);
    assert.ok(Number.isNaN(hw.matmul(a, zeroB).data[11]), 'infinity times zero is NaN');
  }
});

test('a NaN token reaches itself and the tokens after it under the causal mask', () => {
  for (const numHeads of [1, 2]) {
    const module = new hw.MultiHeadAttention({ dIn: 3, dOut: 4, contextLength: 9, numHeads });
    const x = data(1, [2, 9, 3]);
    const clean = module.forward(x).output.data;
    const { output } = module.forward(poisoned(x, (9 + 5) * 3, NaN));
    output.data.forEach((value, i) => {
      const row = i >> 2;
      if (row >= 9 + 5) assert.ok(Number.isNaN(value), `row ${row}`);
      else assert.equal(value, clean[i]);
    });
  }
});

test('NaN and infinities pass gelu and layerNorm as in torch, but that gelu of -Infinity is 0, its limit', () => {
  for (const approximate of /** @type {const} */ (['none', 'tanh'])) {
    const y = hw.gelu(tensor([1, NaN, Infinity, -Infinity, 0]), { approximate }).data;
    assert.deepEqual([...y.slice(1)], [NaN, Infinity, 0, 0]);
  }
  for (const poison of poisons) {
    const y = hw.layerNorm(poisoned(data(1, [3, 5]), 7, poison)).data;
    y.forEach((value, i) => assert.equal(Number.isNaN(value), i >= 5 && i < 10));
  }
});

test('a NaN token reaches itself and the tokens after it in a causal stack, and no other sequence', () => {
  for (const norm of /** @type {const} */ (['pre', 'post'])) {
    const options = { dModel: 4, numHeads: 2, dFf: 9, numLayers: 2, norm };
    const stack = new hw.TransformerStack(options);
    const x = data(1, [2, 9, 4]);
    const clean = stack.forward(x).output.data;
    const { output } = stack.forward(poisoned(x, (9 + 5) * 4, NaN));
    output.data.forEach((value, i) => {
      const row = i >> 2;
      if (row >= 9 + 5) assert.ok(Number.isNaN(value), `row ${row}`);
      else assert.equal(value, clean[i]);
    });
  }
});
