/**
 * What a lesson shows against what its document prints: four decimals, as torch prints them.
 *
 * @import { Item, TensorItem } from './audience.js'
 * @import { Printed } from './parse.js'
 *
 * @typedef {object} Verdict
 * @property {boolean} equal
 * @property {number} total numbers, or other values, that the document gives
 * @property {number} differing how many of them are not the same
 */

import { formatNumber } from '../shared/format.js';

/**
 * @param {unknown} here
 * @param {unknown} there
 */
const same = (here, there) =>
  typeof here === 'number' && typeof there === 'number'
    ? formatNumber(here) === formatNumber(there)
    : here === there;

/**
 * Whether a cell of a shown matrix prints as the document's.
 *
 * @param {number} here
 * @param {number | undefined} there
 */
export const sameCell = (here, there) => same(here, there);

/**
 * @param {any} nested
 * @returns {number[]}
 */
function shapeOf(nested) {
  return Array.isArray(nested) ? [nested.length, ...shapeOf(nested[0])] : [];
}

/**
 * @param {Item} item
 * @param {Printed} printed
 * @returns {Verdict}
 */
export function judge(item, { value }) {
  const there = [value].flat(Infinity);
  const none = { equal: false, total: there.length, differing: there.length };
  if (item.kind !== 'tensor' && item.kind !== 'value') return none;
  const shape = item.kind === 'tensor' ? item.shape : shapeOf(item.value);
  if (shape.join() !== shapeOf(value).join()) return none;
  const here =
    item.kind === 'tensor' ? item.parts.flatMap(({ values }) => [...values]) : [item.value].flat();
  if (here.length !== there.length) return none;
  const differing = here.filter((one, i) => !same(one, there[i])).length;
  return { equal: differing === 0, total: there.length, differing };
}

/**
 * What a shown tensor and the document's have in common where their shapes differ.
 *
 * @param {TensorItem} item
 * @param {Printed} printed
 * @returns {string} in words; '' where the shapes are the same
 */
export function differenceOfShapes(item, { value }) {
  const there = shapeOf(value);
  if (item.shape.join() === there.join()) return '';
  const words = `shape differs: [${item.shape.join(', ')}] here, [${there.join(', ')}] there`;
  const columns = commonColumns(item, matricesOf(value));
  if (columns === 0) return words;
  return `${words}; first ${columns === 1 ? 'column' : `${columns} columns`} equal`;
}

/**
 * The matrices of nested arrays, as lists of rows.
 *
 * @param {any} nested
 * @returns {number[][][]}
 */
export function matricesOf(nested) {
  const depth = shapeOf(nested).length;
  if (depth <= 2) return [depth === 2 ? nested : [[nested].flat()]];
  return nested.flatMap(matricesOf);
}

/**
 * How many columns from the first on are the same in every row that both have.
 *
 * @param {TensorItem} item
 * @param {number[][][]} there
 */
function commonColumns({ parts }, there) {
  const most = Math.min(parts[0]?.cols ?? 0, there[0]?.[0]?.length ?? 0);
  for (let col = 0; col < most; col++) {
    for (const [p, { rows, cols, values }] of parts.entries()) {
      const theirs = there[p] ?? [];
      for (let row = 0; row < Math.min(rows, theirs.length); row++) {
        if (!sameCell(values[row * cols + col], theirs[row][col])) return col;
      }
    }
  }
  return most;
}
