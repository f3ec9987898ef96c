// The heads that opened tensors become, and what their numbers say: layers, whether a map is causal, whether they are scores.
import assert from 'node:assert/strict';
import test from 'node:test';
import { load, tensor } from 'headwise';
import { writeNpy, writeSafetensors } from 'headwise/formats';
import { openTensors } from '../web/page/explore/open/tensors.js';
import { data } from './helpers.js';
import { scaledDotProductAttention } from './reference.js';

/** @param {Record<string, ReturnType<typeof tensor>>} tensors */
const safetensors = (tensors) => new File([writeSafetensors(tensors)], 'own.safetensors');

/** @param {Parameters<typeof writeNpy>[0]} one @param {string} name */
const npy = (one, name) => new File([writeNpy(one)], name);

/** @param {File[]} tensors @param {File} [labels] @param {(fraction: number) => void} [onProgress] */
const open = async (tensors, labels, onProgress = () => {}) =>
  openTensors(await load(), { name: '', tensors, labels }, { onProgress });

/** Weights whose numbers are all different. @param {number[]} shape @param {number} [first] */
function numbered(shape, first = 1) {
  const count = shape.reduce((product, size) => product * size, 1);
  return tensor(
    Float32Array.from({ length: count }, (_, i) => (first + i) / 1000),
    shape,
  );
}

test('weights from a file are the heads’ rows, and their zeros say whether they are causal', async () => {
  const n = 5;
  const weights = tensor(
    Float32Array.from({ length: 2 * 3 * n * n }, (_, i) => (1 + (i % 7)) / 10),
    [2, 3, n, n],
  );
  const { kind, note, run } = await open(
    [npy(weights, 'attn.npy')],
    new File(['a b a b c'], 'tokens.txt'),
  );
  const { source, tokens, ids } = run({ causal: true, softmax: false });
  assert.equal(kind, 'weights');
  assert.equal(note, '');
  assert.deepEqual([source.layers, source.heads, source.n, source.causal], [2, 3, n, false]);
  assert.deepEqual(ids, [0, 1, 0, 1, 2]);
  assert.deepEqual(tokens.map(({ text }) => text).join(''), 'ababc');
  const at = (1 * 3 + 2) * n * n;
  assert.deepEqual(source.rows(1, 2, 1, 4), weights.data.slice(at + n, at + 4 * n));

  // What is asked for may be changed by whoever asked.
  source.rows(1, 2, 0, n).fill(7);
  assert.deepEqual(source.rows(1, 2, 1, 4), weights.data.slice(at + n, at + 4 * n));

  const lower = weights.data.map((weight, i) => (i % n > Math.floor(i / n) % n ? 0 : weight));
  const causal = await open([npy(tensor(lower, [2, 3, n, n]), 'attn.npy')]);
  assert.equal(causal.run({ causal: true, softmax: false }).source.causal, true);
});

test('raw scores become the weights of their softmax, where that is wanted', async () => {
  const n = 9;
  const q = data(4, [2, n, 8], 2);
  const k = data(5, [2, n, 8], 2);
  const v = data(6, [2, n, 1]);
  for (const isCausal of [false, true]) {
    const hw = await load();
    const how = { isCausal, needWeights: /** @type {const} */ ('masked') };
    const { weights: scores } = hw.scaledDotProductAttention(q, k, v, how);
    const { weights: right } = hw.scaledDotProductAttention(q, k, v, {
      ...{ isCausal, needWeights: true },
    });
    const opened = await open([npy(tensor(scores.data, [2, n, n]), 'scores.npy')]);
    assert.equal(opened.hasScores, true);
    const raw = opened.run({ causal: true, softmax: false }).source;
    assert.deepEqual(raw.rows(0, 1, 0, n), scores.data.slice(n * n));
    const { source } = opened.run({ causal: true, softmax: true });
    assert.equal(source.causal, isCausal);
    for (let head = 0; head < 2; head++) {
      const rows = source.rows(0, head, 0, n);
      rows.forEach((weight, i) => {
        const expected = right?.data[head * n * n + i] ?? NaN;
        assert.ok(Math.abs(weight - expected) < 1e-6, `${head} ${i}: ${weight}, ${expected}`);
      });
      // What was opened stays.
      assert.deepEqual(source.rows(0, head, 0, n), rows);
    }
  }
  const weights = await open([
    npy(
      tensor([
        [1, 0],
        [0.5, 0.5],
      ]),
      'attn.npy',
    ),
  ]);
  assert.equal(weights.hasScores, false);
});

