// How much work a model's prompt and its next token are, from the shapes of its parameters.
import { readModelConfig } from '../../../web/headwise/models/config.js';
import { parametersOf } from './parameters.js';

/** Bytes of a weight, without the scale that int8 keeps for each row. @type {Readonly<Record<string, number>>} */
export const bytesOf = { float32: 4, bfloat16: 2, float16: 2, int8: 1 };

/** @param {readonly number[]} shape */
const count = (shape) => shape.reduce((product, n) => product * n, 1);

/** @param {Record<string, unknown>} config */
export function workOf(config) {
  const model = readModelConfig(config);
  const entries = parametersOf(model);
  const parameters = entries.reduce((sum, [, shape]) => sum + count(shape), 0);
  const matrices = entries.filter(([, shape]) => shape.length === 2);
  // Embeddings are looked up; the output head multiplies, the token embedding where it is tied.
  const embeddings = /(wte|wpe|embed_tokens)\.weight$/;
  const multiplied = matrices.filter(([name]) => !embeddings.test(name) && !/^lm_head/.test(name));
  const inLayers = multiplied.reduce((sum, [, shape]) => sum + count(shape), 0);
  const head = model.vocabSize * model.dModel;
  const { numLayers, numHeads, numKeyValueHeads, headDim } = model;
  return {
    model,
    parameters,
    /**
     * Multiplications and additions of a prompt whose last token's logits are wanted; causal work as half.
     * @param {number} tokens
     */
    promptFlops: (tokens) =>
      2 * tokens * inLayers + 2 * head + numLayers * 2 * tokens ** 2 * numHeads * headDim,
    /**
     * Bytes that one more token reads: every matrix once, the output head too, and the past's keys and values.
     * @param {string} dtype
     * @param {number} past
     */
    decodeBytes: (dtype, past) =>
      bytesOf[dtype] * (inLayers + head) + 4 * numLayers * 2 * past * numKeyValueHeads * headDim,
  };
}

/** The same architecture, small enough for float64 loops. @param {Record<string, unknown>} config */
export function shrink(config) {
  const sizes = {
    ...{ vocab_size: 100, n_positions: 64, n_embd: 32, n_layer: 2, n_head: 4, hidden_size: 32 },
    ...{ intermediate_size: 48, num_hidden_layers: 2, num_attention_heads: 4, head_dim: 16 },
    ...{ num_key_value_heads: 2, max_position_embeddings: 64 },
  };
  const own = Object.entries(sizes).filter(([key]) => Object.hasOwn(config, key));
  return { ...config, ...Object.fromEntries(own) };
}
