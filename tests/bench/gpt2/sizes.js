// The models of npm run bench:gpt2 and how much work they are.

/** @typedef {import('headwise/gpt2').Gpt2Options} Gpt2Options */

/** @type {Record<string, Gpt2Options>} */
export const sizes = {
  tiny: { vocabSize: 100, contextLength: 64, dModel: 32, numHeads: 2, numLayers: 2 },
  '10M': { vocabSize: 8192, contextLength: 1024, dModel: 320, numHeads: 5, numLayers: 6 },
  '124M': { vocabSize: 50257, contextLength: 1024, dModel: 768, numHeads: 12, numLayers: 12 },
};

/** Of one layer's matrices: c_attn, c_proj, and the feed-forward's two. @param {Gpt2Options} options */
const layerWeights = ({ dModel }) => 12 * dModel ** 2;

/**
 * Multiplications and additions of a prompt whose last token's logits are wanted; causal work as half.
 * @param {Gpt2Options} options
 * @param {number} tokens
 */
export function promptFlops(options, tokens) {
  const { dModel, numLayers, vocabSize } = options;
  const layer = 2 * tokens * layerWeights(options) + 2 * tokens ** 2 * dModel;
  return numLayers * layer + 2 * dModel * vocabSize;
}

/**
 * Bytes that one more token reads: every matrix once, the token embedding as output head too, and the past's keys and values.
 * @param {Gpt2Options} options
 * @param {number} past
 */
export function decodeBytes(options, past) {
  const { dModel, numLayers, vocabSize } = options;
  return 4 * (numLayers * (layerWeights(options) + 2 * past * dModel) + vocabSize * dModel);
}
