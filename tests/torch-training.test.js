// Twenty steps of training as PyTorch's float64 has them: every loss, every norm, and the weights afterwards.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor } from 'headwise';
import { engine } from './helpers.js';
import { isTorchs, makeAll, noticesErrors, readGroup } from './torch.js';

const hw = await engine();
const group = readGroup('training');

/** @typedef {import('./torch.js').Case & { target: any, optimizer: 'AdamW' | 'SGD', optimizerOptions: any, maxNorm?: number }} Run */

const runs = /** @type {Run[]} */ (group.cases);

for (const run of runs)
  test(run.title, () => {
    const { class: name, options, optimizer: kind, optimizerOptions, maxNorm } = run;
    const { state, input, target } = makeAll(
      { state: run.state, input: run.input, target: run.target },
      group,
    );
    const module = new /** @type {any} */ (hw)[String(name)](options).loadStateDict(state);
    const optimizer = new hw[kind](module.parameters(), optimizerOptions);
    /** @type {{ losses: number[], norms: number[] }} */
    const seen = { losses: [], norms: [] };
    for (let step = 0; step < 20; step++) {
      optimizer.zeroGrad();
      const loss = hw.enableGrad(() => hw.mseLoss(module.forward(input).output, target));
      loss.backward();
      if (maxNorm !== undefined) seen.norms.push(hw.clipGradNorm(module.parameters(), maxNorm));
      optimizer.step();
      seen.losses.push(loss.item());
    }
    const results = Object.entries(module.stateDict()).map(([key, value]) => [
      `state.${key}`,
      value,
    ]);
    const found = { ...Object.fromEntries(results), losses: tensor(seen.losses) };
    if (maxNorm !== undefined) found.norms = tensor(seen.norms);
    assert.deepEqual(Object.keys(found).sort(), Object.keys(run.expect).sort());
    for (const [key, value] of Object.entries(found)) isTorchs(value, run.expect[key], group, key);
    module.dispose();
  });

test('every run notices a number that is off by more than its tolerance', () => {
  assert.ok(runs.length > 0);
  for (const run of runs) noticesErrors(run, group);
});
