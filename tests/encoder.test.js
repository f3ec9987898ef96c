// hw.Encoder: what PyTorch computed in float64 of tiny checkpoints of BERT, RoBERTa and DistilBERT; padding, token types and errors.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { writeSafetensors } from 'headwise/formats';
import { Encoder, loadModel } from 'headwise/models';
import { readModelConfig } from '../web/headwise/models/config.js';
import { allClose, engine, rejectsCode, throwsCode } from './helpers.js';
import { readConfig, readTensors } from './model-fixtures.js';
import { isTorchs, make, readGroup } from './torch.js';

/** @typedef {import('./torch.js').Case & { checkpoint: string, rows: number[][], tokenTypes?: number[][] }} ModelCase */

const hw = await engine();
const group = readGroup('models');
const all = /** @type {ModelCase[]} */ (group.cases);
const cases = all.filter(({ checkpoint }) => !readModelConfig(readConfig(checkpoint)).isDecoder);

/** @param {string} checkpoint @param {object} [options] */
async function open(checkpoint, options) {
  const folder = fileURLToPath(new URL(`fixtures/models/${checkpoint}`, import.meta.url));
  /** @type {Encoder} */
  const model = await loadModel(hw, folder, options);
  assert.ok(model instanceof Encoder);
  return model;
}

/** Without the batch, of one row. @param {import('headwise').Tensor} x */
const alone = (x) => x.reshape(x.shape.slice(1));

test('there are encoders of every architecture', () => {
  const types = new Set(cases.map(({ checkpoint }) => readConfig(checkpoint).model_type));
  assert.equal(types.size, 3);
});

for (const { title, checkpoint, rows, tokenTypes, expect } of cases) {
  const typesOf = (/** @type {number} */ row) => tokenTypes && { tokenTypes: tokenTypes[row] };

  test(`${title}: hidden states, logits, weights and traces`, async () => {
    const model = await open(checkpoint);
    for (const [row, ids] of rows.entries()) {
      const { hidden, logits, weights, trace } = model.forward(ids, {
        ...{ ...typesOf(row), needWeights: true, trace: true },
      });
      isTorchs(hidden, expect[`hidden.${row}`], group, 'hidden');
      const hasLogits = expect[`logits.${row}`] !== undefined;
      assert.equal(logits !== undefined, hasLogits);
      if (logits) isTorchs(logits, expect[`logits.${row}`], group, 'logits');
      for (const [layer, each] of weights.entries()) {
        isTorchs(alone(each), expect[`weights.${row}.${layer}`], group, `weights ${layer}`);
        const own = alone(each).slice([1, 2]);
        allClose(trace[layer].weights({ head: 1 }), { shape: own.shape.slice(1), data: own.data });
      }
      isTorchs(model.forward(ids, typesOf(row)).hidden, expect[`hidden.${row}`], group, 'alone');
    }
    model.dispose();
  });

  test(`${title}: rows in one batch are the rows alone, padded by the caller or not`, async () => {
    const model = await open(checkpoint);
    const lengths = rows.map((row) => row.length);
    const length = Math.max(...lengths);
    assert.ok(lengths.some((own) => own < length));
    const padded = (/** @type {number[]} */ row) =>
      Array.from({ length }, (_, i) => row[i] ?? i % 2);
    const byCaller = model.forward(rows.map(padded), {
      ...{ lengths, ...(tokenTypes && { tokenTypes: tokenTypes.map(padded) }) },
    });
    for (const { hidden, logits } of [byCaller, model.forward(rows, { tokenTypes })])
      for (const [i, row] of rows.entries()) {
        const part = (/** @type {import('headwise').Tensor} */ x) =>
          alone(x.slice([i, i + 1], [0, row.length]));
        isTorchs(part(hidden), expect[`hidden.${i}`], group, 'hidden');
        if (logits) isTorchs(part(logits), expect[`logits.${i}`], group, 'logits');
      }
    model.dispose();
  });

  test(`${title}: rows of unequal length are padded`, async () => {
    const model = await open(checkpoint);
    assert.notEqual(rows[0].length, rows[1].length);
    const given = tokenTypes && { tokenTypes };
    const { hidden, logits } = model.forward(rows, given);
    for (const [i, row] of rows.entries()) {
      const part = (/** @type {import('headwise').Tensor} */ x) =>
        alone(x.slice([i, i + 1], [0, row.length]));
      isTorchs(part(hidden), expect[`hidden.${i}`], group, 'hidden');
      if (logits) isTorchs(part(logits), expect[`logits.${i}`], group, 'logits');
    }
    if (tokenTypes) {
      const swapped = { tokenTypes: [tokenTypes[1], tokenTypes[0]] };
      throwsCode(() => model.forward(rows, swapped), 'ERR_SHAPE', 'tokenTypes');
    }
    model.dispose();
  });

  for (const [dtype, bound] of /** @type {const} */ ([
    ['float16', 2e-3],
    ['bfloat16', 2e-2],
    ['int8', 5e-2],
  ]))
    // prettier-ignore
    test(`${title}, as ${dtype}: PyTorch's hidden states within the type's bound`, async () => {
      const model = await open(checkpoint, { dtype });
      const { data } = model.forward(rows[0], typesOf(0)).hidden;
      const right = Array.from(make(expect['hidden.0'], group).data, Number);
      const square = (/** @type {number[]} */ list) => list.reduce((sum, x) => sum + x * x, 0);
      const error = Math.sqrt(square(right.map((x, i) => x - data[i])) / square(right));
      assert.ok(error <= bound, `${error}`);
      model.dispose();
    });
}

