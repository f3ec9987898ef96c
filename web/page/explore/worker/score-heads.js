/**
 * The scores of every head of a run.
 *
 * @import { HeadScores } from '../scores.js'
 * @import { Heads } from './heads.js'
 */

import { HeadScorer, inductionKeys } from '../scores.js';
import { BLOCK } from './heads.js';

/**
 * @param {Heads} source
 * @param {ArrayLike<number>} ids of the text
 * @param {() => Promise<void>} breathe called between blocks
 * @returns {Promise<HeadScores[]>} layer after layer
 */
export async function scoreHeads(source, ids, breathe) {
  const { n, layers, heads } = source;
  const keys = inductionKeys(ids);
  const found = [];
  for (let head = 0; head < layers * heads; head++) {
    const scorer = new HeadScorer(n, keys);
    for (let start = 0; start < n; start += BLOCK) {
      const end = Math.min(n, start + BLOCK);
      scorer.add(source.rows(Math.floor(head / heads), head % heads, start, end), start);
      await breathe();
    }
    found.push(scorer.scores);
  }
  return found;
}
