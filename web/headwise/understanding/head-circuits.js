// A head's matrices, and what is left of their products' sizes: numbers of its width, never of the model's.
import { addressOf } from '../engine/owned.js';

/**
 * A head's matrices, [headDim, dModel] each: W_O is transposed.
 * @typedef {{ query: Float32Array, key: Float32Array, value: Float32Array, out: Float32Array }} Matrices
 */

/**
 * @param {any} model a decoder
 * @param {number} layer
 * @param {number} head
 * @param {boolean} withGains
 * @param {{ headDim: number, dModel: number }} sizes
 * @returns {Matrices}
 */
export function matricesOf(model, layer, head, withGains, { headDim, dModel }) {
  const { engine } = model;
  const size = headDim * dModel;
  const at = engine.stage(4 * size * 4);
  engine.check(
    engine.call.decoder_head_weights(addressOf(model), layer, head, withGains, at),
    'composition',
  );
  const { data } = engine.read(at, [4, headDim, dModel]);
  const [query, key, value, out] = [0, 1, 2, 3].map((i) => data.subarray(i * size, (i + 1) * size));
  return { query, key, value, out };
}

/**
 * The upper triangular R [n, n] of a = Q · R for the transpose a of rows [n, width], Q with orthonormal columns: Cholesky's
 * factor of rows · rowsᵀ. Rows that depend on others get zeros.
 * @param {Float32Array} rows
 * @param {number} n
 * @param {number} width
 */
function triangleOf(rows, n, width) {
  const r = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    const a = rows.subarray(i * width, (i + 1) * width);
    for (let j = i; j < n; j++) {
      const b = rows.subarray(j * width, (j + 1) * width);
      let sum = 0;
      for (let k = 0; k < width; k++) sum += a[k] * b[k];
      r[i * n + j] = sum;
    }
  }
  for (let i = 0; i < n; i++) {
    const own = r[i * n + i];
    for (let j = i; j < n; j++) {
      for (let k = 0; k < i; k++) r[i * n + j] -= r[k * n + i] * r[k * n + j];
    }
    const pivot = r[i * n + i];
    const scale = pivot > own * 1e-13 ? 1 / Math.sqrt(pivot) : 0;
    for (let j = i; j < n; j++) r[i * n + j] *= scale;
  }
  return r;
}

/**
 * What a product aᵀ · b of two matrices [headDim, dModel] is up to a rotation: R · b [headDim, dModel]. It gives the same
 * Frobenius norms, also of all that it is multiplied by.
 * @param {Float32Array} a
 * @param {Float32Array} b
 * @param {{ headDim: number, dModel: number }} sizes
 * @returns {Float32Array}
 */
export function shortProduct(a, b, { headDim: n, dModel: width }) {
  const r = triangleOf(a, n, width);
  const short = new Float32Array(n * width);
  const row = new Float64Array(width);
  for (let i = 0; i < n; i++) {
    row.fill(0);
    for (let j = i; j < n; j++) {
      const factor = r[i * n + j];
      for (let k = 0; k < width; k++) row[k] += factor * b[j * width + k];
    }
    short.set(row, i * width);
  }
  return short;
}

/** @param {Float32Array} values */
export function normOf(values) {
  let sum = 0;
  for (const value of values) sum += value * value;
  return Math.sqrt(sum);
}
