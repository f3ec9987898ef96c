// What the Explore room computes from weights: scores, means, rollout, pooled regions, against float64 written from the
// definitions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'headwise';
import { curveOf, pinnedOn, restWords, topEdges } from '../web/page/explore/edges.js';
import {
  colourOf,
  headColour,
  paletteColourOf,
  paletteHeadColour,
} from '../web/page/explore/pin-colours.js';
import { columnOf, pooledCells, poolRegion } from '../web/page/explore/worker/pool.js';
import { likeliest, softmaxOf } from '../web/page/explore/worker/predict.js';
import { Rollouts, rollout } from '../web/page/explore/worker/rollout.js';
import { minusRows, rowsOf } from '../web/page/explore/worker/rows.js';
import { HeadScorer, inductionKeys } from '../web/page/shared/head-scores.js';

/** @import { Heads } from '../web/page/explore/worker/heads.js' */
/** @import { What } from '../web/page/explore/worker/rows.js' */

/** @typedef {number[][]} Map2 rows of float64 */

const LAYERS = 3;
const HEADS = 2;
const breathe = async () => {};

/** @param {number} seed numbers in (0, 1) that repeat with the seed */
function randomOf(seed) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return (state + 1) / (2 ** 31 + 1);
  };
}

/** @param {number} n @param {boolean} causal @param {() => number} random @returns {Map2} rows that sum to 1 */
function randomMap(n, causal, random) {
  return Array.from({ length: n }, (_, i) => {
    const row = Array.from({ length: n }, (__, j) => (causal && j > i ? 0 : random() ** 4));
    const sum = row.reduce((a, b) => a + b);
    return row.map((value) => value / sum);
  });
}

/** @param {number} n @param {boolean} causal */
function makeSource(n, causal) {
  const random = randomOf(n + Number(causal));
  const maps = Array.from({ length: LAYERS }, () =>
    Array.from({ length: HEADS }, () => randomMap(n, causal, random)),
  );
  /** @type {Heads} */
  const source = {
    n,
    layers: LAYERS,
    heads: HEADS,
    causal,
    rows: (layer, head, start, end) =>
      Float32Array.from(maps[layer][head].slice(start, end).flat()),
  };
  return { maps, source };
}

/** @param {Map2[]} maps @param {(values: number[]) => number} combine @returns {Map2} */
const cellwise = (maps, combine) =>
  maps[0].map((row, i) => row.map((_, j) => combine(maps.map((map) => map[i][j]))));

const mean = (/** @type {number[]} */ values) => values.reduce((a, b) => a + b) / values.length;

/** @param {Map2} a @param {Map2} b @returns {Map2} */
const product = (a, b) =>
  a.map((row) => b[0].map((_, j) => row.reduce((sum, value, k) => sum + value * b[k][j], 0)));

/** @param {Map2} map @returns {Map2} */
const withResidual = (map) =>
  map.map((row, i) => row.map((value, j) => value / 2 + (i === j ? 0.5 : 0)));

/** @param {ArrayLike<number>} found @param {Map2} expected */
function near(found, expected) {
  const flat = expected.flat();
  assert.equal(found.length, flat.length);
  flat.forEach((value, i) => assert.ok(Math.abs(found[i] - value) < 1e-6, `${found[i]}, ${value}`));
}

/** @type {What} */
const HEAD = { of: 'head', over: 'layer', layer: 1, head: 1, hideFirst: false };

test('a rollout is computed once for all who ask, and anew for another layer or after it was stopped', async () => {
  const { source } = makeSource(150, true);
  const hw = await load();
  let count = 0;
  let isStopped = false;
  const rollouts = new Rollouts((layer, pause) => {
    count++;
    return rollout(hw, source, layer, pause);
  });
  const begin = () => async () => {
    if (isStopped) throw new Error('stopped');
  };
  const [a, b] = await Promise.all([rollouts.upTo(1, begin), rollouts.upTo(1, begin)]);
  assert.equal(a, b);
  assert.equal(await rollouts.upTo(1, begin), a);
  assert.equal(count, 1);
  await rollouts.upTo(2, begin);
  assert.equal(count, 2);
  isStopped = true;
  await assert.rejects(rollouts.upTo(1, begin), /stopped/);
  isStopped = false;
  assert.deepEqual(await rollouts.upTo(1, begin), a);
  assert.equal(count, 4);
});

