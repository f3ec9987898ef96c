// Everything scaledDotProductAttention can be asked for, alone and together, against the float64 reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tensor, zeros } from 'headwise';
import { allClose, boolData, data, engine } from './helpers.js';
import * as reference from './reference.js';

const hw = await engine();

/** @typedef {import('headwise').Tensor} Tensor */
/** @typedef {{ lead?: number[], keyLead?: number[], tokens: number, keys?: number, width?: number, valueWidth?: number, scaleBy?: number }} Sizes */

/** @param {Sizes} sizes @returns {[Tensor, Tensor, Tensor]} q, k and v */
function operands(sizes) {
  const { lead = [], keyLead = lead, tokens, keys = tokens, width = 5, valueWidth = width } = sizes;
  return [
    data(1, [...lead, tokens, width], sizes.scaleBy),
    data(2, [...keyLead, keys, width], sizes.scaleBy),
    data(3, [...keyLead, keys, valueWidth]),
  ];
}

const kinds = /** @type {const} */ (['scores', 'softcapped', 'masked']);

/**
 * Output and every kind of weights, each asked for alone.
 * @param {Sizes} sizes
 * @param {any} [options]
 * @param {{ rtol?: number, atol?: number, scores?: { atol: number } }} [tolerance] scores: of those before the cap
 */
function compare(sizes, options = {}, { scores, ...tolerance } = {}) {
  const [q, k, v] = operands(sizes);
  const right = reference.scaledDotProductAttention(q, k, v, options);
  const { mask, past, ...plain } = options;
  const shown = { ...sizes, ...plain, mask: mask?.shape, past: past?.key.shape };
  for (const needWeights of /** @type {const} */ ([false, true, ...kinds])) {
    const what = `${JSON.stringify({ ...shown, needWeights })}`;
    const actual = hw.scaledDotProductAttention(q, k, v, { ...options, needWeights });
    allClose(actual.output, right.output, { what: `${what} output`, ...tolerance });
    assert.equal('weights' in actual, needWeights !== false, what);
    if (needWeights !== false) {
      const expected = right[needWeights === true ? 'weights' : needWeights];
      const own = needWeights === 'scores' ? { ...tolerance, ...scores } : tolerance;
      allClose(/** @type {Tensor} */ (actual.weights), expected, { what, ...own });
    }
    assert.equal('present' in actual, past !== undefined, what);
    if (actual.present) {
      const exact = { atol: 0, rtol: 0, what };
      allClose(actual.present.key, right.present.key, exact);
      allClose(actual.present.value, right.present.value, exact);
    }
  }
}

test('grouped heads: each head of keys and values serves its neighbours', () => {
  for (const [heads, keyHeads] of [
    [4, 2],
    [6, 1],
    [6, 3],
    [3, 3],
  ])
    for (const isCausal of [false, true]) {
      const sizes = { tokens: 9, keys: 13, width: 4, valueWidth: 7 };
      const options = { enableGqa: true, isCausal };
      compare({ ...sizes, lead: [2, heads], keyLead: [2, keyHeads] }, options);
      compare({ ...sizes, lead: [heads], keyLead: [keyHeads] }, options);
      compare({ ...sizes, lead: [2, heads], keyLead: [2, keyHeads], tokens: 1 }, options);
    }
});

test('grouped heads are what repeated keys and values would give', () => {
  const [q, k, v] = operands({ lead: [6], keyLead: [2], tokens: 70, width: 8 });
  const repeat = (/** @type {Tensor} */ x) => {
    const heads = [0, 1].map((head) => [...x.data.slice(head * 560, (head + 1) * 560)]);
    const all = [heads[0], heads[0], heads[0], heads[1], heads[1], heads[1]].flat();
    return tensor(Float32Array.from(all), [6, 70, 8]);
  };
  const grouped = hw.scaledDotProductAttention(q, k, v, { enableGqa: true, isCausal: true });
  const repeated = hw.scaledDotProductAttention(q, repeat(k), repeat(v), { isCausal: true });
  assert.deepEqual([...grouped.output.data], [...repeated.output.data]);
});

test('a soft cap bends every score before the mask', () => {
  for (const softcap of [0.1, 1, 30])
    for (const tokens of [1, 6, 9, 133, 400])
      for (const options of [{}, { isCausal: true }, { mask: data(4, [tokens, tokens], 20) }])
        compare({ tokens, width: 8, scaleBy: 3 }, { softcap, ...options }, { atol: 3e-6 });
});

