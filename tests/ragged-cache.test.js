// Batches in a cache whose rows end apart: each goes on to the end of the context, whatever the others do.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadGpt2 } from 'headwise/gpt2';
import { load } from 'headwise/worker';
import { drawIds, loadCheckpoint, readCheckpoint, smallModel } from './gpt2.js';
import { allClose, engine, rejectsCode, throwsCode } from './helpers.js';
import { readConfig, readTensors } from './model-fixtures.js';

const CONTEXT = 20;
const texts = [drawIds(1, CONTEXT, 20), drawIds(2, CONTEXT, 20), drawIds(3, CONTEXT, 20)];

const hw = await engine();
after(() => hw.dispose());

/** Rotary positions, windows and shared heads. */
async function rotaryModel() {
  const config = { ...readConfig('mistral'), max_position_embeddings: CONTEXT };
  return new hw.Decoder(config).loadStateDict(await readTensors('mistral')).eval();
}

for (const [title, make] of /** @type {const} */ ([
  ['learned positions', () => smallModel(hw, { contextLength: CONTEXT }).eval()],
  ['rotary positions', rotaryModel],
])) {
  test(`${title}: rows reach the end of the context one after another, as they do alone`, async () => {
    const model = await make();
    const cache = model.createCache({ batch: texts.length });
    const all = texts.map((ids) => model.forward(ids, { logits: 'all', needWeights: true }));
    let lengths = [0, 0, 0];
    for (const ends of [
      [CONTEXT - 1, 1, 0],
      [CONTEXT, 8, 4],
      [CONTEXT, CONTEXT, 4],
      [CONTEXT, CONTEXT, CONTEXT],
    ]) {
      const stored = Math.max(...lengths);
      const pieces = texts.map((ids, row) => ids.slice(lengths[row], ends[row]));
      const tokens = Math.max(...pieces.map((piece) => piece.length));
      const { logits, weights, trace } = model.forward(pieces, {
        ...{ cache, logits: 'all', needWeights: true, trace: true },
      });
      const keys = Math.min(stored + tokens, CONTEXT);
      const heads = weights[0].shape[1];
      assert.deepEqual(weights[0].shape, [texts.length, heads, tokens, keys]);
      for (const [row, { length: n }] of pieces.entries()) {
        if (n === 0) continue;
        const [start, end] = [lengths[row], ends[row]];
        allClose(
          logits.slice([row, row + 1], [0, n]).reshape([n, logits.shape[2]]),
          all[row].logits.slice([start, end]),
          { atol: 1e-4, what: `logits of row ${row} from ${start}` },
        );
        for (const [layer, each] of weights.entries()) {
          const own = all[row].weights[layer].slice([0, 1], [0, heads], [start, end], [0, end]);
          const given = each.slice([row, row + 1], [0, heads], [0, n], [0, end]);
          allClose(given, own, { atol: 1e-4, what: `weights of row ${row} from ${start}` });
          const traced = trace[layer].weights({ batch: row, head: 1, rows: [0, n] });
          allClose(traced.slice([0, n], [0, end]), own.slice([0, 1], [1, 2]).reshape([n, end]), {
            atol: 1e-4,
            what: `the trace of row ${row} from ${start}`,
          });
        }
      }
      trace.forEach((each) => each.dispose());
      lengths = ends;
      assert.deepEqual(cache.lengths, lengths);
      assert.equal(cache.length, CONTEXT - (lengths[0] < CONTEXT ? 1 : 0));
    }
    throwsCode(() => model.forward([[], [1], []], { cache }), 'ERR_VALUE', 'cache 20', '1 tokens');
    model.dispose();
  });

  test(`${title}: the last logits are each row's own, beside a row that is full`, async () => {
    const model = await make();
    const cache = model.createCache({ batch: 2 });
    const [full, short] = texts;
    model.forward([full, short.slice(0, 3)], { cache, logits: 'none' });
    for (const [start, end] of [
      [3, 5],
      [5, 9],
    ]) {
      const { logits } = model.forward([[], short.slice(start, end)], { cache });
      const own = model.forward(short.slice(0, end)).logits;
      allClose(logits.slice([1, 2]).reshape(own.shape), own, { atol: 1e-4 });
    }
    assert.deepEqual(cache.lengths, [CONTEXT, 9]);
    model.dispose();
  });
}

test('a row that does not fit leaves all rows as they were, and rows without ids need a cache', () => {
  const model = smallModel(hw, { contextLength: 8 });
  const cache = model.createCache({ batch: 2 });
  model.forward([[1, 2, 3, 4, 5, 6, 7], [1]], { cache });
  throwsCode(() => model.forward([[8, 9], [2]], { cache }), 'ERR_VALUE', '2 tokens', 'cache 7');
  assert.deepEqual(cache.lengths, [7, 1]);
  model.forward([[8], [2, 3]], { cache });
  assert.deepEqual(cache.lengths, [8, 3]);
  assert.deepEqual(cache.truncate(5).lengths, [5, 3]);
  throwsCode(() => model.forward([[1, 2], []]), 'ERR_SHAPE', 'ids[1] has no ids');
  throwsCode(() => model.loss([[1, 2], []]), 'ERR_SHAPE', 'ids[1] has no ids');
  model.dispose();
});

test('when there is no memory for the result, all rows are as they were', () => {
  const model = smallModel(hw, { contextLength: CONTEXT });
  const [cache, other] = [model.createCache({ batch: 2 }), model.createCache({ batch: 2 })];
  for (const each of [cache, other]) model.forward([[1, 2, 3], [4]], { cache: each });
  const { slice } = Float32Array.prototype;
  Float32Array.prototype.slice = () => {
    throw new RangeError('no memory');
  };
  try {
    throwsCode(() => model.forward([[5, 6], [7]], { cache }), 'ERR_MEMORY');
  } finally {
    Float32Array.prototype.slice = slice;
  }
  assert.deepEqual(cache.lengths, [3, 1]);
  const [again, first] = [cache, other].map((each) => model.forward([[5], [6]], { cache: each }));
  assert.deepEqual(again.logits, first.logits);
  model.dispose();
});

test('in a Worker rows end apart too', async () => {
  const [far, near] = [await load(), await loadCheckpoint(hw, 'f16')];
  const model = await loadGpt2(far, readCheckpoint('f16'));
  const { contextLength } = near.options;
  const ids = drawIds(1, contextLength, near.options.vocabSize);
  const cache = await model.createCache({ batch: 2 });
  await model.forward([ids, ids.slice(0, 2)], { cache, logits: 'none' });
  const { logits } = await model.forward([[], ids.slice(2, 6)], { cache });
  const own = near.forward(ids.slice(0, 6)).logits;
  allClose(logits.slice([1, 2]).reshape(own.shape), own, { atol: 1e-4 });
  assert.deepEqual(await cache.lengths, [contextLength, 6]);
  await rejectsCode(model.forward([[1], []], { cache }), 'ERR_VALUE', `cache ${contextLength}`);
  await far.dispose();
});
