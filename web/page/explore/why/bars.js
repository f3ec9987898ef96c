/**
 * Parts of a logit as bars, and as numbers.
 */

import { formatNumber } from '../../shared/format.js';
import { html } from '../../shared/template.js';

/** @param {number} value with its sign @param {number} [digits] after the point */
export function signed(value, digits = 2) {
  const words = Math.abs(value).toFixed(digits);
  return Number(words) === 0 ? words : `${value < 0 ? '−' : '+'}${words}`;
}

/** Digits that tell numbers apart of which this is the largest. @param {number} most */
export const digitsFor = (most) =>
  most > 0 ? Math.max(2, Math.min(6, 1 - Math.floor(Math.log10(most)))) : 2;

/** @param {number} value with its sign, and all decimals that say something */
export const exact = (value) => `${value > 0 ? '+' : ''}${formatNumber(value)}`;

/** @param {readonly [number, number]} range @returns {(value: number) => number} where a value is, in percent */
export const placeIn =
  ([low, high]) =>
  (value) =>
    (100 * (value - low)) / (high - low);

/** @param {{ start: number, end: number }} part @param {(value: number) => number} place @param {string} [kind] */
export function partBar({ start, end }, place, kind = end < start ? 'against' : 'for') {
  const [from, to] = [Math.min(start, end), Math.max(start, end)].map(place);
  return html`<span class="sum-bar ${kind}" style="left: ${from}%; width: ${to - from}%"></span>`;
}