for (const causal of [true, false]) {
  // More than one block of rows.
  const n = 150;
  const { maps, source } = makeSource(n, causal);
  /** @param {Partial<What>} what @param {number} start @param {number} end */
  const rows = async ({ minus, ...what }, start, end) => {
    const all = await rowsOf(source, { ...HEAD, ...what }, rolloutOf);
    if (!minus) return all(start, end);
    const others = await rowsOf(source, { ...HEAD, ...what, ...minus }, rolloutOf);
    return minusRows(all, others)(start, end);
  };
  const rolloutOf = async (/** @type {number} */ layer) =>
    rollout(await load(), source, layer, async () => {});

  test(`mean and max over heads are those of the definition (causal: ${causal})`, async () => {
    near(await rows({ of: 'mean' }, 0, n), cellwise(maps[1], mean));
    near(await rows({ of: 'mean', over: 'all' }, 3, n), cellwise(maps.flat(), mean).slice(3));
    const largest = (/** @type {number[]} */ values) => Math.max(...values);
    near(await rows({ of: 'max' }, 0, 7), cellwise(maps[1], largest).slice(0, 7));
    near(await rows({ of: 'max', over: 'all' }, 0, n), cellwise(maps.flat(), largest));
  });

  test(`rollout is the product of the layers' means with residuals (causal: ${causal})`, async () => {
    const layers = maps.map((heads) => withResidual(cellwise(heads, mean)));
    const two = product(layers[1], layers[0]);
    near(await rows({ of: 'rollout', layer: 1 }, 0, n), two);
    near(
      await rows({ of: 'rollout', layer: 2 }, 130, 140),
      product(layers[2], two).slice(130, 140),
    );
    near(await rows({ of: 'rollout', layer: 0 }, 0, n), layers[0]);
  });

  test(`without the first token, a row's rest sums to 1 again (causal: ${causal})`, async () => {
    const expected = maps[1][1].map(([first, ...rest]) => [
      0,
      ...rest.map((value) => (first < 1 ? value / (1 - first) : 0)),
    ]);
    near(await rows({ hideFirst: true }, 0, n), expected);
  });

  test(`a difference of heads is signed, and each side hides its own first token (causal: ${causal})`, async () => {
    const minus = { layer: 2, head: 0 };
    const difference = cellwise([maps[1][1], maps[2][0]], ([a, b]) => a - b);
    near(await rows({ minus }, 0, n), difference);
    const a = await rows({ hideFirst: true }, 9, 10);
    const b = await rows({ hideFirst: true, ...minus }, 9, 10);
    near(await rows({ minus, hideFirst: true }, 9, 10), [
      Array.from(a, (value, i) => value - b[i]),
    ]);
  });

  test(`a region's cells are the largest of what they cover (causal: ${causal})`, async () => {
    const region = { queries: [20, 150], keys: [7, 140], height: 13, width: 19 };
    const { values, largest } = await poolRegion(
      (start, end) => source.rows(0, 0, start, end),
      n,
      /** @type {import('../web/page/explore/worker/pool.js').Region} */ (region),
      breathe,
    );
    const expected = new Float64Array(13 * 19);
    const most = new Float64Array(13);
    // Cell c covers [⌊c·tokens/cells⌋, ⌊(c+1)·tokens/cells⌋).
    const cell = (
      /** @type {number} */ at,
      /** @type {number} */ tokens,
      /** @type {number} */ cells,
    ) =>
      Array.from({ length: cells }, (_, c) => c).findLast(
        (c) => Math.floor((c * tokens) / cells) <= at,
      ) ?? 0;
    for (let i = 20; i < 150; i++) {
      const row = cell(i - 20, 130, 13);
      for (let j = 0; j < n; j++) {
        const value = Math.fround(maps[0][0][i][j]);
        most[row] = Math.max(most[row], value);
        if (j < 7 || j >= 140) continue;
        const at = row * 19 + cell(j - 7, 133, 19);
        expected[at] = Math.max(expected[at], value);
      }
    }
    assert.deepEqual([...values], [...expected]);
    assert.deepEqual([...largest], [...most]);
  });

  test(`a column is what every query gives to a key (causal: ${causal})`, async () => {
    const column = await columnOf((a, b) => source.rows(2, 1, a, b), n, 5, breathe);
    near(column, [maps[2][1].map((row) => row[5])]);
  });
}

test('a map that the engine pooled has the same cells', async () => {
  const { source } = makeSource(150, true);
  /** @type {[number, number]} */
  const all = [0, 150];
  const region = { queries: all, keys: all, height: 40, width: 40 };
  const rows = (/** @type {number} */ a, /** @type {number} */ b) => source.rows(0, 0, a, b);
  const cells = await poolRegion(rows, 150, region, breathe);
  assert.deepEqual(pooledCells(cells.values, 40), cells);
});

test('a pooled difference keeps the sign of what is furthest from zero', async () => {
  const rows = () => Float32Array.from([0.1, -0.5, 0.2, 0.3]);
  const region = { queries: [0, 2], keys: [0, 2], height: 1, width: 1 };
  const { values, largest } = await poolRegion(
    rows,
    2,
    /** @type {import('../web/page/explore/worker/pool.js').Region} */ (region),
    breathe,
  );
  assert.deepEqual([...values, ...largest], [-0.5, 0.5].map(Math.fround));
});

