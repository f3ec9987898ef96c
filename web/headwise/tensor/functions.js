import { geluApproximation } from '../engine/abi.js';
import { checkChoice, checkEps, checkOptions, checkShape, checkSize } from '../checks/check.js';
import { checkFloats } from './operand.js';
import { describe } from '../checks/describe.js';
import { misfit, misshapen } from '../checks/error.js';
import { newArray, readShape, sameShape, sizeOf } from './shape.js';
import { Tensor } from './tensor.js';

/** @typedef {import('../engine/engine.js').Engine} Engine */

/**
 * @param {Engine} engine
 * @param {'rand' | 'randn'} draw
 * @param {readonly number[]} shape
 * @param {unknown} [options]
 * @returns {Tensor}
 */
export function random(engine, draw, shape, options) {
  const { sizes, size } = readShape(shape, 'shape');
  checkOptions(options, [], draw);
  const { call } = engine;
  const out = engine.stage(size * 4);
  call[draw](out, size);
  return engine.read(out, sizes);
}

/**
 * @param {unknown} seed
 * @returns {bigint} its 64 bits
 */
export function checkSeed(seed) {
  if (typeof seed !== 'bigint' && !Number.isSafeInteger(seed)) {
    throw misfit(seed, 'seed', 'an integer, as a bigint if it is beyond 2^53 - 1');
  }
  const wide = BigInt(/** @type {number | bigint} */ (seed));
  if (wide < -(2n ** 63n) || wide >= 2n ** 64n) {
    throw misfit(seed, 'seed', 'an integer from -2^63 to 2^64 - 1');
  }
  return BigInt.asUintN(64, wide);
}

/** @param {Engine} engine @param {number | bigint} seed */
export function manualSeed(engine, seed) {
  const word = checkSeed(seed);
  engine.call.manual_seed(Number(word & 0xffffffffn), Number(word >> 32n));
}

/**
 * For every matrix of the broadcast batch, the number of the operand's matrix.
 * @param {readonly number[]} batch
 * @param {readonly number[]} own the operand's leading dimensions
 * @returns {import('./operand.js').IdsOperand}
 */
function matrixIndex(batch, own) {
  const dims = [...Array(batch.length - own.length).fill(1), ...own];
  const data = Uint32Array.from({ length: sizeOf([...batch], 'batch') }, (_, flat) => {
    let index = 0;
    let stride = 1;
    for (let axis = batch.length - 1; axis >= 0; axis--) {
      index += dims[axis] === 1 ? 0 : (flat % batch[axis]) * stride;
      stride *= dims[axis];
      flat = Math.floor(flat / batch[axis]);
    }
    return index;
  });
  return { shape: batch, dtype: 'uint32', data, size: data.length };
}

/**
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 * @returns {number[] | undefined} undefined if they do not broadcast
 */
function broadcast(a, b) {
  const length = Math.max(a.length, b.length);
  const at = (/** @type {readonly number[]} */ shape, /** @type {number} */ i) =>
    shape[shape.length - length + i] ?? 1;
  const result = Array.from({ length }, (_, i) => Math.max(at(a, i), at(b, i)));
  const fits = result.every((n, i) => [1, n].includes(at(a, i)) && [1, n].includes(at(b, i)));
  return fits ? result : undefined;
}

/** @param {Engine} engine @param {Tensor} left @param {Tensor} right @returns {Tensor} */
export function matmul(engine, left, right) {
  const a = checkFloats(left, 'a');
  const b = checkFloats(right, 'b');
  checkShape(a, 'a', a.shape.length >= 2, () => '[…, m, k]');
  checkShape(b, 'b', b.shape.length >= 2, () => '[…, k, n]');
  const [m, k] = a.shape.slice(-2);
  const [rows, n] = b.shape.slice(-2);
  const batch = broadcast(a.shape.slice(0, -2), b.shape.slice(0, -2));
  if (rows !== k || batch === undefined) {
    const expected =
      rows === k
        ? 'leading dimensions that are equal or 1'
        : `[…, m, k] and […, k, n] with the same k, not ${k} and ${rows}`;
    throw misshapen(a.shape, 'a', expected, ` and b ${describe(b.shape)}`);
  }
  const shape = [...batch, m, n];
  const indices = [a, b].map((operand) => matrixIndex(batch, operand.shape.slice(0, -2)));
  const { call } = engine;
  const outBytes = sizeOf(shape, 'the result') * 4;
  const [aAt, bAt, out, aIndex, bIndex] = engine.lay([a, b, outBytes, ...indices]);
  engine.check(call.matmul(aAt, bAt, out, indices[0].size, aIndex, bIndex, m, k, n), 'matmul');
  return engine.read(out, shape);
}

