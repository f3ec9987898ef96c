import { activation as activations, geluApproximation } from '../engine/abi.js';
import { checkChoice, checkEps, checkOptions, checkShape, checkSize } from '../checks/check.js';
import { recordProduct, recordTranspose } from '../autograd/functions.js';
import { recordActivation, recordNorm, recordSoftmax } from '../autograd/rowwise.js';
import { product, transposed } from './compute.js';
import { checkFloats, checkTensor, copyData } from './operand.js';
import { misfit } from '../checks/error.js';
import { checkSame, newArray, readShape, sizeOf } from './shape.js';
import { Tensor, tensorOf } from './tensor.js';

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
function checkSeed(seed) {
  if (typeof seed !== 'bigint' && !Number.isSafeInteger(seed)) {
    throw misfit(seed, 'seed', 'an integer, as a bigint if it is beyond 2^53 - 1');
  }
  const wide = BigInt(/** @type {number | bigint} */ (seed));
  if (wide < -(2n ** 63n) || wide >= 2n ** 64n) {
    throw misfit(seed, 'seed', 'an integer from -2^63 to 2^64 - 1');
  }
  return BigInt.asUintN(64, wide);
}

/** The low 32 bits, of which a generator is made. @param {unknown} seed @returns {number} */
export const checkSeedWord = (seed) => Number(BigInt.asUintN(32, checkSeed(seed)));

/** @param {Engine} engine @param {number | bigint} seed */
export function manualSeed(engine, seed) {
  const word = checkSeed(seed);
  engine.call.manual_seed(Number(word & 0xffffffffn), Number(word >> 32n));
}

/** Bytes of a generator's state: a tensor has a number for each. */
const stateBytes = 5056;
const stateShape = [stateBytes];

/** @param {Engine} engine @returns {Tensor} */
export function getRngState(engine) {
  const at = engine.stage(stateBytes);
  engine.call.get_rng_state(at);
  const bytes = engine.bytes.subarray(at, at + stateBytes);
  return tensorOf(Float32Array.from(bytes), [stateBytes]);
}

/** @param {Engine} engine @param {import('./tensor.js').AnyTensor} state */
export function setRngState(engine, state) {
  const given = checkFloats(state, 'state');
  checkSame(given, 'state', stateShape);
  const numbers = copyData(given);
  const at = engine.stage(stateBytes);
  engine.bytes.set(numbers, at);
  const isLoaded = numbers.every((x) => x === (x & 255)) && engine.call.set_rng_state(at) === 0;
  if (!isLoaded) {
    throw misfit(state, 'state', 'a state of getRngState or of torch.get_rng_state');
  }
}

/**
 * @param {Engine} engine
 * @param {Tensor} left
 * @param {Tensor} right
 * @param {unknown} options
 * @returns {Tensor}
 */
export function matmul(engine, left, right, options) {
  checkOptions(options, [], 'matmul');
  const a = checkFloats(left, 'a');
  const b = checkFloats(right, 'b');
  checkShape(a, 'a', a.shape.length >= 1, () => '[k] or […, m, k]');
  checkShape(b, 'b', b.shape.length >= 1, () => '[k] or […, k, n]');
  // As in torch, a vector is a matrix of one row or column, which the result does not have.
  const isRow = a.shape.length === 1;
  const isColumn = b.shape.length === 1;
  const rows = isRow ? { ...a, shape: [1, a.size] } : a;
  const columns = isColumn ? { ...b, shape: [b.size, 1] } : b;
  const matrices = product(engine, rows, columns, [a.shape, b.shape]);
  const y = engine.isRecording
    ? recordProduct(engine, matrices, [left, right], [rows, columns])
    : matrices;
  const last = y.shape.length - 1;
  const isLeft = (/** @type {unknown} */ _, /** @type {number} */ axis) =>
    axis < last - 1 || !(axis === last ? isColumn : isRow);
  return isRow || isColumn ? y.reshape(y.shape.filter(isLeft)) : y;
}

/**
 * @param {Engine} engine
 * @param {any} a
 * @param {unknown} options
 * @returns {any} a tensor of a's dtype
 */
export function transpose(engine, a, options) {
  checkOptions(options, [], 'transpose of the last two dimensions');
  const given = checkTensor(a, 'a');
  const rank = given.shape.length;
  checkShape(given, 'a', rank >= 2, () => '[…, rows, columns]');
  if (given.dtype === 'bool') {
    engine.checkAlive();
    return a.permute([...Array(rank - 2).keys(), rank - 1, rank - 2]);
  }
  const y = transposed(engine, /** @type {import('./operand.js').FloatOperand} */ (given));
  return engine.isRecording ? recordTranspose(engine, y, a) : y;
}