/** @param {number[]} ids @param {Map2} map @param {number} block rows added at a time */
function scoresOf(ids, map, block) {
  const scorer = new HeadScorer(ids.length, inductionKeys(ids));
  for (let start = 0; start < ids.length; start += block) {
    scorer.add(map.slice(start, start + block).flat(), start);
  }
  return scorer.scores;
}

/** @param {number} n @param {(query: number) => number} keyOf @returns {Map2} */
const pointing = (n, keyOf) =>
  Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (__, j) => Number(j === Math.max(0, keyOf(i)))),
  );

test('heads that do one thing have its score', () => {
  const ids = [5, 6, 7, 5, 6, 7, 5];
  const previous = scoresOf(
    ids,
    pointing(7, (i) => i - 1),
    3,
  );
  assert.deepEqual(previous, {
    ...{ entropy: 0, first: 1 / 6, previous: 1, next: 0, induction: 0, distance: 1 },
  });
  const induction = scoresOf(
    ids,
    pointing(7, (i) => i - 2),
    7,
  );
  assert.equal(induction.induction, 1);
  const first = scoresOf(
    ids,
    pointing(7, () => 0),
    2,
  );
  assert.equal(first.first, 1);
  assert.equal(first.distance, 3.5);
});

test('scores are those of the definitions, however the rows come', () => {
  const ids = [1, 2, 1, 1, 3, 2, 1, 2, 9, 1];
  const map = randomMap(10, true, randomOf(3));
  let entropy = 0;
  let distance = 0;
  let induction = 0;
  let repeats = 0;
  for (let i = 1; i < 10; i++) {
    const keys = new Set();
    for (let j = 0; j < i - 1; j++) if (ids[j] === ids[i]) keys.add(j + 1);
    repeats += Number(keys.size > 0);
    for (let j = 0; j <= i; j++) {
      entropy -= map[i][j] * Math.log2(map[i][j]);
      distance += map[i][j] * (i - j);
      if (keys.has(j)) induction += map[i][j];
    }
  }
  for (const block of [1, 4, 10]) {
    const scores = scoresOf(ids, map, block);
    const close = (/** @type {number} */ a, /** @type {number} */ b) =>
      assert.ok(Math.abs(a - b) < 1e-12, `${a}, ${b}`);
    close(scores.entropy, entropy / 9);
    close(scores.distance, distance / 9);
    close(scores.induction, induction / repeats);
    close(scores.first, mean(map.slice(1).map((row) => row[0])));
    close(scores.previous, mean(map.slice(1).map((row, i) => row[i])));
  }
});

test('a text in which nothing repeats has no induction score', () => {
  assert.ok(
    Number.isNaN(
      scoresOf(
        [1, 2, 3],
        pointing(3, (i) => i),
        3,
      ).induction,
    ),
  );
});

test('lines carry the wanted share with the fewest keys, and say what they leave out', () => {
  const row = [0.1, 0.4, 0, 0.3, 0.2];
  const { edges, rest } = topEdges(row, 0.65);
  assert.deepEqual(
    edges.map(({ key }) => key),
    [1, 3],
  );
  assert.ok(Math.abs(rest - 0.3) < 1e-12);
  assert.deepEqual(
    topEdges(row, 1).edges.map(({ key }) => key),
    [1, 3, 4, 0],
  );
  assert.equal(topEdges(row, 1).rest, 0);
  assert.deepEqual(topEdges([0, 0], 0.9), { edges: [], rest: 0 });
  // What is left is a share of a row that sums to five.
  assert.equal(topEdges([2, 1, 2], 0.5).rest, 0.2);
  // Half of a row that sums to a half.
  assert.equal(topEdges([0.25, 0.25], 0.5).edges.length, 1);
});

test('of equal weights the earlier key has its line first, and what rounding leaves of a row has none', () => {
  const keysOf = (/** @type {number[]} */ row, /** @type {number} */ share) =>
    topEdges(row, share).edges.map(({ key }) => key);
  assert.deepEqual(keysOf([0.25, 0.25, 0.25, 0.25], 0.5), [0, 1]);
  assert.deepEqual(keysOf([1e-8, 0.5, 0.5], 1), [1, 2]);
  assert.deepEqual(keysOf([1e-4, 0.5, 0.5], 1), [1, 2, 0]);
  assert.deepEqual(keysOf([1], 0.05), [0]);
});

