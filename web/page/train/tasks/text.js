/**
 * A text, character by character: each character is to be said after those before it.
 *
 * @import { Task } from './task.js'
 */

import { inductionKeys } from '../../shared/head-scores.js';

const TOKENS = 64;
/** So many characters are learnt, the commonest of a text. */
const MOST_CHARACTERS = 96;
/** Stands for each of the others, so that all keep their places. */
export const RARE = '\ufffd';
/** The end of a text, from which nothing is learnt. */
const HELD_OUT = 0.1;

/** A text has at least these characters that are learnt. */
export const LEAST_TEXT = 400;

/** @param {string} text */
function charactersOf(text) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const byCount = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_CHARACTERS);
  const count = byCount.reduce((sum, [, times]) => sum + times, 0);
  const learnt = { kinds: byCount.length, ofKinds: counts.size, count };
  return { known: byCount.map(([character]) => character).sort(), learnt };
}

/** @param {string} text of LEAST_TEXT characters or more @param {string} prompt @returns {Task} */
export function textTask(text, prompt) {
  const { known, learnt } = charactersOf(text);
  const isWhole = learnt.kinds === learnt.ofKinds || known.includes(RARE);
  const characters = isWhole ? known : [...known, RARE];
  const idOf = new Map(characters.map((character, id) => [character, id]));
  const signOf = (/** @type {string} */ character) => (idOf.has(character) ? character : RARE);
  const all = Array.from(text, (character) => /** @type {number} */ (idOf.get(signOf(character))));
  const kept = Math.floor(all.length * (1 - HELD_OUT));
  return {
    characters: characters.join(''),
    tokens: Math.min(TOKENS, Math.floor(all.length * HELD_OUT) - 1),
    batch: 16,
    row(random, heldOut) {
      const [start, end] = heldOut ? [kept, all.length] : [0, kept];
      const at = start + random(end - start - this.tokens);
      const ids = all.slice(at, at + this.tokens);
      return { ids, targets: all.slice(at + 1, at + 1 + ids.length), answers: inductionKeys(ids) };
    },
    prompt: Array.from(prompt, signOf).join(''),
    learnt: { ...learnt, of: all.length },
  };
}
