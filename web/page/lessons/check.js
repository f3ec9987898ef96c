/**
 * What a lesson shows against what its document prints: four decimals, as torch prints them.
 *
 * @import { Item } from './audience.js'
 * @import { Printed } from './parse.js'
 *
 * @typedef {object} Verdict
 * @property {boolean} equal
 * @property {number} total numbers, or other values, that the document gives
 * @property {number} differing how many of them are not the same
 */

/** @param {number} value */
const asPrinted = (value) => value.toFixed(4).replace(/^-(0\.0+)$/, '$1');

/**
 * @param {unknown} here
 * @param {unknown} there
 */
const same = (here, there) =>
  typeof here === 'number' && typeof there === 'number'
    ? asPrinted(here) === asPrinted(there)
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
export function shapeOf(nested) {
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
  if (item.kind === 'maps') return none;
  const shape = item.kind === 'tensor' ? item.shape : shapeOf(item.value);
  if (shape.join() !== shapeOf(value).join()) return none;
  const here =
    item.kind === 'tensor' ? item.parts.flatMap(({ values }) => [...values]) : [item.value].flat();
  if (here.length !== there.length) return none;
  const differing = here.filter((one, i) => !same(one, there[i])).length;
  return { equal: differing === 0, total: there.length, differing };
}
