// What the part of a map that is seen holds: from it the legend tells the largest weight, and the scale that shows more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seenIn } from '../web/page/explore/seen-weights.js';

/** @typedef {Parameters<typeof seenIn>[2]} How */

/**
 * @param {number[][]} rows
 * @param {{ query: number, key: number, span: number }} [view]
 * @param {Partial<How>} [how]
 * @param {{ queries?: [number, number], keys?: [number, number] }} [tokens]
 */
function seen(rows, view, how, { queries = [0, rows.length], keys = [0, rows[0].length] } = {}) {
  const cells = {
    ...{ queries, keys, height: rows.length, width: rows[0].length },
    values: Float64Array.from(rows.flat()),
    largest: Float64Array.from(rows, (row) => Math.max(...row)),
  };
  const whole = { query: 0, key: 0, span: rows.length };
  const { map = 1, scale = 'unit', causal = false } = how ?? {};
  return seenIn(/** @type {any} */ (cells), view ?? whole, { map, scale, causal });
}

const ROWS = [
  [0.1, 0.9, 0.91, 0.92],
  [0.2, 0.3, 0.93, 0.94],
  [0.4, 0.5, 0.6, 0.95],
  [0.7, 0.75, 0.8, 0.85],
];

test('the largest weight is that of cells that are seen, also in part, and that are not masked', () => {
  const largestIn = (/** @type {number} */ query, /** @type {number} */ key, span = 2) =>
    seen(ROWS, { query, key, span }).largest;
  assert.deepEqual([largestIn(0, 0), largestIn(1, 0), largestIn(2, 2)], [0.9, 0.5, 0.95]);
  assert.equal(largestIn(1.5, 0.5, 1.2), 0.5);
  assert.equal(largestIn(1.5, 0.5, 1.6), 0.93);
  const causal = { causal: true };
  assert.deepEqual([seen(ROWS, undefined, causal).largest, seen(ROWS).largest], [0.85, 0.95]);
  assert.equal(seen([[-0.8, 0.5, NaN]], { query: 0, key: 0, span: 3 }).largest, 0.8);
});

test('of cells that are known of a part, those within it are looked at', () => {
  const part = ROWS.slice(1, 3).map((row) => row.slice(0, 2));
  /** @type {{ queries: [number, number], keys: [number, number] }} */
  const tokens = { queries: [6, 8], keys: [5, 7] };
  const largestIn = (
    /** @type {number} */ query,
    /** @type {number} */ key,
    /** @type {number} */ span,
  ) => seen(part, { query, key, span }, { causal: true }, tokens).largest;
  assert.deepEqual([largestIn(6, 5, 1), largestIn(6, 6, 1), largestIn(7, 5, 1)], [0.2, 0.3, 0.4]);
  assert.equal(largestIn(0, 0, 10), 0.5);
});

test('of cells that stand for several tokens those are masked that begin behind their last query', () => {
  const tokens = /** @type {const} */ ({ queries: [0, 8], keys: [0, 8] });
  const view = { query: 0, key: 0, span: 8 };
  const how = { causal: true };
  assert.equal(seen(ROWS, view, how, { queries: [0, 8], keys: [0, 8] }).largest, 0.85);
  assert.equal(
    seen(ROWS.slice(0, 2), { ...view, span: 3 }, how, { ...tokens, queries: [0, 4], keys: [0, 8] })
      .largest,
    0.3,
  );
});

test('the brightest cell is as far along its scale as its weight is of the scale’s end', () => {
  const rows = [
    [0.1, 0.2],
    [0.02, 0.01],
  ];
  const brightest = (/** @type {How['scale']} */ scale) =>
    seen(rows, { query: 0, key: 0, span: 2 }, { scale, map: 0.4 }).brightest.toFixed(3);
  assert.deepEqual([brightest('unit'), brightest('head')], ['0.200', '0.500']);
  assert.deepEqual([brightest('row'), brightest('log')], ['1.000', '0.825']);
  const darker = seen(rows, { query: 1, key: 0, span: 1 }, { scale: 'row' });
  assert.deepEqual([darker.largest, darker.brightest], [0.02, 1]);
  assert.equal(seen([[NaN, 0.3, 0.2]], { query: 0, key: 0, span: 3 }).brightest, 0.3);
});

test('of a long causal text queries of few keys say nothing about the scale', () => {
  const rows = Array.from({ length: 40 }, (_, query) => {
    const first = { 15: 1, 16: 0.5 }[query] ?? 0.01;
    return Array.from({ length: 40 }, (__, key) => (key === 0 ? first : 0.01));
  });
  const told = (/** @type {number} */ span, causal = true) => {
    const { largest, brightest } = seen(rows, { query: 0, key: 0, span }, { causal });
    return [largest, brightest];
  };
  assert.deepEqual(
    [told(33), told(32), told(33, false)],
    [
      [1, 0.5],
      [1, 1],
      [1, 1],
    ],
  );
});

test('a scale says more bits the more evenly its colours are used', () => {
  const spread = (/** @type {number[]} */ ...row) => {
    const { head, log } = seen([row], { query: 0, key: 0, span: row.length }).spread;
    return [head.toFixed(2), log.toFixed(2)];
  };
  assert.deepEqual(spread(0.01, 0.001), ['0.00', '1.00']);
  assert.deepEqual(spread(0.9, 0.96), ['1.00', '0.00']);
  assert.deepEqual(spread(1, 0.98, 0.5), ['0.92', '0.92']);
  assert.deepEqual(spread(0.2, 0.2, 0.4, 0.8), ['1.50', '1.50']);
});