/** @param {Engine} engine @param {Tensor} a @param {unknown} options @returns {Tensor} */
export function transpose(engine, a, options) {
  checkOptions(options, [], 'transpose of the last two dimensions');
  const x = checkFloats(a, 'a');
  checkShape(x, 'a', x.shape.length >= 2, () => '[…, rows, columns]');
  const [rows, columns] = x.shape.slice(-2);
  const { call } = engine;
  const [at, out] = engine.lay([x, x.size * 4]);
  call.transpose(at, out, x.size / (rows * columns), rows, columns);
  return engine.read(out, [...x.shape.slice(0, -2), columns, rows]);
}

/** @param {Engine} engine @param {Tensor} input @param {unknown} options @returns {Tensor} */
export function softmax(engine, input, options) {
  checkOptions(options, [], 'softmax over the last dimension');
  const x = checkFloats(input, 'x');
  checkShape(x, 'x', x.shape.length >= 1, () => '[…, n]');
  const columns = x.shape[x.shape.length - 1];
  const { call } = engine;
  const [at] = engine.lay([x]);
  call.softmax(at, at, x.size / columns, columns);
  return engine.read(at, x.shape);
}

/**
 * What `gelu` may be told.
 * @typedef {object} GeluOptions
 * @property {'none' | 'tanh'} [approximate] default 'none': the exact one
 */

/** @param {Engine} engine @param {Tensor} input @param {GeluOptions} [options] @returns {Tensor} */
export function gelu(engine, input, options) {
  const { approximate = 'none' } = checkOptions(options, ['approximate'], 'gelu');
  const form = geluApproximation[checkChoice(approximate, 'approximate', ['none', 'tanh'])];
  const x = checkFloats(input, 'x');
  checkShape(x, 'x', true, () => 'any');
  const { call } = engine;
  const [at] = engine.lay([x]);
  engine.check(call.gelu(at, at, x.size, form), 'gelu');
  return engine.read(at, x.shape);
}

/**
 * What `layerNorm` may be told.
 * @typedef {object} LayerNormFunctionOptions
 * @property {Tensor} [weight] [n]; default ones
 * @property {Tensor} [bias] [n]; default zeros
 * @property {number} [eps] default 1e-5; added to the variance
 */

/**
 * @param {Engine} engine
 * @param {Tensor} input
 * @param {LayerNormFunctionOptions} [options]
 * @returns {Tensor}
 */
export function layerNorm(engine, input, options) {
  const given = checkOptions(options, ['weight', 'bias', 'eps'], 'layerNorm');
  const x = checkFloats(input, 'x');
  checkShape(x, 'x', x.shape.length >= 1, () => '[…, n]');
  const n = x.shape[x.shape.length - 1];
  const eps = checkEps(given.eps);
  const rows = ['weight', 'bias'].map((name) => {
    const row = given[name] === undefined ? undefined : checkFloats(given[name], name);
    checkShape(row ?? { shape: [n] }, name, !row || sameShape(row.shape, [n]), () => `[${n}]`);
    return row;
  });
  const { call } = engine;
  const [at, weight, bias] = engine.lay([x, ...rows]);
  engine.check(call.layer_norm(at, x.size / n, n, weight, bias, eps, at), 'layerNorm');
  return engine.read(at, x.shape);
}

/** @param {number} n @returns {Tensor<'bool'>} */
export function causalMask(n) {
  checkSize(n, 'n');
  const data = newArray(Uint8Array, sizeOf([n, n], 'the mask'));
  for (let row = 0; row < n; row++) {
    data.fill(1, row * n, row * n + row + 1);
  }
  return new Tensor(data, [n, n]);
}
