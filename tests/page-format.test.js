// How the page writes numbers, times and rates.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costWords, spanWords } from '../web/page/explore/costs.js';
import { largestValue, writeValue } from '../web/page/explore/measures.js';
import { digitsOf, percent } from '../web/page/explore/next-token.js';
import { SCORES } from '../web/page/explore/score-list.js';
import {
  formatFixed,
  formatPercent,
  formatBytes,
  formatNumber,
  formatRate,
  formatTime,
  formatWeight,
} from '../web/page/shared/format.js';

/** @param {(value: number) => string} format @param {readonly [value: number, expected: string][]} cases */
function writes(format, cases) {
  for (const [value, expected] of cases) assert.equal(format(value), expected);
}

test('times have three digits, also where they are rounded to the next unit', () => {
  writes(formatTime, [
    [0.0024, '2.40 µs'],
    [0.99949, '999 µs'],
    [0.9996, '1.00 ms'],
    [12.345, '12.3 ms'],
    [999.4, '999 ms'],
    [999.6, '1.00 s'],
    [61_000, '61.00 s'],
  ]);
});

test('numbers have four decimals, and what is written as zero has no sign', () => {
  writes(formatNumber, [
    [-3.2, '−3.2000'],
    [-0.00002, '0.0000'],
    [-0.00006, '−0.0001'],
    [-0, '0.0000'],
    [-Infinity, '−∞'],
    [NaN, 'NaN'],
  ]);
});

test('small weights have powers of ten, on both sides of zero', () => {
  writes(formatWeight, [
    [0, '0'],
    [0.25, '0.2500'],
    [-3.2, '−3.2000'],
    [0.0004, '4.0e−4'],
    [-0.0004, '−4.0e−4'],
    [-Infinity, '−∞'],
  ]);
});

test('rates have two digits, or all before the point', () => {
  writes(formatRate, [
    [0.25, '0.25'],
    [8, '8.0'],
    [99.4, '99'],
    [99.7, '100'],
    [1234.5, '1,235'],
  ]);
});

test('bytes have one decimal of KiB and MiB, also where they are rounded to the next unit', () => {
  writes(formatBytes, [
    [0, '0 B'],
    [1023, '1,023 B'],
    [1024, '1.0 KiB'],
    [1536, '1.5 KiB'],
    [1_048_524, '1023.9 KiB'],
    [1_048_525, '1.0 MiB'],
    [2 ** 20, '1.0 MiB'],
    [2.25 * 2 ** 20, '2.3 MiB'],
  ]);
});

test('scores of opened numbers that are no weights keep their sign, and zeros have none', () => {
  writes(formatPercent, [
    [0.123, '12.3 %'],
    [-0.31, '−31.0 %'],
    [-0.0004, '0.0 %'],
    [NaN, 'NaN %'],
  ]);
  writes(
    (value) => formatFixed(value, 2),
    [
      [-0.005, '−0.01'],
      [-0.004, '0.00'],
      [-0, '0.00'],
    ],
  );
  const written = SCORES.map(([, , , write]) => [write(-0.31), write(-0.0001)]);
  const percents = ['−31.0 %', '0.0 %'];
  assert.deepEqual(written, [
    ['−0.31 bits', '0.00 bits'],
    ...Array(4).fill(percents),
    ['−0.3 tokens', '0.0 tokens'],
  ]);
  const inGrid = (/** @type {number} */ value) => writeValue('previous', value, 3);
  assert.deepEqual([-0.31, -0.001, 0.31, -12].map(inGrid), ['−0.31', '0.00', '0.31', '−12.0']);
  const effects = [-0.31, -0.001, 0.31, 9.96].map((value) => writeValue('effect', value, 10));
  assert.deepEqual(effects, ['−0.31', '0', '+0.31', '+10.0']);
});

test('a probability has digits that tell it from 0, and a list of small ones digits that tell them apart', () => {
  writes(percent, [
    [0.1234, '12.3 %'],
    [0.0005, '0.1 %'],
    [0.00049, '< 0.1 %'],
    [0, '< 0.1 %'],
    [1, '100.0 %'],
  ]);
  assert.equal(percent(0.00012, 3), '0.012 %');
  assert.deepEqual([0, 0.5, 0.001, 0.0009, 0.00001].map(digitsOf), [1, 1, 1, 3, 4]);
});

test('the largest value of heads is by size, without those that are not known; what is written as 0 counts as 0', () => {
  assert.equal(largestValue([NaN, -3, 2]), 3);
  assert.equal(largestValue([2, NaN]), 2);
  assert.deepEqual([[], [NaN], [4e-7, -4e-7]].map(largestValue), [0, 0, 0]);
  assert.equal(largestValue([6e-7]), 6e-7);
});

test('what was computed is said with its time and its size', () => {
  const span = (/** @type {number} */ ms, isPooled = false) =>
    spanWords({ queries: [0, 1], keys: [9, 1200], isPooled, ms });
  assert.equal(span(0.05), 'Queries 1 to 1, keys 10 to 1,200, computed in less than 0.1 ms.');
  assert.match(span(0.1), /computed in 100 µs\.$/);
  assert.match(
    span(2, true),
    /in 2\.00 ms; each cell shows the largest of the weights it covers\.$/,
  );
  const cost = (/** @type {number} */ bytes, residualBytes = 0) =>
    costWords(
      /** @type {any} */ ({
        hasModel: { value: true },
        run: { value: { n: 16, layers: 2, heads: 2, ms: 3, bytes, residualBytes } },
      }),
    );
  assert.equal(
    cost(4095, 1024),
    '16 tokens, 2 × 2 heads: read in 3.00 ms. Kept for the maps: 4.0 KiB (the full matrices would take 4.0 KiB). Another 1.0 KiB lets muting start at the head’s layer.',
  );
  assert.match(cost(4096), /4\.0 KiB, in proportion to the text’s length\./);
});
