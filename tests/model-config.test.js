// config.json of every architecture: published ones, defaults, spellings, and every field that can be wrong.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { architectures } from '../web/headwise/models/architectures.js';
import { readModelConfig } from '../web/headwise/models/config.js';
import { isHeadwiseError, throwsCode } from './helpers.js';
import { published } from './published-configs.js';
import { checkMessage, Wording } from './wording.js';

const types = Object.keys(architectures);

/** Sizes that fit every architecture. @param {string} type @param {Record<string, unknown>} [fields] */
const config = (type, fields) => ({
  ...{ model_type: type, vocab_size: 50, num_hidden_layers: 4, hidden_size: 32 },
  ...{ num_attention_heads: 4, num_key_value_heads: 2, max_position_embeddings: 64 },
  ...(type === 'gpt2' || type === 'gpt_neox' || !architectures[type].isDecoder
    ? { num_key_value_heads: undefined }
    : { head_dim: 8 }),
  ...fields,
});

for (const [name, { config: given, expect, windows, turns }] of Object.entries(published))
  test(`the config of ${name} is read, as an object and as text`, () => {
    const read = readModelConfig(given);
    for (const [key, value] of Object.entries(expect))
      assert.deepEqual(/** @type {any} */ (read)[key], value, key);
    assert.deepEqual(
      read.layers.map(({ window }) => window),
      windows ?? new Array(read.numLayers).fill(0),
    );
    assert.deepEqual(
      read.rotary.map(({ frequencies }) => frequencies.length),
      turns ?? [],
    );
    assert.deepEqual(readModelConfig(JSON.stringify(given)), read);
  });

test('what a config leaves out is as in Hugging Face’s config classes', () => {
  const read = types.map((type) => readModelConfig({ model_type: type }));
  const rows = read.map((each) =>
    [
      ...[each.modelType, each.vocabSize, each.dModel, each.numLayers, each.numHeads],
      ...[each.numKeyValueHeads, each.headDim, each.dFf, each.contextLength, each.eps],
      ...[each.activation, each.tiesHead, Math.max(...each.layers.map(({ window }) => window))],
      each.rotary.map(({ frequencies: [, second], factor }) => [second.toPrecision(4), factor]),
    ].join(' '),
  );
  const theta = (/** @type {number} */ value, /** @type {number} */ dim) =>
    `${(value ** (-2 / dim)).toPrecision(4)},1`;
  assert.deepEqual(rows, [
    'gpt2 50257 768 12 12 12 64 3072 1024 0.00001 gelu_tanh true 0 ',
    `gpt_neox 50432 6144 44 64 64 96 24576 2048 0.00001 gelu false 0 ${theta(1e4, 24)}`,
    `llama 32000 4096 32 32 32 128 11008 2048 0.000001 silu false 0 ${theta(1e4, 128)}`,
    `mistral 32000 4096 32 32 8 128 14336 131072 0.000001 silu false 4096 ${theta(1e4, 128)}`,
    `qwen2 151936 4096 32 32 32 128 22016 32768 0.000001 silu false 0 ${theta(1e4, 128)}`,
    `qwen3 151936 4096 32 32 32 128 22016 32768 0.000001 silu false 0 ${theta(1e4, 128)}`,
    `gemma3_text 262208 2304 26 8 4 256 9216 131072 0.000001 gelu_tanh true 4096 ${theta(1e6, 256)},${theta(1e4, 256)}`,
    `smollm3 128256 2048 36 16 4 128 11008 32768 0.000001 silu true 0 ${theta(2e6, 128)}`,
    'bert 30522 768 12 12 12 64 3072 512 1e-12 gelu true 0 ',
    'roberta 50265 768 12 12 12 64 3072 510 1e-12 gelu true 0 ',
    'distilbert 30522 768 6 12 12 64 3072 512 1e-12 gelu true 0 ',
  ]);
  assert.deepEqual(
    readModelConfig({ model_type: 'gemma3_text' }).layers.map(({ window }) => window > 0),
    Array.from({ length: 26 }, (_, layer) => (layer + 1) % 6 !== 0),
  );
  assert.deepEqual(
    readModelConfig({ model_type: 'smollm3' }).layers.map(({ rotary }) => rotary >= 0),
    Array.from({ length: 36 }, (_, layer) => (layer + 1) % 4 !== 0),
  );
});

const scaled = { factor: 4, low_freq_factor: 1, high_freq_factor: 4 };