test('numbers that cannot be weights are remarked on', async () => {
  const scores = await open([
    npy(
      tensor([
        [-3.25, 2],
        [0, 8],
      ]),
      's.npy',
    ),
  ]);
  assert.match(scores.note, /from −3\.25 to 8/);
  const nan = await open([
    npy(
      tensor([
        [NaN, 0],
        [0, 1],
      ]),
      's.npy',
    ),
  ]);
  assert.match(nan.note, /NaN/);
});

for (const causal of [true, false]) {
  test(`queries and keys become ${causal ? 'causal' : 'full'} weights as float64 has them`, async () => {
    const [layers, heads, keyHeads, n, d] = [2, 4, 2, 37, 8];
    const q = data(1, [layers, heads, n, d], 2);
    const k = data(2, [layers, keyHeads, n, d], 2);
    const v = data(3, [layers, keyHeads, n, d]);
    const { kind, run } = await open([safetensors({ q, k, v })]);
    assert.equal(kind, 'queries');
    const { source } = run({ causal, softmax: false });
    assert.deepEqual([source.layers, source.heads, source.causal], [layers, heads, causal]);
    const { weights } = scaledDotProductAttention(q, k, v, {
      isCausal: causal,
      enableGqa: true,
    });
    let compared = 0;
    for (let head = 0; head < layers * heads; head++) {
      for (const [start, end] of [
        [0, 20],
        [20, n],
      ]) {
        const rows = source.rows(Math.floor(head / heads), head % heads, start, end);
        rows.forEach((weight, i) => {
          const right = weights?.data[(head * n + start) * n + i] ?? NaN;
          assert.ok(Math.abs(weight - right) < 2e-6, `${head} ${start} ${i}: ${weight} ${right}`);
          compared++;
        });
      }
    }
    assert.equal(compared, layers * heads * n * n);
  });
}

test('queries and keys of several layers, in .npy files of their own, are paired by their names', async () => {
  const files = ['l0_q', 'l1_q', 'l0_k', 'l1_k'].map((name, seed) =>
    npy(data(seed, [2, 6, 4]), `${name}.npy`),
  );
  const { source } = (await open(files)).run({ causal: false, softmax: false });
  assert.deepEqual([source.layers, source.heads, source.n], [2, 2, 6]);
  const { weights } = scaledDotProductAttention(
    data(1, [2, 6, 4]),
    data(3, [2, 6, 4]),
    data(3, [2, 6, 4]),
    {},
  );
  source.rows(1, 1, 0, 6).forEach((weight, i) => {
    assert.ok(Math.abs(weight - (weights?.data[36 + i] ?? NaN)) < 2e-6);
  });
});

test('files that hold something else are refused by name', async () => {
  const refusals = /** @type {[File[], File | undefined, RegExp][]} */ ([
    [[new File(['hello'], 'a.npy')], undefined, /a\.npy/],
    [[new File(['PK\x03\x04'], 'b.safetensors')], undefined, /b\.safetensors/],
    ...[
      'wte.weight',
      'gpt_neox.embed_in.weight',
      'model.embed_tokens.weight',
      'bert.embeddings.word_embeddings.weight',
    ].map((name) => [
      [safetensors({ [name]: data(1, [4, 2]), 'query.bias': data(2, [2]) })],
      undefined,
      /own\.safetensors belongs to a model: open it together with config\.json/,
    ]),
    [[npy(data(1, [2, 3, 4]), 'v.npy')], undefined, /values alone/],
    [[npy(data(1, [3, 4, 5]), 'attn.npy')], undefined, /attn\.npy has shape \[3, 4, 5\]: axis 1/],
    [[npy(data(1, [3, 3]), 'attn.npy')], new File(['a b'], 't.txt'), /t\.txt: has/],
    [[safetensors({ v: data(1, [4, 2]) })], undefined, /no tensor to look at/],
  ]);
  for (const [files, labels, message] of refusals) {
    await assert.rejects(open(files, labels), { message }, String(message));
  }
});