test('a soft cap holds scores of any size, and one of 0 changes no bit', () => {
  const sizes = { tokens: 9, width: 8, scaleBy: 1e4 };
  // Eight products of up to 1e8 / √8 that nearly cancel out, each rounded to 24 bits.
  const scores = { atol: ((8 * 1e8) / Math.sqrt(8)) * 2 ** -24 };
  compare(sizes, { softcap: 20 }, { atol: 2e-5, scores });
  const [q, k, v] = operands({ tokens: 40, width: 8 });
  const { output } = hw.scaledDotProductAttention(q, k, v);
  const same = hw.scaledDotProductAttention(q, k, v, { softcap: 0 }).output;
  assert.deepEqual([...same.data], [...output.data]);
});

test('keys beyond an entry’s length are not there, whatever they hold', () => {
  for (const keys of [9, 24, 400])
    for (const lengths of [
      [keys, 1, 0],
      [8, keys - 1, 7],
    ])
      for (const tokens of [1, 9, 30])
        for (const options of [{}, { isCausal: true }, { isCausal: true, causalOffset: 2 }])
          compare({ lead: [3, 2], tokens, keys }, { kvLengths: lengths, ...options });
  const [q, k, v] = operands({ lead: [2, 1], tokens: 6, keys: 20 });
  const options = { kvLengths: [13, 0] };
  const { output } = hw.scaledDotProductAttention(q, k, v, options);
  assert.ok(output.data.slice(30).every((value) => value === 0));
  for (const x of [k, v]) {
    x.data.fill(NaN, 13 * 5, 20 * 5);
    x.data.fill(Infinity, 20 * 5);
  }
  const poisoned = hw.scaledDotProductAttention(q, k, v, options);
  assert.deepEqual([...poisoned.output.data], [...output.data]);
});

test('with lengths the diagonal ends at each entry’s last key, unless causalOffset says where', () => {
  const [q, k, v] = operands({ lead: [2, 1], tokens: 2, keys: 5 });
  /** @param {any} options */
  const sees = (options) => {
    const asked = { isCausal: true, needWeights: true, ...options };
    const { weights } = hw.scaledDotProductAttention(q, k, v, asked);
    /** @type {number[][][][]} */
    const nested = weights?.toNested();
    return nested.map(([rows]) => rows.map((row) => row.filter(Boolean).length));
  };
  assert.deepEqual(sees({ kvLengths: [5, 3] }), [
    [4, 5],
    [2, 3],
  ]);
  assert.deepEqual(sees({ kvLengths: Int32Array.of(5, 3), window: Int32Array.of(1, -1) }), [
    [2, 2],
    [2, 2],
  ]);
  assert.deepEqual(sees({ kvLengths: [1, 0] }), [
    [0, 1],
    [0, 0],
  ]);
  for (const kvLengths of [
    [5, 3],
    [3, 5],
  ])
    assert.deepEqual(sees({ kvLengths, causalOffset: 0 }), [
      [1, 2],
      [1, 2],
    ]);
  assert.deepEqual(sees({ kvLengths: [5, 3], causalOffset: 2 }), [
    [3, 4],
    [3, 3],
  ]);
  // The window begins at the same diagonal, and follows lengths only together with isCausal.
  const window = [0, 0];
  assert.deepEqual(sees({ kvLengths: [5, 3], window }).flat(), [1, 1, 1, 1]);
  assert.deepEqual(sees({ kvLengths: [5, 3], window, causalOffset: 3 }).flat(), [1, 1, 0, 0]);
  assert.deepEqual(sees({ kvLengths: [5, 1], window, isCausal: false }).flat(), [1, 1, 1, 0]);
  // A past counts among the valid keys, and a given offset stands.
  const past = { key: data(5, [2, 1, 3, 5]), value: data(6, [2, 1, 3, 5]) };
  assert.deepEqual(sees({ past, kvLengths: [8, 2] }), [
    [7, 8],
    [1, 2],
  ]);
  assert.deepEqual(sees({ past, kvLengths: [8, 2], causalOffset: 3 }), [
    [4, 5],
    [2, 2],
  ]);
});

test('one sequence of rank 2 or 3 has one length', () => {
  for (const lead of [[], [3]]) compare({ lead, tokens: 6, keys: 9 }, { kvLengths: [4] });
});

/** @param {number[]} lead @param {number} tokens @param {[number, number]} widths */
const pastOf = (lead, tokens, widths) => ({
  key: data(11, [...lead, tokens, widths[0]]),
  value: data(12, [...lead, tokens, widths[1]]),
});

test('a past goes before the keys and comes back with them, for every rank', () => {
  for (const lead of [[], [3], [2, 3]])
    for (const pastTokens of [0, 1, 7, 390])
      for (const tokens of [1, 6, 11])
        for (const options of [{}, { isCausal: true }, { isCausal: true, causalOffset: 1 }]) {
          const past = pastOf(lead, pastTokens, [5, 3]);
          compare({ lead, tokens, valueWidth: 3 }, { past, ...options });
        }
});

