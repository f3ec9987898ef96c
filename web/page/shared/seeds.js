/** The largest number that the engine's generator begins with. */
export const MAX_SEED = 2 ** 32 - 1;

/** @param {number} value */
export const isSeed = (value) => Number.isInteger(value) && value >= 0 && value <= MAX_SEED;
