// Encoders in training: PyTorch's float64 gradients of every parameter through both ways to a loss, twenty steps of AdamW, padding,
// threads, Workers and errors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { load, tensor } from 'headwise';
import { loadModel } from 'headwise/models';
import { load as loadWorker } from 'headwise/worker';
import { evaluate } from './child.js';
import { allClose, engine, throwsCode } from './helpers.js';
import { readConfig } from './model-fixtures.js';
import { isTorchs, make, noticesErrors, readGroup } from './torch.js';

/** @typedef {import('headwise').Tensor} Tensor */
/** @typedef {import('headwise/models').Encoder} Encoder */
/**
 * @typedef {import('./torch.js').Case & { kind: string, checkpoint: string, rows: number[][], targets: number[][],
 *   tokenTypes?: number[][], classifier?: any, classes: number[], lr: number }} Training
 */

const hw = await engine();
const group = readGroup('encoder_training');
const cases = /** @type {Training[]} */ (group.cases);
const ignored = -100;

/** @param {string} checkpoint @param {any} [own] the engine */
async function open(checkpoint, own = hw) {
  const folder = fileURLToPath(new URL(`fixtures/models/${checkpoint}`, import.meta.url));
  const model = await loadModel(own, folder, { dtype: 'float32' });
  return /** @type {Encoder} */ (/** @type {unknown} */ (model));
}

/** Rows as one batch; where there is padding, what is there must count for nothing. @param {Training} fixture */
function batchOf({ rows, targets, tokenTypes }) {
  const length = Math.max(...rows.map((row) => row.length));
  const padded = (/** @type {number[]} */ row) => Array.from({ length }, (_, i) => row[i] ?? i % 2);
  return {
    ids: rows.map(padded),
    targets: targets.map(padded),
    lengths: rows.map((row) => row.length),
    ...(tokenTypes && { types: { tokenTypes: tokenTypes.map(padded) } }),
  };
}

/** @param {Encoder} model @param {Training} fixture */
function gradientsOf(model, { expect }) {
  const found = model.namedParameters().map(({ name, grad }) => [`grad.${name}`, grad]);
  const named = Object.fromEntries(found.filter(([, grad]) => grad !== null));
  assert.deepEqual(
    Object.keys(named).sort(),
    Object.keys(expect)
      .filter((name) => name !== 'loss')
      .sort(),
  );
  return named;
}

/** @param {Encoder} model @param {Training} fixture @param {Tensor} loss */
function comesFrom(model, fixture, loss) {
  isTorchs(loss, fixture.expect.loss, group, 'loss');
  loss.backward();
  for (const [name, grad] of Object.entries(gradientsOf(model, fixture)))
    isTorchs(grad, fixture.expect[name], group, name);
  model.parameters().forEach((parameter) => (parameter.grad = null));
}

for (const fixture of cases.filter(({ kind }) => kind === 'masked')) {
  test(`${fixture.title}, in a batch that the caller or the engine pads`, async () => {
    const model = await open(fixture.checkpoint);
    const { ids, targets, lengths, types } = batchOf(fixture);
    const options = { lengths, ...types };
    const alone = model.loss(ids, targets, options);
    const loss = hw.enableGrad(() => model.loss(ids, targets, options));
    assert.equal(loss.item(), alone.item());
    comesFrom(model, fixture, loss);
    const { rows, targets: own, tokenTypes } = fixture;
    comesFrom(
      model,
      fixture,
      hw.enableGrad(() => model.loss(rows, own, { tokenTypes })),
    );
    model.dispose();
  });

  test(`${fixture.title}, by forward and crossEntropy`, async () => {
    const model = await open(fixture.checkpoint);
    const { ids, targets, lengths, types } = batchOf(fixture);
    const loss = hw.enableGrad(() => {
      const { logits } = model.forward(ids, { lengths, ...types });
      const counted = targets.map((row, b) => row.map((id, i) => (i < lengths[b] ? id : ignored)));
      return hw.crossEntropy(/** @type {Tensor} */ (logits), counted);
    });
    comesFrom(model, fixture, loss);
    model.dispose();
  });
}

