// Reads Hugging Face's config.json of the supported models into one description of the model to build:
// https://huggingface.co/docs/transformers/main_classes/configuration
import { choicesOf, isInteger } from '../checks/check.js';
import { describe } from '../checks/describe.js';
import { architectures } from './architectures.js';
import { Fields } from './config-fields.js';
import { kinds } from './layer-kinds.js';
import { leastDivisor, readRotary } from './rotary.js';

/** @typedef {import('./architectures.js').Architecture} Architecture */
/** @typedef {import('./rotary.js').Rotary} Rotary */
/**
 * A function between the products of a feed-forward; gelu_tanh is GELU's approximation.
 * @typedef {'gelu' | 'gelu_tanh' | 'relu' | 'silu'} Activation
 */

/**
 * Which products add a bias.
 * @typedef {object} Biases
 * @property {boolean} qkv of queries, keys and values
 * @property {boolean} out of attention's output projection
 * @property {boolean} mlp of the feed-forward
 */

/**
 * A layer's attention.
 * @typedef {object} LayerConfig
 * @property {number} window how many tokens a token sees, itself the last of them; 0: all before it
 * @property {number} rotary which of the config's `rotary` turns its queries and keys; -1: none
 */

/**
 * What a config says, defaults filled in: a model is built of it without another look at the config.
 * @typedef {object} ModelConfig
 * @property {string} modelType Hugging Face's model_type
 * @property {boolean} isDecoder predicts the next token; else masked tokens, from both sides
 * @property {number} vocabSize how many ids there are
 * @property {number} contextLength the most tokens
 * @property {number} dModel width of the residual stream
 * @property {number} numLayers how many blocks
 * @property {number} numHeads of queries
 * @property {number} numKeyValueHeads a divisor of numHeads
 * @property {number} headDim width of a head
 * @property {number} dFf width within the feed-forward; 0: blocks are attention alone
 * @property {'layer' | 'rms'} norm LayerNorm or RMSNorm
 * @property {number} eps what norms add to the variance or mean square
 * @property {0 | 1} gainOffset what is added to norms' weights
 * @property {'pre' | 'post' | 'both'} normPlace before a branch, after its residual connection, or before and after the branch
 * @property {boolean} isParallel attention and feed-forward both read the block's input
 * @property {boolean} qkNorm whether each head's queries and keys are normalized, before rotary positions
 * @property {Biases} biases which products add one
 * @property {Activation} activation of the feed-forward
 * @property {Activation} headActivation of an encoder's masked-language-model head
 * @property {boolean} isGated activation(gate) · up, else activation(up)
 * @property {number} attentionScale what scores are multiplied by
 * @property {number} attentionSoftcap of scaled scores; 0: none
 * @property {number} logitSoftcap 0: none
 * @property {number} embeddingScale what token embeddings are multiplied by
 * @property {number} positions rows of learned position embeddings; 0: there are none
 * @property {number} firstPosition row of the first token
 * @property {number} tokenTypes 0: there are none
 * @property {boolean} tiesHead whether the head's matrix is the token embedding
 * @property {number} [dropout] in training mode, of a model's own: configs do not say it
 * @property {readonly Rotary[]} rotary rotary positions, which layers name by their index
 * @property {readonly LayerConfig[]} layers what differs between layers
 */

/** More layers, and wider heads, no model has; what is made for each would fill memory. */
const most = 2 ** 16;
/** Where a head's width follows from the model's; no model comes near. */
const widestImplied = 2 ** 24;

/** @type {Readonly<Record<string, Activation>>} */
const activations = {
  ...{ gelu: 'gelu', gelu_python: 'gelu', gelu_new: 'gelu_tanh', gelu_fast: 'gelu_tanh' },
  ...{ gelu_pytorch_tanh: 'gelu_tanh', relu: 'relu', silu: 'silu', swish: 'silu' },
};

/** Fields of any architecture that change what a model computes, by their names. */
const matters =
  /^(?!.*dropout).*(expert|moe|router|multiplier|scal|softcap|clip|alibi|sink|(?<!max_)window|sparse|rope|rotary|bias|residual|cross_attention|lora|quanti|bidirectional|relative|qk_?norm|pruned|head_dim|key_value)/;

/** What all decoders are. @type {readonly [field: string, value: unknown]} */
const causal = ['is_causal', true];

