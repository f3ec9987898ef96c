/**
 * How values and verdicts are written.
 *
 * @import { Verdict } from './check.js'
 * @import { Printed } from './parse.js'
 */

import { el } from '../shared/dom.js';
import { formatCount, formatNumber, formatWeight } from '../shared/format.js';

export const HERE = 'Headwise';

/** @param {Printed[]} printed */
export function whose(printed) {
  const isAll = (/** @type {Printed['by']} */ wanted) => printed.every(({ by }) => by === wanted);
  if (isAll('prints')) return 'Document';
  return isAll('recorded') ? 'Recorded' : 'Expected';
}

/** Where known results come from. @param {Printed[]} known */
export function sourcesOf(known) {
  const count = (/** @type {Printed['by']} */ wanted) =>
    known.filter(({ by }) => by === wanted).length;
  const [printed, derived, recorded] = [count('prints'), count('expected'), count('recorded')];
  if (printed === known.length) return 'the documents print them';
  if (derived === known.length) return 'they follow from the documents';
  if (recorded === known.length) return 'they were recorded when the lesson was written';
  const from = printed > 0 ? 'them' : 'the documents';
  return [
    printed > 0 && `the documents print ${printed}`,
    derived > 0 && `${derived} ${derived === 1 ? 'follows' : 'follow'} from ${from}`,
    recorded > 0 &&
      `${recorded} ${recorded === 1 ? 'was' : 'were'} recorded when the lesson was written`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** @param {readonly any[]} values numbers, or nested as a tensor's @returns {string} */
export const formatList = (values) => {
  const isWhole = values.flat(Infinity).every(Number.isInteger);
  const format = isWhole
    ? (/** @type {number} */ one) => String(one).replace('-', '−')
    : formatNumber;
  /** @type {(one: any) => string} */
  const write = (one) => (Array.isArray(one) ? `[${one.map(write).join(', ')}]` : format(one));
  return write(values);
};

const MOST_DECIMALS = 4;

/** How many decimals a number has; of what has more, the most that are written. @param {number} value */
const decimalsOf = (value) =>
  [0, 1, 2, 3].find((count) => Number(value.toFixed(count)) === value) ?? MOST_DECIMALS;

/**
 * @param {unknown} value
 * @param {unknown} [other] what it is set against, so that both are written alike
 * @returns {string}
 */
export function formatValue(value, other) {
  if (Array.isArray(value)) return formatList(value);
  if (typeof value !== 'number') return String(value);
  if (typeof other !== 'number') {
    return Number.isInteger(value) ? formatCount(value) : formatWeight(value);
  }
  if ([value, other].every(Number.isInteger)) return formatCount(value);
  const written = formatNumber(value);
  const spare = MOST_DECIMALS - Math.max(decimalsOf(value), decimalsOf(other));
  const hasAll = written.at(-1 - MOST_DECIMALS) === '.';
  return spare > 0 && hasAll ? written.slice(0, -spare) : written;
}

/**
 * What comparing has given. After the visitor's change a difference is no mistake.
 *
 * @param {Verdict} verdict
 * @param {object} options
 * @param {boolean} options.changed
 * @param {string} [options.words] in place of how many differ
 * @param {boolean} [options.counted] with numbers
 */
export function markOf({ equal, total, differing }, { changed, words, counted = false }) {
  if (equal) {
    const sign = el('span', { 'aria-hidden': 'true' }, '✓');
    return el('span', { class: 'mark' }, sign, counted ? ` all ${total} equal` : ' equal');
  }
  const text =
    words ||
    (counted ? `${differing} of ${total} ${differing === 1 ? 'differs' : 'differ'}` : 'differs');
  if (changed) return el('span', { class: 'mark changed' }, text);
  return el(
    'span',
    { class: 'mark differs' },
    el('span', { 'aria-hidden': 'true' }, '✗'),
    ` ${text}`,
  );
}
