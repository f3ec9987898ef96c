// Ablation, patching and the logit lens of headwise/understanding, against whole forwards that say the same with options.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tensor, zeros } from 'headwise';
import { loadGpt2 } from 'headwise/gpt2';
import { loadModel } from 'headwise/models';
import { ablation, logitLens, patching } from 'headwise/understanding';
import { load } from 'headwise/worker';
import { engine, rejectsCode } from './helpers.js';
import { drawIds, readCheckpoint, smallModel } from './gpt2.js';
import { decoders } from './model-fixtures.js';

const hw = await engine();
after(() => hw.dispose());
const small = smallModel(hw);
const ids = drawIds(1, 9);
const other = drawIds(2, 9);
const question = { target: 3, against: 5 };

/** @param {Float32Array} logits @param {{ target: number, against?: number }} asked */
function score(logits, { target, against }) {
  if (against !== undefined) return logits[target] - logits[against];
  const most = Math.max(...logits);
  const sum = logits.reduce((all, logit) => all + Math.exp(logit - most), 0);
  return logits[target] - most - Math.log(sum);
}

/** @param {any} model @param {any} text @param {any} [options] @returns {any[][]} by layer and head */
function outputsOf(model, text, options) {
  const { trace } = model.forward(text, { trace: true, logits: 'none', ...options });
  const outputs = trace.map((/** @type {any} */ each) =>
    Array.from({ length: each.shape[1] }, (_, head) => each.output({ head })),
  );
  trace.forEach((/** @type {any} */ each) => each.dispose());
  return outputs;
}

/** Whole forwards, one for each head. @param {any} model @param {any} text @param {any} asked @param {any[][]} given @param {any} [options] */
function brute(model, text, asked, given, options) {
  const of = (/** @type {any} */ replace) =>
    score(model.forward(text, { replace, ...options }).logits.data, asked);
  const base = of(undefined);
  const effects = given.map((row, layer) =>
    row.map((output, head) => Math.fround(of([{ layer, head, output }]) - base)),
  );
  return { base, effects };
}

/** @param {any[][]} outputs @param {(output: any) => any} change */
const each = (outputs, change) => outputs.map((row) => row.map(change));

/** @param {any} output its mean over tokens, at all tokens */
function meanOf({ data, shape: [tokens, width] }) {
  const mean = Float64Array.from({ length: width }, (_, i) => {
    let sum = 0;
    for (let row = 0; row < tokens; row++) sum += data[row * width + i];
    return sum / tokens;
  });
  return tensor(
    Float32Array.from(data, (_, i) => mean[i % width]),
    [tokens, width],
  );
}

/** @param {any} tensorOf @param {number[][]} expected */
const same = (tensorOf, expected) => assert.deepEqual(tensorOf.toNested(), expected);

/** @param {any} tensorOf @returns {number[][]} */
const nested = (tensorOf) => tensorOf.toNested();

/** @param {any} residuals @param {number} layer @returns {any} */
const before = (residuals, layer) =>
  residuals.slice([layer, layer + 1]).reshape(residuals.shape.slice(1));

/** @param {any} model @param {number[]} text @param {number[]} corrupted */
async function checkModel(model, text, corrupted) {
  const outputs = outputsOf(model, text);
  const zero = brute(
    model,
    text,
    question,
    each(outputs, ({ shape }) => zeros(shape)),
  );
  const ablated = await ablation(model, text, question);
  same(ablated.effects, zero.effects);
  assert.equal(ablated.base, zero.base);

  const mean = await ablation(model, text, { ...question, method: 'mean' });
  same(mean.effects, brute(model, text, question, each(outputs, meanOf)).effects);

  const patched = await patching(model, { clean: text, corrupted, ...question });
  const from = score(model.forward(text).logits.data, question);
  const swaps = brute(model, corrupted, question, outputs);
  const share = (/** @type {number} */ effect) => effect / (from - swaps.base);
  assert.deepEqual([patched.clean, patched.corrupted], [from, swaps.base]);
  nested(patched.recovered).forEach((row, layer) =>
    row.forEach((recovered, head) => {
      const expected = share(swaps.effects[layer][head]);
      assert.ok(Math.abs(recovered - expected) <= 1e-6 * Math.max(1, Math.abs(expected)));
    }),
  );
  await checkLens(model, text);
}

