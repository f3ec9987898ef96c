// Gradients that PyTorch computed in float64, against the package's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gpt2 } from 'headwise/gpt2';
import { readConfig, readTensors } from './model-fixtures.js';
import { isTorchs, make, makeAll, noticesErrors, readGroup } from './torch.js';

/** @typedef {import('./helpers.js').Engine} Engine */
/** @typedef {import('./torch.js').Group} Group */
/** @typedef {import('./torch.js').Case & { wrt: string[], cotangent: Record<string, any> }} GradientCase */

/** @param {any} value @param {string} path such as args.0 or present.key */
export const partOf = (value, path) => path.split('.').reduce((part, key) => part?.[key], value);

/**
 * The sum of the products of outputs and what the fixture weighs them by.
 * @param {Engine} hw
 * @param {any} outputs
 * @param {GradientCase} fixture
 * @param {Group} group
 */
export function weighted(hw, outputs, { cotangent }, group) {
  const products = Object.entries(cotangent)
    .map(([name, spec]) => ({ output: partOf(outputs, name), factor: make(spec, group) }))
    .filter(({ output }) => output.requiresGrad)
    .map(({ output, factor }) => hw.sum(hw.multiply(output, factor)));
  return products.reduce((sum, product) => hw.add(sum, product));
}

/** @param {Engine} hw @param {GradientCase} fixture @param {Group} group */
function runFunction(hw, fixture, group) {
  const { wrt, expect, seed } = fixture;
  const args = makeAll(fixture.args, group);
  const options = makeAll(fixture.options, group);
  const leaves = wrt.map((path) => partOf({ args, options }, path));
  for (const leaf of leaves) leaf.requiresGrad = true;
  const call = () => {
    if (seed !== undefined) hw.manualSeed(seed);
    const given = options === undefined ? args : [...args, options];
    const result = /** @type {any} */ (hw)[String(fixture.function)](...given);
    return 'data' in result ? { output: result } : result;
  };
  const plain = call();
  const outputs = hw.enableGrad(call);
  for (const name of Object.keys(fixture.cotangent)) {
    isTorchs(partOf(outputs, name), expect[name], group, name);
    assert.deepEqual(partOf(outputs, name), partOf(plain, name), `${name}: recorded or not`);
    assert.equal(partOf(plain, name).requiresGrad, false);
  }
  hw.enableGrad(() => weighted(hw, outputs, fixture, group)).backward();
  wrt.forEach((path, i) => isTorchs(leaves[i].grad, expect[`grad.${path}`], group, path));
}

/**
 * A test for each case of a group of functions.
 * @param {Engine} hw
 * @param {string} name
 */
export function testFunctionGradients(hw, name) {
  const group = readGroup(name);
  const cases = /** @type {GradientCase[]} */ (group.cases);
  for (const fixture of cases) test(fixture.title, () => runFunction(hw, fixture, group));
  test(`every fixture of ${name} notices a number that is off by more than its tolerance`, () => {
    assert.ok(cases.length > 0);
    for (const fixture of cases) noticesErrors(fixture, group);
  });
}

/** @param {Engine} hw @param {GradientCase} fixture @param {Group} group */
function runModule(hw, fixture, group) {
  const { expect, seed } = fixture;
  const [state, input] = [makeAll(fixture.state, group), makeAll(fixture.input, group)];
  const module = new /** @type {any} */ (hw)[String(fixture.class)](fixture.options);
  module.loadStateDict(state);
  input.requiresGrad = 'grad.x' in expect;
  const options = makeAll(fixture.forward, group);
  const wantsMask = 'grad.mask' in expect;
  if (wantsMask) options.mask.requiresGrad = true;
  const forward = () => {
    if (seed !== undefined) hw.manualSeed(seed);
    return options === undefined ? module.forward(input) : module.forward(input, options);
  };
  const plain = forward();
  const outputs = hw.enableGrad(forward);
  assert.deepEqual(outputs.output, plain.output, 'recorded or not');
  isTorchs(outputs.output, expect.output, group, 'output');
  hw.enableGrad(() => weighted(hw, outputs, fixture, group)).backward();
  if (input.requiresGrad) isTorchs(input.grad, expect['grad.x'], group, 'x');
  if (wantsMask) isTorchs(options.mask.grad, expect['grad.mask'], group, 'mask');
  checkParameters(module, expect, group);
  module.dispose();
}

/**
 * @param {any} module
 * @param {Record<string, import('./torch.js').Expected>} expect
 * @param {Group} group
 */
function checkParameters(module, expect, group) {
  const parameters = module.parameters();
  const names = Object.keys(expect).filter(
    (key) => key.startsWith('grad.') && key !== 'grad.x' && key !== 'grad.mask',
  );
  assert.deepEqual(
    parameters.map((/** @type {any} */ { name }) => `grad.${name}`).sort(),
    names.sort(),
  );
  for (const { name, grad } of parameters) isTorchs(grad, expect[`grad.${name}`], group, name);
}

/** @param {Engine} hw @param {any} fixture @param {Group} group */
async function runMuted(hw, fixture, group) {
  const { checkpoint, expect } = fixture;
  const [input, headMask] = [makeAll(fixture.input, group), makeAll(fixture.headMask, group)];
  const model = new hw.Decoder(readConfig(checkpoint));
  model.loadStateDict(await readTensors(checkpoint));
  headMask.requiresGrad = true;
  for (const trains of [true, false]) {
    for (const parameter of model.parameters()) parameter.requiresGrad = trains;
    headMask.grad = null;
    const { logits } = hw.enableGrad(() => model.forward(input, { logits: 'all', headMask }));
    isTorchs(logits, expect.output, group, 'logits');
    hw.enableGrad(() => weighted(hw, { output: logits }, fixture, group)).backward();
    isTorchs(headMask.grad, expect['grad.headMask'], group, 'headMask');
    assert.equal(model.parameters()[0].grad === null, !trains);
  }
  model.dispose();
}

/** @param {Engine} hw @param {any} fixture @param {Group} group */
function runLoss(hw, fixture, group) {
  const { options, state, input, targets, expect } = fixture;
  const rows = (/** @type {any} */ { shape: [batch, tokens], values }) =>
    Array.from({ length: batch }, (_, b) => values.slice(b * tokens, (b + 1) * tokens));
  const model = new Gpt2(hw, options).loadStateDict(makeAll(state, group));
  const given = [rows(input), ...(targets ? [rows(targets)] : [])];
  const plain = model.loss(given[0], given[1]);
  const loss = hw.enableGrad(() => model.loss(given[0], given[1]));
  assert.equal(plain.requiresGrad, false);
  for (const each of [plain, loss]) isTorchs(each, expect.loss, group, 'loss');
  loss.backward();
  checkParameters(model, expect, group);
  model.dispose();
}

const runs = { loss: runLoss, module: runModule, muted: runMuted };

/**
 * A test for each case of a group of modules and models.
 * @param {Engine} hw
 * @param {string} name
 */
export function testModuleGradients(hw, name) {
  const group = readGroup(name);
  for (const fixture of /** @type {any[]} */ (group.cases))
    test(fixture.title, () =>
      runs[fixture.model ? 'loss' : fixture.checkpoint ? 'muted' : 'module'](hw, fixture, group),
    );
  test(`every fixture of ${name} notices a number that is off by more than its tolerance`, () => {
    assert.ok(group.cases.length > 0);
    for (const fixture of group.cases) noticesErrors(fixture, group);
  });
}
