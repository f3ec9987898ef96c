/** @import { TrainShape } from './work.js' */

/** A GPT-2 of a training shape, as Hugging Face's config.json has it. @param {TrainShape} shape */
export const decoderConfig = ({ layers, width, heads, hidden, vocabulary, tokens }) => ({
  ...{ model_type: 'gpt2', n_layer: layers, n_embd: width, n_head: heads, n_inner: hidden },
  ...{ vocab_size: vocabulary, n_positions: tokens },
});