test('a line is drawn from side to side, stronger for a stronger weight, and at most whole', () => {
  const sides = { left: 10, right: 30 };
  assert.deepEqual(curveOf(sides, 5, 8, 0.5), {
    d: 'M10 5C20 5 20 8 30 8',
    'stroke-opacity': 0.56,
    'stroke-width': 2.5,
  });
  const strongest = curveOf(sides, 5, 8, 1);
  assert.deepEqual([strongest['stroke-opacity'], strongest['stroke-width']], [1, 4]);
  assert.deepEqual(curveOf(sides, 5, 8, 3), strongest, 'a score that is no weight');
});

test('each pin and each head with lines has a colour, which come again when there are more', () => {
  const pins = Array.from({ length: 8 }, (_, i) => ({
    side: i % 2 ? /** @type {const} */ ('key') : /** @type {const} */ ('query'),
    token: Math.floor(i / 2),
  }));
  const numbers = [0, 1, 2, 3, 4, 5, 0, 1];
  assert.deepEqual(
    pins.map((pin) => colourOf(pins, pin)),
    numbers.map((i) => `var(--pin-${i})`),
  );
  assert.deepEqual([...pinnedOn(pins.slice(0, 3), 'query')], [0, 1]);
  assert.deepEqual([...pinnedOn(pins.slice(0, 3), 'key')], [0]);
  const palette = /** @type {any} */ ({ accent: 'a', pins: ['0', '1', '2', '3', '4', '5'] });
  assert.deepEqual(
    pins.map((pin) => paletteColourOf(palette, pins, pin)),
    numbers.map(String),
  );
  // The first pin’s colour is near the accent, which is the chosen head’s.
  const heads = [0, 1, 2, 3, 4, 5, 6, 7];
  assert.equal(heads.map((i) => paletteHeadColour(palette, i)).join(''), 'a1234512');
  assert.deepEqual([headColour(0), headColour(6)], ['var(--accent)', 'var(--pin-1)']);
});

test('a share that no line carries is told, however small', () => {
  assert.equal(restWords(0.0996, 'up to '), 'up to 10.0 % is not shown.');
  assert.equal(restWords(0.0005, ''), '0.1 % is not shown.');
  assert.equal(restWords(0.0004, 'up to '), 'less than 0.1 % is not shown.');
  assert.equal(restWords(0, ''), 'less than 0.1 % is not shown.');
});

test('probabilities are the softmax of logits, large ones too', () => {
  const found = softmaxOf([1000, 1001, 999]);
  const powers = [Math.E ** -1, 1, Math.E ** -2];
  const sum = powers.reduce((a, b) => a + b);
  powers.forEach((power, i) => assert.ok(Math.abs(found[i] - power / sum) < 1e-15));
});

test('the likeliest tokens are those of before and after, in the order of after', () => {
  const before = Float64Array.from([0.5, 0.1, 0.2, 0.15, 0.05]);
  const after = Float64Array.from([0.01, 0.5, 0.3, 0.09, 0.1]);
  assert.deepEqual(likeliest(before, after, 3), [1, 2, 0]);
  assert.deepEqual(likeliest(before, before, 9), [0, 2, 3, 1, 4]);
  const rising = Float64Array.from([0.1, 0.2, 0.3, 0.4]);
  assert.deepEqual(likeliest(rising, rising, 2), [3, 2], 'the likeliest come last');
  const even = Float64Array.from([0.25, 0.25, 0.3, 0.2]);
  assert.deepEqual(likeliest(even, even, 2), [2, 0], 'of equal ones the first stays');
  const muted = Float64Array.from([0.25, 0.25, 0.25, 0.25]);
  assert.deepEqual(likeliest(even, muted, 4), [2, 0, 1, 3], 'equal after, in the order of before');
});

test('without the first token a row sums to what it summed to, and one that had nothing else has zeros', async () => {
  const source = {
    ...{ n: 3, layers: 1, heads: 1, causal: false },
    rows: () => Float32Array.of(1, 0.5, 0.5, 0.25, 0, 0),
  };
  const what = { ...HEAD, layer: 0, head: 0, hideFirst: true };
  const read = await rowsOf(source, what, async () => new Float32Array(9));
  assert.deepEqual([...read(0, 2)], [0, 1, 1, 0, 0, 0]);
});

test('a rollout that was stopped does not forget the one that took its place', async () => {
  /** @type {{ resolve: (whole: Float32Array) => void, reject: (error: Error) => void }[]} */
  const asked = [];
  const rollouts = new Rollouts(
    () => new Promise((resolve, reject) => asked.push({ resolve, reject })),
  );
  const begin = () => breathe;
  const first = rollouts.upTo(0, begin);
  const second = rollouts.upTo(1, begin);
  asked[0].reject(new Error('stopped'));
  await assert.rejects(first, /stopped/);
  assert.equal(rollouts.upTo(1, begin), second);
  assert.equal(asked.length, 2);
});