/** @type {[string, string, Record<string, unknown>, Record<string, unknown>][]} */
const spellings = [
  [
    'gpt2',
    'sizes under general names',
    { n_embd: 64, n_head: 8 },
    { hidden_size: 64, num_attention_heads: 8 },
  ],
  ['gpt2', 'max_position_embeddings', { n_ctx: 32 }, { n_positions: 64, n_ctx: 32 }],
  ['llama', 'rope_parameters', { rope_theta: 500 }, { rope_parameters: { rope_theta: 500 } }],
  [
    'llama',
    'rope_type',
    { rope_scaling: { type: 'linear', factor: 2 } },
    { rope_parameters: { rope_type: 'linear', factor: 2, rope_theta: 1e4 } },
  ],
  ['llama', 'no scaling', { rope_scaling: null }, { rope_scaling: {} }],
  [
    'llama',
    'rope_parameters beside an empty rope_scaling',
    { rope_theta: 500 },
    { rope_scaling: {}, rope_parameters: { rope_theta: 500 } },
  ],
  ...['yarn', 'llama3'].map(
    (rope_type) =>
      /** @type {typeof spellings[number]} */ ([
        'llama',
        `the context before ${rope_type}`,
        { rope_scaling: { ...scaled, rope_type, original_max_position_embeddings: 16 } },
        { rope_scaling: { ...scaled, rope_type }, original_max_position_embeddings: 16 },
      ]),
  ),
  [
    'gpt_neox',
    'rotary_pct',
    { rotary_pct: 0.5 },
    { rope_parameters: { partial_rotary_factor: 0.5 } },
  ],
  ['gpt_neox', 'rotary_emb_base', { rotary_emb_base: 300 }, { rope_theta: 300 }],
  [
    'gemma3_text',
    'thetas',
    { rope_theta: 100, rope_local_base_freq: 10 },
    {
      rope_parameters: {
        full_attention: { rope_type: 'default', rope_theta: 100 },
        sliding_attention: { rope_type: 'default', rope_theta: 10 },
      },
    },
  ],
  [
    'gemma3_text',
    'layers’ kinds',
    { sliding_window_pattern: 2 },
    { layer_types: ['sliding_attention', 'full_attention', 'sliding_attention', 'full_attention'] },
  ],
  [
    'qwen3',
    'layers’ kinds',
    { use_sliding_window: true, max_window_layers: 3, sliding_window: 5 },
    {
      ...{ use_sliding_window: true, sliding_window: 5 },
      layer_types: [...new Array(3).fill('full_attention'), 'sliding_attention'],
    },
  ],
  [
    'smollm3',
    'layers without positions',
    { no_rope_layer_interval: 2 },
    { no_rope_layers: [1, 0, 1, 0, 1] },
  ],
  ['mistral', 'no window', { sliding_window: null }, { sliding_window: 0 }],
  [
    'llama',
    'as many key heads as heads',
    { num_key_value_heads: 4 },
    { num_key_value_heads: null },
  ],
];

for (const [type, title, older, newer] of spellings)
  test(`${type}: ${title} in either spelling are the same`, () => {
    const [a, b] = [older, newer].map((fields) => readModelConfig(config(type, fields)));
    assert.deepEqual(a, b);
    if (title !== 'no scaling') assert.notDeepEqual(a, readModelConfig({ model_type: type }));
  });

// As _compute_yarn_parameters of https://github.com/huggingface/transformers does.
test('YaRN’s factor of scores is of mscale if both are there, else of the factor, which may be that of the contexts', () => {
  const rope = { rope_type: 'yarn', original_max_position_embeddings: 16 };
  const rotaryOf = (/** @type {Record<string, number>} */ fields) =>
    readModelConfig(
      config('llama', { max_position_embeddings: 64, rope_scaling: { ...rope, ...fields } }),
    ).rotary[0];
  const usual = 0.1 * Math.log(4) + 1;
  const both = (0.08 * Math.log(4) + 1) / (0.04 * Math.log(4) + 1);
  /** @type {{ fields: Record<string, number>, expected: number }[]} */
  const cases = [
    { fields: { factor: 4 }, expected: usual },
    { fields: { factor: 4, mscale: 0.8, mscale_all_dim: 0.4 }, expected: both },
    { fields: { factor: 4, mscale: 0.8 }, expected: usual },
    { fields: { factor: 4, mscale: 0, mscale_all_dim: 0.4 }, expected: usual },
    { fields: { factor: 0.5, mscale: 0.8, mscale_all_dim: 0.4 }, expected: 1 },
    {
      fields: { factor: 4, attention_factor: 1.5, mscale: 0.8, mscale_all_dim: 0.4 },
      expected: 1.5,
    },
  ];
  for (const { fields, expected } of cases)
    assert.ok(Math.abs(rotaryOf(fields).factor - expected) < 1e-12, JSON.stringify(fields));
  assert.deepEqual(rotaryOf({}), rotaryOf({ factor: 4 }));
});

