// Results as lines of a table.

import { doubtOf } from '../../web/page/bench/ceiling.js';

/** @typedef {import('../../web/page/bench/bench.js').Result} Result */

/** @typedef {{ title: string, width: number, left?: boolean }} Column */

/** @type {Column[]} */
const COLUMNS = [
  { title: 'shape', width: 9, left: true },
  { title: 'way', width: 9, left: true },
  { title: 'module', width: 7, left: true },
  { title: 'threads', width: 7 },
  { title: 'min ms', width: 9 },
  { title: 'median', width: 9 },
  { title: 'speed-up', width: 8 },
  { title: 'against', width: 7 },
  { title: 'rate', width: 14 },
  { title: 'of ceiling', width: 10 },
  { title: 'ceiling', width: 7 },
  { title: 'memory MB', width: 9 },
  { title: 'error', width: 7 },
];

/**
 * @param {readonly Column[]} columns
 * @param {readonly string[]} cells
 */
export const line = (columns, cells) =>
  columns
    .map(({ width, left }, i) => (left ? cells[i].padEnd(width) : cells[i].padStart(width)))
    .join('  ')
    .trimEnd();

/** @param {readonly Column[]} columns */
export const header = (columns) => {
  const titles = line(
    columns,
    columns.map(({ title }) => title),
  );
  return `${titles}\n${'-'.repeat(titles.length)}`;
};

/** @param {number} value three significant digits, no exponent */
export const ms = (value) =>
  value >= 100 ? value.toFixed(0) : value >= 0.1 ? value.toPrecision(3) : value.toFixed(4);

/**
 * A line of a table, and a warning after it if its share cannot be.
 * @param {string} text
 * @param {number} percent of the ceiling
 */
export function withDoubt(text, percent) {
  const doubt = doubtOf(percent);
  return doubt === undefined ? text : `${text}  WARNING: ${doubt}`;
}

export const benchHeader = () => header(COLUMNS);

/** @param {Result} result */
export function benchLine({ shape, name, simd, threads, timing, skipped, problem }) {
  const what = [shape, name, simd, String(threads)];
  if (!timing) {
    const words = problem === undefined ? `not run: ${skipped}` : `FAILED: ${problem}`;
    return `${line(COLUMNS.slice(0, 4), what)}  ${words}`;
  }
  const cells = [
    ...what,
    ms(timing.minimum),
    ms(timing.median),
    timing.speedup === undefined ? '' : `${timing.speedup.toFixed(2)}×`,
    timing.against === undefined ? '' : timing.against.toFixed(3),
    `${timing.rate.toFixed(1)} ${timing.unit}`,
    `${timing.percent.toFixed(1)} %`,
    timing.ceiling.toFixed(1),
    (timing.memoryBytes / 1e6).toFixed(1),
    timing.maxError.toExponential(0),
  ];
  return withDoubt(line(COLUMNS, cells), timing.percent);
}