/** @param {Fields} fields @param {Architecture} architecture */
function readSizes(fields, { sizes, defaults, keyValueHeads, headDim: usual }) {
  const names = sizes.split(',').map((each) => fields.spelling(each));
  const [vocab, width, layers, heads, positions, inner] = names;
  const dModel = fields.size(width, defaults[1]);
  const numHeads = fields.size(heads, defaults[3]);
  const numKeyValueHeads =
    (keyValueHeads !== undefined && fields.sizeOrNone('num_key_value_heads', keyValueHeads)) ||
    numHeads;
  const given = usual === undefined ? 0 : fields.sizeOrNone('head_dim', usual);
  if (given === 0 && dModel % numHeads !== 0) {
    throw fields.error(width, `a multiple of ${heads}, ${numHeads}`, dModel);
  }
  const headDim = given || dModel / numHeads;
  const widest = given > 0 ? most : widestImplied;
  if (headDim > widest) {
    throw fields.error(given > 0 ? 'head_dim' : width, `at most ${widest} for each head`);
  }
  if (numHeads % numKeyValueHeads !== 0) {
    throw fields.error(
      'num_key_value_heads',
      `a divisor of ${heads}, ${numHeads}`,
      numKeyValueHeads,
    );
  }
  return {
    ...{ vocabSize: fields.size(vocab, defaults[0]), dModel, numHeads, numKeyValueHeads },
    ...{ numLayers: fields.size(layers, defaults[2], most), headDim },
    ...{
      places: fields.size(positions, defaults[4]),
      dFf: fields.size(inner, defaults[5] || 4 * dModel, undefined, 0),
    },
  };
}

/**
 * @param {Fields} fields
 * @param {Architecture} architecture
 * @param {number} places max_position_embeddings
 */
function readPositions(fields, { theta, isPadded, tokenTypes }, places) {
  const pad = isPadded ? fields.get('pad_token_id', 1) : -1;
  if (!isInteger(pad) || pad < -1 || pad + 1 >= places) {
    throw fields.error(
      'pad_token_id',
      `an integer from 0 to ${places - 2}: positions begin after it`,
    );
  }
  const firstPosition = pad + 1;
  return {
    ...{ positions: theta === undefined ? places : 0, firstPosition },
    contextLength: places - firstPosition,
    tokenTypes: tokenTypes === undefined ? 0 : fields.size('type_vocab_size', tokenTypes),
  };
}

/**
 * How each kind of layer rotates.
 * @param {Fields} fields
 * @param {Architecture} architecture with a theta
 * @param {{ headDim: number, contextLength: number }} shape
 * @returns {(slides: boolean) => Rotary}
 */
function rotaries(fields, { theta: usual, localTheta, part: usualPart = 1 }, shape) {
  const base = fields.spelling('rotary_emb_base rope_theta');
  const theta = fields.number(base, usual, leastDivisor);
  const local = localTheta && fields.number('rope_local_base_freq', localTheta, leastDivisor);
  const partKey = fields.spelling('rotary_pct partial_rotary_factor');
  const part = fields.number(partKey, usualPart);
  const given = [partKey, 'head_dim'].find((key) => fields.get(key) !== undefined);
  const refuse = (/** @type {string} */ expected) => fields.error(given ?? 'hidden_size', expected);
  // Of both, an empty one says nothing.
  const [scaling] = ['rope_scaling', 'rope_parameters']
    .map((name) => fields.inner(name))
    .filter((inner) => inner !== undefined);
  // Where it stands outside, it counts for all kinds of layers.
  const original = fields.sizeOrNone('original_max_position_embeddings', 0);
  const none = fields.none();
  const byKind = kinds.map((kind) => scaling?.inner(kind));
  const isByKind = byKind.some((each) => each !== undefined);
  // Beside kinds of layers nothing is read.
  scaling?.refuseOthers(() => isByKind);
  return (slides) => {
    const shared = slides && local ? none : scaling;
    const own = isByKind ? byKind[Number(slides)] : shared;
    return readRotary(own ?? none, {
      ...shape,
      theta: (slides && local) || theta,
      part,
      original,
      refuse,
    });
  };
}

/**
 * @param {Fields} fields
 * @param {Architecture} architecture
 * @param {{ numLayers: number, headDim: number, contextLength: number }} shape
 */