/** @type {[type: string, fields: Record<string, unknown>, name: string, came: string][]} */
const bad = [
  ...[
    'vocab_size',
    'hidden_size',
    'num_hidden_layers',
    'num_attention_heads',
    'max_position_embeddings',
  ].flatMap((name) =>
    [0, -1, 1.5, '12', true, 2 ** 32].map(
      (value) =>
        /** @type {[string, Record<string, unknown>, string, string]} */ ([
          'llama',
          { [name]: value },
          name,
          typeof value === 'string' ? `"${value}"` : `${value}`,
        ]),
    ),
  ),
  ['llama', { num_hidden_layers: 70000 }, 'num_hidden_layers', '70000'],
  ['llama', { head_dim: 70000 }, 'head_dim', '70000'],
  ['llama', { head_dim: undefined, hidden_size: 2 ** 31 }, 'hidden_size', '2147483648'],
  ['llama', { head_dim: 7 }, 'head_dim', '7'],
  ['llama', { head_dim: undefined, hidden_size: 28 }, 'hidden_size', '28'],
  ['llama', { head_dim: 6, partial_rotary_factor: 0.5 }, 'partial_rotary_factor', '0.5'],
  ['llama', { head_dim: undefined, hidden_size: 30 }, 'hidden_size', '30'],
  ['llama', { num_key_value_heads: 3 }, 'num_key_value_heads', '3'],
  ['llama', { num_key_value_heads: 8 }, 'num_key_value_heads', '8'],
  ['llama', { intermediate_size: [] }, 'intermediate_size', '[]'],
  ['llama', { hidden_act: 'quick_gelu' }, 'hidden_act', '"quick_gelu"'],
  ['llama', { hidden_act: 'constructor' }, 'hidden_act', '"constructor"'],
  ['llama', { rms_norm_eps: -1 }, 'rms_norm_eps', '-1'],
  // Finite, but not in float32.
  ['llama', { rms_norm_eps: 1e39 }, 'rms_norm_eps', '1e+39'],
  ['llama', { rope_theta: 1e39 }, 'rope_theta', '1e+39'],
  ['llama', { rope_theta: 1e-320 }, 'rope_theta', '1e-320'],
  ['llama', { rope_scaling: { type: 'linear', factor: 1e-320 } }, 'rope_scaling.factor', '1e-320'],
  ['llama', { rope_scaling: { type: 'linear', factor: 1e-4 } }, 'rope_scaling.factor', '0.0001'],
  ['qwen3', { rope_scaling: { type: 'yarn', factor: 1e-4 } }, 'rope_scaling.factor', '0.0001'],
  ['gemma3_text', { query_pre_attn_scalar: 1e-300 }, 'query_pre_attn_scalar', '1e-300'],
  ['gemma3_text', { attn_logit_softcapping: 1e-40 }, 'attn_logit_softcapping', '1e-40'],
  ['gemma3_text', { final_logit_softcapping: 1e31 }, 'final_logit_softcapping', '1e+31'],
  ['gemma3_text', { rope_local_base_freq: 1e-9 }, 'rope_local_base_freq', '1e-9'],
  ['gpt2', { layer_norm_epsilon: 1e39 }, 'layer_norm_epsilon', '1e+39'],
  ['bert', { layer_norm_eps: 1e39 }, 'layer_norm_eps', '1e+39'],
  ['llama', { tie_word_embeddings: 'yes' }, 'tie_word_embeddings', '"yes"'],
  ['llama', { attention_bias: 1 }, 'attention_bias', '1'],
  ['llama', { rope_theta: 0 }, 'rope_theta', '0'],
  ['llama', { rope_theta: '1e4' }, 'rope_theta', '"1e4"'],
  ['llama', { rope_scaling: 2 }, 'rope_scaling', '2'],
  ['llama', { rope_scaling: [2] }, 'rope_scaling', '[2]'],
  ['llama', { rope_scaling: { type: 'dynamic', factor: 2 } }, 'rope_scaling.type', '"dynamic"'],
  ['llama', { rope_scaling: { rope_type: 'longrope' } }, 'rope_scaling.rope_type', '"longrope"'],
  ['llama', { rope_scaling: { rope_type: 'linear' } }, 'rope_scaling.factor', 'missing'],
  ['llama', { rope_scaling: { rope_type: 'linear', factor: 0 } }, 'rope_scaling.factor', '0'],
  ['llama', { rope_scaling: { mrope_section: [1, 2] } }, 'rope_scaling.mrope_section', '[1, 2]'],
  [
    'llama',
    { rope_scaling: { rope_type: 'llama3', factor: 8, low_freq_factor: 4, high_freq_factor: 4 } },
    'rope_scaling.high_freq_factor',
    '4',
  ],
  [
    'qwen3',
    { rope_parameters: { rope_type: 'yarn', factor: 4, truncate: 0 } },
    'rope_parameters.truncate',
    '0',
  ],
  [
    'qwen3',
    { rope_parameters: { rope_type: 'yarn', rope_theta: 1 } },
    'rope_parameters.rope_theta',
    '1',
  ],
  ['llama', { sliding_window: 8 }, 'sliding_window', '8'],
  [
    'llama',
    { layer_types: new Array(4).fill('sliding_attention') },
    'layer_types[0]',
    '"sliding_attention"',
  ],
  ['llama', { num_local_experts: 8 }, 'num_local_experts', '8'],
  ['llama', { attn_logit_softcapping: 50 }, 'attn_logit_softcapping', '50'],
  ['llama', { embedding_multiplier: 12 }, 'embedding_multiplier', '12'],
  ['llama', { logits_scaling: 8 }, 'logits_scaling', '8'],
  ['llama', { rope_interleaved: true }, 'rope_interleaved', 'true'],
  ['llama', { quantization_config: { bits: 4 } }, 'quantization_config', 'a value of type Object'],
  ['llama', { alibi: true }, 'alibi', 'true'],
  ['llama', { use_qk_norm: true }, 'use_qk_norm', 'true'],
  ['llama', { add_cross_attention: true }, 'add_cross_attention', 'true'],
  ['mistral', { mlp_bias: true }, 'mlp_bias', 'true'],
  ['mistral', { sliding_window: 1.5 }, 'sliding_window', '1.5'],
  ['mistral', { sliding_window: -4 }, 'sliding_window', '-4'],
  ['qwen2', { max_window_layers: -1 }, 'max_window_layers', '-1'],
  ['qwen2', { use_sliding_window: 'no' }, 'use_sliding_window', '"no"'],
  [
    'qwen3',
    { layer_types: ['full_attention', ...new Array(3).fill('sliding_attention')] },
    'layer_types[1]',
    '"sliding_attention"',
  ],
  ['qwen3', { layer_types: ['full_attention'] }, 'layer_types', '["full_attention"]'],
  ['qwen3', { layer_types: 'full_attention' }, 'layer_types', '"full_attention"'],
  [
    'gemma3_text',
    { layer_types: new Array(4).fill('chunked_attention') },
    'layer_types[0]',
    '"chunked_attention"',
  ],
  [
    'gemma3_text',
    { rope_parameters: { full_attention: { rope_theta: 100 }, rope_theta: 10 } },
    'rope_parameters.rope_theta',
    '10',
  ],
  [
    'llama',
    { rope_parameters: { rope_type: 'default', partial_rotary_factor: 0.01 } },
    'rope_parameters.partial_rotary_factor',
    '0.01',
  ],
  ['qwen3', { is_causal: false }, 'is_causal', 'false'],
  ['gemma3_text', { use_bidirectional_attention: true }, 'use_bidirectional_attention', 'true'],
  ['gemma3_text', { query_pre_attn_scalar: 0 }, 'query_pre_attn_scalar', '0'],
  ['gemma3_text', { final_logit_softcapping: -3 }, 'final_logit_softcapping', '-3'],
  ['gemma3_text', { sliding_window_pattern: 0 }, 'sliding_window_pattern', '0'],
  ['smollm3', { no_rope_layers: [1, 1, 2, 1] }, 'no_rope_layers[2]', '2'],
  ['smollm3', { no_rope_layer_interval: 0 }, 'no_rope_layer_interval', '0'],
  ['gpt_neox', { rotary_pct: 0 }, 'rotary_pct', '0'],
  ['gpt_neox', { rotary_pct: 2 }, 'rotary_pct', '2'],
  ['gpt_neox', { rotary_pct: 0.4 }, 'rotary_pct', '0.4'],
  ['gpt_neox', { hidden_size: 16 }, 'hidden_size', '16'],
  ['gpt_neox', { use_parallel_residual: null, attention_bias: 'no' }, 'attention_bias', '"no"'],
  ['gpt2', { scale_attn_by_inverse_layer_idx: true }, 'scale_attn_by_inverse_layer_idx', 'true'],
  ['gpt2', { scale_attn_weights: false }, 'scale_attn_weights', 'false'],
  [
    'bert',
    { position_embedding_type: 'relative_key' },
    'position_embedding_type',
    '"relative_key"',
  ],
  ['bert', { is_decoder: true }, 'is_decoder', 'true'],
  ['bert', { type_vocab_size: 0 }, 'type_vocab_size', '0'],
  ['bert', { pruned_heads: { 1: [0] } }, 'pruned_heads', 'a value of type Object'],
  ['roberta', { pad_token_id: 63 }, 'pad_token_id', '63'],
  ['roberta', { pad_token_id: -2 }, 'pad_token_id', '-2'],
  ['roberta', { pad_token_id: 'x' }, 'pad_token_id', '"x"'],
  // Learned attention sinks.
  ['llama', { attention_sinks: true }, 'attention_sinks', 'true'],
  ['qwen3', { num_sink_tokens: 4 }, 'num_sink_tokens', '4'],
  ['gpt_oss', {}, 'model_type', '"gpt_oss"'],
  ['t5', {}, 'model_type', '"t5"'],
  ['toString', {}, 'model_type', '"toString"'],
];

