// Dropout of whole models: torch's masks, in the order in which torch draws them, against float64 loops that drop the same; off
// in evaluation mode and wherever heads are looked at.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { Gpt2 } from 'headwise/gpt2';
import {
  ablation,
  headScores,
  logitLens,
  patching,
  qkAttribution,
  rollout,
} from 'headwise/understanding';
import { load as loadWorker } from 'headwise/worker';
import { engine, throwsCode } from './helpers.js';
import { runModel } from './reference-models.js';

/** @typedef {import('headwise').Tensor} Tensor */
/** @typedef {import('headwise/models').Decoder} Decoder */
/** @typedef {import('headwise/models').Encoder} Encoder */
/** @typedef {import('./reference-models.js').Rows} Rows */

const hw = await engine();
const P = 0.3;
const SEED = 11;
const IDS = [3, 1, 4, 1, 5, 2];
const TARGETS = [2, 7, 1, 8, 2, 6];

/** Not of any effect, whatever they say. */
const ignored = { attn_pdrop: 0.5, embd_pdrop: 0.5, resid_pdrop: 0.5, dropout: 0.5 };
const alike = { vocab_size: 9, initializer_range: 0.4, hidden_dropout_prob: 0.5 };
const sizes = {
  ...{ ...alike, hidden_size: 8, num_hidden_layers: 2, num_attention_heads: 2 },
  ...{ intermediate_size: 12, max_position_embeddings: 16, attention_probs_dropout_prob: 0.5 },
};
const gpt2 = {
  ...{ ...alike, ...ignored, model_type: 'gpt2', n_embd: 8, n_layer: 2, n_head: 2, n_inner: 12 },
  n_positions: 16,
};
const decoders = {
  gpt2,
  'GPT-2 of attention alone': { ...gpt2, n_inner: 0 },
  'GPT-NeoX, whose branches are parallel': { model_type: 'gpt_neox', ...sizes, rotary_pct: 0.5 },
  'GPT-NeoX of attention alone': {
    ...{ model_type: 'gpt_neox', ...sizes, rotary_pct: 0.5, intermediate_size: 0 },
  },
  'Gemma, with norms after its branches': {
    ...{ model_type: 'gemma3_text', ...sizes, head_dim: 4, num_key_value_heads: 1 },
  },
};
const encoders = {
  BERT: { model_type: 'bert', ...sizes },
  RoBERTa: { model_type: 'roberta', ...sizes },
  DistilBERT: {
    ...{ model_type: 'distilbert', ...alike, ...ignored, dim: 8, n_layers: 2, n_heads: 2 },
    ...{ hidden_dim: 12, max_position_embeddings: 16 },
  },
};

/** @param {object} config @param {object} [options] @param {any} [own] an engine @returns {Decoder | Encoder} */
function make(config, options, own = hw) {
  own.manualSeed(SEED);
  return Object.values(encoders).some((one) => one === config)
    ? new own.Encoder(config, options)
    : new own.Decoder(config, options);
}

/** Drops, from a seed on, what hw.dropout drops: its masks are compared with torch's elsewhere. @returns {(x: Rows) => Rows} */
function dropped() {
  hw.manualSeed(SEED);
  return (x) => {
    const ones = tensor(new Float32Array(x.length * x[0].length).fill(1), [x.length, x[0].length]);
    const { data } = hw.dropout(ones, { p: P });
    return x.map((row, i) => row.map((value, j) => data[i * row.length + j] && value / (1 - P)));
  };
}

/** @param {Decoder | Encoder} model @param {Record<string, Tensor>} [state] */
const reference = (model, state = model.stateDict()) =>
  /** @type {Rows} */ (
    runModel(model.config, (name) => state[name], IDS, undefined, undefined, dropped()).logits
  );

/** Mean cross-entropy of float64 logits. @param {Rows} logits */
const meanLoss = (logits) =>
  logits.reduce((sum, row, i) => {
    const top = Math.max(...row);
    const total = row.reduce((all, value) => all + Math.exp(value - top), 0);
    return sum + Math.log(total) + top - row[TARGETS[i]];
  }, 0) / logits.length;

