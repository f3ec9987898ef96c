/**
 * The direction of a field of text: that of its first letter. HTML's `dir="auto"` also turns each paragraph by itself, which takes
 * Chromium quadratic time: a book that was pasted held the page up for minutes.
 */

/** A text that has no letter before this is no text. */
const BEGINNING = 1000;

const FIRST_LETTER = /[\p{L}\u200E\u200F]/u;
/** What Unicode keeps for scripts that are written from the right. */
const FROM_THE_RIGHT =
  /[\u0590-\u08FF\u200F\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/** @param {string} text @returns {'ltr' | 'rtl'} */
export function directionOf(text) {
  const letter = FIRST_LETTER.exec(text.slice(0, BEGINNING))?.[0] ?? '';
  return FROM_THE_RIGHT.test(letter) ? 'rtl' : 'ltr';
}

/** @param {HTMLTextAreaElement} field */
const turn = (field) => (field.dir = directionOf(field.value));

const turnTyped = (/** @type {Event} */ { currentTarget }) =>
  turn(/** @type {HTMLTextAreaElement} */ (currentTarget));

/** To be called whenever the page sets the field's text; what is typed is followed from then on. @param {HTMLTextAreaElement} field */
export function directed(field) {
  // Added once, however often.
  field.addEventListener('input', turnTyped);
  turn(field);
}