/** @param {any} model @param {number[]} text */
async function checkLens(model, text) {
  const lens = await logitLens(model, text, { top: 3, target: question.target });
  const { residuals, logits } = model.forward(text, { residuals: true, logits: 'all' });
  const layers = residuals.shape[0] - 1;
  assert.deepEqual(lens.ids.shape, [layers + 1, text.length, 3]);
  for (let layer = 0; layer <= layers; layer++) {
    const start = { layer: layers, residual: before(residuals, layer) };
    const rows = layer === layers ? logits : model.forward(text, { start, logits: 'all' }).logits;
    rows.toNested().forEach((/** @type {number[]} */ row, /** @type {number} */ at) => {
      const order = row.map((_, id) => id).sort((a, b) => row[b] - row[a] || a - b);
      const found = lens.ids.toNested()[layer][at];
      assert.deepEqual(found, order.slice(0, 3));
      const log = (/** @type {number} */ target) =>
        Math.fround(score(Float32Array.from(row), { target }));
      assert.deepEqual(lens.logProbabilities.toNested()[layer][at], found.map(log));
      assert.equal(lens.target?.logProbabilities.toNested()[layer][at], log(question.target));
      assert.equal(lens.target?.ranks.toNested()[layer][at], order.indexOf(question.target));
    });
  }
}

for (const name of decoders)
  for (const dtype of /** @type {const} */ (['float32', 'bfloat16', 'float16', 'int8']))
    test(`${name} in ${dtype}: sweeps give what whole forwards give`, async () => {
      const folder = new URL(`fixtures/models/${name}/`, import.meta.url);
      const model = await loadModel(hw, folder, { dtype });
      await checkModel(model, [3, 7, 1, 7, 2], [3, 6, 1, 4, 2]);
      model.dispose();
    });

test('without against the score is a log-probability, at any position', async () => {
  for (const position of [8, 4]) {
    const asked = { target: 3, position };
    const { effects, base } = await ablation(small, ids, asked);
    const read = ids.slice(0, position + 1);
    const given = each(outputsOf(small, read), ({ shape }) => zeros(shape));
    const expected = brute(small, read, { target: 3 }, given);
    same(effects, expected.effects);
    assert.equal(base, expected.base);
  }
});

test('muted heads stay muted in every forward, and ablating them changes nothing', async () => {
  const headMask = [
    [1, 0, 1],
    [0.5, 1, 1],
  ];
  const factors = headMask.flat();
  const asked = { ...question, headMask };
  const masked = outputsOf(small, ids, { headMask }).map((row, layer) =>
    row.map((output, head) => {
      const { data, shape } = output;
      return tensor(
        data.map((/** @type {number} */ value) => value * factors[layer * 3 + head]),
        shape,
      );
    }),
  );
  for (const [method, change] of /** @type {const} */ ([
    ['zero', (/** @type {any} */ { shape }) => zeros(shape)],
    ['mean', meanOf],
  ])) {
    const { effects, base } = await ablation(small, ids, { ...asked, method });
    const expected = brute(small, ids, question, each(masked, change), { headMask });
    same(effects, expected.effects);
    assert.equal(base, expected.base);
    assert.equal(effects.data[1], 0);
  }
  const texts = [drawIds(3, 12)];
  const resampled = await ablation(small, ids, { ...asked, method: 'resample', texts });
  assert.equal(resampled.effects.data[1], 0);
  const { recovered } = await patching(small, { clean: ids, corrupted: other, ...asked });
  assert.equal(recovered.data[1], 0);
});

test('mean over other texts is over all of their tokens', async () => {
  const texts = [other, drawIds(3, 4)];
  const [first, second] = texts.map((text) => outputsOf(small, text));
  const means = first.map((row, layer) =>
    row.map(({ data }, head) => {
      const all = [...data, ...second[layer][head].data];
      const mean = meanOf({ data: Float32Array.from(all), shape: [13, 4] });
      return mean.slice([0, 9]);
    }),
  );
  const { effects } = await ablation(small, ids, { ...question, method: 'mean', texts });
  same(effects, brute(small, ids, question, means).effects);
});

