/**
 * Maps and rows from the traces of a run: exact weights while every cell has a
 * pixel, pooled ones (the largest weight that a cell covers) beyond that.
 *
 * @import { Trace } from './experiment.js'
 * @typedef {{ weights: Trace['weights'], map: Trace['map'] }} Maps
 */

import { pooling } from '../../../headwise/view/pool.js';

/** Rows recomputed at a time. */
const BLOCK = 128;

/**
 * The largest absolute difference over all weights of all heads.
 *
 * @param {Maps} a
 * @param {Maps} b
 * @param {{ n: number, heads: number }} size
 * @param {(fraction: number) => Promise<void>} step
 */
export async function largestDifference(a, b, { n, heads }, step) {
  let largest = 0;
  for (let head = 0; head < heads; head++) {
    for (let start = 0; start < n; start += BLOCK) {
      const end = Math.min(n, start + BLOCK);
      const difference = rowsOfDifference(a, b, head, start, end);
      for (const value of difference) {
        if (value > largest) largest = value;
      }
      await step((head + end / n) / heads);
    }
  }
  return largest;
}

/**
 * |a − b| over some rows of a head.
 *
 * @param {Maps} a
 * @param {Maps} b
 * @param {number} head
 * @param {number} start first row
 * @param {number} end one past the last
 * @returns {Float32Array}
 */
export function rowsOfDifference(a, b, head, start, end) {
  /** @type {[number, number]} */
  const rows = [start, end];
  const left = a.weights({ head, rows }).data;
  const right = b.weights({ head, rows }).data;
  return Float32Array.from(left, (value, i) => Math.abs(value - right[i]));
}

/**
 * @param {Maps} trace
 * @param {{ n: number, head: number, size: number }} wanted
 */
export function mapOf(trace, { n, head, size }) {
  const values = size < n ? trace.map({ head, size }).data : trace.weights({ head }).data;
  return Float32Array.from(values);
}

/**
 * The map of the difference; the largest of differences is not the difference
 * of the largest, so it is pooled here.
 *
 * @param {Maps} a
 * @param {Maps} b
 * @param {{ n: number, head: number, size: number }} wanted
 */
export function mapOfDifference(a, b, { n, head, size }) {
  if (size >= n) return rowsOfDifference(a, b, head, 0, n);
  /** @type {[number, number]} */
  const all = [0, n];
  const { cells, add } = pooling({ queries: all, keys: all, height: size, width: size }, n);
  for (let start = 0; start < n; start += BLOCK) {
    const end = Math.min(n, start + BLOCK);
    add(rowsOfDifference(a, b, head, start, end), start, end);
  }
  return cells.values;
}
