/** Longest text that the address takes along. */
const MAX_LINK_TEXT = 4000;

/** Whether the address takes the text along. @param {string | null} text */
export const isLinkable = (text) => text === null || text.length <= MAX_LINK_TEXT;

/** A name for a text: the same for the same text. FNV-1a, of 32 bits, with its length. @param {string} text */
export function keyOf(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return `${text.length.toString(36)}-${hash.toString(36)}`;
}
