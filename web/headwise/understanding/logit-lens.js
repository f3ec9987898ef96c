import { checkIndex, checkOptions, checkSize } from '../checks/check.js';
import { misfit } from '../checks/error.js';
import { copyArray } from '../checks/foreign.js';
import { checkId } from '../tensor/ids.js';
import { Tensor } from '../tensor/tensor.js';
import * as shared from './model.js';
import { calledThere } from './source.js';

/** @typedef {import('./model.js').Ids} Ids */
/** @typedef {import('./model.js').Subject} Subject */

/**
 * Options of `logitLens`.
 * @typedef {object} LogitLensOptions
 * @property {number} [top] how many of the likeliest tokens are returned; default 5; of a model with fewer ids, all
 * @property {number | bigint} [target] an id whose log-probability and rank are returned
 * @property {readonly number[]} [positions] which tokens are looked at, at most as many as there are; default all
 * @property {Tensor | import('./model.js').NestedNumbers} [headMask] [layers, heads]: factors of heads' outputs
 * @property {(progress: { done: number, total: number }) => void} [onProgress] gets how many rows of the residual stream are done
 * @property {AbortSignal} [signal] aborts within one product with the unembedding
 */

/**
 * How likely the lens finds a token.
 * @typedef {object} TokenLens
 * @property {Tensor} logProbabilities [layers + 1, positions], in nats
 * @property {Tensor} ranks [layers + 1, positions]; 0: no token is likelier; NaN where the target's logit is
 */

/**
 * What the residual stream says before each layer, and after the last.
 * @typedef {object} LogitLens
 * @property {Tensor} ids [layers + 1, positions, top]: the likeliest tokens, the likeliest first
 * @property {Tensor} logProbabilities [layers + 1, positions, top]: theirs, in nats
 * @property {TokenLens} [target] of the target, if it is asked for
 */

const known = ['top', 'target', 'positions', 'headMask', 'onProgress', 'signal'];

/** Logits that are there at a time. */
const mostLogits = 2 ** 21;

/**
 * @param {Subject} subject
 * @param {Record<string, any>} given
 * @param {number} tokens
 */
function checkLens({ vocabSize }, given, tokens) {
  const all = Array.from({ length: tokens }, (_, i) => i);
  const positions = given.positions === undefined ? all : copyArray(given.positions, tokens);
  if (positions === undefined || positions.length === 0) {
    throw misfit(given.positions, 'positions', `an array of 1 to ${tokens} positions`);
  }
  positions.forEach((position, i) => checkIndex(position, `positions[${i}]`, tokens));
  const { target } = given;
  return {
    positions: /** @type {number[]} */ (positions),
    top: Math.min(vocabSize, checkSize(given.top ?? 5, 'top', 1, Infinity)),
    target: target === undefined ? undefined : checkId(target, 'target', vocabSize),
  };
}

/**
 * The likeliest tokens; of equal ones those with lower ids.
 * @param {Float32Array} logits
 * @param {number} top
 * @returns {number[]}
 */
function likeliest(logits, top) {
  /** @type {number[]} */
  const best = [];
  for (let id = 0; id < logits.length; id++) {
    if (best.length === top && !(logits[id] > logits[best[top - 1]])) {
      continue;
    }
    let at = best.length;
    while (at > 0 && logits[id] > logits[best[at - 1]]) {
      at--;
    }
    best.splice(at, 0, id);
    best.length = Math.min(best.length, top);
  }
  return best;
}

/** @param {Float32Array} logits @param {number} target */
const rankOf = (logits, target) =>
  Number.isNaN(logits[target])
    ? NaN
    : logits.reduce((rank, logit) => rank + Number(logit > logits[target]), 0);

/**
 * The rows that are asked for, layer after layer.
 * @param {Subject} subject
 * @param {Tensor} residuals [layers + 1, tokens, dModel]
 * @param {readonly number[]} positions
 */
