/**
 * The loss of a GPT-2 in float64, written from its definition (Radford et al. 2019) and sharing no code with the package.
 *
 * @import { Tensor } from '../../headwise/index.js'
 */

const EPS = 1e-5;

/** weightᵀ·x + bias, weight [x.length, bias.length]. @param {Float64Array} x @param {ArrayLike<number>} weight @param {ArrayLike<number>} bias */
function project(x, weight, bias) {
  const y = Float64Array.from(bias);
  x.forEach((factor, row) => {
    for (let i = 0; i < y.length; i++) y[i] += factor * weight[row * y.length + i];
  });
  return y;
}

/** @param {Float64Array} x @param {ArrayLike<number>} weight @param {ArrayLike<number>} bias */
function layerNorm(x, weight, bias) {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
  return x.map((value, i) => ((value - mean) / Math.sqrt(variance + EPS)) * weight[i] + bias[i]);
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b @param {number} start of b @param {number} count @param {number} [from] of a */
function dot(a, b, start, count, from = 0) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += a[from + i] * b[start + i];
  return sum;
}

/** @param {Float64Array[]} qkv of the tokens up to the one that asks @param {number} heads */
function attend(qkv, heads) {
  const width = qkv[0].length / 3;
  const headDim = width / heads;
  const query = qkv[qkv.length - 1];
  const result = new Float64Array(width);
  for (let at = 0; at < width; at += headDim) {
    const scores = qkv.map((key) => dot(query, key, width + at, headDim, at) / Math.sqrt(headDim));
    const powers = scores.map((score) => Math.exp(score - Math.max(...scores)));
    const sum = powers.reduce((total, power) => total + power, 0);
    qkv.forEach((value, key) => {
      for (let i = at; i < at + headDim; i++)
        result[i] += (powers[key] / sum) * value[2 * width + i];
    });
  }
  return result;
}

const gelu = (/** @type {number} */ x) =>
  (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

/** @param {Float64Array} a @param {Float64Array} b */
const add = (a, b) => a.map((value, i) => value + b[i]);

/**
 * The mean cross-entropy of what each token predicts of the next.
 * @param {Record<string, Tensor>} state of the model
 * @param {{ width: number, heads: number, layers: number, hidden: number, vocabulary: number }} shape
 * @param {ArrayLike<number>} ids
 */
export function modelLoss(state, { width, heads, layers, hidden, vocabulary }, ids) {
  const of = (/** @type {string} */ name) => {
    const key = Object.keys(state).find((whole) => whole.endsWith(name));
    return state[key ?? name].data;
  };
  const pair = (/** @type {string} */ name) =>
    /** @type {const} */ ([of(`${name}.weight`), of(`${name}.bias`)]);
  const [tokens, places] = [of('wte.weight'), of('wpe.weight')];
  let xs = Array.from(ids, (id, at) =>
    Float64Array.from({ length: width }, (_, i) => tokens[id * width + i] + places[at * width + i]),
  );
  for (let layer = 0; layer < layers; layer++) {
    const name = (/** @type {string} */ rest) => pair(`h.${layer}.${rest}`);
    const qkv = xs.map((x) => project(layerNorm(x, ...name('ln_1')), ...name('attn.c_attn')));
    xs = xs.map((x, at) =>
      add(x, project(attend(qkv.slice(0, at + 1), heads), ...name('attn.c_proj'))),
    );
    if (hidden === 0) continue;
    xs = xs.map((x) => {
      const inner = project(layerNorm(x, ...name('ln_2')), ...name('mlp.c_fc')).map(gelu);
      return add(x, project(inner, ...name('mlp.c_proj')));
    });
  }
  const losses = xs.slice(0, -1).map((x, at) => {
    const y = layerNorm(x, ...pair('ln_f'));
    const logits = Array.from({ length: vocabulary }, (_, id) => dot(y, tokens, id * width, width));
    const largest = Math.max(...logits);
    const sum = logits.reduce((total, logit) => total + Math.exp(logit - largest), 0);
    return Math.log(sum) + largest - logits[ids[at + 1]];
  });
  return losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
}
