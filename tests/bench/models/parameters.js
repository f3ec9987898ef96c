// The names and shapes of a model's parameters in Hugging Face's files: of GPT-2, and of Llama's kin.

/** @typedef {[name: string, shape: number[]]} Entry */
/** @typedef {import('../../../web/headwise/models/config.js').ModelConfig} ModelConfig */

/** @param {string} name @param {number[]} weight @param {number} [bias] its size @returns {Entry[]} */
const layer = (name, weight, bias) => [
  [`${name}.weight`, weight],
  .../** @type {Entry[]} */ (bias === undefined ? [] : [[`${name}.bias`, [bias]]]),
];

/** @param {ModelConfig} config @returns {Entry[]} */
function ofGpt2({ vocabSize, contextLength, dModel, dFf, numLayers }) {
  const norm = (/** @type {string} */ name) => layer(name, [dModel], dModel);
  const conv1d = (
    /** @type {string} */ name,
    /** @type {number} */ from,
    /** @type {number} */ to,
  ) => layer(name, [from, to], to);
  const blocks = Array.from({ length: numLayers }, (_, i) => [
    ...norm(`h.${i}.ln_1`),
    ...conv1d(`h.${i}.attn.c_attn`, dModel, 3 * dModel),
    ...conv1d(`h.${i}.attn.c_proj`, dModel, dModel),
    ...norm(`h.${i}.ln_2`),
    ...conv1d(`h.${i}.mlp.c_fc`, dModel, dFf),
    ...conv1d(`h.${i}.mlp.c_proj`, dFf, dModel),
  ]);
  return [
    ['wte.weight', [vocabSize, dModel]],
    ['wpe.weight', [contextLength, dModel]],
    ...blocks.flat(),
    ...norm('ln_f'),
  ];
}

/** @param {ModelConfig} config @returns {Entry[]} */
function ofLlama(config) {
  const { vocabSize, dModel, dFf, headDim, numLayers, biases, qkNorm, tiesHead } = config;
  const [queries, keys] = [config.numHeads * headDim, config.numKeyValueHeads * headDim];
  const linear = (
    /** @type {string} */ name,
    /** @type {number} */ to,
    /** @type {number} */ from,
    hasBias = false,
  ) => layer(name, [to, from], hasBias ? to : undefined);
  const blocks = Array.from({ length: numLayers }, (_, i) => {
    const [attention, mlp] = [`model.layers.${i}.self_attn`, `model.layers.${i}.mlp`];
    return [
      ...layer(`model.layers.${i}.input_layernorm`, [dModel]),
      ...linear(`${attention}.q_proj`, queries, dModel, biases.qkv),
      ...linear(`${attention}.k_proj`, keys, dModel, biases.qkv),
      ...linear(`${attention}.v_proj`, keys, dModel, biases.qkv),
      ...linear(`${attention}.o_proj`, dModel, queries, biases.out),
      ...(qkNorm
        ? ['q_norm', 'k_norm'].flatMap((name) => layer(`${attention}.${name}`, [headDim]))
        : []),
      ...layer(`model.layers.${i}.post_attention_layernorm`, [dModel]),
      ...linear(`${mlp}.gate_proj`, dFf, dModel, biases.mlp),
      ...linear(`${mlp}.up_proj`, dFf, dModel, biases.mlp),
      ...linear(`${mlp}.down_proj`, dModel, dFf, biases.mlp),
    ];
  });
  return [
    ['model.embed_tokens.weight', [vocabSize, dModel]],
    ...blocks.flat(),
    ...layer('model.norm', [dModel]),
    ...(tiesHead ? [] : linear('lm_head', vocabSize, dModel)),
  ];
}

const kin = ['llama', 'mistral', 'qwen2', 'qwen3', 'smollm3'];

/**
 * @param {ModelConfig} config of GPT-2 or of Llama's kin
 * @returns {Entry[]}
 */
export function parametersOf(config) {
  if (config.modelType === 'gpt2') return ofGpt2(config);
  if (kin.includes(config.modelType)) return ofLlama(config);
  throw new Error(`${config.modelType} is not among gpt2, ${kin.join(', ')}`);
}
