// A Hugging Face config.json of GPT-2:
// https://huggingface.co/docs/transformers/model_doc/gpt2#transformers.GPT2Config
import { checkOptions } from '../checks/check.js';
import { checkName } from '../formats/source.js';
import { Fields } from './config-fields.js';

/**
 * The fields of GPT-2's config.json, under the names of Gpt2Options.
 * @typedef {object} Gpt2Config
 * @property {number} vocabSize the number of token ids
 * @property {number} contextLength the number of positions with an embedding
 * @property {number} dModel width of the embeddings
 * @property {number} numHeads the number of heads of each block
 * @property {number} numLayers the number of blocks
 * @property {number} dFf width of the feed-forward's hidden layer; 0: blocks are attention alone
 * @property {number} eps of every layer norm
 * @property {'tanh' | 'none'} approximate the form of GELU, as in the options of `gelu`
 * @property {boolean} tieWordEmbeddings whether the output head is `wte.weight`
 */

/** @type {Readonly<Record<string, 'tanh' | 'none'>>} */
const activations = { gelu_new: 'tanh', gelu_pytorch_tanh: 'tanh', gelu: 'none' };

/**
 * Fields that must have these values; with other values the model computes something else. (reorder_and_upcast_attn is not
 * included: it only changes the order in which float16 is rounded.)
 * @type {Readonly<Record<string, boolean>>}
 */
const fixed = {
  scale_attn_weights: true,
  scale_attn_by_inverse_layer_idx: false,
  add_cross_attention: false,
  is_causal: true,
};

/** @param {Fields} fields */
function checkKind(fields) {
  if (fields.get('model_type', 'gpt2') !== 'gpt2') {
    throw fields.error('model_type', '"gpt2"');
  }
  for (const [field, value] of Object.entries(fixed)) {
    if (fields.boolean(field, value) !== value) {
      throw fields.error(field, `${value}: nothing else is implemented`);
    }
  }
}

/**
 * Reads a Hugging Face `config.json` of a GPT-2. Sizes are required; other missing fields get GPT2Config's defaults.
 *
 * @param {string | object} json the file's text, or the parsed object
 * @param {{ name?: string }} [options] name: the name of the file in messages; default 'config.json'
 * @returns {Gpt2Config}
 * @throws {import('../checks/error.js').HeadwiseError} ERR_FORMAT: a field is missing or bad, or the model is not a GPT-2, or is one that computes
 *   something else. The message names the field
 */
export function readGpt2Config(json, options) {
  const name = checkName(checkOptions(options, ['name'], 'readGpt2Config').name) ?? 'config.json';
  const fields = Fields.parse(json, name);
  checkKind(fields);
  const dModel = fields.size('n_embd');
  const numHeads = fields.size('n_head');
  if (dModel % numHeads !== 0) {
    throw fields.error('n_embd', `a multiple of n_head, ${numHeads}`);
  }
  const hasOldName = fields.get('n_positions') === undefined && fields.get('n_ctx') !== undefined;
  return {
    vocabSize: fields.size('vocab_size'),
    contextLength: fields.size(hasOldName ? 'n_ctx' : 'n_positions'),
    dModel,
    numHeads,
    numLayers: fields.size('n_layer'),
    dFf: fields.size('n_inner', 4 * dModel, undefined, 0),
    eps: fields.eps('layer_norm_epsilon', 1e-5),
    approximate: fields.choice('activation_function', activations, 'gelu_new'),
    tieWordEmbeddings: fields.boolean('tie_word_embeddings', true),
  };
}