function gather({ dModel }, { shape: [layers, tokens], data }, positions) {
  const rows = new Float32Array(layers * positions.length * dModel);
  for (let i = 0; i < layers * positions.length; i++) {
    const [layer, column] = [Math.floor(i / positions.length), i % positions.length];
    const first = (layer * tokens + positions[column]) * dModel;
    rows.set(data.subarray(first, first + dModel), i * dModel);
  }
  return rows;
}

/**
 * What is told of rows of logits.
 * @param {readonly [layers: number, positions: number]} shape of the rows
 * @param {number} top
 * @param {number | undefined} target
 */
function answersOf(shape, top, target) {
  const total = shape[0] * shape[1];
  const [topIds, topLogs] = [new Float32Array(total * top), new Float32Array(total * top)];
  const [targetLogs, ranks] = [new Float32Array(total), new Float32Array(total)];
  return {
    /** @param {Float32Array} logits @param {number} row */
    read(logits, row) {
      const logSum = shared.logSumOf(logits);
      likeliest(logits, top).forEach((id, i) => {
        topIds[row * top + i] = id;
        topLogs[row * top + i] = logits[id] - logSum;
      });
      if (target !== undefined) {
        targetLogs[row] = logits[target] - logSum;
        ranks[row] = rankOf(logits, target);
      }
    },
    /** @returns {LogitLens} */
    result: () => ({
      ids: new Tensor(topIds, [...shape, top]),
      logProbabilities: new Tensor(topLogs, [...shape, top]),
      ...(target !== undefined && {
        target: {
          logProbabilities: new Tensor(targetLogs, shape),
          ranks: new Tensor(ranks, shape),
        },
      }),
    }),
  };
}

/**
 * The logit lens (nostalgebraist 2020, "interpreting GPT: the logit lens"): the residual stream before each layer and after the
 * last, through the final norm and the unembedding, as if no layer followed. After the last layer it is what the model says. The
 * logits are made of a few rows at a time.
 * @param {import('./source.js').DecoderModel} model in a Worker, it runs there
 * @param {Ids} ids [tokens]
 * @param {LogitLensOptions} [options]
 * @returns {Promise<LogitLens>}
 * @throws {HeadwiseError} ERR_SHAPE: more than one text, or more tokens than contextLength; ERR_VALUE: a bad argument; ERR_MEMORY;
 *   ERR_DISPOSED. An abort rejects with the signal's reason
 */
export async function logitLens(model, ids, options) {
  const there = calledThere('logitLens', model, ids, options);
  if (there !== undefined) {
    return there;
  }
  const subject = shared.subjectOf(model);
  const given = checkOptions(options, known, 'logitLens');
  const text = shared.checkText(subject, ids, 'ids');
  const { positions, top, target } = checkLens(subject, given, text.length);
  const headMask = shared.checkMask(subject, given.headMask);
  const onProgress = shared.checkProgress(given.onProgress);
  const pause = shared.pauses(given.signal);

  const { numLayers, dModel, vocabSize, contextLength } = subject;
  const { residuals } = shared.forward(subject, text, {
    logits: 'none',
    residuals: true,
    headMask,
  });
  const rows = gather(subject, residuals, positions);
  const total = (numLayers + 1) * positions.length;
  const answers = answersOf([numLayers + 1, positions.length], top, target);
  const most = Math.max(1, Math.min(contextLength, Math.floor(mostLogits / vocabSize)));
  await pause();
  for (let done = 0; done < total;) {
    const count = Math.min(most, total - done);
    const some = rows.slice(done * dModel, (done + count) * dModel);
    const start = { layer: numLayers, residual: new Tensor(some, [count, dModel]) };
    const asked = /** @type {const} */ ({ logits: 'all', start });
    const { data } = shared.forward(subject, new Array(count).fill(0), asked).logits;
    for (let i = 0; i < count; i++) {
      answers.read(data.subarray(i * vocabSize, (i + 1) * vocabSize), done + i);
    }
    done += count;
    await onProgress?.({ done, total });
    await pause();
  }
  return answers.result();
}
