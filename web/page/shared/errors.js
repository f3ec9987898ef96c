import { shortened } from '../../headwise/formats/shortened.js';

/** An error of the page itself, in words a visitor can act on. */
export class PageError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {ErrorOptions} [options] its cause
   */
  constructor(code, message, options) {
    super(message, options);
    this.name = 'PageError';
    this.code = code;
  }
}

/** Why something did not come: without a connection, that. @param {string} why */
export const orOffline = (why) =>
  globalThis.navigator?.onLine === false ? 'this machine is offline' : why;

/** @param {string} words @returns {string} with their full stop */
export const withStop = (words) => (/[.!?]$/.test(words) ? words : `${words}.`);

/** Characters of a message that are shown: a file or an address may make it as long as it likes. */
const LONGEST = 1000;

/** @param {string} words @returns {string} with their middle cut out if they are long: a browser lays out millions of characters for minutes */
export const cutWords = (words) => shortened(words, LONGEST);

/**
 * What is said of an error, with its full stop. Of a file of the page that did not come it is said first what a visitor can do.
 *
 * @param {unknown} error
 */
export function sentence(error) {
  const { message: words, code } = /** @type {Error & { code?: string }} */ (error);
  const message = cutWords(String(words));
  if (code === 'ERR_LOAD' && message.startsWith(location.origin))
    return `A file that the page needs could not be loaded. Check the connection, then try again. (${message})`;
  return withStop(message);
}
