// What PyTorch computed in float64 of what heads do: values, outputs, norms, logits without some, what they write for a token,
// their circuits and composition, what their scores are made of, the residual stream, ablation, patching, the logit lens, rollout,
// sinks, and scores on repeated tokens.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tensor, zeros } from 'headwise';
import {
  ablation,
  composition,
  headScores,
  logitLens,
  patching,
  qkAttribution,
  rollout,
  sinks,
} from 'headwise/understanding';
import { allClose, engine } from './helpers.js';
import { loadCheckpoint } from './gpt2.js';
import { readConfig, readTensors } from './model-fixtures.js';
import { isTorchs, makeAll, noticesErrors, readGroup } from './torch.js';

/** @typedef {import('./torch.js').Case & { gpt2?: import('./gpt2.js').Checkpoint, model?: string, kind: string, ids: number[], replace?: any, asked?: any, gains?: boolean, layer?: number, head?: number }} Fixture */

const hw = await engine();
const group = readGroup('understanding');
const cases = /** @type {Fixture[]} */ (group.cases);

/** Models by their names. @type {Map<string, Promise<any>>} */
const models = new Map();

/** @param {string} name */
async function decoderOf(name) {
  const model = new hw.Decoder(readConfig(name));
  return model.loadStateDict(await readTensors(name)).eval();
}

/** @param {Fixture} fixture */
function modelOf({ gpt2, model: name = '' }) {
  const key = gpt2 ?? name;
  const model = models.get(key) ?? (gpt2 ? loadCheckpoint(hw, gpt2) : decoderOf(name));
  models.set(key, model);
  return model;
}

after(async () => (await Promise.all(models.values())).forEach((model) => model.dispose()));

/** @param {any[]} tensors of one shape, one after another */
function stack(tensors) {
  const { shape } = tensors[0];
  const data = tensors.flatMap((each) => [...each.data]);
  return tensor(Float32Array.from(data), [tensors.length, ...shape]);
}

/**
 * What parts below a layer give, in the referee's order: heads, mlps, embedding, biases. What is above gives nothing.
 * @param {import('headwise/understanding').QkParts} parts
 * @param {number} layer
 * @param {number} score
 */
function flatParts({ heads, mlps, embedding, biases }, layer, score) {
  const below = layer * heads.shape[1];
  const others = [...heads.data.subarray(below), ...mlps.data.subarray(layer)];
  assert.ok(
    others.every((part) => part === 0),
    'later layers give nothing',
  );
  const data = [
    ...heads.data.subarray(0, below),
    ...mlps.data.subarray(0, layer),
    embedding,
    biases,
  ];
  const sum = data.reduce((a, b) => a + b);
  assert.ok(Math.abs(sum - score) < 1e-5, `the parts' sum is ${sum}, not ${score}`);
  return tensor(data);
}