test('tokens one after another through present give what all at once give', () => {
  const [q, k, v] = operands({ lead: [2, 3], tokens: 20, width: 4 });
  const all = hw.scaledDotProductAttention(q, k, v, { isCausal: true });
  const rows = (/** @type {Tensor} */ x, /** @type {number} */ start, /** @type {number} */ end) =>
    tensor(
      Float32Array.from({ length: 6 * (end - start) * 4 }, (_, i) => {
        const size = (end - start) * 4;
        return x.data[Math.floor(i / size) * 80 + start * 4 + (i % size)];
      }),
      [2, 3, end - start, 4],
    );
  let past = { key: zeros([2, 3, 0, 4]), value: zeros([2, 3, 0, 4]) };
  for (const [start, end] of [
    [0, 1],
    [1, 2],
    [2, 9],
    [9, 20],
  ]) {
    const part = (/** @type {Tensor} */ x) => rows(x, start, end);
    const options = { isCausal: true, past };
    const result = hw.scaledDotProductAttention(part(q), part(k), part(v), options);
    allClose(result.output, part(all.output), { what: `tokens ${start} to ${end}` });
    assert.ok(result.present);
    past = result.present;
  }
  assert.deepEqual([...past.key.data], [...k.data]);
  assert.deepEqual([...past.value.data], [...v.data]);
});

test('masks of one to four dimensions reach over the past, and short ones hide what is beyond', () => {
  const sizes = { lead: [2, 4], keyLead: [2, 2], tokens: 6 };
  const past = pastOf([2, 2], 9, [5, 5]);
  for (const shape of [
    [15],
    [1],
    [6, 15],
    [6, 1],
    [4, 6, 15],
    [2, 1, 6, 15],
    [1, 4, 1, 15],
    [11],
    [6, 11],
    [2, 4, 6, 14],
  ])
    for (const mask of [boolData(5, shape), data(6, shape, 3)])
      for (const isCausal of [false, true])
        compare(sizes, { enableGqa: true, past, mask, isCausal });
});

test('only -Infinity hides: a row of the lowest finite number is a plain mean', () => {
  const lowest = -3.4028234663852886e38;
  for (const tokens of [3, 8, 21]) {
    const values = new Float32Array(tokens * tokens).fill(lowest);
    values.set([0, lowest, -Infinity], tokens);
    values[2 * tokens] = -Infinity;
    const sizes = { tokens, valueWidth: 2 };
    const [q, k, v] = operands(sizes);
    const mask = tensor(values, [tokens, tokens]);
    const options = { mask, needWeights: true };
    const { output, weights } = hw.scaledDotProductAttention(q, k, v, options);
    const expected = Float64Array.from({ length: tokens * tokens }, (_, i) => {
      const [row, column] = [Math.floor(i / tokens), i % tokens];
      if (row === 1) return Number(column === 0);
      return row === 2 ? (column === 0 ? 0 : 1 / (tokens - 1)) : 1 / tokens;
    });
    const right = { shape: [tokens, tokens], data: expected };
    allClose(/** @type {Tensor} */ (weights), right);
    allClose(output, reference.matmul(right, v));
  }
});

test('a row that sees nothing is zeros in weights and output, and all -Infinity when masked', () => {
  const [q, k, v] = operands({ lead: [2, 2], tokens: 3 });
  const nothing = { mask: tensor([[true], [false], [true]]), kvLengths: [3, 0] };
  for (const softcap of [0, 2]) {
    const ask = (/** @type {any} */ needWeights) =>
      hw.scaledDotProductAttention(q, k, v, { ...nothing, softcap, needWeights });
    const { output, weights } = ask(true);
    const { weights: masked } = ask('masked');
    assert.ok(weights && masked);
    const isHidden = (/** @type {number} */ row) => row >= 6 || row % 3 === 1;
    for (let row = 0; row < 12; row++) {
      const part = (/** @type {Tensor} */ x, /** @type {number} */ width) => [
        ...x.data.slice(row * width, (row + 1) * width),
      ];
      assert.equal(
        part(output, 5).every((value) => value === 0),
        isHidden(row),
      );
      assert.equal(
        part(weights, 3).every((value) => value === 0),
        isHidden(row),
      );
      assert.equal(
        part(masked, 3).every((value) => value === -Infinity),
        isHidden(row),
      );
    }
  }
});

test('scores are of every key, also of those that are hidden, and dropout leaves them alone', () => {
  const [q, k, v] = operands({ lead: [2], tokens: 40, width: 8 });
  const { scores } = reference.scaledDotProductAttention(q, k, v);
  const hidden = { isCausal: true, kvLengths: [3], window: /** @type {const} */ ([1, 1]) };
  const options = /** @type {const} */ ({ ...hidden, dropoutP: 0.5, needWeights: 'scores' });
  const { weights } = hw.scaledDotProductAttention(q, k, v, options);
  allClose(/** @type {Tensor} */ (weights), scores);
});

