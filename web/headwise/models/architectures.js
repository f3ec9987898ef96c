// The differences between architectures, in one table each: the fields of their configs, with Hugging Face's defaults, and the
// properties of all their models.
// An architecture is a config: `config.js` makes of a table and a config.json what the engine builds.

import { gemmaKinds, mistralKinds, qwenKinds, smolKinds } from './layer-kinds.js';

/**
 * @typedef {object} Architecture
 * @property {boolean} isDecoder predicts the next token; else masked tokens, from both sides
 * @property {'layer' | 'rms'} norm
 * @property {0 | 1} [gainOffset] what is added to norms' weights; default 0
 * @property {'pre' | 'post' | 'both'} normPlace before a branch, after its residual connection, or before and after the branch
 * @property {string} epsField
 * @property {number} [eps] default 1e-6
 * @property {string} sizes names of vocab_size, hidden_size, num_hidden_layers, num_attention_heads, max_position_embeddings,
 *   intermediate_size, with commas between; several names of one with spaces between
 * @property {readonly number[]} defaults of these; the last of 0: four times hidden_size
 * @property {number} [keyValueHeads] default of num_key_value_heads; default: there is no such field; 0: as many as heads
 * @property {number} [headDim] default of head_dim; 0: hidden_size / heads
 * @property {string} activationField
 * @property {string} activation its default
 * @property {import('./config.js').Activation} [headActivation] of a masked-language-model head; default: activation
 * @property {boolean} [isGated] whether the feed-forward has a gate
 * @property {boolean} ties default of tie_word_embeddings
 * @property {boolean} [qkNorm] whether queries and keys have norms, a head at a time
 * @property {readonly ('qkv' | 'out' | 'mlp')[]} [biases] that are always there
 * @property {boolean} [attentionBias] whether there is a field attention_bias, and its default
 * @property {boolean} [mlpBias] the same of mlp_bias
 * @property {number} [theta] default of rope_theta; default: positions are learned
 * @property {number} [localTheta] default of rope_local_base_freq, which is sliding layers' theta; default: theta
 * @property {number} [part] default of partial_rotary_factor; default 1
 * @property {boolean} [isParallel] whether there is a field use_parallel_residual, which is true by default
 * @property {number} [queryScalar] default of query_pre_attn_scalar, and embeddings are scaled; default: head_dim, and they are not
 * @property {boolean} [softcaps] whether there are fields attn_logit_softcapping and final_logit_softcapping
 * @property {boolean} [isPadded] whether positions are counted from pad_token_id + 1
 * @property {number} [tokenTypes] default of type_vocab_size; default: there are none
 * @property {(fields: import('./config-fields.js').Fields, layers: number) => import('./layer-kinds.js').LayerKinds} [layers]
 *   default: all attend to everything
 * @property {readonly (readonly [field: string, value: unknown])[]} [fixed] fields that must be so, or left out
 * @property {string} prefix of the names in a state dict, but for those of the head
 * @property {string} head how the names of an output head begin
 * @property {string} embedding the token embedding's name after the prefix
 * @property {RegExp} [unused] what else files have
 */

const kinSizes =
  'vocab_size,hidden_size,num_hidden_layers,num_attention_heads,max_position_embeddings,intermediate_size';

/** Llama's, which most later ones share. @type {Omit<Architecture, 'defaults'>} */
const kin = {
  ...{ isDecoder: true, norm: 'rms', normPlace: 'pre', epsField: 'rms_norm_eps', sizes: kinSizes },
  ...{ keyValueHeads: 0, headDim: 0, activationField: 'hidden_act', activation: 'silu' },
  ...{ isGated: true, ties: false, theta: 1e4, prefix: 'model.', head: 'lm_head.' },
  embedding: 'embed_tokens',
  unused: /rotary_emb\.inv_freq$/,
};

/** @type {Omit<Architecture, 'epsField' | 'prefix' | 'head'>} */
const encoder = {
  ...{ isDecoder: false, norm: 'layer', normPlace: 'post', eps: 1e-12, sizes: kinSizes },
  ...{ activationField: 'hidden_act', activation: 'gelu', ties: true },
  ...{ biases: ['qkv', 'out', 'mlp'], defaults: [30522, 768, 12, 12, 512, 3072] },
  embedding: 'embeddings.word_embeddings',
  fixed: [
    ['position_embedding_type', 'absolute'],
    ['is_decoder', false],
  ],
};

