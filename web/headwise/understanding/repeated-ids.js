// Random tokens that are repeated: texts in which nothing but the repetition can be known.
import { MersenneTwister } from '../models/mersenne-twister.js';

/**
 * Rows of ids, none twice, each followed by itself. Fisher and Yates' shuffle, stopped early, with the numbers of torch.rand.
 * @param {number} vocabSize
 * @param {number} tokens drawn for a row, at most vocabSize
 * @param {number} seed
 * @param {number} batch rows
 * @returns {number[][]} [batch, 2 · tokens]
 */
export function repeatedIds(vocabSize, tokens, seed, batch) {
  const random = new MersenneTwister(seed);
  return Array.from({ length: batch }, () => {
    /** The ids that were moved. @type {Map<number, number>} */
    const moved = new Map();
    const drawn = Array.from({ length: tokens }, (_, i) => {
      const at = i + Math.floor(random.uniform() * (vocabSize - i));
      const id = moved.get(at) ?? at;
      moved.set(at, moved.get(i) ?? i);
      return id;
    });
    return [...drawn, ...drawn];
  });
}
