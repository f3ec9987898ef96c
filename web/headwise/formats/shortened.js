/** Characters of an address that a message shows. */
const ADDRESS = 500;

/**
 * A text as a message shows it: a long one with its middle cut out.
 * @param {string} text
 * @param {number} [most] characters
 */
export const shortened = (text, most = ADDRESS) =>
  text.length > most ? `${text.slice(0, most / 2)}…${text.slice(-most / 2)}` : text;
