// A vocabulary for models of random weights whose runtime takes text only: a text has as many tokens as characters.

const FIRST_CHARACTER = 0x21;
/** Ids below are printable ASCII, in its order. The others' texts are of no use. */
export const CHARACTERS = 0x7f - FIRST_CHARACTER;

/** @param {readonly number[]} ids below CHARACTERS */
export const textOf = (ids) => String.fromCharCode(...ids.map((id) => FIRST_CHARACTER + id));

/** @param {number} vocabSize @returns {string[]} */
export const tokensOf = (vocabSize) =>
  Array.from({ length: vocabSize }, (_, id) => (id < CHARACTERS ? textOf([id]) : `<${id}>`));