/** @type {Record<string, (model: any, fixture: Fixture) => Record<string, any> | Promise<Record<string, any>>>} */
const kinds = {
  traces(model, { ids }) {
    const { trace } = model.forward(ids, { trace: true, logits: 'none' });
    /** @type {Record<string, any>} */
    const results = {};
    for (const [layer, each] of trace.entries()) {
      const heads = Array.from({ length: each.shape[1] }, (_, head) => head);
      for (const name of ['values', 'output', 'norms'])
        results[`${name}.${layer}`] = stack(heads.map((head) => each[name]({ head })));
      each.dispose();
    }
    return results;
  },
  replace(model, { ids, replace }) {
    const outputs = makeAll(replace, group);
    return { logits: model.forward(ids, { logits: 'all', replace: outputs }).logits };
  },
  attribution(model, { ids, asked }) {
    const { heads, mlps, ...rest } = model.attribution(ids, asked);
    const parts = [...heads.data, ...mlps.data, rest.embedding, rest.biases];
    const sum = parts.reduce((a, b) => a + b);
    assert.ok(Math.abs(sum - rest.total) < 1e-5, `the parts' sum is ${sum}, not ${rest.total}`);
    const { position = ids.length - 1, target, against } = asked;
    const logits = model.forward(ids, { logits: [position, position + 1] }).logits.data;
    const logit = logits[target] - (against === undefined ? 0 : logits[against]);
    assert.ok(Math.abs(rest.total - logit) < 1e-6, 'the total is the logit');
    const numbers = Object.entries(rest).map(([name, number]) => [name, tensor([number])]);
    return { heads, mlps, ...Object.fromEntries(numbers) };
  },
  residuals: (model, { ids }) => ({
    residuals: model.forward(ids, { residuals: true, logits: 'none' }).residuals,
  }),
  async lens(model, { ids, expect }) {
    const { shape } = expect.logProbabilities;
    const found = await logitLens(model, ids, { top: shape[2] });
    const logs = zeros(shape);
    found.ids.data.forEach((id, i) => {
      const row = Math.floor(i / shape[2]);
      logs.data[row * shape[2] + id] = found.logProbabilities.data[i];
    });
    return { logProbabilities: logs };
  },
  async ablation(model, { ids, asked }) {
    const { effects, base } = await ablation(model, ids, asked);
    return { effects, base: tensor([base]) };
  },
  async patching(model, { ids, asked }) {
    const { recovered, ...scores } = await patching(model, { clean: ids, ...asked });
    return { recovered, clean: tensor([scores.clean]), corrupted: tensor([scores.corrupted]) };
  },
  async qk(model, { ids, asked }) {
    const { query, key, pairs, score } = await qkAttribution(model, ids, { ...asked, pairs: true });
    const { layer, ...others } = asked;
    assert.deepEqual(await qkAttribution(model, ids, { layer, ...others }), { query, key, score });
    assert.equal(pairs?.parts.length, pairs?.scores.shape[0]);
    return {
      query: flatParts(query, layer, score),
      key: flatParts(key, layer, score),
      ...{ pairs: pairs?.scores, score: tensor([score]) },
    };
  },
  async composition(model, { gains }) {
    const all = /** @type {any} */ (await composition(model, { gains }));
    const [layers, heads] = all.query.shape;
    const from = { layer: 0, head: heads - 1 };
    const to = { layer: 1, head: 0 };
    const one = layers > 1 ? await composition(model, { from, to, gains }) : {};
    for (const [kind, score] of Object.entries(one)) {
      const rest = all[kind].toNested()[from.layer][from.head][to.layer][to.head];
      assert.ok(Math.abs(score - rest) < 1e-6, `${kind} of one pair: ${score}, of all: ${rest}`);
    }
    return all;
  },
  async rollout(model, { ids, asked }) {
    const whole = await rollout(model, ids, asked);
    const position = ids.length - 2;
    const row = await rollout(model, ids, { ...asked, position });
    allClose(row, tensor(whole.toNested()[position]), { rtol: 1e-6, atol: 1e-7, what: 'one row' });
    return { rollout: whole };
  },
  async sinks(model, { ids }) {
    const { scores, share } = await sinks(model, ids);
    return { scores, share: tensor([share]) };
  },
  scores: (model, { asked }) => headScores(model, asked),
  circuit(model, { layer, head }) {
    const { copying, ovEigenvalues } = model.headCircuits({ layer, head });
    return { copying: tensor([copying]), ovEigenvalues: tensor(ovEigenvalues) };
  },
};

for (const fixture of cases)
  test(`${fixture.title}: PyTorch's numbers`, async () => {
    const results = await kinds[fixture.kind](await modelOf(fixture), fixture);
    assert.deepEqual(Object.keys(results).sort(), Object.keys(fixture.expect).sort());
    for (const [name, expected] of Object.entries(fixture.expect))
      isTorchs(results[name], expected, group, name);
  });

test('every fixture notices a number that is off by more than its tolerance', () => {
  for (const fixture of cases) noticesErrors(fixture, group);
});
