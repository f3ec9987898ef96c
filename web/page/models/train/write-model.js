/**
 * A model's folder: Hugging Face's files, what was measured, and the card.
 *
 * @import { Headwise } from 'headwise'
 * @import { Gpt2 } from 'headwise/gpt2'
 * @import { Progress } from './checkpoint.js'
 * @import { Data } from './task.js'
 *
 * @typedef {object} Made
 * @property {Data} data
 * @property {Gpt2} model
 * @property {Progress} progress
 * @property {string} folder
 * @property {string} shipped the folder that has the card
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadGpt2 } from 'headwise/gpt2';
import { listOf, renewed } from './card.js';
import { writeHalves } from './half.js';

/** @param {Gpt2} model @param {Record<string, unknown>} more */
const configOf = ({ options }, more) => ({
  architectures: ['GPT2LMHeadModel'],
  model_type: 'gpt2',
  activation_function: 'gelu_new',
  tie_word_embeddings: true,
  torch_dtype: 'float16',
  vocab_size: options.vocabSize,
  n_positions: options.contextLength,
  n_embd: options.dModel,
  n_layer: options.numLayers,
  n_head: options.numHeads,
  n_inner: options.dFf,
  layer_norm_epsilon: options.eps,
  // Without them transformers takes GPT-2's, which may be no tokens here.
  bos_token_id: null,
  eos_token_id: null,
  ...more,
});

/**
 * Writes the folder. What is measured is measured of the model that it has, in float16.
 *
 * @param {Headwise} hw
 * @param {Made} made
 * @returns {Promise<Record<string, unknown>>} training.json
 */
export async function saveModel(hw, { data, model, progress, folder, shipped }) {
  const config = configOf(model, data.config);
  const weights = writeHalves(model.stateDict());
  const saved = await loadGpt2(hw, { config, weights });
  const { steps, tokens, seed, loss, seconds, best } = progress;
  const facts = {
    ...{ steps, tokens, seed, processor_minutes: Math.round(seconds / 6) / 10 },
    ...(best !== null && { step_of_the_best: best.step }),
    loss: Math.round(1000 * (loss ?? NaN)) / 1000,
    ...data.evaluate(saved, true),
  };
  const scores = data.score(hw, saved);
  await mkdir(folder, { recursive: true });
  const write = (/** @type {string} */ name, /** @type {string | Uint8Array} */ content) =>
    writeFile(join(folder, name), content);
  const json = (/** @type {string} */ name, /** @type {unknown} */ value) =>
    write(name, `${JSON.stringify(value, null, 1)}\n`);
  await write('model.safetensors', weights);
  await json('config.json', config);
  await json('tokenizer.json', data.tokenizer);
  await json('tokenizer_config.json', {
    // Without it Hugging Face's decoders drop the space in " ." and the like.
    clean_up_tokenization_spaces: false,
    ...data.tokenizerConfig,
  });
  await json('training.json', facts);
  await write('scores.json', `${JSON.stringify(scores)}\n`);
  const card = join(shipped, 'README.md');
  if (existsSync(card)) {
    const parts = { training: listOf(facts), ...data.card(saved, scores) };
    await write('README.md', renewed(await readFile(card, 'utf8'), parts));
  }
  return facts;
}