for (const fixture of cases.filter(({ kind }) => kind === 'classifier'))
  for (const logits of /** @type {const} */ (['all', 'none']))
    test(`${fixture.title}, logits: ${logits}`, async () => {
      const model = await open(fixture.checkpoint);
      const { ids, lengths, types } = batchOf(fixture);
      const classifier = hw.transpose(make(fixture.classifier, group));
      const loss = hw.enableGrad(() => {
        const { hidden } = model.forward(ids, { lengths, logits, ...types });
        const [batch, , width] = hidden.shape;
        const first = hidden.slice([0, batch], [0, 1]).reshape([batch, width]);
        return hw.crossEntropy(hw.matmul(first, classifier), fixture.classes);
      });
      comesFrom(model, fixture, loss);
      model.dispose();
    });

for (const fixture of cases.filter(({ kind }) => kind === 'steps'))
  test(fixture.title, async () => {
    const model = await open(fixture.checkpoint);
    const { ids, targets, lengths, types } = batchOf(fixture);
    const optimizer = new hw.AdamW(model.parameters(), { lr: fixture.lr });
    const losses = Array.from({ length: 20 }, () => {
      optimizer.zeroGrad();
      const loss = hw.enableGrad(() => model.loss(ids, targets, { lengths, ...types }));
      loss.backward();
      optimizer.step();
      return loss.item();
    });
    const state = Object.entries(model.stateDict()).map(([name, value]) => [
      `state.${name}`,
      value,
    ]);
    const found = { losses: tensor(losses), ...Object.fromEntries(state) };
    for (const [name, expected] of Object.entries(fixture.expect))
      isTorchs(found[name], expected, group, name);
    model.dispose();
  });

test('every fixture notices a number that is off by more than its tolerance', () => {
  assert.equal(cases.length, 6);
  for (const fixture of cases) noticesErrors(fixture, group);
});

const [masked] = cases;

test('a model that was made here trains: a head of two losses at once adds up their gradients', async () => {
  hw.manualSeed(3);
  const model = new hw.Encoder(readConfig('bert'));
  const { ids, targets, lengths } = batchOf(masked);
  /** @param {(model: Encoder) => Tensor} lossOf */
  const gradientsBy = (lossOf) => {
    model.parameters().forEach((parameter) => (parameter.grad = null));
    hw.enableGrad(() => lossOf(model)).backward();
    return model.namedParameters().map(({ name, grad }) => ({ name, grad }));
  };
  const ofHidden = (/** @type {any} */ { hidden }) => hw.mean(hw.multiply(hidden, hidden));
  const ofLogits = (/** @type {any} */ { logits }) => hw.mean(hw.multiply(logits, logits));
  const forward = () => model.forward(ids, { lengths });
  const hidden = gradientsBy(() => ofHidden(forward()));
  const logits = gradientsBy(() => ofLogits(forward()));
  const both = gradientsBy(() => {
    const result = forward();
    return hw.add(ofHidden(result), ofLogits(result));
  });
  for (const [i, { name, grad }] of both.entries()) {
    const parts = [hidden[i].grad, logits[i].grad].map((part) => part?.data ?? []);
    const { data, shape } = /** @type {Tensor} */ (grad);
    const sum = Float32Array.from(data, (_, j) => (parts[0][j] ?? 0) + (parts[1][j] ?? 0));
    allClose({ shape, data }, { shape, data: sum }, { rtol: 1e-4, atol: 1e-6, what: name });
  }
  const first = model.loss(ids, targets).item();
  const optimizer = new hw.AdamW(model.parameters(), { lr: 0.01 });
  for (let step = 0; step < 5; step++) {
    optimizer.zeroGrad();
    hw.enableGrad(() => model.loss(ids, targets)).backward();
    optimizer.step();
  }
  assert.ok(model.loss(ids, targets).item() < first - 0.1);
  model.dispose();
});

test('ignoreIndex says which targets do not count; nothing to learn from is NaN', async () => {
  const model = await open('bert');
  const { ids, targets, lengths } = batchOf(masked);
  const other = targets.map((row) => row.map((id) => (id === ignored ? -1 : id)));
  const loss = model.loss(ids, targets, { lengths });
  assert.equal(model.loss(ids, other, { lengths, ignoreIndex: -1 }).item(), loss.item());
  const none = ids.map((row) => row.map(() => ignored));
  assert.ok(Number.isNaN(model.loss(ids, none).item()));
  assert.equal(model.loss(ids[0], targets[0]).shape.length, 0);
  model.dispose();
});

