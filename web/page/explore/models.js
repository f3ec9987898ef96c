/** The models that come with the page. */

/** Titles, and what is read first. @type {Record<string, { title: string, sample: string }>} */
export const MODELS = {
  austen: {
    title: 'Austen: prose',
    sample:
      'Mr. Darcy danced only once with Mrs. Hurst and once with Miss Bingley, declined being introduced to any other lady, and spent the rest of the evening in walking about the room, speaking occasionally to one of his own party. Mr. Darcy was the proudest, most disagreeable man in the world.',
  },
  induction: {
    title: 'Induction: letters that repeat',
    sample: 'kT7eWm2cRq9fZkT7eWm2cRq9fZkT7eWm2cRq9fZkT7',
  },
};
