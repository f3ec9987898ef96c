/**
 * Characters that are split over several tokens, each of which is named by its bytes alone.
 *
 * @import { Token } from '../types.js'
 */

import { BYTES } from '../shared/tokenize.js';

/** @param {string} text a token's name @returns {number[] | undefined} its bytes, if it is part of a character */
function bytesOf(text) {
  const [, bytes] = BYTES.exec(text) ?? [];
  return bytes?.split(' ').map((byte) => Number.parseInt(byte, 16));
}

/** How many bytes a character has, by its first one. @param {number} byte */
const lengthOf = (byte) => (byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4);

/**
 * @param {readonly Token[]} tokens
 * @returns {string[]} of each token the characters that it is part of; empty: it is named by its own
 */
export function wholeCharacters(tokens) {
  const parts = tokens.map(({ text }) => bytesOf(text));
  const bytes = parts.flatMap((part, at) => (part ?? [NaN]).map((byte) => ({ byte, at })));
  const found = tokens.map(() => '');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let i = 0; i < bytes.length;) {
    const some = bytes.slice(i, i + lengthOf(bytes[i].byte));
    i += 1;
    if (some.some(({ byte }) => Number.isNaN(byte))) continue;
    try {
      const character = decoder.decode(Uint8Array.from(some, ({ byte }) => byte));
      for (const at of new Set(some.map(({ at: one }) => one))) found[at] += character;
      i += some.length - 1;
    } catch {
      // No character begins here.
    }
  }
  return found;
}
