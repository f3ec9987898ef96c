// Gradients that PyTorch computed in float64, against the package's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
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