test('a new encoder has drawn weights and a head; a state dict of Hugging Face loads', async () => {
  const config = readConfig('bert');
  hw.manualSeed(1);
  const model = new hw.Encoder(config);
  const state = model.stateDict();
  const { data } = state['bert.embeddings.word_embeddings.weight'];
  const deviation = Math.sqrt(data.reduce((sum, x) => sum + x * x, 0) / data.length);
  assert.ok(deviation > 0.015 && deviation < 0.025, `${deviation}`);
  assert.ok('cls.predictions.transform.dense.weight' in state);
  model.loadStateDict(await readTensors('bert')).eval();
  const loaded = await open('bert');
  const ids = [3, 1, 4, 1, 5];
  assert.deepEqual(model.forward(ids), loaded.forward(ids));
  const mask = Array.from({ length: 2 }, () => [0, 1, 1]);
  const muted = model.forward(ids, { headMask: mask });
  assert.notDeepEqual(muted.hidden, model.forward(ids).hidden);
  model.dispose();
  loaded.dispose();
});

test('a model without token types says so', async () => {
  const model = await open('distilbert');
  const refused = /** @type {const} */ (['ERR_VALUE', 'tokenTypes', 'no token types']);
  throwsCode(() => model.forward([1, 2], { tokenTypes: [0, 0] }), ...refused);
  throwsCode(() => model.loss([1, 2], [1, 2], { tokenTypes: [0, 0] }), ...refused);
  model.dispose();
});

/** How the names of a head's parameters begin. */
const ofHead = /^(cls\.|lm_head\.|vocab_)/;

for (const { title, checkpoint, rows, tokenTypes, expect } of cases)
  test(`${title}: a state dict without a head leaves none, and one with a head brings it back`, async () => {
    const state = Object.entries(await readTensors(checkpoint));
    const base = Object.fromEntries(state.filter(([key]) => !ofHead.test(key)));
    const model = new hw.Encoder(readConfig(checkpoint)).eval();
    const drawn = model.stateDict();
    const asked = tokenTypes && { tokenTypes: tokenTypes[0] };
    assert.ok(model.forward(rows[0], asked).logits);
    const count = model.parameters().length;
    model.loadStateDict(base);
    const found = model.forward(rows[0], asked);
    isTorchs(found.hidden, expect['hidden.0'], group, 'hidden');
    assert.deepEqual(Object.keys(found), ['hidden']);
    const kept = Object.keys(model.stateDict());
    assert.ok(kept.length > 0 && kept.length < count && !kept.some((key) => ofHead.test(key)));
    assert.deepEqual(
      model.parameters().map((parameter) => parameter.name),
      kept,
    );
    throwsCode(() => model.loss([rows[0]], [rows[0]]), 'ERR_VALUE', 'head');
    const [first] = Object.keys(base);
    const less = Object.fromEntries(Object.entries(base).slice(1));
    const name = first.replace('gamma', 'weight').replace('beta', 'bias');
    throwsCode(() => model.loadStateDict(less), 'ERR_VALUE', name);
    const [some] = Object.keys(drawn).filter((key) => ofHead.test(key));
    const part = { ...base, [some]: drawn[some] };
    throwsCode(() => model.loadStateDict(part), 'ERR_VALUE', 'missing');
    assert.deepEqual(model.forward(rows[0], asked), found, 'as it was');
    model.loadStateDict(drawn);
    assert.ok(model.forward(rows[0], asked).logits);
    assert.equal(model.parameters().length, count);
    model.dispose();
  });

/** Heads' matrices, by model_type. @type {Record<string, string>} */
const projections = {
  bert: 'cls.predictions.decoder',
  roberta: 'lm_head.decoder',
  distilbert: 'vocab_projector',
};

/**
 * A checkpoint whose head has a copy of the embedding instead of being tied to it.
 * @param {string} checkpoint
 */
async function withOwnHead(checkpoint) {
  const tied = readConfig(checkpoint);
  const state = await readTensors(checkpoint);
  const words = Object.keys(state).find((key) => key.endsWith('word_embeddings.weight')) ?? '';
  const place = projections[tied.model_type];
  const config = { ...tied, tie_word_embeddings: false };
  return { config, state: { ...state, [`${place}.weight`]: state[words] }, place };
}