/** @param {Decoder | Encoder} model */
const logitsOf = (model) => {
  hw.manualSeed(SEED);
  return /** @type {Float32Array} */ (
    /** @type {any} */ (model).forward(IDS, { logits: 'all' }).logits.data
  );
};

/** @param {Decoder | Encoder} model @returns {Tensor} */
const lossOf = (model) => {
  hw.manualSeed(SEED);
  return /** @type {any} */ (model).loss(IDS, TARGETS);
};

for (const [name, config] of Object.entries({ ...decoders, ...encoders })) {
  test(`${name}: embeddings and branches are dropped as in torch, in forward, loss and gradients`, () => {
    const model = make(config, { dropout: P });
    const rows = reference(model);
    const found = logitsOf(model);
    rows
      .flatMap((row) => [...row])
      .forEach((value, i) => {
        assert.ok(Math.abs(value - found[i]) < 2e-5, `${i}: ${found[i]}, not ${value}`);
      });
    const loss = hw.enableGrad(() => lossOf(model));
    assert.ok(Math.abs(loss.item() - meanLoss(rows)) < 1e-5);
    assert.equal(loss.item(), lossOf(model).item());
    loss.backward();
    const state = Object.fromEntries(
      Object.entries(model.stateDict()).map(([key, { shape, data }]) => [
        key,
        { shape, data: Float64Array.from(data) },
      ]),
    );
    const changed = (
      /** @type {string} */ key,
      /** @type {number} */ i,
      /** @type {number} */ by,
    ) => {
      state[key].data[i] += by;
      const value = meanLoss(reference(model, /** @type {any} */ (state)));
      state[key].data[i] -= by;
      return value;
    };
    let largest = 0;
    for (const { name: key, grad } of model.parameters()) {
      const data = grad?.data ?? [];
      for (let i = 0; i < data.length; i += 7) {
        const slope = (changed(key, i, 1e-5) - changed(key, i, -1e-5)) / 2e-5;
        assert.ok(Math.abs(slope - data[i]) < 3e-5, `${key} ${i}: ${data[i]}, not ${slope}`);
        largest = Math.max(largest, Math.abs(slope));
      }
    }
    assert.ok(largest > 0.01);
    model.dispose();
  });

  test(`${name}: without dropout or in evaluation mode nothing is dropped, whatever the config says`, () => {
    const [model, plain] = [make(config, { dropout: P }), make(config)];
    assert.deepEqual(model.stateDict(), plain.stateDict());
    assert.deepEqual([model.config.dropout, plain.config.dropout], [P, 0]);
    const expected = logitsOf(plain);
    assert.notDeepEqual(logitsOf(model), expected);
    assert.deepEqual(logitsOf(/** @type {Decoder} */ (model.eval())), expected);
    assert.equal(lossOf(model).item(), lossOf(plain).item());
    assert.deepEqual(logitsOf(/** @type {Decoder} */ (plain.eval())), expected);
    [model, plain].forEach((one) => one.dispose());
  });
}

/** What is asked of a model to understand it, by name. @type {Record<string, (model: any) => unknown>} */
const looks = {
  generate: (model) => [...model.generate(IDS, { maxTokens: 4, temperature: 0 })],
  trace: (model) => model.forward(IDS, { trace: true, logits: 'all' }).logits,
  weights: (model) => model.forward(IDS, { needWeights: true }).weights,
  'head mask': (model) =>
    model.forward(IDS, {
      headMask: [
        [1, 0],
        [1, 1],
      ],
    }).logits,
  residuals: (model) => model.forward(IDS, { residuals: true }).residuals,
  replace: (model) => {
    const output = IDS.map(() => [1, 2, 3, 4]);
    return model.forward(IDS, { replace: [{ layer: 0, head: 1, output }] }).logits;
  },
  start: (model) => {
    const residual = IDS.map((id) => new Array(8).fill(id / 8));
    return model.forward(IDS, { start: { layer: 1, residual } }).logits;
  },
  cache: (model) => {
    const cache = model.createCache();
    model.forward(IDS.slice(0, 3), { cache });
    const { logits } = model.forward(IDS.slice(3), { cache });
    cache.dispose();
    return logits;
  },
  attribution: (model) => model.attribution(IDS, { target: 3, against: 2 }),
  logitLens: (model) => logitLens(model, IDS),
  ablation: (model) => ablation(model, IDS, { target: 3 }),
  patching: (model) => patching(model, { clean: IDS, corrupted: [3, 1, 4, 2, 5, 2], target: 3 }),
  qkAttribution: (model) => qkAttribution(model, IDS, { layer: 1, head: 0, query: 4, key: 2 }),
  headScores: (model) => headScores(model, { seed: 1 }),
  rollout: (model) => rollout(model, IDS),
};

