// GELU, layer norm, feed-forward and Transformer blocks in plain float64 loops, as tests/reference.js has attention.
import { layer, linear, multiHeadAttention } from './reference.js';

/**
 * @typedef {import('./reference.js').Matrix} Matrix
 * @typedef {import('./reference.js').Result} Result
 * @typedef {Record<string, Matrix>} State
 * @typedef {{ numHeads: number, norm?: 'pre' | 'post', isCausal?: boolean, mask?: Matrix }} BlockOptions
 */

/**
 * @param {Matrix} x
 * @param {(value: number, index: number) => number} f
 * @returns {Result}
 */
const map = (x, f) => ({ shape: [...x.shape], data: Float64Array.from(x.data, f) });

/** @param {Matrix} a @param {Matrix} b */
const add = (a, b) => map(a, (value, i) => value + b.data[i]);

/**
 * The probability that a standard normal is above a ≥ 0: below 3 by the distribution's Taylor series, above by Laplace's
 * continued fraction, from its 200th step backwards.
 * @param {number} a
 */
function normalTail(a) {
  const density = Math.exp((-a * a) / 2) / Math.sqrt(2 * Math.PI);
  if (a < 3) {
    let term = a;
    let sum = a;
    for (let n = 3; term > sum * 1e-18; n += 2) {
      term *= (a * a) / n;
      sum += term;
    }
    return 0.5 - density * sum;
  }
  let fraction = a;
  for (let n = 200; n > 0; n--) fraction = a + n / fraction;
  return density / fraction;
}

/**
 * @param {Matrix} x
 * @param {'none' | 'tanh'} [approximate]
 */
export function gelu(x, approximate = 'none') {
  return map(x, (value) => {
    if (approximate === 'none') {
      const tail = normalTail(Math.abs(value));
      return value * (value < 0 ? tail : 1 - tail);
    }
    const u = Math.sqrt(2 / Math.PI) * (value + 0.044715 * value ** 3);
    // (1 + tanh u)/2, without the cancellation
    return value / (1 + Math.exp(-2 * u));
  });
}

/**
 * @param {Matrix} x
 * @param {{ weight?: Matrix, bias?: Matrix, eps?: number }} [options]
 */
export function layerNorm(x, { weight, bias, eps = 1e-5 } = {}) {
  const width = x.shape[x.shape.length - 1];
  const result = map(x, (value) => value);
  for (let start = 0; start < result.data.length; start += width) {
    const row = result.data.subarray(start, start + width);
    const mean = row.reduce((sum, value) => sum + value, 0) / width;
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width;
    row.forEach((value, i) => {
      const normal = (value - mean) / Math.sqrt(variance + eps);
      row[i] = normal * (weight ? weight.data[i] : 1) + (bias ? bias.data[i] : 0);
    });
  }
  return result;
}

/**
 * @param {Matrix} x
 * @param {State} state
 */
export const feedForward = (x, state) =>
  linear(gelu(linear(x, layer(state, 'fc1'))), layer(state, 'fc2'));

/**
 * The entries under a prefix, without it.
 * @param {State} state
 * @param {string} prefix
 * @returns {State}
 */
const within = (state, prefix) =>
  Object.fromEntries(
    Object.entries(state)
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => [key.slice(prefix.length), value]),
  );

/**
 * qkv_proj as the three layers that it packs.
 * @param {State} attn
 * @returns {State}
 */
function unpack({ 'qkv_proj.weight': packed, ...others }) {
  const [rows, width] = [packed.shape[0] / 3, packed.shape[1]];
  const part = (/** @type {number} */ i) => ({
    shape: [rows, width],
    data: Array.from(packed.data).slice(i * rows * width, (i + 1) * rows * width),
  });
  return {
    'W_query.weight': part(0),
    'W_key.weight': part(1),
    'W_value.weight': part(2),
    ...others,
  };
}

/**
 * @param {Matrix} x [batch, tokens, dModel]
 * @param {State} state
 * @param {BlockOptions} options
 */
export function transformerBlock(x, state, { numHeads, norm = 'pre', isCausal = true, mask }) {
  const attention = { numHeads, isCausal: mask === undefined && isCausal, mask };
  const attn = (/** @type {Matrix} */ input) =>
    multiHeadAttention(input, unpack(within(state, 'attn.')), attention);
  const ffn = (/** @type {Matrix} */ input) => feedForward(input, within(state, 'ffn.'));
  const ln1 = (/** @type {Matrix} */ input) => layerNorm(input, layer(state, 'ln1'));
  const ln2 = (/** @type {Matrix} */ input) => layerNorm(input, layer(state, 'ln2'));
  if (norm === 'pre') {
    const { output, weights } = attn(ln1(x));
    const hidden = add(x, output);
    return { output: add(hidden, ffn(ln2(hidden))), weights };
  }
  const { output, weights } = attn(x);
  const hidden = ln1(add(x, output));
  return { output: ln2(add(hidden, ffn(hidden))), weights };
}

/**
 * @param {Matrix} x
 * @param {State} state
 * @param {BlockOptions & { numLayers: number }} options
 */
export function transformerStack(x, state, { numLayers, ...options }) {
  const weights = [];
  for (let i = 0; i < numLayers; i++) {
    const result = transformerBlock(x, within(state, `blocks.${i}.`), options);
    weights.push(result.weights);
    x = result.output;
  }
  return { output: x, weights };
}
