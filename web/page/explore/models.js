/** The models that come with the page. */

/**
 * Titles, what is read first, and the head that is shown first: one whose work is plain to see.
 *
 * @type {Record<string, { title: string, sample: string, first: { layer: number, head: number } }>}
 */
export const MODELS = {
  austen: {
    title: 'Austen: prose',
    sample:
      'Mr. Darcy danced only once with Mrs. Hurst and once with Miss Bingley, declined being introduced to any other lady, and spent the rest of the evening in walking about the room, speaking occasionally to one of his own party. Mr. Darcy was the proudest, most disagreeable man in the world.',
    first: { layer: 0, head: 7 },
  },
  induction: {
    title: 'Induction: letters that repeat',
    sample: 'kT7eWm2cRq9fZkT7eWm2cRq9fZkT7eWm2cRq9fZkT7',
    first: { layer: 1, head: 4 },
  },
};

/** @param {string} model @returns {{ layer: number, head: number }} the first head of a model that the page does not know */
export const firstHead = (model) => MODELS[model]?.first ?? { layer: 0, head: 0 };