function readLayers(fields, architecture, shape) {
  const { numLayers } = shape;
  const { window, slides, rotates } = architecture.layers?.(fields, numLayers) ?? {
    window: 0,
    slides: new Array(numLayers).fill(false),
  };
  if (architecture.layers === undefined) {
    fields.list('layer_types', numLayers, kinds.slice(0, 1));
  }
  const rotaryOf =
    architecture.theta === undefined ? undefined : rotaries(fields, architecture, shape);
  const used = [false, true].filter((one) => slides.includes(one));
  const rotary = rotaryOf === undefined ? [] : used.map(rotaryOf);
  const layers = slides.map((one, layer) => ({
    window: one ? window : 0,
    rotary: rotary.length > 0 && (rotates?.[layer] ?? true) ? used.indexOf(one) : -1,
  }));
  return { layers, rotary };
}

/** @param {Fields} fields @param {Architecture} architecture */
function readBiases(fields, { biases = [], attentionBias, mlpBias }) {
  const attention = attentionBias !== undefined && fields.boolean('attention_bias', attentionBias);
  return {
    qkv: attention || biases.includes('qkv'),
    out: attention || biases.includes('out'),
    mlp: (mlpBias !== undefined && fields.boolean('mlp_bias', mlpBias)) || biases.includes('mlp'),
  };
}

/** @param {Fields} fields @param {Architecture} architecture @param {{ headDim: number, dModel: number }} sizes */
function readScales(fields, { queryScalar, softcaps }, { headDim, dModel }) {
  const cap = (/** @type {string} */ name) =>
    softcaps && fields.get(name) !== undefined ? fields.number(name, undefined) : 0;
  const scalar = queryScalar && fields.number('query_pre_attn_scalar', queryScalar);
  return {
    attentionScale: (scalar ?? headDim) ** -0.5,
    attentionSoftcap: cap('attn_logit_softcapping'),
    logitSoftcap: cap('final_logit_softcapping'),
    embeddingScale: queryScalar === undefined ? 1 : Math.sqrt(dModel),
  };
}

/**
 * @param {Fields} fields
 * @param {string} modelType
 * @returns {ModelConfig}
 */
function read(fields, modelType) {
  const architecture = architectures[modelType];
  const {
    isDecoder,
    norm,
    normPlace,
    epsField,
    eps = 1e-6,
    gainOffset = 0,
    fixed = [],
  } = architecture;
  for (const [field, value] of isDecoder ? [...fixed, causal] : fixed) {
    if (fields.get(field, value) !== value) {
      throw fields.error(field, `${describe(value)}: nothing else is implemented`);
    }
  }
  const { places, ...sizes } = readSizes(fields, architecture);
  const positions = readPositions(fields, architecture, places);
  const activation = fields.choice(
    architecture.activationField,
    activations,
    architecture.activation,
  );
  const config = {
    ...{ modelType, isDecoder, ...sizes, ...positions, norm, normPlace, gainOffset },
    eps: epsField === '' ? eps : fields.eps(epsField, eps),
    isParallel: architecture.isParallel === true && fields.boolean('use_parallel_residual', true),
    qkNorm: architecture.qkNorm === true,
    biases: readBiases(fields, architecture),
    activation,
    headActivation: architecture.headActivation ?? activation,
    isGated: architecture.isGated === true,
    ...readScales(fields, architecture, sizes),
    tiesHead: fields.boolean('tie_word_embeddings', architecture.ties),
    ...readLayers(fields, architecture, { ...sizes, ...positions }),
  };
  fields.refuseOthers((field) => matters.test(field));
  return config;
}

/**
 * What a Hugging Face `config.json` says of a model. Fields that are missing have Hugging Face's defaults; what is not known to
 * change a model, such as dropout or the tokens that end a text, is passed over.
 *
 * @param {string | object} json the file's text, or what it holds
 * @param {string} [name] what messages call it
 * @param {readonly string[]} [types] values of model_type that are wanted
 * @returns {ModelConfig}
 * @throws {import('../checks/error.js').HeadwiseError} ERR_FORMAT, naming the field: it is bad, or asks for what is not implemented
 */
export function readModelConfig(json, name = 'config.json', types = Object.keys(architectures)) {
  const fields = Fields.parse(json, name);
  const modelType = fields.get('model_type');
  if (typeof modelType !== 'string' || !types.includes(modelType)) {
    throw fields.error('model_type', choicesOf(types));
  }
  return read(fields, modelType);
}
