/**
 * The scores of a layer's heads.
 *
 * @import { HeadScores } from '../../shared/head-scores.js'
 * @import { Heads } from './heads.js'
 */

import { HeadScorer, inductionKeys } from '../../shared/head-scores.js';
import { BLOCK } from './heads.js';

/**
 * @param {Heads} source
 * @param {number} layer
 * @param {ArrayLike<number>} ids of the text
 * @param {() => Promise<void>} breathe called between blocks
 * @returns {Promise<HeadScores[]>}
 */
export async function scoreLayer(source, layer, ids, breathe) {
  const { n, heads } = source;
  const keys = inductionKeys(ids);
  const found = [];
  for (let head = 0; head < heads; head++) {
    const scorer = new HeadScorer(n, keys);
    for (let start = 0; start < n; start += BLOCK) {
      const end = Math.min(n, start + BLOCK);
      scorer.add(source.rows(layer, head, start, end), start);
      await breathe();
    }
    found.push(scorer.scores);
  }
  return found;
}
