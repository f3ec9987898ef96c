/**
 * What each head does, as numbers between 0 and 1 unless said otherwise. Of texts, means over all queries but the first:
 *
 *     previous      weight on the token before
 *     first         weight on the first token
 *     punctuation   weight on tokens without letter or digit (the first token is not counted), where there is a text
 *     distance      how many tokens back the weight lies
 *     entropy       of the weights, in bits
 *
 * Of random tokens that are repeated once, means over the second time:
 *
 *     same          weight on the token's own first occurrence
 *     induction     weight on the token after that: the one that comes next
 *
 * @import { Gpt2 } from 'headwise/gpt2'
 */
import { HeadScorer, inductionKeys } from '../../shared/head-scores.js';
import { Random } from './random.js';
import { IGNORED } from './task.js';

/** @typedef {Record<string, number>} Scores of a head */
/** @typedef {{ heads: Scores[][], loss_first: number, loss_again: number }} ModelScores heads: by layer and head */

const SEQUENCES = 32;
const LONGEST_REPEATED = 64;
const SEED = 1;

/**
 * @param {Gpt2} model
 * @param {readonly number[]} ids
 * @returns {Float32Array[][]} the weights of each layer and head, [n, n]
 */
export function weightsOf(model, ids) {
  const { weights } = model.forward(ids, { needWeights: true, logits: 'none' });
  const size = ids.length ** 2;
  return weights.map(({ data }) =>
    Array.from(
      { length: data.length / size },
      (_, head) => /** @type {Float32Array} */ (data.subarray(head * size, (head + 1) * size)),
    ),
  );
}

/** @param {readonly number[]} values */
export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The mean scores of each head over rows.
 *
 * @param {Gpt2} model
 * @param {readonly (readonly number[])[]} rows
 * @param {(weights: Float32Array, ids: readonly number[]) => Scores} scoresOf one head's of one row
 * @returns {Scores[][]}
 */
function meanScores(model, rows, scoresOf) {
  const { numLayers, numHeads } = model.options;
  const sums = Array.from({ length: numLayers }, () =>
    Array.from({ length: numHeads }, () => /** @type {Scores} */ ({})),
  );
  for (const ids of rows) {
    weightsOf(model, ids).forEach((layer, l) =>
      layer.forEach((weights, h) => {
        for (const [name, value] of Object.entries(scoresOf(weights, ids))) {
          sums[l][h][name] = (sums[l][h][name] ?? 0) + value / rows.length;
        }
      }),
    );
  }
  return sums;
}

/**
 * @param {Gpt2} model
 * @param {readonly (readonly number[])[]} rows
 * @param {((id: number) => boolean)} [isPunctuation]
 */
function textScores(model, rows, isPunctuation) {
  return meanScores(model, rows, (weights, ids) => {
    const n = ids.length;
    const scorer = new HeadScorer(n, inductionKeys(ids));
    scorer.add(weights, 0);
    const { previous, first, distance, entropy } = scorer.scores;
    /** @type {Scores} */
    const found = { previous, first, distance, entropy };
    if (!isPunctuation) return found;
    const marks = ids.flatMap((id, at) => (at > 0 && isPunctuation(id) ? [at] : []));
    const queries = Array.from({ length: n - 1 }, (_, i) => i + 1);
    const punctuation = mean(
      queries.map((query) => marks.reduce((sum, at) => sum + weights[query * n + at], 0)),
    );
    return { ...found, punctuation };
  });
}

/**
 * Random ids, none twice.
 *
 * @param {Gpt2} model
 * @param {number} count
 */
export function randomRows({ options: { vocabSize } }, count) {
  const random = new Random(SEED, 0);
  return Array.from({ length: SEQUENCES }, () => random.choose(vocabSize - 1, count));
}

/** @param {Gpt2} model @param {readonly (readonly number[])[]} rows of ids, which are repeated */
function repeatScores(model, rows) {
  const twice = rows.map((ids) => [...ids, ...ids]);
  const heads = meanScores(model, twice, (weights, { length: n }) => {
    const count = n / 2;
    const second = Array.from({ length: count }, (_, i) => count + i);
    return {
      same: mean(second.map((query) => weights[query * n + query - count])),
      induction: mean(second.map((query) => weights[query * n + query - count + 1])),
    };
  });
  /** The first of the second time cannot be known. @param {boolean} isAgain */
  const lossAt = (isAgain) =>
    mean(
      twice.map((ids) => {
        const count = ids.length / 2;
        const isMeant = (/** @type {number} */ at) => (isAgain ? at > count : at < count);
        const targets = ids.map((_, i) => (isMeant(i + 1) ? (ids[i + 1] ?? IGNORED) : IGNORED));
        return model.loss(ids, targets).item();
      }),
    );
  return { heads, loss_first: lossAt(false), loss_again: lossAt(true) };
}

/** @param {number} value */
export const rounded = (value) => Math.round(value * 1000) / 1000;

/** @param {Scores} scores */
const roundedAll = (scores) =>
  Object.fromEntries(Object.entries(scores).map(([name, value]) => [name, rounded(value)]));

/**
 * @param {Gpt2} model
 * @param {readonly (readonly number[])[]} rows of ids to read
 * @param {((id: number) => boolean)} [isPunctuation]
 * @returns {ModelScores}
 */
export function scoreModel(model, rows, isPunctuation) {
  const count = Math.min(LONGEST_REPEATED, Math.floor(model.options.contextLength / 2));
  const ofText = textScores(model, rows, isPunctuation);
  const { heads, ...losses } = repeatScores(model, randomRows(model, count));
  return {
    heads: ofText.map((layer, l) =>
      layer.map((scores, h) => roundedAll({ ...scores, ...heads[l][h] })),
    ),
    loss_first: rounded(losses.loss_first),
    loss_again: rounded(losses.loss_again),
  };
}
