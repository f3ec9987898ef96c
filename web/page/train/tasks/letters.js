/**
 * Tasks with letters: repeat, reverse, sort.
 *
 * @import { Below } from './random.js'
 * @import { Row, Task } from './task.js'
 */

import { IGNORED, times, questionRow } from './task.js';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** After the letters: now answer. */
const MARK = LETTERS.length;

/**
 * Letters that repeat with a period, which is each row's own.
 *
 * @param {number} tokens
 * @param {number} least the shortest period
 * @param {number} vocabulary the number of letters
 */
export const inductionRow = (tokens, least, vocabulary) => (/** @type {Below} */ random) => {
  const period = least + random(tokens / 2 - least + 1);
  const letters = times(period, () => random(vocabulary));
  const ids = times(tokens, (i) => letters[i % period]);
  /** After each earlier time of the same place. @param {number} i */
  const places = (i) => times(Math.floor((i + 1) / period), (k) => i + 1 - (k + 1) * period);
  return {
    ids,
    targets: ids.map((_, i) => (i >= period ? letters[(i + 1) % period] : IGNORED)),
    answers: ids.map((_, i) => (i >= period ? places(i) : [])),
  };
};

const INDUCTION = `${LETTERS}234567`;

/** @type {Task} */
export const induction = {
  characters: INDUCTION,
  tokens: 32,
  batch: 32,
  row: inductionRow(32, 4, INDUCTION.length),
  prompt: '',
};

/** Half of the row is letters, the other half the same in another order. @param {number} count @param {(random: Below) => number[]} draw @param {(letters: number[]) => number[]} order of places */
function reordering(count, draw, order) {
  return (/** @type {Below} */ random) => {
    const letters = draw(random);
    const places = order(letters);
    const asked = places.map((place) => letters[place]);
    return questionRow(
      [...letters, MARK],
      asked,
      places.map((place) => [place]),
    );
  };
}

/** @param {number} count */
const anyLetters = (count) => (/** @type {Below} */ random) => times(count, () => random(MARK));

/** @param {number} count */
const differentLetters = (count) => (/** @type {Below} */ random) => {
  const pool = times(MARK, (i) => i);
  return times(count, () => pool.splice(random(pool.length), 1)[0]);
};

const HALF = 16;

/** @type {Task} */
export const reversal = {
  characters: `${LETTERS}>`,
  tokens: 2 * HALF,
  batch: 16,
  row: reordering(HALF, anyLetters(HALF), ({ length }) => times(length, (i) => length - 1 - i)),
  prompt: '',
};

/** @type {Task} */
export const sorting = {
  characters: `${LETTERS}>`,
  tokens: 2 * HALF,
  batch: 16,
  row: reordering(HALF, differentLetters(HALF), (letters) =>
    [...letters.keys()].sort((a, b) => letters[a] - letters[b]),
  ),
  prompt: '',
};