test('a model without a head records nothing once all that it shows is frozen', () => {
  const whole = new hw.Encoder(readConfig('bert')).stateDict();
  const model = new hw.Encoder(readConfig('bert'));
  const base = Object.entries(whole).filter(([key]) => !key.startsWith('cls.'));
  assert.ok(base.length < Object.keys(whole).length);
  model.loadStateDict(Object.fromEntries(base));
  const [first, ...others] = model.parameters();
  others.forEach((parameter) => (parameter.requiresGrad = false));
  const isRecorded = () => hw.enableGrad(() => model.forward([1, 2, 3])).hidden.requiresGrad;
  assert.equal(isRecorded(), true);
  first.requiresGrad = false;
  assert.equal(isRecorded(), false);
});

test('logits that are declined are not there, and the hidden states keep their bits', async () => {
  const model = await open('bert');
  const { ids, lengths } = batchOf(masked);
  const { hidden, logits } = model.forward(ids, { lengths });
  assert.deepEqual(logits?.shape, [...hidden.shape.slice(0, 2), 37]);
  assert.deepEqual(model.forward(ids, { lengths, logits: 'none' }), { hidden });
  const recorded = hw.enableGrad(() => model.forward(ids, { lengths }));
  assert.deepEqual([recorded.hidden.data, recorded.logits?.data], [hidden.data, logits?.data]);
  model.dispose();
});

/** Losses and gradients of one step, with many tokens. @param {any} own the engine, perhaps in a Worker */
async function trainOnce(own) {
  await own.manualSeed(5);
  const config = { ...readConfig('bert'), hidden_size: 96, vocab_size: 900 };
  const model = await new own.Encoder({ ...config, max_position_embeddings: 128 });
  const ids = [0, 1].map((b) => Array.from({ length: 128 }, (_, i) => (i * 37 + b) % 900));
  await own.setGradEnabled(true);
  const loss = await model.loss(ids, ids, { lengths: [128, 77] });
  await loss.backward();
  const gradients = async () =>
    Promise.all(
      (await model.namedParameters()).map(async (/** @type {any} */ { name, grad }) => [
        await name,
        (await grad).data,
      ]),
    );
  const first = await gradients();
  const { hidden, logits } = await model.forward(ids, { lengths: [100, 128] });
  await (await own.mean(await own.multiply(logits, logits))).backward();
  return { loss: loss.item(), first, both: await gradients(), hidden: hidden.data };
}

test('threads and a Worker give the same bits', async () => {
  const [one, several] = [await load({ threads: 1 }), await load({ threads: 3 })];
  const far = await loadWorker({ threads: 1 });
  const expected = await trainOnce(one);
  assert.deepEqual(await trainOnce(several), expected);
  assert.deepEqual(await trainOnce(far), expected);
  one.dispose();
  several.dispose();
  await far.dispose();
});

test('steps do not grow, nor do graphs without a backward', async () => {
  const script = `
    const { load } = await import(${JSON.stringify(import.meta.resolve('headwise'))});
    const hw = await load({ threads: 1 });
    const model = new hw.Encoder(${JSON.stringify(readConfig('bert'))});
    const ids = Array.from({ length: 16 }, () => [1, 2, 3, 4, 5, 6, 7, 8]);
    hw.setGradEnabled(true);
    const wait = () => new Promise((done) => setTimeout(done, 10));
    const steps = async (count, isPassedBack) => {
      for (let i = 0; i < count; i++) {
        const losses = [model.loss(ids, ids), hw.mean(model.forward(ids).logits)];
        if (isPassedBack) losses.forEach((loss) => loss.backward());
        if (i % 20 === 0) { gc(); await wait(); }
      }
      for (let i = 0; i < 3; i++) { gc(); await wait(); }
      return hw.memoryBytes;
    };
    await steps(40, true);
    const before = await steps(40, false);
    await steps(200, true);
    report({ before, after: await steps(200, false) });`;
  const { before, after } = await evaluate('steps', script, { flags: ['--expose-gc'] });
  assert.ok(after <= before, `${after} bytes, ${before} at first`);
});