test('every field that is bad, or asks for what is not implemented, is named', async () => {
  const wording = new Wording('model-config');
  for (const [type, fields, name, came] of bad)
    assert.throws(
      () => {
        const own = Object.hasOwn(architectures, type)
          ? config(type, fields)
          : { model_type: type };
        readModelConfig(JSON.parse(JSON.stringify(own)), 'my.json');
      },
      (error) => {
        const message = checkMessage(error, 'ERR_FORMAT', `my.json: ${name}`, came);
        assert.match(message, / expected \S/);
        return wording.add(`${type}: ${JSON.stringify(fields)}`, message);
      },
    );
  await wording.check();
});

test('what is no JSON object is refused', () => {
  for (const text of ['', '{', 'null', '[]', '{"model_type":"llama","model_type":"gpt2"}'])
    throwsCode(() => readModelConfig(text), 'ERR_FORMAT', 'config.json: ', /expected \S/);
  for (const value of [null, [], 3, undefined])
    throwsCode(() => readModelConfig(/** @type {any} */ (value)), 'ERR_FORMAT', 'config.json is ');
  throwsCode(() => readModelConfig({}), 'ERR_FORMAT', 'model_type is missing');
});

/** Every field of the value and those within, replaced by each of these. @param {any} value @returns {Generator<any>} */
function* broken(value) {
  const traps = new Proxy(
    {},
    {
      get() {
        throw new Error('no');
      },
      ownKeys() {
        throw new Error('no');
      },
    },
  );
  const odd = [
    null,
    NaN,
    Infinity,
    -0,
    '',
    'x',
    [],
    {},
    [[]],
    1n,
    Symbol('s'),
    () => 1,
    traps,
    new Date(0),
    2 ** 53,
  ];
  for (const key of Object.keys(value)) {
    for (const each of odd) yield { ...value, [key]: each };
    if (typeof value[key] === 'object' && value[key] !== null && !Array.isArray(value[key]))
      for (const inner of broken(value[key])) yield { ...value, [key]: inner };
  }
}

test('configs of anybody’s are read or refused by an error of the package', () => {
  let refused = 0;
  let read = 0;
  for (const { config: given } of Object.values(published))
    for (const value of broken(given))
      try {
        readModelConfig(value);
        read++;
      } catch (error) {
        isHeadwiseError(error, /** @type {any} */ (error).code, []);
        refused++;
      }
  assert.ok(refused > 1000 && read > 100, `${refused} refused, ${read} read`);
});

test('a config is read once: what changes while it is read changes nothing', () => {
  let reads = 0;
  const sizes = { ...config('llama'), rope_scaling: { rope_type: 'linear', factor: 2 } };
  const counting = new Proxy(sizes, {
    get(target, key) {
      if (key === 'hidden_size') return reads++ === 0 ? 32 : 'other';
      return /** @type {any} */ (target)[key];
    },
  });
  assert.deepEqual(readModelConfig(counting), readModelConfig(sizes));
  assert.equal(reads, 1);
});
