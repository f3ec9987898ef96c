/** Numbers as people read them. */

import { formatFixed } from '../../headwise/view/format.js';

export { formatFixed, formatNumber, formatWeight } from '../../headwise/view/format.js';

const whole = new Intl.NumberFormat('en');

/** A whole number; a real minus sign, and none of a zero. @param {number} value */
export const formatCount = (value) => whole.format(value + 0).replace('-', '−');

/** @param {number} share */
export const formatPercent = (share) => `${formatFixed(100 * share, 1)} %`;

/** @param {number} count @param {string} one the noun @param {string} [many] its plural */
export const plural = (count, one, many = `${one}s`) =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/** @param {string} words */
export const capitalized = (words) => `${words[0].toUpperCase()}${words.slice(1)}`;

const list = new Intl.ListFormat('en');

/** @param {string[]} items */
export const formatList = (items) => list.format(items);

/** Of three digits: what is rounded to a thousand has the next unit. @param {number} ms */
export function formatTime(ms) {
  if (ms < 0.9995) return `${(ms * 1000).toPrecision(3)} µs`;
  return ms < 999.5 ? `${ms.toPrecision(3)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/** Two digits, or all before the point. @param {number} rate a second */
export const formatRate = (rate) =>
  rate < 99.5 ? rate.toPrecision(2) : formatCount(Math.round(rate));

/** What is rounded to 1024 of a unit has the next one. @param {number} bytes */
export function formatBytes(bytes) {
  if (bytes < 1024) return `${formatCount(bytes)} B`;
  if (bytes < 1023.95 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