for (const [name, look] of Object.entries(looks))
  test(`${name} of a model in training mode is that of evaluation mode, and draws nothing`, async () => {
    const model = /** @type {Decoder} */ (make(gpt2, { dropout: P }));
    hw.manualSeed(SEED);
    const found = await look(model);
    assert.equal(model.training, true);
    const next = hw.rand([1]).item();
    hw.manualSeed(SEED);
    assert.deepEqual(found, await look(model.eval()));
    assert.equal(hw.rand([1]).item(), next);
    model.dispose();
  });

test('Gpt2 takes dropout among its options, with the numbers of a Decoder', () => {
  const decoder = /** @type {Decoder} */ (make(gpt2, { dropout: P }));
  const options = {
    vocabSize: 9,
    contextLength: 16,
    dModel: 8,
    numHeads: 2,
    numLayers: 2,
    dFf: 12,
  };
  const model = new Gpt2(hw, { ...options, dropout: P });
  assert.equal(model.options.dropout, P);
  assert.equal(new Gpt2(hw, options).options.dropout, 0);
  const state = Object.entries(decoder.stateDict()).map(([key, value]) => [
    key.replace('transformer.', ''),
    value,
  ]);
  model.loadStateDict(Object.fromEntries(state));
  assert.equal(lossOf(/** @type {any} */ (model)).item(), lossOf(decoder).item());
  throwsCode(() => new Gpt2(hw, { ...options, dropout: 1.5 }), 'ERR_VALUE', 'dropout');
  [model, decoder].forEach((one) => one.dispose());
});

test('a Gpt2 of attention alone has no feed-forward, nor its norm', () => {
  const options = { vocabSize: 9, contextLength: 16, dModel: 8, numHeads: 2, numLayers: 1 };
  const model = new Gpt2(hw, { ...options, dFf: 0 });
  const names = model.parameters().map(({ name }) => name);
  assert.deepEqual(
    names.filter((name) => /mlp|ln_2/.test(name)),
    [],
  );
  assert.equal(model.options.dFf, 0);
  assert.deepEqual([...model.attribution(IDS, { target: 1 }).mlps.data], [0]);
  throwsCode(() => new Gpt2(hw, { ...options, dFf: -1 }), 'ERR_VALUE', 'dFf');
  model.dispose();
});

test('options that are none are refused by their name, and the engine goes on', () => {
  for (const create of [
    (/** @type {any} */ options) => new hw.Decoder(gpt2, options),
    (/** @type {any} */ options) => new hw.Encoder(encoders.BERT, options),
  ]) {
    throwsCode(() => create({ dropout: -0.1 }), 'ERR_VALUE', 'dropout');
    throwsCode(() => create({ dropout: '0.1' }), 'ERR_VALUE', 'dropout');
    throwsCode(() => create({ p: 0.1 }), 'ERR_VALUE', 'p');
    throwsCode(() => create(0.1), 'ERR_VALUE', 'options');
    create({}).dispose();
  }
});

test('in a Worker too', async () => {
  const there = await loadWorker({ threads: 1 });
  const local = make(gpt2, { dropout: P });
  await there.manualSeed(SEED);
  const model = /** @type {any} */ (await new there.Decoder(gpt2, { dropout: P }));
  await there.manualSeed(SEED);
  const loss = await model.loss(IDS, TARGETS);
  assert.equal(await loss.item(), lossOf(local).item());
  local.dispose();
  await there.dispose();
});
