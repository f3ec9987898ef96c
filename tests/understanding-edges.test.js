// Functions of headwise/understanding at their edges: a position before the last, training mode, and what is asked for wrongly.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tensor } from 'headwise';
import { ablation, patching } from 'headwise/understanding';
import { allClose, engine } from './helpers.js';
import { drawIds, smallConfig, smallModel } from './gpt2.js';

const hw = await engine();
after(() => hw.dispose());
const small = smallModel(hw);
const ids = drawIds(1, 9);
const question = { target: 3, against: 5 };

test('the mean of ablation is over the text up to the position: later tokens change nothing', async () => {
  const position = 4;
  const asked = { ...question, position, method: /** @type {const} */ ('mean') };
  const { effects, base } = await ablation(small, ids, asked);
  const read = ids.slice(0, position + 1);
  const whole = small.forward(read, { trace: true });
  /** @param {any} replace */
  const score = (replace) => {
    const { data } = small.forward(read, { replace }).logits;
    return data[question.target] - data[question.against];
  };
  const expected = whole.trace.map((each, layer) =>
    [0, 1, 2].map((head) => {
      /** @type {any[]} */
      const rows = each.output({ head }).toNested();
      const mean = rows[0].map((/** @type {number} */ _, /** @type {number} */ i) =>
        rows.reduce((sum, row) => sum + row[i] / rows.length, 0),
      );
      return score([{ layer, head, output: tensor(rows.map(() => mean)) }]) - score([]);
    }),
  );
  assert.equal(base, score([]));
  allClose(effects, tensor(expected), { rtol: 0, atol: 1e-6, what: 'effects' });
  const others = [...read, ...drawIds(7, 4)];
  for (const text of [read, others])
    assert.deepEqual((await ablation(small, text, asked)).effects, effects);
});

test('sweeps of a model in training mode have no dropout', async () => {
  const model = new hw.Decoder({ model_type: 'gpt2', ...smallConfig }, { dropout: 0.5 });
  const other = drawIds(2, 9);
  const all = async () => [
    await ablation(model, ids, { ...question, method: 'mean' }),
    await patching(model, { clean: ids, corrupted: other, ...question }),
    await patching(model, { clean: ids, corrupted: other, ...question, of: 'residual' }),
  ];
  const expected = await all();
  assert.deepEqual(await (model.train(), all()), expected);
  model.eval();
  assert.deepEqual(await all(), expected);
  model.dispose();
});
