// The names of tensors in Hugging Face's files: with and without prefixes, of what is tied, and of other tasks' heads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeSafetensors } from 'headwise/formats';
import { Gpt2, loadGpt2 } from 'headwise/gpt2';
import { loadModel } from 'headwise/models';
import { architectures } from '../web/headwise/models/architectures.js';
import { readModelConfig } from '../web/headwise/models/config.js';
import { namesOf } from '../web/headwise/models/names.js';
import { engine, throwsCode } from './helpers.js';
import { checkpoints, readConfig, readTensors } from './model-fixtures.js';

/** @typedef {Awaited<ReturnType<typeof readTensors>>} State */

const hw = await engine();

test('names are those of the state dict with or without the prefix, with gamma and beta', () => {
  const bert = namesOf(readModelConfig({ model_type: 'bert' }));
  for (const [key, name] of [
    ['embeddings.LayerNorm.gamma', 'bert.embeddings.LayerNorm.weight'],
    ['bert.embeddings.LayerNorm.beta', 'bert.embeddings.LayerNorm.bias'],
    ['cls.predictions.transform.LayerNorm.gamma', 'cls.predictions.transform.LayerNorm.weight'],
    ['encoder.layer.0.output.dense.bias', 'bert.encoder.layer.0.output.dense.bias'],
  ])
    assert.equal(bert.canonical(key), name);
  for (const key of ['pooler.dense.weight', 'bert.pooler.dense.bias', 'cls.seq_relationship.bias'])
    assert.ok(bert.isUnused(bert.canonical(key)), key);
  assert.ok(!bert.isUnused('cls.predictions.bias'));
  const llama = namesOf(readModelConfig({ model_type: 'llama' }));
  assert.equal(llama.canonical('layers.0.mlp.up_proj.weight'), 'model.layers.0.mlp.up_proj.weight');
  assert.equal(llama.canonical('lm_head.weight'), 'lm_head.weight');
  assert.ok(!llama.isUnused('lm_head.weight'), 'a head of its own');
  const tied = namesOf(readModelConfig({ model_type: 'llama', tie_word_embeddings: true }));
  assert.ok(tied.isUnused('lm_head.weight'), 'a copy');
  const neox = namesOf(readModelConfig({ model_type: 'gpt_neox' }));
  assert.ok(neox.isUnused(neox.canonical('layers.3.attention.masked_bias')));
  assert.ok(!neox.isUnused(neox.canonical('layers.3.attention.query_key_value.bias')));
  // Heads of other tasks; and buffers that older files have.
  const distilbert = namesOf(readModelConfig({ model_type: 'distilbert' }));
  for (const [names, key] of /** @type {const} */ ([
    [bert, 'classifier.weight'],
    [llama, 'score.weight'],
    [neox, 'qa_outputs.bias'],
    [distilbert, 'pre_classifier.weight'],
    [distilbert, 'embeddings.position_ids'],
  ]))
    assert.ok(names.isUnused(names.canonical(key)), key);
});

/** The output head's matrix, by model_type. @type {Record<string, string>} */
const projections = {
  gpt_neox: 'embed_out.weight',
  bert: 'cls.predictions.decoder.weight',
  roberta: 'lm_head.decoder.weight',
  distilbert: 'vocab_projector.weight',
};

/** With another name for one tensor. @param {State} state @param {string} key @param {string} name @returns {State} */
const renamed = (state, key, name) =>
  Object.fromEntries(
    Object.entries(state).map(([own, value]) => [own === key ? name : own, value]),
  );

/** @param {object} config @param {State} state what one forward gives, of loadModel's and of a state dict's */
async function forwards(config, state) {
  const described = readModelConfig(config);
  const opened = await loadModel(hw, { config, weights: writeSafetensors(state) });
  const made = described.isDecoder ? new hw.Decoder(config) : new hw.Encoder(config);
  const filled = made.loadStateDict(state).eval();
  return [opened, filled].map((model) => {
    const { logits, hidden } = /** @type {any} */ (model).forward([1, 2, 3]);
    model.dispose();
    return (logits ?? hidden).data;
  });
}