test('a resampled head gives what it gives in one of the texts, drawn by the seed', async () => {
  const texts = [other, drawIds(3, 12), drawIds(4, 9)];
  const method = /** @type {const} */ ('resample');
  const candidates = texts.map((text) => {
    const outputs = each(outputsOf(small, text), (output) => output.slice([0, 9]));
    return brute(small, ids, question, outputs).effects.flat();
  });
  const seen = new Set();
  for (let seed = 0; seed < 4; seed++) {
    const { effects } = await ablation(small, ids, { ...question, method, texts, seed });
    const again = await ablation(small, ids, { ...question, method, texts, seed: BigInt(seed) });
    assert.deepEqual(again.effects, effects);
    effects.data.forEach((effect, i) => {
      const drawn = candidates.findIndex((each_) => each_[i] === effect);
      assert.ok(drawn >= 0, `head ${i} is of none of the texts`);
      seen.add(drawn);
    });
  }
  assert.equal(seen.size, texts.length);
});

test('patching the residual stream recovers all where the texts differ, and nothing before', async () => {
  const corrupted = ids.with(4, (ids[4] + 1) % 31);
  const asked = { clean: ids, corrupted, ...question, of: /** @type {const} */ ('residual') };
  const { recovered, clean, corrupted: worse } = await patching(small, asked);
  assert.deepEqual(recovered.shape, [2, 9]);
  const run = (/** @type {number[]} */ text) => small.forward(text, { residuals: true });
  const [from, into] = [run(ids).residuals, run(corrupted).residuals];
  nested(recovered).forEach((row, layer) =>
    row.forEach((share, at) => {
      const residual = before(into, layer);
      residual.data.set(before(from, layer).slice([at, at + 1]).data, at * 12);
      const { data } = small.forward(ids, { start: { layer, residual } }).logits;
      const expected = (score(data, question) - worse) / (clean - worse);
      assert.equal(share, Math.fround(expected));
    }),
  );
  assert.equal(nested(recovered)[0][4], 1);
  assert.deepEqual(nested(recovered)[1].slice(0, 4), [0, 0, 0, 0]);
});

test('patching a head at one token copies that row alone', async () => {
  const asked = { clean: ids, corrupted: other, ...question };
  const whole = await patching(small, { ...asked, at: 6 });
  const [from, into] = [ids, other].map((text) => outputsOf(small, text));
  const rows = into.map((row, layer) =>
    row.map((output, head) => {
      output.data.set(from[layer][head].slice([6, 7]).data, 6 * 4);
      return output;
    }),
  );
  const { effects } = brute(small, other, question, rows);
  nested(whole.recovered).forEach((row, layer) =>
    row.forEach((share, head) => {
      const expected = effects[layer][head] / (whole.clean - whole.corrupted);
      assert.ok(Math.abs(share - expected) < 1e-5);
    }),
  );
});

test('the logit lens looks at the positions that are asked for', async () => {
  const all = await logitLens(small, ids, { target: 4 });
  const some = await logitLens(small, ids, { target: 4, positions: [8, 2], top: 1 });
  assert.deepEqual(some.ids.shape, [3, 2, 1]);
  for (const [column, at] of [8, 2].entries())
    for (let layer = 0; layer < 3; layer++) {
      assert.equal(some.ids.toNested()[layer][column][0], all.ids.toNested()[layer][at][0]);
      const of = (/** @type {any} */ lens, /** @type {number} */ i) =>
        lens.target.ranks.toNested()[layer][i];
      assert.equal(of(some, column), of(all, at));
    }
  assert.equal('target' in (await logitLens(small, ids)), false);
  assert.deepEqual((await logitLens(small, ids, { top: 2 ** 40 })).ids.shape, [3, 9, 31]);
});

