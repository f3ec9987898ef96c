/**
 * Two texts of equal length, token by token.
 *
 * @import { Token } from '../../../types.js'
 *
 * @typedef {object} Pair
 * @property {Token[]} clean of the text that is asked about
 * @property {Token[]} other of the other text
 * @property {number[]} differing places where the two differ
 */

import { formatCount, formatList, plural } from '../../../shared/format.js';

/** @param {Token[]} clean @param {Token[]} other @returns {number[]} places where they differ, as far as both go */
export const differingAt = (clean, other) =>
  clean.flatMap(({ id }, i) => (i < other.length && other[i].id !== id ? [i] : []));

/**
 * Why two texts cannot be compared, and what to do.
 *
 * @param {Token[]} clean
 * @param {Token[]} other
 * @param {number} at the token after which the prediction is
 * @returns {string} empty: they can
 */
export function problemOf(clean, other, at) {
  if (clean.length !== other.length) {
    const more = other.length - clean.length;
    const [what, where] = more > 0 ? ['Remove', 'from'] : ['Add', 'to'];
    const [first] = differingAt(clean, other);
    const from = first === undefined ? '' : ` They differ from token ${first + 1} on.`;
    return `Your text has ${plural(clean.length, 'token')}, the other ${formatCount(other.length)}. Patching needs texts of the same number of tokens. ${what} ${plural(Math.abs(more), 'token')} ${where} the other text. It is easiest to swap single-token words.${from}`;
  }
  const differing = differingAt(clean, other);
  if (differing.length === 0) return 'Both texts have the same tokens: change a word of the other.';
  if (differing.every((i) => i > at)) {
    return `They differ only after token ${at + 1}, where the prediction is made. Change a word before it, or pin a later token.`;
  }
  return '';
}

/** How the two differ, in words. @param {Pair} pair */
export function differenceInWords({ clean, other, differing }) {
  const changes = differing.slice(0, 4).map((i) => `“${clean[i].text}” is “${other[i].text}”`);
  const rest = differing.length - changes.length;
  const others = rest > 0 ? [plural(rest, 'more differs', 'more differ')] : [];
  return `${formatList([...changes, ...others])} in the other text.`;
}
