/** The scores of a head: weight on the token before, weight where the answer stands, and how spread it is (1: evenly). */
export const SCORES = /** @type {const} */ (['previous', 'answer', 'spread']);
