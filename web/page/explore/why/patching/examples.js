/**
 * Pairs of texts to begin with: the indirect object, by model.
 *
 * @typedef {object} Example
 * @property {string} text
 * @property {string} other
 * @property {string} target with its space
 * @property {string} against
 */

/** Where the other one gives, the other one is given: only who gives is changed. @type {Example} */
const NAMES = {
  text: 'when mary and john went to the store, john gave a drink to',
  other: 'when mary and john went to the store, mary gave a drink to',
  target: 'mary',
  against: 'john',
};

/** The sentence of Wang et al. 2022. @type {Example} */
const GPT2 = {
  text: 'When Mary and John went to the store, John gave a drink to',
  other: 'When Mary and John went to the store, Mary gave a drink to',
  target: ' Mary',
  against: ' John',
};

/** @type {Example} */
const INDUCTION = {
  text: 'gkQzbTxgkQz',
  other: 'gkQXbTxgkQz',
  target: 'b',
  against: 'Q',
};

/** @type {Example} */
const AUSTEN = {
  text: 'Mr. Bennet was at home, but',
  other: 'Mrs. Bennet was at home, but',
  target: ' he',
  against: ' she',
};

/** @param {string} model its name in the address @returns {Example} */
export const exampleOf = (model) =>
  ({ names: NAMES, induction: INDUCTION, austen: AUSTEN })[model] ?? GPT2;