test('progress comes head by head, and an abort or an error of the caller ends the sweep', async () => {
  /** @type {any[]} */
  const told = [];
  const onProgress = (/** @type {any} */ progress) => void told.push(progress);
  const { effects } = await ablation(small, ids, { ...question, onProgress });
  assert.deepEqual(
    told,
    Array.from(effects.data, (effect, i) => ({
      ...{ done: i + 1, total: 6, layer: Math.floor(i / 3), head: i % 3, effect },
    })),
  );
  told.length = 0;
  const both = { clean: ids, corrupted: other, ...question, onProgress };
  const { recovered } = await patching(small, { ...both, of: 'residual' });
  assert.deepEqual(told[10], {
    ...{ done: 11, total: 18, layer: 1, token: 1, recovered: recovered.data[10] },
  });
  told.length = 0;
  await logitLens(small, ids, { onProgress });
  assert.deepEqual(told.at(-1), { done: 27, total: 27 });

  const reason = new Error('enough');
  for (const run of [
    (/** @type {any} */ how) => ablation(small, ids, { ...question, ...how }),
    (/** @type {any} */ how) => patching(small, { ...both, ...how }),
    (/** @type {any} */ how) => logitLens(small, ids, how),
  ]) {
    const throws = { onProgress: () => assert.fail(reason) };
    await assert.rejects(run(throws), reason);
    await assert.rejects(run({ onProgress: () => Promise.reject(reason) }), reason, 'its promise');
    await assert.rejects(run({ signal: AbortSignal.abort(reason) }), reason);
    const last = new AbortController();
    const atLast = (/** @type {any} */ { done, total }) => done === total && last.abort(reason);
    await assert.rejects(run({ signal: last.signal, onProgress: atLast }), reason, 'in the last');
  }
  const stop = new AbortController();
  let count = 0;
  const aborts = () => (++count === 2 ? stop.abort(reason) : undefined);
  const asked = { ...question, onProgress: aborts, signal: stop.signal };
  await assert.rejects(ablation(small, ids, asked), reason);
  assert.equal(count, 2);
});

test('events are heard between forwards', async () => {
  const model = smallModel(hw, { numLayers: 24 });
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error('heard')), 1);
  let count = 0;
  const onProgress = () => {
    const until = performance.now() + 20;
    while (performance.now() < until);
    count++;
  };
  const asked = { ...question, onProgress, signal: stop.signal };
  await assert.rejects(ablation(model, ids, asked), /heard/);
  assert.ok(count < 24 * 3);
  model.dispose();
});

test('gradients are not recorded, and stay on for others', async () => {
  const { effects } = await ablation(small, ids, question);
  hw.setGradEnabled(true);
  try {
    assert.deepEqual((await ablation(small, ids, question)).effects, effects);
    assert.equal(hw.isGradEnabled(), true);
  } finally {
    hw.setGradEnabled(false);
  }
});

