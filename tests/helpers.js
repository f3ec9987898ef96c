// What the tests share: the engine under test, repeatable data, comparisons that say what differs.
import assert from 'node:assert/strict';
import { HeadwiseError, load, tensor } from 'headwise';
import { sizeOf } from './reference.js';

/** @typedef {Awaited<ReturnType<typeof load>>} Engine */
/** @typedef {import('./reference.js').Matrix} Matrix */
/** @typedef {'auto' | 'relaxed' | 'simd128'} Simd */

/** The engine, with the module that HEADWISE_SIMD names (tests/simd.slow.test.js sets it). */
export const engine = () =>
  load({ simd: /** @type {Simd} */ (process.env.HEADWISE_SIMD ?? 'auto') });

/**
 * Repeatable numbers in [-scale, scale) (mulberry32): the data does not depend on the code under test.
 * @param {number} seed
 * @param {number[]} shape
 * @param {number} [scale]
 */
export function data(seed, shape, scale = 1) {
  let state = seed * 7919 + 1;
  const values = new Float32Array(sizeOf(shape));
  for (let i = 0; i < values.length; i++) {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    values[i] = (((t ^ (t >>> 14)) >>> 0) / 2 ** 31 - 1) * scale;
  }
  return tensor(values, shape);
}

/**
 * A bool tensor, true for about one element in `share`.
 * @param {number} seed
 * @param {number[]} shape
 * @param {number} [share]
 */
export function boolData(seed, shape, share = 0.6) {
  const bytes = Array.from(data(seed, shape).data, (value) => (value + 1) / 2 < share);
  return boolTensor(bytes, shape);
}

/**
 * @param {boolean[]} flat
 * @param {number[]} shape
 */
export const boolTensor = (flat, shape) => tensor(flat, shape);

/**
 * Tokens [start, end) of [batch, n, width].
 * @param {Matrix} x
 * @param {number} start
 * @param {number} end
 */
export function tokens(x, start, end) {
  const [batch, n, width] = x.shape;
  const rows = Array.from({ length: batch }, (_, b) =>
    Array.from(x.data).slice((b * n + start) * width, (b * n + end) * width),
  );
  return tensor(Float32Array.from(rows.flat()), [batch, end - start, width]);
}

/**
 * Fails unless shapes are equal and every |actual − expected| ≤ atol + rtol·|expected|; NaN equals NaN.
 * @param {Matrix} actual
 * @param {Matrix} expected
 * @param {{ rtol?: number, atol?: number, what?: string }} [options]
 */
export function allClose(actual, expected, { rtol = 1.3e-6, atol = 1e-6, what = 'result' } = {}) {
  assert.deepEqual([...actual.shape], [...expected.shape], `${what}: shape`);
  assert.equal(actual.data.length, sizeOf(expected.shape), `${what}: number of elements`);
  let bad = 0;
  let worst = -1;
  let worstBy = 0;
  for (let i = 0; i < actual.data.length; i++) {
    const a = actual.data[i];
    const e = expected.data[i];
    if (Object.is(a, e) || a === e) continue;
    const allowed = atol + rtol * Math.abs(e);
    const excess = Math.abs(a - e) / allowed;
    if (excess <= 1) continue;
    bad++;
    if (worst < 0 || excess > worstBy || Number.isNaN(excess)) [worst, worstBy] = [i, excess];
  }
  if (bad > 0) {
    const index = indexOf(actual.shape, worst).join(', ');
    assert.fail(
      `${what}: ${bad} of ${actual.data.length} elements differ; worst at [${index}]: ` +
        `${actual.data[worst]}, expected ${expected.data[worst]} ` +
        `(${worstBy.toPrecision(3)} times the tolerance)`,
    );
  }
}

/**
 * @param {readonly number[]} shape
 * @param {number} flat
 */
function indexOf(shape, flat) {
  const index = [];
  let rest = flat;
  for (const size of [...shape].reverse()) {
    index.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return index;
}

/**
 * @param {unknown} error
 * @param {string} code
 * @param {(string | RegExp)[]} parts what the message must name
 */
export function isHeadwiseError(error, code, parts) {
  assert.ok(
    error instanceof HeadwiseError,
    `HeadwiseError expected, got ${error instanceof Error ? error.stack : String(error)}`,
  );
  assert.ok(error instanceof Error);
  assert.equal(error.code, code, error.message);
  for (const part of parts) {
    const found =
      typeof part === 'string' ? error.message.includes(part) : part.test(error.message);
    assert.ok(found, `${part} is missing from the message: ${error.message}`);
  }
  return true;
}

/**
 * @param {() => unknown} call
 * @param {string} code
 * @param {...(string | RegExp)} parts
 */
export function throwsCode(call, code, ...parts) {
  assert.throws(call, (/** @type {unknown} */ error) => isHeadwiseError(error, code, parts));
}

/**
 * @param {Promise<unknown>} promise
 * @param {string} code
 * @param {...(string | RegExp)} parts
 */
export function rejectsCode(promise, code, ...parts) {
  return assert.rejects(promise, (/** @type {unknown} */ error) =>
    isHeadwiseError(error, code, parts),
  );
}
