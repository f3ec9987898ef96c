/**
 * Two numbers and their sum, whose units come first, as one adds by hand.
 *
 * @import { Below } from './random.js'
 * @import { Row, Task } from './task.js'
 */

import { times, questionRow } from './task.js';

const DIGITS = 4;
const [PLUS, EQUALS] = [10, 11];

/** @param {Below} random @returns {Row} */
function row(random) {
  const [a, b] = [0, 1].map(() => times(DIGITS, () => random(10)));
  let carry = 0;
  const sum = times(DIGITS + 1, (i) => {
    const at = DIGITS - 1 - i;
    const digits = (a[at] ?? 0) + (b[at] ?? 0) + carry;
    carry = Math.floor(digits / 10);
    return digits % 10;
  });
  const places = times(DIGITS, (i) => DIGITS - 1 - i).map((at) => [at, DIGITS + 1 + at]);
  return questionRow([...a, PLUS, ...b, EQUALS], sum, [...places, []]);
}

/** @type {Task} */
export const addition = {
  characters: '0123456789+=',
  tokens: 3 * DIGITS + 2,
  batch: 64,
  row,
  prompt: '',
};