test('dropoutP drops weights as the generator draws, and the output with them', () => {
  const [q, k, v] = operands({ lead: [2, 4], keyLead: [2, 2], tokens: 40, width: 8 });
  const options = { enableGqa: true, isCausal: true, softcap: 3 };
  const right = reference.scaledDotProductAttention(q, k, v, options);
  hw.manualSeed(5);
  const draws = { ...options, dropoutP: 0.25, needWeights: true };
  const { output, weights } = hw.scaledDotProductAttention(q, k, v, draws);
  assert.ok(weights);
  const kept = Array.from(weights.data, (weight, i) => weight !== 0 || right.weights.data[i] === 0);
  const share = kept.filter(Boolean).length / kept.length;
  assert.ok(share > 0.75 && share < 0.95, `kept ${share}`);
  const dropped = right.weights.data.map((weight, i) => (kept[i] ? weight / 0.75 : 0));
  allClose(weights, { shape: weights.shape, data: dropped });
  const repeated = tensor(
    Float32Array.from({ length: 2 * 4 * 320 }, (_, i) => {
      const head = Math.floor(i / 320);
      return v.data[(head >> 1) * 320 + (i % 320)];
    }),
    [2, 4, 40, 8],
  );
  allClose(output, reference.matmul(weights, repeated));
  hw.manualSeed(5);
  const again = hw.scaledDotProductAttention(q, k, v, { ...draws, needWeights: false });
  assert.deepEqual([...again.output.data], [...output.data]);
  assert.notDeepEqual(
    [...hw.scaledDotProductAttention(q, k, v, draws).output.data],
    [...output.data],
  );
});

test('dropoutP of 0 draws nothing, of 1 leaves nothing', () => {
  const [q, k, v] = operands({ tokens: 9 });
  hw.manualSeed(3);
  const next = [...hw.rand([4]).data];
  hw.manualSeed(3);
  hw.scaledDotProductAttention(q, k, v, { dropoutP: 0 });
  assert.deepEqual([...hw.rand([4]).data], next);
  const { output } = hw.scaledDotProductAttention(q, k, v, { dropoutP: 1 });
  assert.ok(output.data.every((value) => value === 0));
});

/**
 * Whole numbers below a bound, the same in every run.
 * @param {number} seed
 */
function choices(seed) {
  const values = data(seed, [64]).data;
  let next = 0;
  return (/** @type {number} */ bound) => Math.floor(((values[next++] + 1) / 2) * bound);
}

/** @param {number} seed sizes around tiles and blocks, and options drawn for them */
function drawCase(seed) {
  const choose = choices(seed);
  const pick = (/** @type {any[]} */ values) => values[choose(values.length)];
  const maybe = (/** @type {string} */ name, /** @type {() => any} */ value) =>
    choose(2) === 0 ? {} : { [name]: value() };
  const batch = 1 + choose(3);
  const keyHeads = 1 + choose(3);
  const heads = keyHeads * (1 + choose(3));
  const [tokens, keys] = [pick([1, 2, 5, 6, 7, 20, 133]), pick([1, 7, 8, 9, 25, 385])];
  const [width, valueWidth] = [pick([1, 3, 8]), pick([1, 2, 8, 9])];
  const pastTokens = pick([0, 0, 1, 8, 13]);
  const total = keys + pastTokens;
  const maskShape = pick([
    [total],
    [tokens, total],
    [heads, tokens, 1],
    [batch, 1, tokens, total],
    [batch, heads, tokens, Math.max(2, total - 3)],
    [1, heads, 1, Math.max(1, total - 1)],
  ]);
  const mask = choose(2) === 0 ? boolData(seed, maskShape, 0.7) : data(seed, maskShape, 2);
  return {
    sizes: { lead: [batch, heads], keyLead: [batch, keyHeads], tokens, keys, width, valueWidth },
    options: {
      enableGqa: true,
      ...maybe('isCausal', () => true),
      ...maybe('causalOffset', () => choose(30) - 8),
      ...(maskShape.at(-1) > total ? {} : maybe('mask', () => mask)),
      ...maybe('scale', () => pick([0.2, 1, -0.5])),
      ...maybe('softcap', () => pick([0.5, 2, 30])),
      ...maybe('window', () => [choose(20) - 1, choose(20) - 1]),
      ...maybe('kvLengths', () => Array.from({ length: batch }, () => choose(total + 1))),
      ...(pastTokens > 0
        ? { past: pastOf([batch, keyHeads], pastTokens, [width, valueWidth]) }
        : {}),
    },
  };
}

test('any options combine: 250 drawn cases agree with the reference', () => {
  for (let seed = 100; seed < 350; seed++) {
    const { sizes, options } = drawCase(seed);
    compare(sizes, options, { atol: 3e-6 });
  }
});
