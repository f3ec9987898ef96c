// Gradients of attention with masks that hide whole tiles of keys from some queries or from all, against float64.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { data, engine } from './helpers.js';

/** @import { Tensor } from 'headwise' */

const hw = await engine();
const [n, d] = [40, 8];
const scale = 1 / Math.sqrt(d);

/** Keys 8 to 23 are hidden from all queries, keys 24 to 31 from the first 20. @param {number} i @param {number} j */
const sees = (i, j) => !((j >= 8 && j < 24) || (j >= 24 && j < 32 && i < 20));
const seen = Array.from({ length: n * n }, (_, at) => sees(Math.floor(at / n), at % n));

/** @param {ArrayLike<number>} a its row i @param {number} i @param {ArrayLike<number>} b its row j @param {number} j */
function dot(a, i, b, j) {
  let sum = 0;
  for (let c = 0; c < d; c++) sum += a[i * d + c] * b[j * d + c];
  return sum;
}

/**
 * Adds a row of b, times a factor, to a row of a.
 * @param {Float64Array} a @param {number} i @param {number} factor @param {ArrayLike<number>} b @param {number} j
 */
function add(a, i, factor, b, j) {
  for (let c = 0; c < d; c++) a[i * d + c] += factor * b[j * d + c];
}

/** @param {Float32Array[]} given q, k, v and the output's gradient @param {number} softcap 0: none */
function expected([q, k, v, g], softcap) {
  const [dq, dk, dv] = [q, k, v].map(() => new Float64Array(n * d));
  const dMask = new Float64Array(n * n);
  const keys = Array.from({ length: n }, (_, j) => j);
  for (let i = 0; i < n; i++) {
    const raw = keys.map((j) => dot(q, i, k, j) * scale);
    const capped = raw.map((x) => (softcap ? softcap * Math.tanh(x / softcap) : x));
    const e = capped.map((x, j) => (sees(i, j) ? Math.exp(x) : 0));
    const sum = e.reduce((a, b) => a + b);
    const dp = keys.map((j) => dot(g, i, v, j));
    const delta = keys.reduce((total, j) => total + (e[j] / sum) * dp[j], 0);
    for (const j of keys) {
      const p = e[j] / sum;
      dMask[i * n + j] = p * (dp[j] - delta);
      const slope = softcap ? 1 - Math.tanh(raw[j] / softcap) ** 2 : 1;
      const ds = dMask[i * n + j] * slope * scale;
      add(dq, i, ds, k, j);
      add(dk, j, ds, q, i);
      add(dv, j, p, g, i);
    }
  }
  return { dq, dk, dv, dMask };
}

/** @param {Tensor | null} got @param {Float64Array} want @param {string} name */
function near(got, want, name) {
  assert.ok(got, name);
  want.forEach((one, i) => {
    const error = Math.abs(got.data[i] - one);
    assert.ok(error < 2e-5, `${name}[${i}]: ${got.data[i]}, expected ${one}`);
  });
}

for (const softcap of [0, 3]) {
  for (const kind of ['bool', 'float']) {
    const how = softcap ? ' and a soft cap' : '';
    test(`a ${kind} mask${how} gives no gradient to keys in tiles that it hides`, () => {
      const [q, k, v, g] = [1, 2, 3, 4].map((seed) => data(seed, [n, d], 2));
      const hides = kind === 'float';
      const mask = tensor(hides ? seen.map((one) => (one ? 0 : -Infinity)) : seen, [n, n]);
      hw.enableGrad(() => {
        // First a call that leaves other numbers in the same scratch.
        const [other, another] = [data(9, [n, d], 50), data(8, [n, d], 50)];
        other.requiresGrad = true;
        hw.sum(hw.scaledDotProductAttention(other, another, other).output).backward();
        for (const one of hides ? [q, k, v, mask] : [q, k, v]) one.requiresGrad = true;
        const options = { mask, ...(softcap && { softcap }) };
        const { output } = hw.scaledDotProductAttention(q, k, v, options);
        hw.sum(hw.multiply(output, g)).backward();
      });
      const want = expected(
        [q, k, v, g].map((one) => one.data),
        softcap,
      );
      near(q.grad, want.dq, 'q.grad');
      near(k.grad, want.dk, 'k.grad');
      near(v.grad, want.dv, 'v.grad');
      if (hides) near(mask.grad, want.dMask, 'mask.grad');
    });
  }
}
