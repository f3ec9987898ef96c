// Random tokens that are repeated: texts in which nothing but the repetition can be known.
import { MersenneTwister } from '../models/mersenne-twister.js';

/**
 * Ids, none twice, followed by themselves. Fisher and Yates' shuffle, stopped early, with the numbers of torch.rand.
 * @param {MersenneTwister} random
 * @param {number} vocabSize
 * @param {number} tokens
 */
function repeated(random, vocabSize, tokens) {
  /** The ids that were moved. @type {Map<number, number>} */
  const moved = new Map();
  const drawn = Array.from({ length: tokens }, (_, i) => {
    const at = i + Math.floor(random.uniform() * (vocabSize - i));
    const id = moved.get(at) ?? at;
    moved.set(at, moved.get(i) ?? i);
    return id;
  });
  return [...drawn, ...drawn];
}

/**
 * Rows of random ids, drawn as they are asked for.
 * @param {number} vocabSize
 * @param {number} tokens drawn for a row, at most vocabSize
 * @param {number} seed
 * @param {number} batch rows
 * @returns {Generator<number[], void, void>} rows of 2 · tokens
 */
export function* repeatedIds(vocabSize, tokens, seed, batch) {
  const random = new MersenneTwister(seed);
  for (let row = 0; row < batch; row++) yield repeated(random, vocabSize, tokens);
}