const tied = checkpoints.filter((name) => readModelConfig(readConfig(name)).tiesHead);

test('there are tied checkpoints of decoders and of all encoders', () => {
  const types = new Set(tied.map((name) => readConfig(name).model_type));
  assert.ok(types.size >= 7, [...types].join());
  for (const type of Object.keys(projections)) assert.ok(types.has(type), type);
});

for (const name of tied)
  test(`${name}: files may have the tied head's name instead of the embedding's`, async () => {
    const config = readConfig(name);
    const state = await readTensors(name);
    const { embedding } = architectures[config.model_type];
    const key = Object.keys(state).find((each) => each.endsWith(`${embedding}.weight`)) ?? '';
    const moved = renamed(state, key, projections[config.model_type] ?? 'lm_head.weight');
    assert.ok(!(key in moved));
    assert.deepEqual(await forwards(config, moved), await forwards(config, state));
    // Of both the embedding counts.
    const both = { ...moved, [key]: state[key] };
    assert.deepEqual(await forwards(config, both), await forwards(config, state));
  });

test("a tied head's bias comes under either name", async () => {
  for (const name of tied) {
    const config = readConfig(name);
    const state = await readTensors(name);
    const { head } = architectures[config.model_type];
    if (!(`${head}bias` in state)) continue;
    const moved = renamed(state, `${head}bias`, `${head}decoder.bias`);
    assert.deepEqual(await forwards(config, moved), await forwards(config, state));
  }
});

test('loading reads every entry once', () => {
  for (const name of ['bert', 'llama', 'gpt2-own-head']) {
    const config = readConfig(name);
    const model = readModelConfig(config).isDecoder
      ? new hw.Decoder(config)
      : new hw.Encoder(config);
    const state = model.stateDict();
    /** @type {Record<string, number>} */
    const reads = {};
    const dict = {};
    for (const [key, value] of Object.entries(state))
      Object.defineProperty(dict, key, {
        enumerable: true,
        get() {
          reads[key] = (reads[key] ?? 0) + 1;
          return value;
        },
      });
    model.loadStateDict(dict);
    assert.deepEqual(reads, Object.fromEntries(Object.keys(state).map((key) => [key, 1])));
    model.dispose();
  }
});

test('a Gpt2 takes the same names as a model of any type', async () => {
  const options = { vocabSize: 20, contextLength: 8, dModel: 16, numLayers: 1, numHeads: 2 };
  const model = new Gpt2(hw, options).eval();
  const config = {
    model_type: 'gpt2',
    vocab_size: 20,
    n_positions: 8,
    n_embd: 16,
    n_layer: 1,
    n_head: 2,
  };
  const expected = model.forward([1, 2, 3]).logits.data;
  const state = model.stateDict();
  const others = {
    'score.weight': hw.randn([2, 16]),
    'multiple_choice_head.summary.weight': hw.randn([1, 16]),
  };
  const whole = Object.fromEntries(
    Object.entries(state).map(([key, value]) => [`transformer.${key}`, value]),
  );
  for (const each of [
    renamed(state, 'wte.weight', 'lm_head.weight'),
    renamed(whole, 'transformer.wte.weight', 'lm_head.weight'),
    { ...state, ...others },
  ]) {
    const opened = await loadGpt2(hw, { config, weights: writeSafetensors(each) });
    const filled = new Gpt2(hw, options).loadStateDict(each).eval();
    for (const one of [opened, filled]) {
      assert.deepEqual(one.forward([1, 2, 3]).logits.data, expected);
      one.dispose();
    }
  }
  const none = renamed(state, 'wte.weight', 'other.weight');
  throwsCode(() => model.loadStateDict(none), 'ERR_VALUE', 'wte.weight');
  throwsCode(() => model.loadStateDict(/** @type {any} */ ([])), 'ERR_VALUE', 'dict');
});
