// What PyTorch computed in float64 of tiny checkpoints of every decoder architecture, and what hw.Decoder makes of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig, readTensors } from './model-fixtures.js';
import { readModelConfig } from '../web/headwise/models/config.js';
import { engine } from './helpers.js';
import { isTorchs, readGroup } from './torch.js';

/** @typedef {import('./torch.js').Case & { checkpoint: string, rows: number[][], greedy?: number[] }} ModelCase */
/** @typedef {import('headwise').Tensor} Tensor */

const hw = await engine();
const group = readGroup('models');
const all = /** @type {ModelCase[]} */ (group.cases);
const cases = all.filter(({ checkpoint }) => readModelConfig(readConfig(checkpoint)).isDecoder);

/** @param {ModelCase} fixture */
async function open({ checkpoint }) {
  const model = new hw.Decoder(readConfig(checkpoint));
  return model.loadStateDict(await readTensors(checkpoint)).eval();
}

/** Without the batch, of one row. @param {Tensor} x */
const alone = (x) => x.reshape(x.shape.slice(1));

test('there are decoders of every architecture', () => {
  const types = new Set(cases.map(({ checkpoint }) => readConfig(checkpoint).model_type));
  assert.equal(types.size, 8);
});

for (const fixture of cases) {
  const { title, rows, expect } = fixture;

  test(`${title}: logits and weights`, async () => {
    const model = await open(fixture);
    for (const [row, ids] of rows.entries()) {
      const { logits, weights } = model.forward(ids, { logits: 'all', needWeights: true });
      isTorchs(logits, expect[`logits.${row}`], group, 'logits');
      assert.equal(weights.length, model.config.numLayers);
      for (const [layer, each] of weights.entries())
        isTorchs(alone(each), expect[`weights.${row}.${layer}`], group, `weights ${layer}`);
      // Without weights attention goes another way.
      const again = model.forward(ids, { logits: 'all' });
      isTorchs(again.logits, expect[`logits.${row}`], group, 'logits alone');
    }
    model.dispose();
  });
}