test('bad calls are named, and the model stays usable', async () => {
  const model = await open('bert');
  const plain = await open('bert-plain');
  const any = /** @type {any} */ (model);
  const { ids, targets, lengths } = batchOf(masked);
  const before = model.loss(ids, targets, { lengths }).item();
  throwsCode(() => any.loss(ids), 'ERR_VALUE', 'targets');
  throwsCode(() => any.loss(ids, null), 'ERR_VALUE', 'targets is null');
  throwsCode(() => plain.loss(ids, targets), 'ERR_VALUE', 'head');
  throwsCode(() => any.loss(ids, [1, 2]), 'ERR_SHAPE', 'targets');
  throwsCode(() => any.loss([ids], [targets]), 'ERR_SHAPE', 'ids');
  throwsCode(() => any.loss(ids, ids, { tokenTypes: [0] }), 'ERR_SHAPE', 'tokenTypes');
  throwsCode(() => any.loss([1], [0], { tokenTypes: [2] }), 'ERR_VALUE', 'tokenTypes');
  throwsCode(() => any.loss([1], [37]), 'ERR_VALUE', 'targets');
  throwsCode(() => any.loss([1], [-1]), 'ERR_VALUE', 'targets');
  throwsCode(() => any.loss([1], [0], { lengths: [2] }), 'ERR_VALUE', 'lengths');
  throwsCode(() => any.loss([1], [0], { smoothing: 1 }), 'ERR_VALUE', 'smoothing');
  throwsCode(() => any.loss([[1, 2], [3]], [[1], [2, 3]]), 'ERR_SHAPE', 'targets', '[1, 2]');
  throwsCode(() => any.loss(Array(30).fill(1), Array(30).fill(1)), 'ERR_SHAPE', 'ids');
  throwsCode(() => any.forward(ids, { logits: 'last' }), 'ERR_VALUE', 'logits');
  const half = await loadModel(
    hw,
    fileURLToPath(new URL('fixtures/models/bert', import.meta.url)),
    {
      dtype: 'bfloat16',
    },
  );
  throwsCode(() => hw.enableGrad(() => half.forward(ids)), 'ERR_VALUE', 'bfloat16');
  throwsCode(() => hw.enableGrad(() => half.loss(ids, targets)), 'ERR_VALUE', 'bfloat16');
  assert.equal(model.loss(ids, targets, { lengths }).item(), before);
  [half, plain, model].forEach((each) => each.dispose());
});

test('a second backward, and one after a change of the weights, are refused', async () => {
  const model = await open('bert');
  const { ids, targets } = batchOf(masked);
  const [weight] = model.parameters();
  for (const lossOf of [
    () => model.loss(ids, targets),
    () => hw.mean(/** @type {Tensor} */ (model.forward(ids).logits)),
    () => hw.mean(model.forward(ids).hidden),
  ]) {
    const loss = hw.enableGrad(lossOf);
    loss.backward();
    throwsCode(() => loss.backward(), 'ERR_VALUE', 'retainGraph');
    const stale = hw.enableGrad(lossOf);
    weight.data = tensor(weight.data.data, weight.shape);
    throwsCode(() => stale.backward(), 'ERR_VALUE', 'changed');
  }
  const late = hw.enableGrad(() => model.loss(ids, targets));
  model.dispose();
  throwsCode(() => late.backward(), 'ERR_DISPOSED');
});

test('padding of a decoder’s loss counts for nothing either', async () => {
  const model = new hw.Decoder(readConfig('llama'));
  const rows = [
    [3, 1, 4, 1, 5],
    [9, 2, 6],
  ];
  const alone = rows.map((row) => model.loss(row).item());
  const padded = [rows[0], [...rows[1], 7, 7]];
  const loss = model.loss(padded, undefined, { lengths: [5, 3] }).item();
  assert.ok(Math.abs(loss - (4 * alone[0] + 2 * alone[1]) / 6) < 1e-5);
  assert.equal(model.loss(rows).item(), loss);
  assert.equal(
    model
      .loss(rows, [
        [1, 4, 1, 5, -100],
        [2, 6, -100],
      ])
      .item(),
    loss,
  );
  model.dispose();
});
