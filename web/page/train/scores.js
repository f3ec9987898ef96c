/** The scores of a head: weight on the previous token, weight where the answer stands, and entropy, as a share of the largest possible. */
export const SCORES = /** @type {const} */ (['previous', 'answer', 'entropy']);

/** Accuracy is measured after so many steps each time, at every speed: the same run shows the same numbers. */
export const MEASURED_EVERY = 10;

/** @param {number} step */
export const isMeasuredAt = (step) => step % MEASURED_EVERY === 0;
