/**
 * A text, character by character: each character is to be said behind those before it.
 *
 * @import { Task } from './task.js'
 */

import { inductionKeys } from '../../explore/scores.js';

const TOKENS = 64;
/** Characters that are rarer than these are none of the vocabulary. */
const MOST_CHARACTERS = 96;
/** The end of a text, from which nothing is learnt. */
const HELD_OUT = 0.1;

/** A text has at least these characters. */
export const LEAST_TEXT = 400;

/** @param {string} text */
function charactersOf(text) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const byCount = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_CHARACTERS);
  return byCount.map(([character]) => character).sort();
}

/** @param {string} text of LEAST_TEXT characters or more @param {string} prompt @returns {Task} */
export function textTask(text, prompt) {
  const characters = charactersOf(text);
  const idOf = new Map(characters.map((character, id) => [character, id]));
  const all = Array.from(text, (character) => idOf.get(character)).filter((id) => id !== undefined);
  const kept = Math.floor(all.length * (1 - HELD_OUT));
  const begin = [...prompt].filter((character) => idOf.has(character)).join('');
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
    prompt: begin || characters[0],
  };
}
