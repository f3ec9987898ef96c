/** Of an address no more is shown in a message. */
const ADDRESS = 500;

/**
 * A text as a message shows it: a long one without its midst.
 * @param {string} text
 * @param {number} [most] characters
 */
export const shortened = (text, most = ADDRESS) =>
  text.length > most ? `${text.slice(0, most / 2)}…${text.slice(-most / 2)}` : text;