/** @type {Architecture} */
const bert = {
  ...encoder,
  ...{ epsField: 'layer_norm_eps', tokenTypes: 2, prefix: 'bert.', head: 'cls.predictions.' },
  // The head's bias comes under two names, whether its matrix is tied or not.
  unused: /pooler\.|seq_relationship\.|(position|token_type)_ids$|\.decoder\.bias$/,
};

/** @type {Readonly<Record<string, Architecture>>} */
export const architectures = {
  gpt2: {
    ...{
      isDecoder: true,
      norm: 'layer',
      normPlace: 'pre',
      epsField: 'layer_norm_epsilon',
      eps: 1e-5,
    },
    sizes:
      'vocab_size,n_embd hidden_size,n_layer num_hidden_layers,n_head num_attention_heads,n_positions max_position_embeddings n_ctx,n_inner',
    defaults: [50257, 768, 12, 12, 1024, 0],
    ...{ activationField: 'activation_function', activation: 'gelu_new', ties: true },
    biases: ['qkv', 'out', 'mlp'],
    fixed: [
      ['scale_attn_weights', true],
      ['scale_attn_by_inverse_layer_idx', false],
    ],
    ...{ prefix: 'transformer.', head: 'lm_head.', embedding: 'wte' },
    unused: /\.attn\.(bias|masked_bias)$/,
  },
  gpt_neox: {
    ...{ isDecoder: true, norm: 'layer', normPlace: 'pre', epsField: 'layer_norm_eps', eps: 1e-5 },
    ...{ sizes: kinSizes, defaults: [50432, 6144, 44, 64, 2048, 24576] },
    ...{ activationField: 'hidden_act', activation: 'gelu', ties: false },
    ...{ biases: ['mlp'], attentionBias: true, theta: 1e4, part: 0.25, isParallel: true },
    ...{ prefix: 'gpt_neox.', head: 'embed_out.', embedding: 'embed_in' },
    unused: /\.attention\.(bias|masked_bias|rotary_emb\.inv_freq)$/,
  },
  llama: {
    ...{ ...kin, defaults: [32000, 4096, 32, 32, 2048, 11008] },
    ...{ attentionBias: false, mlpBias: false },
  },
  mistral: {
    ...{ ...kin, defaults: [32000, 4096, 32, 32, 131072, 14336] },
    ...{ keyValueHeads: 8, layers: mistralKinds },
  },
  qwen2: {
    ...{ ...kin, defaults: [151936, 4096, 32, 32, 32768, 22016] },
    ...{ keyValueHeads: 32, biases: ['qkv'], layers: qwenKinds },
  },
  qwen3: {
    ...{ ...kin, defaults: [151936, 4096, 32, 32, 32768, 22016] },
    ...{ keyValueHeads: 32, headDim: 128, qkNorm: true, attentionBias: false, layers: qwenKinds },
  },
  gemma3_text: {
    ...{ ...kin, defaults: [262208, 2304, 26, 8, 131072, 9216] },
    ...{ gainOffset: 1, normPlace: 'both', keyValueHeads: 4, headDim: 256, qkNorm: true },
    ...{ activationField: 'hidden_activation', activation: 'gelu_pytorch_tanh', ties: true },
    ...{ attentionBias: false, theta: 1e6, localTheta: 1e4, layers: gemmaKinds },
    ...{ queryScalar: 256, softcaps: true },
  },
  smollm3: {
    ...{ ...kin, defaults: [128256, 2048, 36, 16, 32768, 11008] },
    ...{ keyValueHeads: 4, ties: true, theta: 2e6, attentionBias: false, mlpBias: false },
    layers: smolKinds,
  },
  bert,
  // Its head's GELU is exact, whatever hidden_act says.
  roberta: {
    ...{ ...bert, isPadded: true, prefix: 'roberta.', head: 'lm_head.', headActivation: 'gelu' },
    defaults: [50265, 768, 12, 12, 512, 3072],
  },
  distilbert: {
    ...{ ...encoder, epsField: '' },
    sizes:
      'vocab_size,dim hidden_size,n_layers num_hidden_layers,n_heads num_attention_heads,max_position_embeddings,hidden_dim',
    defaults: [30522, 768, 6, 12, 512, 3072],
    ...{ activationField: 'activation', prefix: 'distilbert.', head: 'vocab_' },
    unused: /position_ids$/,
  },
};
