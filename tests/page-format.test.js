// How the page writes numbers, times and rates.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
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
