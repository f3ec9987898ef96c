// config.json of GPT-2: what is read of it, and every field that can be wrong.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readGpt2Config } from 'headwise/formats';
import { throwsCode } from './helpers.js';
import { checkMessage, Wording } from './wording.js';

/** As published with the smallest GPT-2, in 2019. */
const gpt2 = {
  activation_function: 'gelu_new',
  architectures: ['GPT2LMHeadModel'],
  attn_pdrop: 0.1,
  bos_token_id: 50256,
  embd_pdrop: 0.1,
  eos_token_id: 50256,
  initializer_range: 0.02,
  layer_norm_epsilon: 1e-5,
  model_type: 'gpt2',
  n_ctx: 1024,
  n_embd: 768,
  n_head: 12,
  n_layer: 12,
  n_positions: 1024,
  resid_pdrop: 0.1,
  summary_activation: null,
  summary_first_dropout: 0.1,
  summary_proj_to_labels: true,
  summary_type: 'cls_index',
  summary_use_proj: true,
  task_specific_params: { 'text-generation': { do_sample: true, max_length: 50 } },
  vocab_size: 50257,
};

const small = {
  vocabSize: 50257,
  contextLength: 1024,
  dModel: 768,
  numHeads: 12,
  numLayers: 12,
  dFf: 3072,
  eps: 1e-5,
  approximate: 'tanh',
  tieWordEmbeddings: true,
};

/** @param {Record<string, unknown>} fields undefined: without the field */
const changed = (fields) => JSON.parse(JSON.stringify({ ...gpt2, ...fields }));

test('the smallest GPT-2 is read, as text and as an object', () => {
  assert.deepEqual(readGpt2Config(gpt2), small);
  assert.deepEqual(readGpt2Config(JSON.stringify(gpt2)), small);
});

/** @type {[title: string, fields: Record<string, unknown>, differs: object][]} */
const variants = [
  ['n_ctx alone', { n_positions: undefined, n_ctx: 512 }, { contextLength: 512 }],
  ['n_positions before n_ctx', { n_positions: 2048 }, { contextLength: 2048 }],
  ['n_inner', { n_inner: 100 }, { dFf: 100 }],
  ['n_inner of null', { n_inner: null }, {}],
  ['gelu', { activation_function: 'gelu' }, { approximate: 'none' }],
  ['gelu_pytorch_tanh', { activation_function: 'gelu_pytorch_tanh' }, {}],
  ['no activation_function', { activation_function: undefined }, {}],
  ['another epsilon', { layer_norm_epsilon: 1e-6 }, { eps: 1e-6 }],
  ['an epsilon of 0', { layer_norm_epsilon: 0 }, { eps: 0 }],
  ['no epsilon', { layer_norm_epsilon: undefined }, {}],
  ['an output head of its own', { tie_word_embeddings: false }, { tieWordEmbeddings: false }],
  ['no model_type', { model_type: undefined }, {}],
  ['flags as they are by default', { scale_attn_weights: true, add_cross_attention: false }, {}],
  ['another order of rounding', { reorder_and_upcast_attn: true }, {}],
];

for (const [title, fields, differs] of variants)
  test(`a config with ${title} is read`, () => {
    assert.deepEqual(readGpt2Config(changed(fields)), { ...small, ...differs });
  });

const sizes = ['vocab_size', 'n_positions', 'n_embd', 'n_head', 'n_layer'];
/** @type {[value: unknown, shown: string][]} */
const odd = [
  ...[undefined, 0, -1, 1.5, true, 2 ** 32, 1e300].map(
    (value) =>
      /** @type {[unknown, string]} */ ([value, value === undefined ? 'missing' : `${value}`]),
  ),
  ['12', '"12"'],
  [[12], '[12]'],
  [{}, 'a value of type Object'],
];

/** How the messages are worded stands in tests/wording/. @type {[fields: Record<string, unknown>, name: string, came: string][]} */
const bad = [
  ...sizes.flatMap((name) =>
    odd.map(([value, came]) => {
      const fields = { [name]: value, ...(value === undefined && { n_ctx: undefined }) };
      return /** @type {[Record<string, unknown>, string, string]} */ ([fields, name, came]);
    }),
  ),
  [{ n_positions: null, n_ctx: 0.5 }, 'n_ctx', '0.5'],
  [{ n_inner: -4 }, 'n_inner', '-4'],
  [{ n_embd: 770 }, 'n_embd', '770'],
  [{ model_type: 'llama' }, 'model_type', '"llama"'],
  [{ activation_function: 'relu' }, 'activation_function', '"relu"'],
  [{ activation_function: 'toString' }, 'activation_function', '"toString"'],
  [{ activation_function: 1 }, 'activation_function', '1'],
  [{ layer_norm_epsilon: -1 }, 'layer_norm_epsilon', '-1'],
  [{ layer_norm_epsilon: '1e-5' }, 'layer_norm_epsilon', '"1e-5"'],
  [{ tie_word_embeddings: 'no' }, 'tie_word_embeddings', '"no"'],
  [{ scale_attn_weights: false }, 'scale_attn_weights', 'false'],
  [{ scale_attn_by_inverse_layer_idx: true }, 'scale_attn_by_inverse_layer_idx', 'true'],
  [{ add_cross_attention: true }, 'add_cross_attention', 'true'],
  [{ add_cross_attention: 0 }, 'add_cross_attention', '0'],
];

test('every field that is missing, bad, or asks for another model is named', async () => {
  const wording = new Wording('gpt2-config');
  for (const [fields, name, came] of bad)
    assert.throws(
      () => readGpt2Config(changed(fields), { name: 'my.json' }),
      (error) => {
        const message = checkMessage(error, 'ERR_FORMAT', `my.json: ${name}`, came);
        assert.match(message, / expected \S/);
        return wording.add(`${name} of ${came}`, message);
      },
    );
  await wording.check();
});

test('what is no JSON object is refused', () => {
  for (const text of [
    '',
    '{',
    'null',
    '[]',
    '3',
    '"a"',
    '<!doctype html>',
    '{"n_embd":1,"n_embd":2}',
  ])
    throwsCode(() => readGpt2Config(text), 'ERR_FORMAT', 'config.json: ', /expected \S/);
  for (const value of [null, [], 3, undefined])
    throwsCode(() => readGpt2Config(/** @type {any} */ (value)), 'ERR_FORMAT', 'config.json is ');
  throwsCode(
    () => readGpt2Config(gpt2, /** @type {any} */ ({ name: 1 })),
    'ERR_VALUE',
    'name is 1',
  );
});
