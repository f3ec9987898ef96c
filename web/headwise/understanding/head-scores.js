import { asGiven, checkSize, checkTable, or, isInteger } from '../checks/check.js';
import { misfit } from '../checks/error.js';
import { checkSeedWord } from '../tensor/functions.js';
import { newArray, sizeOf } from '../tensor/shape.js';
import { tensorOf } from '../tensor/tensor.js';
import { repeatedIds } from './repeated-ids.js';
import { calledThere, sizesOf, traceText } from './source.js';
import { Work, workTable } from './work.js';

/** @typedef {import('../tensor/tensor.js').Tensor} Tensor */

/**
 * Options of `headScores`.
 * @typedef {object} HeadScoreOptions
 * @property {number} [tokens] random tokens of a row, which are repeated once: from 1 to the smaller of half of contextLength and
 *   vocabSize; default 50, or that limit if it is lower
 * @property {number | bigint} [seed] of the random tokens, as manualSeed takes it; default 0
 * @property {number} [batch] rows; default 4
 */

/**
 * What each head does on repeated random tokens: mean weights over the queries of the repetition, [layers, heads] each.
 * @typedef {object} HeadScores
 * @property {Tensor} previous weight on the token before
 * @property {Tensor} first weight on the first token
 * @property {Tensor} duplicate weight on the first occurrence of the query's own token
 * @property {Tensor} induction weight on the token after that, which comes next: prefix matching
 * @property {Tensor} ids [batch, 2 · tokens]: the rows
 */

const table = {
  tokens: asGiven,
  seed: or(checkSeedWord, 0),
  batch: or(checkSize, 4),
  ...workTable,
};

const names = /** @type {const} */ (['previous', 'first', 'duplicate', 'induction']);

/**
 * Sums of the weights of the second time's queries, on four keys each.
 * @param {Float32Array} weights rows of 2 · tokens
 * @param {number} tokens
 */
function sumsOf(weights, tokens) {
  const sums = [0, 0, 0, 0];
  for (let i = 0; i < tokens; i++) {
    const row = i * 2 * tokens;
    [tokens + i - 1, 0, i, i + 1].forEach((key, kind) => (sums[kind] += weights[row + key]));
  }
  return sums;
}

/**
 * @param {unknown} given
 * @param {{ vocabSize: number, contextLength: number }} sizes
 */
function checkTokens(given, { vocabSize, contextLength }) {
  if (contextLength < 2) {
    throw misfit(
      contextLength,
      'contextLength of the model',
      'at least 2: a token and its repetition',
    );
  }
  const most = Math.min(vocabSize, Math.floor(contextLength / 2));
  const tokens = given ?? Math.min(50, most);
  if (!isInteger(tokens) || tokens < 1 || tokens > most) {
    throw misfit(
      given,
      'tokens',
      `an integer from 1 to ${most}: half the context, and no id twice`,
    );
  }
  return tokens;
}

/**
 * Scores of all heads on random tokens that are repeated (Olsson et al. 2022, "In-context Learning and Induction Heads"): rows of ids,
 * none twice, each followed by itself. An induction head looks from a token's second occurrence at the token after its first.
 *
 * It costs a forward of 2 · tokens for each row, and half of its weights; no [tokens, tokens] matrix of all heads is kept.
 *
 * @param {import('./source.js').AttendingModel} model a Decoder, a Gpt2 or an Encoder
 * @param {HeadScoreOptions & import('./work.js').WorkOptions} [options]
 * @returns {Promise<HeadScores>}
 * @throws {HeadwiseError} ERR_VALUE, ERR_MEMORY, ERR_DISPOSED; an abort's reason
 */
export async function headScores(model, options) {
  const answer = calledThere('headScores', model, options);
  if (answer) return answer;
  const sizes = sizesOf(model);
  const checked = checkTable(options, table, 'headScores');
  const { seed, batch } = checked;
  const tokens = checkTokens(checked.tokens, sizes);
  const { numLayers, numHeads } = sizes;
  const shapeOfIds = [batch, 2 * tokens];
  const all = newArray(Float32Array, sizeOf(shapeOfIds, 'ids'));
  const sums = names.map(() => new Float64Array(numLayers * numHeads));
  const work = new Work(checked, batch * numLayers);
  let place = 0;
  for (const ids of repeatedIds(sizes.vocabSize, tokens, seed, batch)) {
    all.set(ids, place);
    place += ids.length;
    const traces = traceText(model, ids);
    try {
      for (const [layer, trace] of traces.entries()) {
        for (let head = 0; head < numHeads; head++) {
          const { data } = trace.weights({ head, rows: [tokens, 2 * tokens] });
          const at = layer * numHeads + head;
          sumsOf(data, tokens).forEach((sum, kind) => (sums[kind][at] += sum));
        }
        await work.step();
      }
    } finally {
      traces.forEach((trace) => trace.dispose());
    }
  }
  const shape = [numLayers, numHeads];
  const means = sums.map((each) =>
    tensorOf(
      Float32Array.from(each, (sum) => sum / (batch * tokens)),
      shape,
    ),
  );
  return /** @type {any} */ ({
    ...Object.fromEntries(names.map((name, kind) => [name, means[kind]])),
    ids: tensorOf(all, shapeOfIds),
  });
}
