// What PyTorch computed in float64 of what heads do: values, outputs, norms, logits without some.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tensor } from 'headwise';
import { engine } from './helpers.js';
import { loadCheckpoint } from './gpt2.js';
import { isTorchs, makeAll, noticesErrors, readGroup } from './torch.js';

/** @typedef {import('./torch.js').Case & { gpt2?: import('./gpt2.js').Checkpoint, model?: string, kind: string, ids: number[], replace?: any }} Fixture */

const hw = await engine();
const group = readGroup('understanding');
const cases = /** @type {Fixture[]} */ (group.cases);

/** Models by their names. @type {Map<string, Promise<any>>} */
const models = new Map();

/** @param {Fixture} fixture */
function modelOf({ gpt2 = 'f32' }) {
  const model = models.get(gpt2) ?? loadCheckpoint(hw, gpt2);
  models.set(gpt2, model);
  return model;
}

after(async () => (await Promise.all(models.values())).forEach((model) => model.dispose()));

/** @param {any[]} tensors of one shape, one after another */
function stack(tensors) {
  const { shape } = tensors[0];
  const data = tensors.flatMap((each) => [...each.data]);
  return tensor(Float32Array.from(data), [tensors.length, ...shape]);
}

/** @type {Record<string, (model: any, fixture: Fixture) => Record<string, any>>} */
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
};

for (const fixture of cases.filter(({ kind, gpt2 }) => gpt2 && kind in kinds))
  test(`${fixture.title}: PyTorch's numbers`, async () => {
    const results = kinds[fixture.kind](await modelOf(fixture), fixture);
    assert.deepEqual(Object.keys(results).sort(), Object.keys(fixture.expect).sort());
    for (const [name, expected] of Object.entries(fixture.expect))
      isTorchs(results[name], expected, group, name);
  });

test('every fixture notices a number that is off by more than its tolerance', () => {
  for (const fixture of cases) noticesErrors(fixture, group);
});
