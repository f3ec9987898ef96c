/**
 * What the room says of its tasks and settings.
 *
 * @import { Settings, TaskName } from './settings.js'
 * @import { Learnt } from './tasks/task.js'
 *
 * @typedef {object} TaskWords
 * @property {string} title
 * @property {string} happens what the model reads and what it has to learn
 * @property {string} look what to look at, in two sentences at most
 * @property {string} further what else there is to see or know; '': nothing
 * @property {string} answer name of the score for weight on where the answer stands
 * @property {number} pace steps a second at which the maps can be watched; Infinity: as fast as possible
 * @property {number} steps after which it pauses
 */

import { formatCount, plural } from '../shared/format.js';
import { LEAST_TEXT, RARE } from './tasks/text.js';

/** @type {Readonly<Record<TaskName, TaskWords>>} */
export const TASK_WORDS = {
  induction: {
    title: 'Induction: letters that repeat',
    happens:
      'A small transformer reads letters that repeat with a period, and learns to predict the next letter.',
    look: 'At first all maps are a blur. From about step 300 heads of layer 1 look at the letter that followed the same letter earlier: these are induction heads.',
    further:
      'They need heads of layer 0 that look one token back: one of these grows sharper until the end.',
    ...{ answer: 'induction', pace: 25, steps: 1200 },
  },
  reversal: {
    title: 'Reversal: letters in reverse order',
    happens:
      'A small transformer reads 16 letters and a mark, and learns to write the letters in reverse order.',
    look: 'After about 100 steps an anti-diagonal appears: each query looks at the letter that it must predict.',
    further: 'Each answer is always at the same position.',
    ...{ answer: 'answer', pace: 10, steps: 400 },
  },
  sorting: {
    title: 'Sorting: letters in alphabetical order',
    happens:
      'A small transformer reads 16 different letters and a mark, and learns to write them in alphabetical order.',
    look: 'No position is right for all rows: the heads must find each letter by its content. The weights on the answer stay soft.',
    further: 'After about 300 steps 95 % are right.',
    ...{ answer: 'answer', pace: 10, steps: 600 },
  },
  addition: {
    title: 'Addition: four digits',
    happens:
      'A small transformer reads two numbers of four digits, and learns to write their sum, units first, as one adds by hand.',
    look: 'Each digit of the sum needs two digits, one of each number. Heads of layer 0 learn to look at both, as two diagonals.',
    further: '',
    ...{ answer: 'digits', pace: 25, steps: 1200 },
  },
  austen: {
    title: 'Austen: characters of a novel',
    happens:
      'A small transformer reads the beginning of Pride and Prejudice, and learns to predict each next character.',
    look: 'Below the maps the model writes: first noise, then letters as frequent as in English, then words. Heads of layer 0 learn to look at the characters just before.',
    further: '',
    ...{ answer: 'repeats', pace: Infinity, steps: 3200 },
  },
  own: {
    title: 'A text of your own',
    happens:
      'A small transformer reads your text, and learns to predict each next character. The text stays on this machine.',
    look: 'Below the maps the model writes: first noise, then letters as frequent as in your text, then words.',
    further: '',
    ...{ answer: 'repeats', pace: Infinity, steps: 3200 },
  },
};

/** @param {Settings} settings */
export const isText = ({ task }) => task === 'austen' || task === 'own';

/** Whether there is too little to train on. @param {Settings} settings */
export const lacksText = ({ task, text }) =>
  // A character is one or two units of a string's length.
  task === 'own' && Array.from(text.slice(0, 2 * LEAST_TEXT)).length < LEAST_TEXT;

/**
 * What is known of settings: sentences about those that are other than usual.
 *
 * @param {Settings} settings
 * @returns {string[]}
 */
export function knownOf({ task, lr, layers, positions, heads, width, only }) {
  /** @type {[boolean, string][]} */
  const known = [
    [
      task === 'induction' && lr > 3e-3,
      'Above a learning rate of 0.003 induction is a matter of luck: at 0.005 heads formed with two seeds of three, at 0.01 with none.',
    ],
    [
      task === 'induction' && layers === 1,
      'One layer cannot do induction: it takes a head that looks at the token before, and a head in a later layer that uses the result.',
    ],
    [
      task === 'induction' && positions === 'none',
      'Without positions, no head can tell which token came before.',
    ],
    [
      (task === 'reversal' || task === 'addition') && positions === 'none',
      'Without positions, the heads cannot find the answer.',
    ],
    [
      task === 'induction' && lr < 1e-3,
      'At a learning rate of 0.0003 half of the answers were right after some 1,550 steps, at 0.003 after 300.',
    ],
    [width / heads < 8, `Each head has only ${width / heads} numbers to match tokens by.`],
    [width === 128 || layers > 2, 'Each step takes noticeably longer at this size.'],
    [
      task === 'induction' && positions === 'random',
      'From random positions induction forms late: half of the answers were right after some 800 steps.',
    ],
    [
      task === 'sorting' && positions === 'none',
      'Sorting needs no positions: without them it was learnt with four seeds of four.',
    ],
    [
      task === 'addition' && only,
      'With attention alone addition is a matter of luck: two seeds of five came to 95 % right digits in 1,200 steps, with feed-forward four.',
    ],
    [task === 'sorting' && heads === 1, 'With one head sorting stayed below 95 % in 1,000 steps.'],
  ];
  return known.filter(([is]) => is).map(([, words]) => words);
}

/** @param {Learnt} learnt */
const learntWords = ({ kinds, ofKinds, count, of }) =>
  `Only the ${kinds} commonest of your text’s ${formatCount(ofKinds)} different characters are learnt: ${formatCount(count)} of its ${formatCount(of)} characters remain`;

/** What of a text is left out; '': nothing. @param {Learnt} learnt */
export const leftOut = (learnt) =>
  learnt.count === learnt.of
    ? ''
    : `${learntWords(learnt)}. ${RARE} stands for each of the others, so all positions stay the same.`;

/** Why no training begins. @param {Learnt} learnt of a text too short */
export function tooShort(learnt) {
  const { of } = learnt;
  if (of === 0)
    return `Paste a text of at least ${LEAST_TEXT} characters above, then press “Train on this text”.`;
  return of < LEAST_TEXT
    ? `This text has ${plural(of, 'character')}; at least ${LEAST_TEXT} are needed.`
    : `${learntWords(learnt)}, and training takes ${LEAST_TEXT}. Paste a longer text.`;
}

/** What differs between two runs, in words. @param {Settings} a @param {Settings} b */
export function differenceOf(a, b) {
  const parts = [
    a.seed !== b.seed && `seed ${b.seed}`,
    a.layers !== b.layers && (b.layers === 1 ? 'one layer' : `${b.layers} layers`),
    a.heads !== b.heads && (b.heads === 1 ? 'one head' : `${b.heads} heads`),
    a.width !== b.width && `width ${b.width}`,
    a.lr !== b.lr && `learning rate ${b.lr}`,
    a.positions !== b.positions && `positions: ${b.positions}`,
    a.only !== b.only && (b.only ? 'attention only' : 'with feed-forward'),
  ];
  return parts.filter(Boolean).join(', ') || 'the same settings';
}
