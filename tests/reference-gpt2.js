// GPT-2 in plain float64 loops, from a state dict under Hugging Face's names.
import { gelu, layerNorm } from './reference-blocks.js';
import { layer, linear, matmul, multiHeadAttention } from './reference.js';

/** @typedef {import('./reference.js').Matrix} Matrix */
/** @typedef {Record<string, Matrix>} State */

/** @param {Matrix} a @param {Matrix} b of a's shape, or a row of it */
const add = (a, b) => ({
  shape: [...a.shape],
  data: Float64Array.from(a.data, (value, i) => value + b.data[i % b.data.length]),
});

/** @param {Matrix} x @param {State} state @param {string} name */
const conv1d = (x, state, name) => add(matmul(x, state[`${name}.weight`]), state[`${name}.bias`]);

/**
 * Columns of c_attn as the weight [dModel, dModel] and bias of one of q, k, v.
 * @param {State} state
 * @param {string} name
 * @param {number} part
 */
function projection(state, name, part) {
  const { shape, data } = state[`${name}.weight`];
  const [inFeatures, width] = [shape[0], shape[1] / 3];
  const weight = new Float64Array(width * inFeatures);
  for (let i = 0; i < weight.length; i++)
    weight[i] = data[(i % inFeatures) * shape[1] + part * width + Math.floor(i / inFeatures)];
  const bias = Array.from(state[`${name}.bias`].data).slice(part * width, (part + 1) * width);
  return {
    weight: { shape: [width, inFeatures], data: weight },
    bias: { shape: [width], data: bias },
  };
}

/** @param {Matrix} x @param {State} state @param {string} name @param {number} numHeads */
function attention(x, state, name, numHeads) {
  const parts = ['W_query', 'W_key', 'W_value'].flatMap((key, i) => {
    const { weight, bias } = projection(state, `${name}.c_attn`, i);
    return [
      [`${key}.weight`, weight],
      [`${key}.bias`, bias],
    ];
  });
  const { output } = multiHeadAttention(x, Object.fromEntries(parts), { numHeads, isCausal: true });
  return conv1d(output, state, `${name}.c_proj`);
}

/**
 * @param {readonly number[]} ids
 * @param {State} state
 * @param {{ numHeads: number, numLayers: number, eps?: number, approximate?: 'tanh' | 'none' }} options
 * @returns {import('./reference.js').Result} logits, [tokens, vocabSize]
 */
export function gpt2(ids, state, { numHeads, numLayers, eps = 1e-5, approximate = 'tanh' }) {
  const [wte, wpe] = [state['wte.weight'], state['wpe.weight']];
  const dModel = wte.shape[1];
  const norm = (/** @type {Matrix} */ input, /** @type {string} */ name) =>
    layerNorm(input, { ...layer(state, name), eps });
  const embedded = ids.flatMap((id, position) =>
    Array.from(
      { length: dModel },
      (_, p) => wte.data[id * dModel + p] + wpe.data[position * dModel + p],
    ),
  );
  /** @type {Matrix} */
  let x = { shape: [1, ids.length, dModel], data: Float64Array.from(embedded) };
  for (let i = 0; i < numLayers; i++) {
    const name = `h.${i}`;
    x = add(x, attention(norm(x, `${name}.ln_1`), state, `${name}.attn`, numHeads));
    const hidden = conv1d(norm(x, `${name}.ln_2`), state, `${name}.mlp.c_fc`);
    x = add(x, conv1d(gelu(hidden, approximate), state, `${name}.mlp.c_proj`));
  }
  const { data } = linear(norm(x, 'ln_f'), { weight: wte });
  return { shape: [ids.length, wte.shape[0]], data };
}
