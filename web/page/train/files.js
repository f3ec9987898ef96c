/**
 * A run as a folder in Hugging Face's format, with what it takes to go on training.
 *
 * @import { HeadName } from '../shared/head-names.js'
 * @import { Settings } from './settings.js'
 * @import { Trainer } from './trainer.js'
 */

import { writeSafetensors } from '../../headwise/formats.js';
import { tensor } from '../../headwise/index.js';
import { shortName } from '../shared/head-names.js';
import { formatTrain, TRAIN_DEFAULTS } from './settings.js';

/** A character is a token. @param {readonly string[]} characters */
const tokenizerOf = (characters) => ({
  version: '1.0',
  ...{ truncation: null, padding: null, added_tokens: [], normalizer: null },
  ...{ pre_tokenizer: null, post_processor: null, decoder: { type: 'Fuse' } },
  model: {
    ...{ type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null },
    ...{ end_of_word_suffix: null, fuse_unk: false, byte_fallback: false },
    vocab: Object.fromEntries(characters.map((character, id) => [character, id])),
    merges: [],
  },
});

/** @param {import('../../headwise/gpt2.js').Gpt2['options']} options */
const configOf = ({ vocabSize, contextLength, dModel, numLayers, numHeads, dFf, eps }) => ({
  ...{ architectures: ['GPT2LMHeadModel'], model_type: 'gpt2', activation_function: 'gelu_new' },
  ...{ tie_word_embeddings: true, torch_dtype: 'float32', layer_norm_epsilon: eps },
  ...{ vocab_size: vocabSize, n_positions: contextLength, n_embd: dModel },
  ...{ n_layer: numLayers, n_head: numHeads, n_inner: dFf },
  // Without them transformers takes GPT-2's, which are no tokens here.
  ...{ bos_token_id: null, eos_token_id: null },
});

/** Under which name the folder has what a muted head wrote. @param {HeadName} head */
export const mutedName = ({ layer, head }) => `muted.${layer}.${head}`;

/** The most muted heads that a name lists. */
const MOST_NAMED = 4;

/**
 * A folder's name. It tells of muted heads wherever it is seen: the model's file has zeros for them.
 *
 * @param {Settings} settings
 * @param {{ step: number, muted: readonly HeadName[] }} what it is of
 */
export function folderName({ task }, { step, muted }) {
  const names = muted.slice(0, MOST_NAMED).map(shortName);
  const listed = muted.length > MOST_NAMED ? [`${muted.length}-heads`] : names;
  return [task, step, ...listed, ...(muted.length > 0 ? ['muted'] : [])].join('-');
}

/** @param {readonly number[]} ids @param {readonly string[]} characters of the vocabulary */
export const charactersOf = (ids, characters) => ids.map((id) => characters[id]).join('');

/** @param {unknown} value */
const json = (value) => new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);

/**
 * @param {Trainer} trainer
 * @param {Settings} settings
 * @returns {Record<string, Uint8Array<ArrayBuffer>>} files by name
 */
export function modelFiles(trainer, settings) {
  const { model, optimizer, characters, step, muted, wasMuted, loss } = trainer;
  const { text } = settings;
  // What Explore reads first of it.
  const example = charactersOf(trainer.example.ids, characters);
  const rowsOf = trainer.mutedRows.map(({ head, rows }) => [
    mutedName(head),
    tensor(rows, [rows.length]),
  ]);
  const address = String(formatTrain({ ...TRAIN_DEFAULTS, settings }));
  return {
    'config.json': json(configOf(model.options)),
    'model.safetensors': writeSafetensors(model.stateDict(), { format: 'pt' }),
    'tokenizer.json': json(tokenizerOf(characters)),
    'tokenizer_config.json': json({ tokenizer_class: 'PreTrainedTokenizerFast' }),
    'training.json': json({ step, address, text, example, muted, wasMuted, loss }),
    'optimizer.safetensors': writeSafetensors({
      ...optimizer.stateDict(),
      ...Object.fromEntries(rowsOf),
    }),
  };
}