test('a head of its own loads with its bias under both names', async () => {
  const own = cases.filter(({ expect }) => expect['logits.0'] !== undefined);
  assert.ok(own.length >= 3);
  for (const { checkpoint, rows, tokenTypes, expect } of own) {
    const { config, state } = await withOwnHead(checkpoint);
    const model = new hw.Encoder(config);
    model.loadStateDict(state).eval();
    const { logits } = model.forward(rows[0], tokenTypes && { tokenTypes: tokenTypes[0] });
    isTorchs(/** @type {any} */ (logits), expect['logits.0'], group, checkpoint);
    model.dispose();
  }
});

test('a head of its own adds the bias of its matrix, which files keep beside one that is not used', async () => {
  const own = cases.filter(
    ({ checkpoint, expect }) =>
      expect['logits.0'] !== undefined && readConfig(checkpoint).model_type !== 'distilbert',
  );
  assert.ok(own.length >= 2);
  for (const { checkpoint, rows, tokenTypes, expect } of own) {
    const { config, state, place } = await withOwnHead(checkpoint);
    const other = place.replace('decoder', 'bias');
    const both = {
      ...state,
      [`${place}.bias`]: state[other],
      [other]: hw.randn(state[other].shape),
    };
    const filled = new hw.Encoder(config);
    filled.loadStateDict(both).eval();
    const opened = await loadModel(hw, { config, weights: writeSafetensors(both) });
    assert.ok(opened instanceof Encoder);
    for (const model of [filled, opened]) {
      const { logits } = model.forward(rows[0], tokenTypes && { tokenTypes: tokenTypes[0] });
      isTorchs(/** @type {any} */ (logits), expect['logits.0'], group, checkpoint);
      model.dispose();
    }
  }
});

test('bad calls are named, and the encoder stays usable', async () => {
  const model = await open('bert');
  const any = /** @type {any} */ (model);
  const ids = [[1, 2, 3]];
  const before = model.forward(ids);
  throwsCode(() => any.forward([1, 1e6]), 'ERR_VALUE', 'ids');
  throwsCode(() => any.forward(ids, { tokenTypes: [[0, 0, 2]] }), 'ERR_VALUE', 'tokenTypes');
  throwsCode(() => any.forward(ids, { tokenTypes: [0, 0, 1] }), 'ERR_SHAPE', 'tokenTypes');
  throwsCode(() => any.forward(ids, { lengths: [4] }), 'ERR_VALUE', 'lengths');
  throwsCode(() => any.forward(ids, { lengths: [0] }), 'ERR_VALUE', 'lengths');
  throwsCode(() => any.forward(ids, { lengths: 3 }), 'ERR_VALUE', 'lengths');
  const trap = new Proxy([3], { get: () => assert.fail() });
  throwsCode(() => any.forward(ids, { lengths: trap }), 'ERR_VALUE', 'lengths', 'cannot be read');
  const ragged = [[1, 2, 3], [4]];
  const types = (/** @type {unknown} */ tokenTypes) => () => any.forward(ragged, { tokenTypes });
  throwsCode(
    types([
      [0, 0, 1],
      [0, 1],
    ]),
    'ERR_SHAPE',
    'tokenTypes',
    '[3, 2]',
    '[3, 1]',
  );
  throwsCode(types(ragged.map(() => [0, 0, 1])), 'ERR_SHAPE', 'tokenTypes', '[3, 1]');
  throwsCode(types([[0, 0, 1], [2]]), 'ERR_VALUE', 'tokenTypes[1][0]');
  throwsCode(() => any.forward([[1, 2], []]), 'ERR_SHAPE', 'ids[1] has no ids');
  throwsCode(() => any.forward(ragged, { lengths: [3, 2] }), 'ERR_VALUE', 'lengths');
  const wide = [[1], new Array(2 ** 19 + 1).fill(1)];
  throwsCode(() => any.forward(wide), 'ERR_SHAPE', 'ids is [', 'at most 1048576 ids with padding');
  throwsCode(() => any.forward(ids, { cache: 1 }), 'ERR_VALUE', 'cache');
  throwsCode(() => any.forward(Array(1000).fill(1)), 'ERR_SHAPE', 'contextLength');
  for (const config of [{ model_type: 'llama' }, { model_type: 'opt' }, {}])
    throwsCode(
      () => new hw.Encoder(config),
      ...['ERR_VALUE', 'config: model_type is ', 'expected "bert", "roberta" or "distilbert"'],
    );
  throwsCode(() => new hw.Decoder({ model_type: 'bert' }), 'ERR_VALUE', 'model_type');
  assert.deepEqual(model.forward(ids), before);
  model.dispose();
  throwsCode(() => model.forward(ids), 'ERR_DISPOSED');
  await rejectsCode(open('none'), 'ERR_LOAD');
});