test('an abort ends the reading', async () => {
  const stop = new AbortController();
  stop.abort(new Error('enough'));
  const files = { name: '', tensors: [npy(data(1, [3, 3]), 'attn.npy')] };
  await assert.rejects(
    openTensors(await load(), files, { signal: stop.signal, onProgress: () => {} }),
    { message: /enough/ },
  );
});

test('weights in files of their own are layers, whether a file has one of them or several', async () => {
  const [first, second] = [numbered([2, 3, 4, 4]), numbered([3, 4, 4], 500)];
  const { run } = await open([npy(second, 'attn.2.npy'), npy(first, 'attn.0-1.npy')]);
  const { source } = run({ causal: true, softmax: false });
  assert.deepEqual([source.layers, source.heads, source.n], [3, 3, 4]);
  assert.deepEqual(source.rows(1, 2, 1, 3), first.data.slice(5 * 16 + 4, 5 * 16 + 12));
  assert.deepEqual(source.rows(2, 1, 1, 3), second.data.slice(16 + 4, 16 + 12));
});

test('weights are causal if no head of any layer looks ahead', async () => {
  const lower = numbered([2, 3, 4, 4]);
  lower.data.forEach((_, i) => (lower.data[i] *= Number(i % 4 <= Math.floor(i / 4) % 4)));
  for (const [layer, head] of [
    [0, 2],
    [1, 0],
  ]) {
    const ahead = tensor(lower.data.slice(), lower.shape);
    ahead.data[(layer * 3 + head) * 16 + 1] = 0.5;
    const { run } = await open([npy(ahead, 'attn.npy')]);
    assert.equal(run({ causal: true, softmax: false }).source.causal, false, `L${layer}H${head}`);
  }
});

test('numbers are weights from 0 to 1, and to what rounding adds', async () => {
  for (const [values, hasScores] of /** @type {[number[], boolean][]} */ ([
    [[1.0009, 0, 0.5, 0.5], false],
    [[1.002, 0, 0.5, 0.5], true],
    [[0.9, -0.1, 0.5, 0.5], true],
  ])) {
    const opened = await open([npy(tensor(values, [2, 2]), 'attn.npy')]);
    assert.equal(opened.hasScores, hasScores, String(values));
    assert.equal(opened.note !== '', hasScores, String(values));
  }
});

test('of scores with zeros beyond the diagonal the softmax is over the keys before', async () => {
  const { run } = await open([npy(tensor([3, 0, 1, 1 + Math.log(3)], [2, 2]), 'scores.npy')]);
  const { source } = run({ causal: true, softmax: true });
  assert.equal(source.causal, true);
  source.rows(0, 0, 0, 2).forEach((weight, i) => {
    assert.ok(Math.abs(weight - [1, 0, 0.25, 0.75][i]) < 1e-6, `${i}: ${weight}`);
  });
});

test('a mask of 0 and 1 is weights', async () => {
  const mask = tensor([true, false, true, true], [2, 2]);
  const { run } = await open([npy(mask, 'mask.npy')]);
  const { source } = run({ causal: true, softmax: false });
  assert.deepEqual(source.rows(0, 0, 0, 2), Float32Array.of(1, 0, 1, 1));
});

test('progress goes on from file to file, to the end', async () => {
  /** @type {number[]} */
  const seen = [];
  const files = ['a.npy', 'b.npy', 'c.npy'].map((name) => npy(numbered([2, 2]), name));
  await open(files, undefined, (fraction) => seen.push(fraction));
  assert.deepEqual(
    seen.map((fraction) => Math.round(3 * fraction)),
    [1, 2, 3],
  );
});
