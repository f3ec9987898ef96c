/** The models that come with the page. */

/**
 * @typedef {object} TellingHead one whose work is plain to see in the sample
 * @property {number} layer
 * @property {number} head
 * @property {string} seen what its queries look at, in words
 */

/** Titles, what is read first, and heads to begin with. @type {Record<string, { title: string, sample: string, telling: TellingHead[] }>} */
export const MODELS = {
  austen: {
    title: 'Austen: prose',
    sample:
      'Mr. Darcy danced only once with Mrs. Hurst and once with Miss Bingley, declined being introduced to any other lady, and spent the rest of the evening in walking about the room, speaking occasionally to one of his own party. Mr. Darcy was the proudest, most disagreeable man in the world.',
    telling: [
      { layer: 0, head: 7, seen: 'the token before' },
      { layer: 1, head: 3, seen: '“and” and full stops: what joins or ends clauses' },
      { layer: 1, head: 6, seen: 'the last “to” or “of”' },
      { layer: 1, head: 7, seen: 'the last form of “be” or “have”' },
    ],
  },
  induction: {
    title: 'Induction: letters that repeat',
    sample: 'kT7eWm2cRq9fZkT7eWm2cRq9fZkT7eWm2cRq9fZkT7',
    telling: [
      { layer: 1, head: 4, seen: 'what came next the last time: induction' },
      { layer: 0, head: 4, seen: 'the token before, which induction needs' },
      { layer: 1, head: 0, seen: 'the first token, where there is nothing to see' },
    ],
  },
};

/** What addresses call files of the visitor's own, which they cannot carry. */
export const OPENED = 'opened';

/** A model of the page, by a name that may come from an address. @param {string} name */
export const pageModel = (name) => (Object.hasOwn(MODELS, name) ? MODELS[name] : undefined);

/** The head that is shown first: (0, 0) of a model that the page does not know. @param {string} model */
export function firstHead(model) {
  const { layer, head } = pageModel(model)?.telling[0] ?? { layer: 0, head: 0 };
  return { layer, head };
}