test('what does not fit is named', async () => {
  const bad = (
    /** @type {any} */ options,
    /** @type {string} */ code,
    /** @type {string[]} */ ...parts
  ) => rejectsCode(ablation(small, ids, options), code, ...parts);
  await bad(undefined, 'ERR_VALUE', 'target', 'undefined');
  await bad({ target: 31 }, 'ERR_VALUE', 'target', '31');
  await bad({ ...question, against: -1 }, 'ERR_VALUE', 'against', '-1');
  await bad({ ...question, position: 9 }, 'ERR_VALUE', 'position', '9');
  await bad({ ...question, method: 'median' }, 'ERR_VALUE', 'method', 'median');
  await bad({ ...question, method: 'resample' }, 'ERR_VALUE', 'texts', 'resample');
  await bad({ ...question, method: 'resample', texts: [[1]] }, 'ERR_SHAPE', 'texts[0]', '9');
  await bad({ ...question, texts: [] }, 'ERR_VALUE', 'texts');
  await bad({ ...question, texts: [[31]] }, 'ERR_VALUE', 'texts[0]', '31');
  await bad({ ...question, seed: 0.5 }, 'ERR_VALUE', 'seed');
  await bad({ ...question, headMask: [[1]] }, 'ERR_SHAPE', 'headMask', '[2, 3]');
  await bad({ ...question, onProgress: 3 }, 'ERR_VALUE', 'onProgress');
  await bad({ ...question, signal: 3 }, 'ERR_VALUE', 'signal');
  await bad({ ...question, of: 'heads' }, 'ERR_VALUE', 'of');
  const any = /** @type {any} */ (ablation);
  await rejectsCode(any({}, ids, question), 'ERR_VALUE', 'model', 'Decoder');
  await rejectsCode(any(small, [ids, other], question), 'ERR_SHAPE', 'ids', '[2, 9]');
  await rejectsCode(any(small, drawIds(1, 21), question), 'ERR_SHAPE', 'ids', '20');

  const wrong = (
    /** @type {any} */ options,
    /** @type {string} */ code,
    /** @type {string[]} */ ...parts
  ) =>
    rejectsCode(
      patching(small, { clean: ids, corrupted: other, ...question, ...options }),
      code,
      ...parts,
    );
  await wrong({ corrupted: other.slice(1) }, 'ERR_SHAPE', 'corrupted', '8', '9');
  await wrong({ clean: undefined }, 'ERR_VALUE', 'clean');
  await wrong({ corrupted: ids }, 'ERR_VALUE', 'scores', 'differ');
  await wrong({ of: 'positions' }, 'ERR_VALUE', 'of', 'positions');
  await wrong({ at: 9 }, 'ERR_VALUE', 'at', '9');
  await wrong({ of: 'residual', at: 1 }, 'ERR_VALUE', 'at', 'heads');
  const lens = (/** @type {any} */ options, /** @type {string[]} */ ...parts) =>
    rejectsCode(logitLens(small, ids, options), 'ERR_VALUE', ...parts);
  await lens({ top: 0 }, 'top');
  await lens({ positions: [] }, 'positions');
  await lens({ positions: [0, 9] }, 'positions[1]', '9');
  await lens({ target: 31 }, 'target');
  const gone = smallModel(hw);
  gone.dispose();
  await rejectsCode(ablation(gone, ids, question), 'ERR_DISPOSED', 'Gpt2');
});

test('a model that ends during a sweep ends it, and the engine goes on', async () => {
  const model = smallModel(hw);
  const onProgress = () => model.dispose();
  const asked = { ...question, onProgress };
  await rejectsCode(ablation(model, ids, asked), 'ERR_DISPOSED', 'Gpt2');
  assert.equal((await ablation(small, ids, question)).effects.shape[0], 2);
});

test('a model in a Worker is swept there: the same numbers, progress, abort and errors', async () => {
  const there = await load();
  try {
    const near = await loadGpt2(hw, readCheckpoint('f32'));
    const far = await loadGpt2(there, readCheckpoint('f32'));
    const [clean, corrupted] = [
      [3, 1, 4, 1, 5],
      [3, 2, 4, 1, 5],
    ];
    /** @type {any[]} */
    const told = [];
    const onProgress = (/** @type {any} */ progress) => void told.push(progress);
    const found = await ablation(far, clean, { ...question, onProgress });
    assert.deepEqual(found, await ablation(near, clean, question));
    assert.deepEqual(
      told.map(({ effect }) => effect),
      [...found.effects.data],
    );
    const swap = { clean, corrupted, ...question };
    assert.deepEqual(await patching(far, swap), await patching(near, swap));
    const asked = { target: 3, positions: [4] };
    assert.deepEqual(await logitLens(far, clean, asked), await logitLens(near, clean, asked));
    const deep = { model_type: 'gpt2', n_layer: 60, n_embd: 64, n_head: 8, vocab_size: 9 };
    const long = await new there.Decoder(deep);
    const stop = new AbortController();
    const reason = new Error('enough');
    const abort = () => stop.abort(reason);
    const sweep = ablation(long, clean, { ...question, onProgress: abort, signal: stop.signal });
    await assert.rejects(sweep, reason);
    await rejectsCode(ablation(far, clean, { target: -1 }), 'ERR_VALUE', 'target');
    near.dispose();
  } finally {
    there.dispose();
  }
});