/** @param {Engine} engine @param {Tensor} input @param {unknown} options @returns {Tensor} */
export function softmax(engine, input, options) {
  checkOptions(options, [], 'softmax over the last dimension');
  const x = checkFloats(input, 'x');
  const columns = x.shape.at(-1) ?? 1;
  const { call } = engine;
  const [at] = engine.lay([x]);
  call.softmax(at, at, x.size / columns, columns);
  const y = engine.read(at, x.shape);
  return engine.isRecording ? recordSoftmax(engine, y, input) : y;
}

/**
 * Options of `gelu`.
 * @typedef {object} GeluOptions
 * @property {'none' | 'tanh'} [approximate] default 'none': the exact form
 */

/** @param {Engine} engine @param {Tensor} input @param {GeluOptions} [options] @returns {Tensor} */
export function gelu(engine, input, options) {
  const { approximate = 'none' } = checkOptions(options, ['approximate'], 'gelu');
  const form = geluApproximation[checkChoice(approximate, 'approximate', ['none', 'tanh'])];
  const x = checkFloats(input, 'x');
  const { call } = engine;
  const [at] = engine.lay([x]);
  engine.check(call.gelu(at, at, x.size, form), 'gelu');
  const y = engine.read(at, x.shape);
  const kind = approximate === 'tanh' ? activations.geluTanh : activations.gelu;
  return engine.isRecording ? recordActivation(engine, y, input, x, kind) : y;
}

/**
 * @param {Engine} engine
 * @param {'relu' | 'silu' | 'tanh'} name
 * @param {Tensor} input
 * @param {unknown} options
 * @returns {Tensor}
 */
export function activate(engine, name, input, options) {
  checkOptions(options, [], name);
  const x = checkFloats(input, 'x');
  const { call } = engine;
  const [at] = engine.lay([x]);
  engine.check(call.activate(activations[name], at, at, x.size), name);
  const y = engine.read(at, x.shape);
  return engine.isRecording ? recordActivation(engine, y, input, x, activations[name]) : y;
}

/**
 * Options of `layerNorm`.
 * @typedef {object} LayerNormFunctionOptions
 * @property {Tensor} [weight] [n]; default ones
 * @property {Tensor} [bias] [n]; default zeros
 * @property {number} [eps] default 1e-5; added to the variance
 */

/**
 * Checks a weight or bias: one number for each column.
 * @param {unknown} value
 * @param {string} name
 * @param {number} n
 */
function checkRow(value, name, n) {
  const row = value === undefined ? undefined : checkFloats(value, name);
  checkSame(row ?? { shape: [n] }, name, [n]);
  return row;
}

/**
 * @param {Engine} engine
 * @param {Tensor} input
 * @param {LayerNormFunctionOptions} [options]
 * @returns {Tensor}
 */
export function layerNorm(engine, input, options) {
  const given = checkOptions(options, ['weight', 'bias', 'eps'], 'layerNorm');
  const x = checkFloats(input, 'x');
  const n = x.shape[x.shape.length - 1];
  checkShape(x, 'x', n > 0, () => '[…, n], n > 0');
  const eps = checkEps(given.eps);
  const rows = ['weight', 'bias'].map((name) => checkRow(given[name], name, n));
  const { call } = engine;
  const [at, weight, bias] = engine.lay([x, ...rows]);
  engine.check(call.layer_norm(at, x.size / n, n, weight, bias, eps, at), 'layerNorm');
  const y = engine.read(at, x.shape);
  const inputs = [input, given.weight, given.bias];
  return engine.isRecording ? recordNorm(engine, y, inputs, x, rows[0], eps) : y;
}

/**
 * Options of `rmsNorm`.
 * @typedef {object} RmsNormOptions
 * @property {Tensor} [weight] [n]; default ones
 * @property {number} [eps] default 1e-6; added to the mean of the squares
 */

/**
 * @param {Engine} engine
 * @param {Tensor} input
 * @param {RmsNormOptions} [options]
 * @returns {Tensor}
 */
export function rmsNorm(engine, input, options) {
  const given = checkOptions(options, ['weight', 'eps'], 'rmsNorm');
  const x = checkFloats(input, 'x');
  const n = x.shape[x.shape.length - 1];
  checkShape(x, 'x', n > 0, () => '[…, n], n > 0');
  const eps = checkEps(given.eps ?? 1e-6);
  const factors = checkRow(given.weight, 'weight', n);
  const { call } = engine;
  const [at, weight] = engine.lay([x, factors]);
  engine.check(call.rms_norm(at, x.size / n, n, weight, eps, at), 'rmsNorm');
  const y = engine.read(at, x.shape);
  return engine.isRecording ? recordNorm(engine, y, [input, given.weight], x, factors, eps) : y;
}

/** @param {number} n @param {unknown} options @returns {Tensor<'bool'>} */
export function causalMask(n, options) {
  checkOptions(options, [], 'causalMask');
  checkSize(n, 'n', 0);
  const data = newArray(Uint8Array, sizeOf([n, n], 'the mask'));
  for (let row = 0; row < n; row++) {
    data.fill(1, row * n, row * n + row + 1);
  }
  return new Tensor(data, [n, n]);
}
