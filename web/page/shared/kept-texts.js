/**
 * Texts that are too long for an address: kept in this browser, under a name that the address has.
 */

import { keyOf } from './linkable.js';

const PREFIX = 'headwise-text-';

/** Said after the length of a text. */
export const TOO_LONG = '; too long for the address: this browser keeps it, others see the sample';
/** Where no such text is found. */
export const LOST =
  'This address is of a long text that another browser keeps. Here is the sample.';

/** So many are kept, the newest. */
const MOST = 20;

/** Keeps a text, if the browser lets its pages remember anything. @param {string} text */
export function keepText(text) {
  try {
    const name = `${PREFIX}${keyOf(text)}`;
    localStorage.setItem(name, `${Date.now()} ${text}`);
    const kept = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
    const ageOf = (/** @type {string} */ key) =>
      Number.parseInt(localStorage.getItem(key) ?? '0', 10);
    for (const old of kept.sort((a, b) => ageOf(b) - ageOf(a)).slice(MOST)) {
      localStorage.removeItem(old);
    }
  } catch {
    // The text is gone after a reload.
  }
}

/** @param {string} key @returns {string | undefined} undefined: this browser has none */
export function keptText(key) {
  try {
    const kept = localStorage.getItem(`${PREFIX}${key}`);
    return kept?.slice(kept.indexOf(' ') + 1);
  } catch {
    return undefined;
  }
}
