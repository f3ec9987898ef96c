// What PyTorch computed in float64 of tiny checkpoints of every decoder architecture, and what hw.Decoder makes of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig, readTensors } from './model-fixtures.js';
import { readModelConfig } from '../web/headwise/models/config.js';
import { allClose, engine } from './helpers.js';
import { runModel } from './reference-models.js';
import { isTorchs, readGroup } from './torch.js';

/** @typedef {import('./torch.js').Case & { checkpoint: string, rows: number[][], greedy?: number[] }} ModelCase */
/** @typedef {import('headwise').Tensor} Tensor */

const hw = await engine();
const group = readGroup('models');
const cases = /** @type {ModelCase[]} */ (group.cases).filter(
  ({ checkpoint }) => readModelConfig(readConfig(checkpoint)).isDecoder,
);

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

/**
 * @param {Tensor} x
 * @param {Tensor} expected
 * @param {string} what
 */
const isNear = (x, expected, what) => allClose(x, expected, { rtol: 2e-5, atol: 2e-5, what });

/** Logits of some rows of a text. @param {Tensor} logits [tokens, vocab] @param {number} start @param {number} end */
const rowsOf = (logits, start, end) => logits.slice([start, end]);

for (const fixture of cases) {
  const { title, rows } = fixture;

  test(`${title}: pieces through a cache, cut and continued, give the whole's logits`, async () => {
    const model = await open(fixture);
    const [ids] = rows;
    const whole = model.forward(ids, { logits: 'all' }).logits;
    const cache = model.createCache();
    const ends = [4, 5, ids.length];
    for (const [i, end] of ends.entries()) {
      const start = ends[i - 1] ?? 0;
      const { logits } = model.forward(ids.slice(start, end), { logits: 'all', cache });
      isNear(logits, rowsOf(whole, start, end), `[${start}, ${end})`);
    }
    cache.truncate(3);
    const { logits, weights } = model.forward(ids.slice(3), { cache, needWeights: true });
    isNear(logits, rowsOf(whole, ids.length - 1, ids.length), 'after a cut');
    const asked = model.forward(ids, { needWeights: true }).weights;
    weights.forEach((each, layer) =>
      isNear(
        alone(each),
        alone(asked[layer]).slice([0, each.shape[1]], [3, ids.length]),
        'weights',
      ),
    );
    model.dispose();
  });

  test(`${title}: rows of a padded batch are what they are alone, through a cache too`, async () => {
    const model = await open(fixture);
    const [first] = rows;
    const texts = [first.slice(0, 7), first.slice(2, 5), first.slice(1, 9)];
    const lengths = texts.map((ids) => ids.length);
    const most = Math.max(...lengths);
    const padded = texts.map((ids) => [...ids, ...new Array(most - ids.length).fill(1)]);
    const single = texts.map((ids) => model.forward(ids, { logits: 'all', needWeights: true }));
    const cache = model.createCache({ batch: 3 });
    const last = model.forward(texts, { trace: true, cache });
    const all = model.forward(padded, { logits: 'all', lengths, needWeights: true });
    for (const [row, ids] of texts.entries()) {
      const n = ids.length;
      const own = single[row];
      isNear(alone(all.logits.slice([row, row + 1], [0, n])), own.logits, `row ${row}`);
      isNear(
        last.logits.slice([row, row + 1]).reshape([1, model.config.vocabSize]),
        rowsOf(own.logits, n - 1, n),
        `last of ${row}`,
      );
      all.weights.forEach((each, layer) => {
        const mine = alone(each.slice([row, row + 1])).slice([0, each.shape[1]], [0, n], [0, n]);
        isNear(mine, alone(own.weights[layer]), `weights of row ${row}, layer ${layer}`);
        const traced = last.trace[layer].weights({ batch: row, head: 0, rows: [0, n] });
        isNear(
          traced.slice([0, n], [0, n]),
          alone(own.weights[layer].slice([0, 1], [0, 1])).reshape([n, n]),
          'traced',
        );
      });
    }
    // Each row goes on where it has ended.
    const more = [[3], [4, 5], [6]];
    const after = model.forward(more, { cache, trace: true });
    for (const [row, ids] of texts.entries()) {
      const { logits, weights } = model.forward([...ids, ...more[row]], { needWeights: true });
      isNear(
        after.logits.slice([row, row + 1]).reshape(logits.shape),
        logits,
        `row ${row} goes on`,
      );
      const [n, m] = [ids.length + more[row].length, more[row].length];
      const traced = after.trace[1].weights({ batch: row, head: 1, rows: [m - 1, m] });
      const expected = alone(weights[1])
        .slice([1, 2], [n - 1, n])
        .reshape([1, n]);
      isNear(traced.slice([0, 1], [0, n]), expected, 'traced after a cache');
    }
    cache.truncate(4);
    const again = model.forward([[9], [9], [9]], { cache });
    for (const [row, ids] of texts.entries()) {
      const kept = [...ids, ...more[row]].slice(0, 4);
      const { logits } = model.forward([...kept, 9]);
      isNear(again.logits.slice([row, row + 1]).reshape(logits.shape), logits, `row ${row}, cut`);
    }
    for (const each of [...last.trace, ...after.trace]) each.dispose();
    model.dispose();
  });

  if (fixture.greedy)
    test(`${title}: greedy generation gives PyTorch's tokens`, async () => {
      const model = await open(fixture);
      const maxTokens = fixture.greedy?.length;
      const found = [...model.generate(rows[0], { maxTokens, temperature: 0 })];
      assert.deepEqual(found, fixture.greedy);
      model.dispose();
    });

  test(`${title}: the loss is that of its logits, and its gradients are finite differences`, async () => {
    const config = readModelConfig(readConfig(fixture.checkpoint));
    const model = await open(fixture);
    /** @type {Map<string, any>} */
    const state = new Map(Object.entries(model.stateDict()));
    const ids = rows[0].slice(0, 8);
    /** @param {Map<string, any>} dict */
    const lossOf = (dict) => {
      const { logits } = runModel(config, (name) => dict.get(name), ids);
      return (
        (logits ?? []).slice(0, -1).reduce((sum, row, i) => {
          const top = Math.max(...row);
          const total = row.reduce((all, value) => all + Math.exp(value - top), 0);
          return sum + top + Math.log(total) - row[ids[i + 1]];
        }, 0) /
        (ids.length - 1)
      );
    };
    const loss = hw.enableGrad(() => model.loss([ids]));
    assert.ok(Math.abs(loss.item() - lossOf(state)) < 1e-5);
    loss.backward();
    for (const { name, grad } of model.namedParameters()) {
      const { shape, data } = state.get(name);
      const direction = Float64Array.from(
        data,
        (/** @type {number} */ _, /** @type {number} */ i) => Math.cos(3 * i + name.length),
      );
      const slope = /** @type {Tensor} */ (grad).data.reduce(
        (sum, value, i) => sum + value * direction[i],
        0,
      );
      const step = 1e-5;
      const moved = [step, -step].map((by) =>
        lossOf(
          new Map([
            ...state,
            [
              name,
              {
                shape,
                data: Float64Array.from(
                  data,
                  (/** @type {number} */ v, /** @type {number} */ i) => v + by * direction[i],
                ),
              },
            ],
          ]),
        ),
      );
      const expected = (moved[0] - moved[1]) / (2 * step);
      const size = Math.hypot(.../** @type {Tensor} */ (grad).data) * Math.sqrt(data.length);
      assert.ok(
        Math.abs(slope - expected) <= 1e-4 * size + 1e-5,
        `${name}: ${slope}, expected ${expected}`,
      );
    }
    model.dispose();
  });
}
