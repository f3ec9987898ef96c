/**
 * What a task of the Train room is: rows of characters to learn from, drawn at random.
 *
 * @import { Below } from './random.js'
 *
 * @typedef {object} Row
 * @property {number[]} ids
 * @property {number[]} targets for each id the one to say next; IGNORED: nothing is asked
 * @property {number[][]} answers for each id the places where the row shows what to say next; empty: nowhere
 *
 * @typedef {object} Task free of the page and the engine
 * @property {string} characters the vocabulary, in the order of ids
 * @property {number} tokens of a row
 * @property {number} batch rows of a step
 * @property {(random: Below, heldOut?: boolean) => Row} row heldOut: one that no step learns from
 * @property {string} prompt where it writes: what the text begins with; '': it answers in the row
 * @property {Learnt} [learnt] of a text
 *
 * @typedef {object} Learnt what of a text is learnt: its commonest characters
 * @property {number} kinds different ones that are learnt
 * @property {number} ofKinds different ones that there are
 * @property {number} count characters of the text that are learnt
 * @property {number} of all its characters
 */

/** The target where nothing is asked. */
export const IGNORED = -100;

/** @template T @param {number} count @param {(i: number) => T} each */
export const times = (count, each) => Array.from({ length: count }, (_, i) => each(i));

/**
 * A row of what is known and what is asked: after `known`, each of `asked` is to be said.
 *
 * @param {number[]} known
 * @param {number[]} asked
 * @param {number[][]} answers where each of `asked` is read
 * @returns {Row}
 */
export function questionRow(known, asked, answers) {
  const ids = [...known, ...asked.slice(0, -1)];
  const first = known.length - 1;
  return {
    ids,
    targets: ids.map((_, i) => asked[i - first] ?? IGNORED),
    answers: ids.map((_, i) => answers[i - first] ?? []),
  };
}
